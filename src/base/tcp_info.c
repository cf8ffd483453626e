#include "base/tcp_info.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

_Static_assert(sizeof(struct tcp_info) <= TCP_SNAPSHOT_BYTES, "a snapshot holds struct tcp_info");

#define FIELD(key, member, is_counter)                                                             \
    {                                                                                              \
        key, offsetof(struct tcp_info, member), sizeof(((struct tcp_info *)0)->member), is_counter \
    }
#define GAUGE(key, member)   FIELD(key, member, false)
#define COUNTER(key, member) FIELD(key, member, true)

const struct tcp_field tcp_fields[] = {
    [TCP_RTT] = GAUGE("rtt_us", tcpi_rtt),
    [TCP_RTT_VARIANCE] = GAUGE("rtt_variance_us", tcpi_rttvar),
    [TCP_MINIMUM_RTT] = GAUGE("minimum_rtt_us", tcpi_min_rtt),
    [TCP_SEND_MSS] = GAUGE("send_mss_bytes", tcpi_snd_mss),
    [TCP_RECEIVE_MSS] = GAUGE("receive_mss_bytes", tcpi_rcv_mss),
    [TCP_ADVERTISED_MSS] = GAUGE("advertised_mss_bytes", tcpi_advmss),
    [TCP_CONGESTION_WINDOW] = GAUGE("congestion_window_segments", tcpi_snd_cwnd),
    [TCP_SLOW_START_THRESHOLD] = GAUGE("slow_start_threshold_segments", tcpi_snd_ssthresh),
    [TCP_RETRANSMITTING] = GAUGE("retransmitting_segments", tcpi_retrans),
    [TCP_TOTAL_RETRANSMITS] = COUNTER("retransmitted_segments", tcpi_total_retrans),
    [TCP_LOST] = GAUGE("lost_segments", tcpi_lost),
    [TCP_REORDERING_LIMIT] = GAUGE("reordering_segments", tcpi_reordering),
    [TCP_RECEIVE_SPACE] = GAUGE("receive_space_bytes", tcpi_rcv_space),
    [TCP_BUSY_TIME] = COUNTER("busy_us", tcpi_busy_time),
    [TCP_RECEIVE_WINDOW_LIMITED] = COUNTER("receive_window_limited_us", tcpi_rwnd_limited),
    [TCP_SEND_BUFFER_LIMITED] = COUNTER("send_buffer_limited_us", tcpi_sndbuf_limited),
    [TCP_BYTES_SENT] = COUNTER("sent_bytes", tcpi_bytes_sent),
    [TCP_BYTES_RECEIVED] = COUNTER("received_bytes", tcpi_bytes_received),
    [TCP_SEGMENTS_OUT] = COUNTER("segments_out", tcpi_segs_out),
    [TCP_SEGMENTS_IN] = COUNTER("segments_in", tcpi_segs_in),
    [TCP_DATA_SEGMENTS_OUT] = COUNTER("data_segments_out", tcpi_data_segs_out),
    [TCP_DATA_SEGMENTS_IN] = COUNTER("data_segments_in", tcpi_data_segs_in),
    GAUGE("state", tcpi_state),
    GAUGE("congestion_state", tcpi_ca_state),
    GAUGE("retransmits_of_head", tcpi_retransmits),
    GAUGE("probes", tcpi_probes),
    GAUGE("backoff", tcpi_backoff),
    GAUGE("options", tcpi_options),
    GAUGE("retransmission_timeout_us", tcpi_rto),
    GAUGE("ack_timeout_us", tcpi_ato),
    GAUGE("unacknowledged_segments", tcpi_unacked),
    GAUGE("selectively_acknowledged_segments", tcpi_sacked),
    GAUGE("forward_acknowledged_segments", tcpi_fackets),
    GAUGE("last_data_sent_ms", tcpi_last_data_sent),
    GAUGE("last_data_received_ms", tcpi_last_data_recv),
    GAUGE("last_ack_received_ms", tcpi_last_ack_recv),
    GAUGE("path_mtu_bytes", tcpi_pmtu),
    GAUGE("receive_slow_start_threshold_bytes", tcpi_rcv_ssthresh),
    GAUGE("receiver_rtt_us", tcpi_rcv_rtt),
    GAUGE("pacing_rate_bytes_per_s", tcpi_pacing_rate),
    GAUGE("maximum_pacing_rate_bytes_per_s", tcpi_max_pacing_rate),
    COUNTER("acknowledged_bytes", tcpi_bytes_acked),
    GAUGE("not_sent_bytes", tcpi_notsent_bytes),
    GAUGE("delivery_rate_bytes_per_s", tcpi_delivery_rate),
    COUNTER("delivered_segments", tcpi_delivered),
    COUNTER("delivered_ce_segments", tcpi_delivered_ce),
    COUNTER("retransmitted_bytes", tcpi_bytes_retrans),
    COUNTER("duplicate_sacks", tcpi_dsack_dups),
    COUNTER("reorderings_seen", tcpi_reord_seen),
    COUNTER("out_of_order_segments", tcpi_rcv_ooopack),
    GAUGE("send_window_bytes", tcpi_snd_wnd),
};
const size_t tcp_field_count = sizeof tcp_fields / sizeof tcp_fields[0];

bool tcp_moved(int socket, struct tcp_progress *progress)
{
    int queued = 0;
    if (ioctl(socket, SIOCOUTQ, &queued) < 0 || (uint64_t)queued > progress->handed) {
        return false;
    }
    uint64_t acknowledged = progress->handed - (uint64_t)queued;
    if (acknowledged > progress->counted) {
        acknowledged = progress->counted;
    }
    bool moved = acknowledged > progress->seen;
    progress->seen = moved ? acknowledged : progress->seen;
    return moved;
}

static uint32_t integer_option(int socket, int level, int option)
{
    int value = 0;
    socklen_t size = sizeof value;
    if (getsockopt(socket, level, option, &value, &size) < 0 || value < 0) {
        return 0;
    }
    return (uint32_t)value;
}

bool tcp_snapshot_take(int socket, struct tcp_snapshot *snapshot, struct error *error)
{
    *snapshot = (struct tcp_snapshot){0};
    socklen_t length = sizeof snapshot->info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, snapshot->info, &length) < 0) {
        return error_set_errno(error, errno, "TCP_INFO");
    }
    snapshot->length = length;
    snapshot->send_buffer_bytes = integer_option(socket, SOL_SOCKET, SO_SNDBUF);
    snapshot->receive_buffer_bytes = integer_option(socket, SOL_SOCKET, SO_RCVBUF);
    snapshot->segment_bytes = integer_option(socket, IPPROTO_TCP, TCP_MAXSEG);
    socklen_t name_length = sizeof snapshot->congestion_control - 1;
    if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, snapshot->congestion_control,
                   &name_length) < 0) {
        snapshot->congestion_control[0] = '\0';
    }
    return true;
}

bool tcp_snapshot_value(const struct tcp_snapshot *snapshot, size_t field, uint64_t *value)
{
    const struct tcp_field *row = &tcp_fields[field];
    const uint8_t *from = snapshot->info + row->offset;
    *value = 0;
    if (row->offset + row->size > snapshot->length) {
        return false;
    }
    switch (row->size) {
    case 1:
        *value = *from;
        break;
    case 4: {
        uint32_t word;
        memcpy(&word, from, sizeof word);
        *value = word;
        break;
    }
    default:
        memcpy(value, from, sizeof *value);
    }
    return true;
}

uint64_t tcp_snapshot_growth(const struct tcp_snapshot *before, const struct tcp_snapshot *after,
                             enum tcp_field_id counter)
{
    uint64_t first;
    uint64_t last;
    if (!tcp_snapshot_value(before, counter, &first) ||
        !tcp_snapshot_value(after, counter, &last)) {
        return 0;
    }
    /* 32-bit counters wrap. */
    return tcp_fields[counter].size == 4 ? (uint32_t)(last - first) : last - first;
}
