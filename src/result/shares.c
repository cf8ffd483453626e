#include "result/shares.h"

#include "base/clock.h"

const char *const share_names[SHARES] = {
    [SHARE_RECEIVE_WINDOW] = "receive_window_ns",
    [SHARE_SEND_BUFFER] = "send_buffer_ns",
    [SHARE_SERVER] = "server_ns",
    [SHARE_CLIENT_CPU] = "client_cpu_ns",
    [SHARE_REST] = "rest_ns",
};

const char *const tcp_count_names[TCP_COUNTS] = {
    [TCP_COUNT_SENT_BYTES] = "sent_bytes",
    [TCP_COUNT_RECEIVED_BYTES] = "received_bytes",
    [TCP_COUNT_SEGMENTS_OUT] = "segments_out",
    [TCP_COUNT_SEGMENTS_IN] = "segments_in",
    [TCP_COUNT_DATA_SEGMENTS_OUT] = "data_segments_out",
    [TCP_COUNT_DATA_SEGMENTS_IN] = "data_segments_in",
};

static const enum tcp_field_id tcp_count_fields[TCP_COUNTS] = {
    [TCP_COUNT_SENT_BYTES] = TCP_BYTES_SENT,
    [TCP_COUNT_RECEIVED_BYTES] = TCP_BYTES_RECEIVED,
    [TCP_COUNT_SEGMENTS_OUT] = TCP_SEGMENTS_OUT,
    [TCP_COUNT_SEGMENTS_IN] = TCP_SEGMENTS_IN,
    [TCP_COUNT_DATA_SEGMENTS_OUT] = TCP_DATA_SEGMENTS_OUT,
    [TCP_COUNT_DATA_SEGMENTS_IN] = TCP_DATA_SEGMENTS_IN,
};

/* Takes at most what is left. */
static uint64_t take(uint64_t *left, uint64_t wanted)
{
    uint64_t taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

/* The smallest RTT is the way without queues; older kernels have only the smoothed one. */
static uint64_t travelling_ns(const struct tcp_snapshot *tcp, uint64_t round_trips)
{
    uint64_t rtt_us;
    bool known = tcp_snapshot_value(tcp, TCP_MINIMUM_RTT, &rtt_us);
    if (!known || rtt_us == UINT32_MAX) { /* the kernel's word for "not measured yet" */
        known = tcp_snapshot_value(tcp, TCP_RTT, &rtt_us);
    }
    return known ? round_trips * rtt_us * NS_PER_US : 0;
}

static void add_tcp(struct sample_tcp *tcp, const struct tcp_snapshot *before,
                    const struct tcp_snapshot *after)
{
    for (size_t i = 0; i < TCP_COUNTS; i++) {
        uint64_t value;
        tcp->known[i] = tcp_snapshot_value(after, tcp_count_fields[i], &value);
        tcp->counts[i] += tcp_snapshot_growth(before, after, tcp_count_fields[i]);
    }
}

/* Each share takes of what those before it left, so that they sum to the duration. */
void sample_add_account(struct sample *sample, uint64_t duration_ns, uint64_t cpu_ns,
                        uint64_t round_trips, const struct target_account *before,
                        const struct target_account *after)
{
    uint64_t left = duration_ns;
    uint64_t *shares_ns = sample->shares_ns;
    shares_ns[SHARE_CLIENT_CPU] += take(&left, cpu_ns);
    uint64_t waited = take(&left, after->waited_ns - before->waited_ns);
    shares_ns[SHARE_REST] += left;
    sample->elapsed_ns += duration_ns;
    sample->cpu_ns += cpu_ns;
    sample->waited_ns += waited;
    add_tcp(&sample->tcp, &before->tcp, &after->tcp);
    uint64_t window_us = tcp_snapshot_growth(&before->tcp, &after->tcp, TCP_RECEIVE_WINDOW_LIMITED);
    uint64_t buffer_us = tcp_snapshot_growth(&before->tcp, &after->tcp, TCP_SEND_BUFFER_LIMITED);
    shares_ns[SHARE_RECEIVE_WINDOW] += take(&waited, window_us * NS_PER_US);
    shares_ns[SHARE_SEND_BUFFER] += take(&waited, buffer_us * NS_PER_US);
    shares_ns[SHARE_REST] += take(&waited, travelling_ns(&after->tcp, round_trips));
    shares_ns[SHARE_SERVER] += waited;
}
