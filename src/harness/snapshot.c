#include "harness/snapshot.h"

static bool read_side(struct harness_snapshot *snapshot, struct lab *lab, enum lab_side side,
                      uint16_t server_port, struct error *error)
{
    size_t *count = &snapshot->connection_counts[side];
    if (!lab_segments_out(lab, side, &snapshot->segments_out[side], error) ||
        !connections_list(lab, side, server_port, snapshot->connections[side],
                          HARNESS_CONNECTION_LIMIT, count, error)) {
        return false;
    }
    return *count <= HARNESS_CONNECTION_LIMIT ||
           error_set(error, ERROR_LIMIT, 0, "%zu connections at once, more than the %d counted",
                     *count, HARNESS_CONNECTION_LIMIT);
}

bool harness_snapshot_take(struct harness_snapshot *snapshot, struct lab *lab, struct link *link,
                           uint16_t server_port, uint64_t limit_ns, int interrupt_fd,
                           struct error *error)
{
    *snapshot = (struct harness_snapshot){.segments_out = {0}};
    return link_await_still(link, link_still_ns(&link->config), limit_ns, interrupt_fd,
                            &snapshot->link, error) &&
           read_side(snapshot, lab, LAB_CLIENT, server_port, error) &&
           read_side(snapshot, lab, LAB_SERVER, server_port, error);
}

static const struct tcp_snapshot *find(const struct harness_snapshot *snapshot, size_t side,
                                       const struct connection *wanted)
{
    for (size_t i = 0; i < snapshot->connection_counts[side]; i++) {
        if (snapshot->connections[side][i].client_port == wanted->client_port) {
            return &snapshot->connections[side][i].tcp;
        }
    }
    return NULL;
}

static uint64_t growth(const struct tcp_snapshot *before, const struct tcp_snapshot *after,
                       enum tcp_field_id counter)
{
    uint64_t whole = 0;
    if (before != NULL) {
        return tcp_snapshot_growth(before, after, counter);
    }
    return tcp_snapshot_value(after, counter, &whole) ? whole : 0;
}

static void add_connection(struct harness_end *end, const struct tcp_snapshot *before,
                           const struct tcp_snapshot *after)
{
    uint64_t segment_bytes;
    if (end->connections++ == 0) {
        end->tcp = *after;
        if (tcp_snapshot_value(after, TCP_SEND_MSS, &segment_bytes)) {
            end->segment_bytes = (uint32_t)segment_bytes;
        }
    }
    end->bytes_sent += growth(before, after, TCP_BYTES_SENT);
    end->segments_out += growth(before, after, TCP_SEGMENTS_OUT);
    end->data_segments_out += growth(before, after, TCP_DATA_SEGMENTS_OUT);
    end->retransmits += growth(before, after, TCP_TOTAL_RETRANSMITS);
    end->busy_us += growth(before, after, TCP_BUSY_TIME);
    end->receive_window_us += growth(before, after, TCP_RECEIVE_WINDOW_LIMITED);
    end->send_buffer_us += growth(before, after, TCP_SEND_BUFFER_LIMITED);
}

void harness_snapshot_difference(const struct harness_snapshot *before,
                                 const struct harness_snapshot *after,
                                 struct harness_traffic *traffic)
{
    *traffic = (struct harness_traffic){.lost = {0}};
    for (size_t way = 0; way < LINK_WAYS; way++) {
        packet_counts_subtract(&traffic->ways[way], &after->link.ways[way],
                               &before->link.ways[way]);
        traffic->lost[way] = after->link.lost[way] - before->link.lost[way];
        traffic->dropped[way] = after->link.dropped[way] - before->link.dropped[way];
    }
    for (size_t side = 0; side < LAB_SIDES; side++) {
        traffic->segments_out[side] = after->segments_out[side] - before->segments_out[side];
        for (size_t i = 0; i < after->connection_counts[side]; i++) {
            const struct connection *connection = &after->connections[side][i];
            add_connection(&traffic->ends[side], find(before, side, connection), &connection->tcp);
        }
    }
}
