/* link_bench RATE DELAY MTU: what the emulated link is, by the calibration's probes: one line of a
 * table (benchmarks/link). */
#include "netlab/calibration.h"
#include "netlab/lab.h"
#include "netlab/link.h"
#include "netlab/supervisor.h"

#include "base/clock.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

struct bench {
    char **words;
    struct lab lab;
    struct link link;
    struct lab_config lab_config;
    struct link_config config;
};

static bool take_words(struct bench *bench, struct error *error)
{
    struct link_shape *shape = &bench->config.shapes[LINK_TO_SERVER];
    uint64_t mtu;
    if (!link_parse_rate(bench->words[0], "RATE", &shape->rate_bits_per_s, error) ||
        !link_parse_time(bench->words[1], "DELAY", &shape->delay_ns, error) ||
        !parse_unsigned(bench->words[2], "MTU", 576, 65535, &mtu, error)) {
        return false;
    }
    shape->queue_bytes = link_queue_bytes(shape->rate_bits_per_s, shape->delay_ns, MIB, 1);
    bench->config.shapes[LINK_TO_CLIENT] = *shape;
    bench->config.mtu = (uint32_t)mtu;
    bench->lab_config =
        (struct lab_config){(uint32_t)mtu, shape->rate_bits_per_s, shape->delay_ns, NULL};
    return true;
}

static void print_row(struct bench *bench, const struct calibration *calibration)
{
    static struct histogram lateness;
    const struct link_shape *shape = &bench->config.shapes[LINK_TO_SERVER];
    double possible = link_capacity_bits_per_s(shape->rate_bits_per_s, bench->config.mtu,
                                               calibration->segment_bytes);
    bench->link.backend->lateness(&bench->link, &lateness);
    printf("| %s | %s | %s | %.4f | %.4f | %.4f | %.4f | %.3f | %.1f | %.1f | %" PRIu64 " |\n",
           bench->words[0], bench->words[1], bench->words[2], possible / 1e9,
           calibration->goodput_bits_per_s[LINK_TO_SERVER] / 1e9,
           calibration->goodput_bits_per_s[LINK_TO_CLIENT] / 1e9,
           calibration->goodput_bits_per_s[LINK_TO_SERVER] / possible,
           (double)calibration->rtt_ns / 1e6, (double)histogram_percentile(&lateness, 0.5) / 1e3,
           (double)histogram_percentile(&lateness, 0.99) / 1e3, calibration->dropped);
}

static int inside(const struct supervisor *supervisor, void *context)
{
    (void)supervisor;
    struct bench *bench = context;
    struct calibration calibration;
    struct error error;
    bool done = take_words(bench, &error) && lab_up(&bench->lab, &bench->lab_config, &error) &&
                link_up(&bench->link, &link_emulator, &bench->config, &bench->lab, &error) &&
                lab_connect(&bench->lab, &bench->lab_config, &error) &&
                calibration_measure(&calibration, &bench->lab, &bench->link, -1, &error);
    if (!done) {
        fprintf(stderr, "link_bench: %s\n", error.message);
        return EXIT_CANNOT_RUN;
    }
    print_row(bench, &calibration);
    if (calibration_judge(&calibration, &bench->config, &error) != CALIBRATION_TRUE) {
        fprintf(stderr, "link_bench: %s\n", error.message);
    }
    link_down(&bench->link);
    lab_down(&bench->lab);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct bench bench = {.words = argv + 1};
    struct error error;
    int status = EXIT_CANNOT_RUN;
    if (argc != 4) {
        fprintf(stderr, "usage: link_bench RATE DELAY MTU\n");
        return EXIT_USAGE;
    }
    if (!supervisor_run(inside, &bench, &status, &error)) {
        fprintf(stderr, "link_bench: %s\n", error.message);
    }
    return status;
}
