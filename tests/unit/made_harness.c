#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "harness/figures.h"
#include "made_harness.h"

#define HEADERS 66
#define MSS     1448

static void packets(struct packet_counts *counts, enum packet_kind kind, uint64_t count,
                    uint64_t payload)
{
    uint64_t size = HEADERS + payload;
    counts->packets += count;
    counts->bytes += count * size;
    counts->payload_bytes += count * payload;
    counts->kinds[kind] += count;
    counts->sizes[(size - 1) / PACKET_SIZE_STEP] += count;
}

static void end(struct harness_end *end, uint64_t busy_us, uint64_t window_us, uint64_t buffer_us)
{
    end->connections = 1;
    end->segment_bytes = MSS;
    end->busy_us = busy_us;
    end->receive_window_us = window_us;
    end->send_buffer_us = buffer_us;
}

static struct harness_run *add(struct harness_size *size, const char *test, uint32_t number,
                               bool warmup)
{
    struct error error;
    struct harness_run *run = harness_size_add_run(size, test, &error);
    check(run != NULL, "%s", error.message);
    run->number = number;
    run->warmup = warmup;
    run->counts.bytes = MIB;
    return run;
}

static void add_read(struct harness_size *size, uint32_t number, bool warmup)
{
    struct harness_run *run = add(size, "Read", number, warmup);
    struct packet_counts *tx = &run->traffic.ways[LINK_TO_SERVER];
    struct packet_counts *rx = &run->traffic.ways[LINK_TO_CLIENT];
    run->counts.requests[REQUEST_READ] = 1;
    run->counts.round_trips = 1;
    run->duration_ns = 20 * NS_PER_MS;
    packets(tx, PACKET_SHORT, 1, 40);
    packets(tx, PACKET_PURE_ACK, 10, 0);
    packets(rx, PACKET_FULL, 724, MSS);
    packets(rx, PACKET_SHORT, 1, 36);
    end(&run->traffic.ends[LAB_CLIENT], 1, 2, 3);
    end(&run->traffic.ends[LAB_SERVER], 18000, 4000, 500);
}

static void add_write(struct harness_size *size)
{
    struct harness_run *run = add(size, "Write", 1, false);
    struct packet_counts *tx = &run->traffic.ways[LINK_TO_SERVER];
    struct packet_counts *rx = &run->traffic.ways[LINK_TO_CLIENT];
    run->counts.requests[REQUEST_WRITE] = 1;
    run->counts.requests[REQUEST_FLUSH] = 1;
    run->counts.round_trips = 2;
    run->duration_ns = 25 * NS_PER_MS;
    packets(tx, PACKET_FULL, 724, MSS);
    packets(tx, PACKET_SHORT, 1, 36);
    packets(tx, PACKET_SHORT, 1, 24);
    packets(rx, PACKET_SHORT, 2, 16);
    packets(rx, PACKET_PURE_ACK, 8, 0);
    end(&run->traffic.ends[LAB_CLIENT], 20000, 1500, 250);
    end(&run->traffic.ends[LAB_SERVER], 7, 8, 9);
}

static void settings(struct lab_settings *settings)
{
    *settings = (struct lab_settings){.mtu = 1500,
                                      .congestion_control = "cubic",
                                      .receive_window_bytes = 8000000,
                                      .send_window_bytes = 4000000,
                                      .offloads = "tso gso"};
}

void made_harness(struct harness_result *result)
{
    struct error error;
    static const char *const arguments[] = {"afp_perftest", "RATE=1gbit"};
    *result = (struct harness_result){
        .name = "speed-1gbit-2ms",
        .suite = "speed",
        .rate = "1gbit",
        .delay = "2ms",
        .tests = "Read,Write",
        .jitter = "0",
        .loss = "0",
        .outstanding = 1,
        .iterations = 2,
        .warmups = 1,
        .started = "2026-11-30T10:00:00Z",
        .arguments = arguments,
        .argument_count = COUNT(arguments),
        .link = {.mtu = 1500},
        .backend = "emulator",
        .shaped = true,
        .counted = true,
        .link_conditions = "whole super-packets",
        .calibrated = true,
        .calibration = {.rtt_ns = 4100000,
                        .rtt_minimum_ns = 4050000,
                        .rtt_p99_ns = 4300000,
                        .goodput_bits_per_s = {941e6, 940e6},
                        .segment_bytes = MSS},
        .verdict = CALIBRATION_TRUE,
        .server = "refserver",
        .server_how = "afp_refserver",
        .server_version = "afpbench",
        .quantum_offered_bytes = 1048576,
        .test_program = "afp_speedtest",
        .test_program_marks = true,
        .complete = true,
    };
    for (size_t way = 0; way < LINK_WAYS; way++) {
        result->link.shapes[way] = (struct link_shape){
            .rate_bits_per_s = 1000000000, .delay_ns = 2 * NS_PER_MS, .queue_bytes = 5000000};
    }
    settings(&result->settings[LAB_CLIENT]);
    settings(&result->settings[LAB_SERVER]);
    struct harness_size *size = harness_result_add_size(result, MIB, &error);
    check(size != NULL, "%s", error.message);
    add_read(size, 1, true);
    add_read(size, 1, false);
    add_read(size, 2, false);
    add_write(size);
    for (size_t i = 0; i < size->case_count; i++) {
        for (size_t k = 0; k < size->cases[i].count; k++) {
            harness_traffic_add(&size->whole, &size->cases[i].runs[k].traffic);
        }
    }
    size->whole.segments_out[LAB_CLIENT] = 758;
    size->whole.segments_out[LAB_SERVER] = 2185;
    size->complete = true;
    harness_figures(result);
}
