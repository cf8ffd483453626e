#include "harness/plan.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "harness/invocation.h"

#include <inttypes.h>
#include <string.h>

/* What stands before a value in a dry run, and in a configuration's name; there NULL: it always
 * stands there, bare. */
static const struct {
    const char *key, *prefix;
} axes[HARNESS_AXES] = {
    [AXIS_RATE] = {"RATE", NULL},
    [AXIS_DELAY] = {"DELAY", NULL},
    [AXIS_MTU] = {"MTU", "mtu"},
    [AXIS_QUANTUM] = {"QUANTUM", "quantum"},
    [AXIS_READ_AHEAD] = {"READAHEAD", "readahead"},
    [AXIS_REQUESTS] = {"REQUESTS", "requests"},
};

/* ---- Combinations ---- */

static void name_configuration(struct harness_configuration *configuration,
                               const struct harness_settings *settings)
{
    int used = snprintf(configuration->name, sizeof configuration->name, "%s", settings->suite);
    for (size_t axis = 0; axis < HARNESS_AXES; axis++) {
        if (axes[axis].prefix == NULL || settings->axes[axis].count > 1) {
            used += snprintf(configuration->name + used, sizeof configuration->name - (size_t)used,
                             "-%s%s", axes[axis].prefix != NULL ? axes[axis].prefix : "",
                             configuration->values[axis]->text);
        }
    }
}

/* The last key changes fastest. */
static void make_configuration(struct harness_configuration *configuration,
                               const struct harness_settings *settings, size_t index)
{
    for (size_t axis = HARNESS_AXES; axis-- > 0;) {
        const struct harness_values *values = &settings->axes[axis];
        configuration->values[axis] = &values->items[index % values->count];
        index /= values->count;
    }
    name_configuration(configuration, settings);
}

/* The limit holds at each step: the product of the lists cannot overflow. */
bool harness_plan_make(struct harness_plan *plan, const struct harness_settings *settings,
                       struct error *error)
{
    size_t count = 1;
    for (size_t axis = 0; axis < HARNESS_AXES && count <= PLAN_LIMIT; axis++) {
        count *= settings->axes[axis].count;
    }
    *plan = (struct harness_plan){.count = 0};
    if (count > PLAN_LIMIT) {
        return error_set(error, ERROR_USAGE, 0,
                         "the lists make more than %d runs: leave out some values", PLAN_LIMIT);
    }
    plan->configurations = memory_allocate(count, sizeof *plan->configurations);
    if (plan->configurations == NULL) {
        return memory_error(error, "for the plan");
    }
    for (; plan->count < count; plan->count++) {
        make_configuration(&plan->configurations[plan->count], settings, plan->count);
    }
    return true;
}

void harness_plan_release(struct harness_plan *plan)
{
    for (size_t i = 0; plan->claims != NULL && i < plan->count; i++) {
        claim_give_back(&plan->claims[i]);
    }
    memory_release(plan->claims);
    memory_release(plan->configurations);
    *plan = (struct harness_plan){.count = 0};
}

struct link_config harness_link_config(const struct harness_settings *settings,
                                       const struct harness_configuration *configuration)
{
    struct link_config config = {.mtu = (uint32_t)configuration->values[AXIS_MTU]->number};
    uint64_t quantum = configuration->values[AXIS_QUANTUM]->number;
    for (size_t way = 0; settings->shaped && way < LINK_WAYS; way++) {
        config.shapes[way] = (struct link_shape){
            .rate_bits_per_s = configuration->values[AXIS_RATE]->number,
            .delay_ns = configuration->values[AXIS_DELAY]->number,
            .jitter_ns = settings->jitter_ns,
            .loss_ppm = settings->loss_ppm,
            .queue_bytes = link_queue_bytes(configuration->values[AXIS_RATE]->number,
                                            configuration->values[AXIS_DELAY]->number,
                                            quantum > 0 ? quantum : MIB,
                                            (uint32_t)configuration->values[AXIS_REQUESTS]->number),
        };
    }
    return config;
}

/* ---- Commands ---- */

void harness_place_fill(struct harness_place *place, const struct harness_settings *settings,
                        const struct server_under_test *server)
{
    const struct harness_elsewhere *elsewhere = &settings->elsewhere;
    *place = (struct harness_place){.host = LAB_SERVER_ADDRESS, .volume = "VOLUME", .user = ""};
    if (elsewhere->wanted) {
        snprintf(place->host, sizeof place->host, "%s", elsewhere->location.host);
        snprintf(place->port, sizeof place->port, "%u", (unsigned)elsewhere->location.port);
        place->volume = elsewhere->volume;
        place->user = elsewhere->user;
    } else if (server != NULL) {
        snprintf(place->port, sizeof place->port, "%u", (unsigned)server->port);
        place->volume = server->volume;
    } else {
        snprintf(place->port, sizeof place->port, "PORT");
    }
}

static void add(struct harness_command *command, const char *word)
{
    command->words[command->count++] = word;
    command->words[command->count] = NULL;
}

static void add_pair(struct harness_command *command, const char *option, const char *value)
{
    add(command, option);
    add(command, value);
}

/* As they are called by every test program, each once. */
static void name_tests(char text[64], const struct harness_settings *settings)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < settings->test_count; i++) {
        used += (size_t)snprintf(text + used, 64 - used, "%s%s", i > 0 ? "," : "",
                                 settings->tests[i]->facts->name);
    }
}

/* In MiB with all decimals where the number is finite in ten of them, so that every test program
 * reads it; else in bytes, which only ours does. */
static void name_size(char text[24], uint64_t size_bytes)
{
    if (size_bytes % KIB == 0) {
        snprintf(text, 24, "%.10g", (double)size_bytes / (double)MIB);
    } else {
        snprintf(text, 24, "%" PRIu64 "b", size_bytes);
    }
}

void harness_command_make(struct harness_command *command, const struct harness_settings *settings,
                          const struct harness_configuration *configuration, uint64_t size_bytes,
                          const struct harness_place *place)
{
    *command = (struct harness_command){.count = 0};
    name_size(command->size, size_bytes);
    name_tests(command->tests, settings);
    snprintf(command->iterations, sizeof command->iterations, "%" PRIu32, settings->iterations);
    snprintf(command->warmups, sizeof command->warmups, "%" PRIu32, settings->warmups);
    add(command, place->test_program);
    add(command, "-c");
    add(command, "-7");
    add_pair(command, "-z", command->size);
    add_pair(command, "-f", command->tests);
    add_pair(command, "-n", command->iterations);
    add_pair(command, "-W", command->warmups);
    add_pair(command, "-r", configuration->values[AXIS_REQUESTS]->text);
    add_pair(command, "-h", place->host);
    add_pair(command, "-p", place->port);
    add_pair(command, "-s", place->volume);
    add_pair(command, "-u", place->user);
    if (place->json_path != NULL) {
        add_pair(command, "--mark-fd", INVOCATION_MARK_FD_TEXT);
        add_pair(command, "-j", place->json_path);
    }
    for (size_t i = 0; i < settings->extra_flags.count; i++) {
        add(command, settings->extra_flags.list[i]);
    }
}

/* ---- Time ---- */

#define SECONDS_OF_A_RUN 6              /* lab, server, calibration */
#define TRIPS_OF_A_LOGIN 12             /* status, session, login, volume, directory, logout */
#define START_NS         (NS_PER_S / 5) /* of the test program */

/* A plan's largest time, so that those of all runs can be added up. In floating point before: a
 * plan may well ask for more than 64 bits of nanoseconds. */
#define LONGEST_NS (UINT64_MAX / (PLAN_LIMIT + 1))

static uint64_t whole_ns(double time_ns)
{
    return time_ns < (double)LONGEST_NS ? (uint64_t)time_ns : LONGEST_NS;
}

/* The lower bound of a run of one test. */
static double bound_ns(const struct harness_configuration *configuration,
                       const struct link_config *config, const struct speed_test *test,
                       uint64_t size_bytes)
{
    const struct link_shape *shape = &config->shapes[LINK_TO_SERVER];
    uint64_t quantum = configuration->values[AXIS_QUANTUM]->number;
    uint64_t depth = configuration->values[AXIS_REQUESTS]->number;
    uint64_t chunk = quantum > 0 ? quantum : MIB;
    uint64_t chunks = (size_bytes + chunk - 1) / chunk;
    uint64_t requests = test->has_source && test->has_destination ? 2 * chunks : chunks + 1;
    if (test->facts->data == DATA_STAYS) {
        requests = 1;
    }
    double line_ns = 0;
    if (shape->rate_bits_per_s > 0) {
        double payload = link_capacity_bits_per_s(shape->rate_bits_per_s, config->mtu,
                                                  config->mtu - LINK_SEGMENT_HEADERS);
        line_ns = (double)size_bytes * 8 / payload * (double)NS_PER_S;
    }
    return (double)((requests + depth - 1) / depth) * 2 * (double)shape->delay_ns +
           (test->facts->data == DATA_STAYS ? 0 : line_ns);
}

static double size_ns(const struct harness_settings *settings,
                      const struct harness_configuration *configuration, uint64_t size_bytes)
{
    struct link_config config = harness_link_config(settings, configuration);
    double still_ns = settings->elsewhere.wanted ? 0 : (double)link_still_ns(&config);
    double runs = (double)settings->warmups + settings->iterations;
    double delay_ns = (double)config.shapes[LINK_TO_SERVER].delay_ns;
    double sum = (double)START_NS + TRIPS_OF_A_LOGIN * 2 * delay_ns + 2 * still_ns;
    for (size_t i = 0; i < settings->test_count; i++) {
        const struct speed_test *test = settings->tests[i];
        double fills = test->has_source ? 1 : 0;
        sum +=
            (runs + fills) * bound_ns(configuration, &config, test, size_bytes) + runs * still_ns;
    }
    return sum;
}

uint64_t harness_estimate_size_ns(const struct harness_settings *settings,
                                  const struct harness_configuration *configuration,
                                  uint64_t size_bytes)
{
    return whole_ns(size_ns(settings, configuration, size_bytes));
}

uint64_t harness_estimate_ns(const struct harness_settings *settings,
                             const struct harness_configuration *configuration)
{
    double sum = SECONDS_OF_A_RUN * (double)NS_PER_S;
    for (size_t i = 0; i < settings->size_count; i++) {
        sum += size_ns(settings, configuration, settings->sizes[i]);
    }
    return whole_ns(sum);
}

/* ---- Printing ---- */

static void print_command(FILE *out, const struct harness_command *command)
{
    fputs("   ", out);
    for (size_t i = 0; i < command->count; i++) {
        fputc(' ', out);
        words_write_quoted(out, command->words[i]);
    }
    fputc('\n', out);
}

static void print_values(FILE *out, const struct harness_configuration *configuration)
{
    for (size_t axis = 0; axis < HARNESS_AXES; axis++) {
        const char *text = configuration->values[axis]->text;
        fprintf(out, "%s%s=%s", axis > 0 ? " " : "", axes[axis].key,
                text[0] != '\0' ? text : "the-server's");
    }
    fputc('\n', out);
}

static void print_time(FILE *out, const char *what, uint64_t time_ns)
{
    uint64_t seconds = (time_ns + NS_PER_S - 1) / NS_PER_S;
    fprintf(out, "%s at least %" PRIu64 " min %" PRIu64 " s\n", what, seconds / 60, seconds % 60);
}

void harness_plan_print(FILE *out, const struct harness_plan *plan,
                        const struct harness_settings *settings, const struct harness_place *place)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct harness_configuration *configuration = &plan->configurations[i];
        uint64_t time_ns = harness_estimate_ns(settings, configuration);
        fprintf(out, "%s: ", configuration->name);
        print_values(out, configuration);
        for (size_t k = 0; k < settings->size_count; k++) {
            struct harness_command command;
            harness_command_make(&command, settings, configuration, settings->sizes[k], place);
            print_command(out, &command);
        }
        print_time(out, "   ", time_ns);
        sum_ns += time_ns;
    }
    print_time(out, "all runs:", sum_ns);
}
