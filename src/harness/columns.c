#include "harness/columns.h"

#include "base/clock.h"

#include <stdio.h>

static double packets_of_kind(const struct harness_figures *figures,
                              const struct harness_column *column)
{
    return figures->kinds_known ? (double)figures->traffic.ways[column->way].kinds[column->kind]
                                : -1;
}

#define VALUE(name, expression)                                                                    \
    static double name(const struct harness_figures *figures, const struct harness_column *column) \
    {                                                                                              \
        (void)column;                                                                              \
        return expression;                                                                         \
    }

#define COUNTED(name, expression) VALUE(name, figures->counted ? (expression) : -1)

VALUE(runs, (double)figures->runs)
VALUE(spoiled, (double)figures->spoiled)
VALUE(requests, (double)figures->all_requests)
VALUE(runts, (double)figures->runts)
VALUE(short_per_request, figures->short_per_request)
VALUE(fill, figures->fill >= 0 ? 100 * figures->fill : -1)
COUNTED(segment_bytes, (double)figures->segment_bytes)
VALUE(data_packet_bytes, figures->fill >= 0 ? figures->data_packet_bytes : -1)
COUNTED(packet_bytes, figures->packet_bytes)
VALUE(ack_share, figures->ack_share >= 0 ? 100 * figures->ack_share : -1)
VALUE(mean_ms, figures->mean_ns / (double)NS_PER_MS)
VALUE(bound_ms, figures->bound_ns > 0 ? figures->bound_ns / (double)NS_PER_MS : -1)
VALUE(bound_share, figures->mean_ns > 0 && figures->bound_ns > 0
                       ? 100 * figures->bound_ns / figures->mean_ns
                       : -1)
VALUE(goodput, figures->goodput / 1e6)
VALUE(link_share, figures->share >= 0 ? 100 * figures->share : -1)
COUNTED(receive_window_ms, (double)figures->receive_window_us / 1e3)
COUNTED(send_buffer_ms, (double)figures->send_buffer_us / 1e3)
COUNTED(busy_ms, (double)figures->busy_us / 1e3)

#define KIND(key, heading, way, kind)                                                              \
    {                                                                                              \
        key, heading, HARNESS_PACKETS, 0, packets_of_kind, way, kind                               \
    }

const struct harness_column harness_columns[] = {
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
    {"runs", "runs", HARNESS_REQUESTS, 0, runs},
    {"spoiled_runs", "spoiled", HARNESS_REQUESTS, 0, spoiled},
    {"requests", "requests", HARNESS_REQUESTS, 0, requests},
    {"runt_requests", "runts", HARNESS_REQUESTS, 0, runts},
    {"short_per_request", "short/req", HARNESS_REQUESTS, 2, short_per_request},
    {"segment_fill_percent", "fill-%", HARNESS_REQUESTS, 2, fill},
    {"mss", "mss", HARNESS_REQUESTS, 0, segment_bytes},
    {"avg_data_packet_bytes", "avg-data", HARNESS_REQUESTS, 1, data_packet_bytes},
    {"avg_packet_bytes", "avg-all", HARNESS_REQUESTS, 1, packet_bytes},
    {"ack_percent", "ack-%", HARNESS_REQUESTS, 1, ack_share},
    {"mean_ms", "time-ms", HARNESS_TIMES, 3, mean_ms},
    {"bound_ms", "bound-ms", HARNESS_TIMES, 3, bound_ms},
    {"bound_percent", "bound-%", HARNESS_TIMES, 1, bound_share},
    {"goodput_mbit_s", "Mbit/s", HARNESS_TIMES, 1, goodput},
    {"link_percent", "link-%", HARNESS_TIMES, 1, link_share},
    {"receive_window_ms", "rwnd-ms", HARNESS_TIMES, 1, receive_window_ms},
    {"send_buffer_ms", "sndbuf-ms", HARNESS_TIMES, 1, send_buffer_ms},
    {"busy_ms", "busy-ms", HARNESS_TIMES, 1, busy_ms},
};
const size_t harness_column_count = sizeof harness_columns / sizeof harness_columns[0];

const char *harness_figure(const struct harness_column *column,
                           const struct harness_figures *figures, const char *none,
                           char text[HARNESS_FIGURE_LENGTH])
{
    double value = column->value(figures, column);
    if (value < 0) {
        snprintf(text, HARNESS_FIGURE_LENGTH, "%s", none);
    } else {
        snprintf(text, HARNESS_FIGURE_LENGTH, "%.*f", column->decimals, value);
    }
    return text;
}
