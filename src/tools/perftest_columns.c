#include "tools/perftest_columns.h"

#include "base/clock.h"

#include <stdio.h>

static double packets_of_kind(const struct perf_figures *figures,
                              const struct perftest_column *column)
{
    return figures->kinds_known ? (double)figures->traffic.ways[column->way].kinds[column->kind]
                                : -1;
}

#define VALUE(name, expression)                                                                    \
    static double name(const struct perf_figures *figures, const struct perftest_column *column)   \
    {                                                                                              \
        (void)column;                                                                              \
        return expression;                                                                         \
    }

VALUE(runs, (double)figures->runs)
VALUE(requests, (double)figures->all_requests)
VALUE(runts, (double)figures->runts)
VALUE(short_per_request, figures->short_per_request)
VALUE(fill, figures->fill >= 0 ? 100 * figures->fill : -1)
VALUE(segment_bytes, (double)figures->segment_bytes)
VALUE(data_packet_bytes, figures->fill >= 0 ? figures->data_packet_bytes : -1)
VALUE(packet_bytes, figures->packet_bytes)
VALUE(ack_share, figures->ack_share >= 0 ? 100 * figures->ack_share : -1)
VALUE(mean_ms, figures->mean_ns / (double)NS_PER_MS)
VALUE(bound_ms, figures->bound_ns > 0 ? figures->bound_ns / (double)NS_PER_MS : -1)
VALUE(bound_share, figures->mean_ns > 0 && figures->bound_ns > 0
                       ? 100 * figures->bound_ns / figures->mean_ns
                       : -1)
VALUE(goodput, figures->goodput / 1e6)
VALUE(link_share, figures->share >= 0 ? 100 * figures->share : -1)
VALUE(receive_window_ms, (double)figures->receive_window_us / 1e3)
VALUE(send_buffer_ms, (double)figures->send_buffer_us / 1e3)
VALUE(busy_ms, (double)figures->busy_us / 1e3)

#define KIND(key, heading, way, kind)                                                              \
    {                                                                                              \
        key, heading, PERFTEST_PACKETS, 0, packets_of_kind, way, kind                              \
    }

const struct perftest_column perftest_columns[] = {
    KIND("tx_pure_ack", "tx-ack", LINK_TO_SERVER, PACKET_PURE_ACK),
    KIND("tx_full", "tx-full", LINK_TO_SERVER, PACKET_FULL),
    KIND("tx_short", "tx-short", LINK_TO_SERVER, PACKET_SHORT),
    KIND("tx_retransmit", "tx-retr", LINK_TO_SERVER, PACKET_RETRANSMIT),
    KIND("tx_control", "tx-ctrl", LINK_TO_SERVER, PACKET_CONTROL),
    KIND("tx_other", "tx-other", LINK_TO_SERVER, PACKET_OTHER),
    KIND("rx_pure_ack", "rx-ack", LINK_TO_CLIENT, PACKET_PURE_ACK),
    KIND("rx_full", "rx-full", LINK_TO_CLIENT, PACKET_FULL),
    KIND("rx_short", "rx-short", LINK_TO_CLIENT, PACKET_SHORT),
    KIND("rx_retransmit", "rx-retr", LINK_TO_CLIENT, PACKET_RETRANSMIT),
    KIND("rx_control", "rx-ctrl", LINK_TO_CLIENT, PACKET_CONTROL),
    KIND("rx_other", "rx-other", LINK_TO_CLIENT, PACKET_OTHER),
    {"runs", "runs", PERFTEST_REQUESTS, 0, runs},
    {"requests", "requests", PERFTEST_REQUESTS, 0, requests},
    {"runt_requests", "runts", PERFTEST_REQUESTS, 0, runts},
    {"short_per_request", "short/req", PERFTEST_REQUESTS, 2, short_per_request},
    {"segment_fill_percent", "fill-%", PERFTEST_REQUESTS, 2, fill},
    {"mss", "mss", PERFTEST_REQUESTS, 0, segment_bytes},
    {"avg_data_packet_bytes", "avg-data", PERFTEST_REQUESTS, 1, data_packet_bytes},
    {"avg_packet_bytes", "avg-all", PERFTEST_REQUESTS, 1, packet_bytes},
    {"ack_percent", "ack-%", PERFTEST_REQUESTS, 1, ack_share},
    {"mean_ms", "time-ms", PERFTEST_TIMES, 3, mean_ms},
    {"bound_ms", "bound-ms", PERFTEST_TIMES, 3, bound_ms},
    {"bound_percent", "bound-%", PERFTEST_TIMES, 1, bound_share},
    {"goodput_mbit_s", "Mbit/s", PERFTEST_TIMES, 1, goodput},
    {"link_percent", "link-%", PERFTEST_TIMES, 1, link_share},
    {"receive_window_ms", "rwnd-ms", PERFTEST_TIMES, 1, receive_window_ms},
    {"send_buffer_ms", "sndbuf-ms", PERFTEST_TIMES, 1, send_buffer_ms},
    {"busy_ms", "busy-ms", PERFTEST_TIMES, 1, busy_ms},
};
const size_t perftest_column_count = sizeof perftest_columns / sizeof perftest_columns[0];

const char *perftest_figure(const struct perftest_column *column,
                            const struct perf_figures *figures, const char *none,
                            char text[PERFTEST_FIGURE_LENGTH])
{
    double value = column->value(figures, column);
    if (value < 0) {
        snprintf(text, PERFTEST_FIGURE_LENGTH, "%s", none);
    } else {
        snprintf(text, PERFTEST_FIGURE_LENGTH, "%.*f", column->decimals, value);
    }
    return text;
}
