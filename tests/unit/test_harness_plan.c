/* tools/harness_settings and harness_plan: keys from everywhere, combinations, names, commands.
 */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "harness/plan.h"

#include <stdio.h>

static struct harness_settings settings;
static enum options_outcome outcome;
static struct error error;

/* Words separated by blanks, as a shell would split them. */
static bool parse(const char *line)
{
    struct words words;
    char *arguments[WORD_LIMIT + 2] = {"afp_perftest"};
    static struct words kept; /* the settings point into it */
    words_release(&kept);
    harness_settings_release(&settings);
    check(words_split(&words, line, "the test", &error), "%s", error.message);
    memcpy(arguments + 1, words.list, (words.count + 1) * sizeof *arguments);
    kept = words;
    return harness_settings_parse(&settings, (int)words.count + 1, arguments, &outcome, &error);
}

static void must_parse(const char *line)
{
    check(parse(line), "%s: %s", line, error.message);
}

static int clean_environment(void **state)
{
    for (size_t i = 0; i < harness_key_count; i++) {
        unsetenv(harness_keys[i].name);
    }
    return 0;
}

static int release(void **state)
{
    parse("--help=x"); /* lets the last line go */
    harness_settings_release(&settings);
    return clean_environment(state);
}

/* ---- Settings ---- */

static void defaults(void **state)
{
    must_parse("");
    assert_string_equal(settings.axes[AXIS_RATE].items[0].text, "10gbit");
    assert_int_equal(settings.axes[AXIS_RATE].items[0].number, UINT64_C(10000000000));
    assert_int_equal(settings.axes[AXIS_DELAY].items[0].number, 2 * NS_PER_MS);
    assert_int_equal(settings.axes[AXIS_MTU].items[0].number, 1500);
    assert_int_equal(settings.axes[AXIS_QUANTUM].items[0].number, 0);
    assert_int_equal(settings.axes[AXIS_READ_AHEAD].items[0].number, 0);
    assert_int_equal(settings.axes[AXIS_REQUESTS].items[0].number, 1);
    assert_int_equal(settings.jitter_ns, 0);
    assert_int_equal(settings.loss_ppm, 0);
    assert_int_equal(settings.iterations, 5);
    assert_int_equal(settings.warmups, 1);
    assert_int_equal(settings.size_count, 17);
    assert_int_equal(settings.sizes[0], 4 * KIB);
    assert_int_equal(settings.sizes[16], 256 * MIB);
    assert_int_equal(settings.test_count, 3);
    assert_string_equal(settings.tests[0]->facts->name, "Read");
    assert_string_equal(settings.tests[2]->facts->name, "Copy");
    assert_null(settings.server);
    assert_null(settings.link);
    assert_true(settings.shaped);
    assert_string_equal(settings.congestion_control, "cubic");
    assert_null(settings.test_program);
    assert_string_equal(settings.output_directory, "perftest-results");
    assert_false(settings.strict || settings.force || settings.dry_run);
}

static void every_way_to_give_a_key(void **state)
{
    static const char *const lines[] = {"RATE=1gbit", "--rate 1gbit", "--rate=1gbit",
                                        "RATE=5gbit RATE=1gbit", "--rate 5gbit --rate 1gbit"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        must_parse(lines[i]);
        assert_string_equal(settings.axes[AXIS_RATE].items[0].text, "1gbit");
    }
    setenv("RATE", "2gbit", 1);
    must_parse("");
    assert_string_equal(settings.axes[AXIS_RATE].items[0].text, "2gbit");
    must_parse("RATE=1gbit");
    assert_string_equal(settings.axes[AXIS_RATE].items[0].text, "1gbit");
    /* not read where an argument goes before it */
    setenv("RATE", "gcc", 1);
    must_parse("RATE=1gbit");
    assert_false(parse(""));
    check_error(&error, ERROR_USAGE, "from the environment: RATE 'gcc'");
    clean_environment(NULL);
    must_parse("NETATALK_ROOT=/a --force --dry-run");
    assert_string_equal(settings.netatalk_root, "/a");
    assert_true(settings.force && settings.dry_run);
    must_parse("--netatalk-root /b");
    assert_string_equal(settings.netatalk_root, "/b");
}

static void values(void **state)
{
    must_parse("RATE=100mbit,1gbit DELAY=500us,1ms,20ms MTU=9000 QUANTUM=1M,1049764 REQUESTS=4 "
               "JITTER=100us LOSS=0.1% ITER=3 WARMUP=0 SWEEP=4k,1M OPS=write,Read SERVER=refserver "
               "LINK=emulator CC=cubic OUTDIR=out STRICT=1 EXTRA_FLAGS=\"-y --sink 'copy'\"");
    assert_int_equal(settings.axes[AXIS_DELAY].count, 3);
    assert_int_equal(settings.axes[AXIS_DELAY].items[2].number, 20 * NS_PER_MS);
    assert_int_equal(settings.axes[AXIS_QUANTUM].items[0].number, MIB);
    assert_int_equal(settings.axes[AXIS_QUANTUM].items[1].number, 1049764);
    assert_int_equal(settings.jitter_ns, 100 * NS_PER_US);
    assert_int_equal(settings.loss_ppm, 1000);
    assert_int_equal(settings.warmups, 0);
    assert_int_equal(settings.size_count, 2);
    assert_string_equal(settings.tests[0]->facts->name, "Write");
    assert_ptr_equal(settings.server, &server_refserver);
    assert_ptr_equal(settings.link, &link_emulator);
    assert_string_equal(settings.congestion_control, "cubic");
    assert_int_equal(settings.extra_flags.count, 3);
    assert_string_equal(settings.extra_flags.list[2], "copy");
    assert_int_equal(harness_largest_size(&settings), MIB);
    must_parse("CC=kernel");
    assert_null(settings.congestion_control);
    must_parse("QUANTUM= CC= ITER="); /* an empty value is none */
    assert_string_equal(settings.congestion_control, "cubic");
    assert_int_equal(settings.axes[AXIS_QUANTUM].items[0].number, 0);
    assert_int_equal(settings.iterations, 5);
}

static void without_a_shape(void **state)
{
    must_parse("LINK=none");
    assert_false(settings.shaped);
    assert_string_equal(settings.axes[AXIS_RATE].items[0].text, "unshaped");
    assert_int_equal(settings.axes[AXIS_RATE].items[0].number, 0);
    assert_false(parse("LINK=none DELAY=2ms"));
    check_error(&error, ERROR_USAGE, "LINK=none has no shape: leave out DELAY");
}

static void refused(void **state)
{
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"stray", "stray word 'stray'"},
        {"rate=1gbit", "unknown key 'rate'"},
        {"SPEED=1gbit", "unknown key 'SPEED'"},
        {"=1", "unknown key ''"},
        {"--speed 1gbit", "--speed"},
        {"RATE=fast", "RATE 'fast'"},
        {"RATE=1gbit,", "RATE ''"},
        {"RATE=0", "RATE '0'"},
        {"RATE=1gbit,1000mbit", "RATE: '1000mbit' is there twice"},
        {"DELAY=11s", "DELAY '11s'"},
        {"DELAY=2", "DELAY '2' is not a time without its unit: is 2ms meant?"},
        {"JITTER=0.5", "JITTER '0.5' is not a time without its unit: is 0.5ms meant?"},
        {"LOSS=1", "LOSS '1' is not a share without its unit: is 1% meant?"},
        {"delay=2ms", "unknown key 'delay': it is written DELAY"},
        {"MTU=575", "MTU '575'"},
        {"MTU=1500x", "MTU '1500x'"},
        {"QUANTUM=0", "QUANTUM '0'"},
        {"QUANTUM=5G", "QUANTUM '5G'"},
        {"READAHEAD=0", "READAHEAD '0'"},
        {"REQUESTS=0", "REQUESTS '0'"},
        {"ITER=0", "ITER '0'"},
        {"ITER=2.5", "ITER '2.5'"},
        {"WARMUP=-1", "WARMUP '-1'"},
        {"SWEEP=4k,junk", "SWEEP 'junk'"},
        {"OPS=Read,Erase", "OPS: 'Erase' is no test"},
        {"OPS=Read,read", "OPS: Read is there twice"},
        {"SERVER=samba", "SERVER 'samba' is none of"},
        {"LINK=wet", "LINK 'wet' is none of"},
        {"LOSS=101%", "LOSS '101%'"},
        {"JITTER=3ms", "JITTER 3ms is more than DELAY 2ms"},
        {"DELAY=5ms,1ms JITTER=2ms", "JITTER 2ms is more than DELAY 1ms"},
        {"LINK=host VOLUME=x USER=me", "LINK=host needs the server's HOST"},
        {"LINK=host HOST=x USER=me", "LINK=host needs a VOLUME"},
        {"LINK=host HOST=x VOLUME=x", "LINK=host needs a USER"},
        {"LINK=host HOST=x VOLUME=x USER= RATE=1gbit", "LINK=host is a server as it is"},
        {"HOST=x", "only LINK=host has a server elsewhere: leave out HOST"},
        {"STRICT=2", "STRICT '2'"},
        {"STRICT=yes", "STRICT 'yes'"},
        {"EXTRA_FLAGS=\"'-y\"", "EXTRA_FLAGS: a quote is not closed"},
        {"EXTRA_FLAGS='-y -n 2'", "EXTRA_FLAGS: --iterations is set with ITER"},
        {"EXTRA_FLAGS=-vyn2", "EXTRA_FLAGS: --iterations is set with ITER"},
        {"EXTRA_FLAGS=--iter=2", "EXTRA_FLAGS: --iterations is set with ITER"},
        {"EXTRA_FLAGS='-z 8k'", "EXTRA_FLAGS: --sweep is set with SWEEP"},
        {"EXTRA_FLAGS='-d 8'", "EXTRA_FLAGS: --size is set with SWEEP"},
        {"EXTRA_FLAGS='-W 8'", "EXTRA_FLAGS: --warmups is set with WARMUP"},
        {"EXTRA_FLAGS='-f Read'", "EXTRA_FLAGS: --tests is set with OPS"},
        {"EXTRA_FLAGS='-Tr 8'", "EXTRA_FLAGS: --requests is set with REQUESTS"},
        {"EXTRA_FLAGS='-w secret'", "EXTRA_FLAGS: --password is not for this program"},
        {"EXTRA_FLAGS=--refserver", "EXTRA_FLAGS: --refserver is not for this program"},
        {"SWEEP=4k,1M,4096b", "SWEEP: 4096 bytes are there twice"},
        {"SUITE=lan", "SUITE=lan is not available yet"},
        {"SUITE=both", "SUITE=both is not available yet"},
        {"SUITE=speedy", "SUITE 'speedy' is none of"},
        {"BASELINE=old", "BASELINE is not available yet"},
        {"AB QUANTUM=1M", "AB is not available yet"},
        {"READAHEAD=12 SERVER=refserver", "READAHEAD is afpd's: refserver has none"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(!parse(rows[i].line), "taken: %s", rows[i].line);
        check_error(&error, ERROR_USAGE, rows[i].message);
    }
    assert_false(parse("LINK=netem"));
    check_error(&error, ERROR_LIMIT, "this back end is not there yet");
}

/* ---- The plan ---- */

static void combinations_and_names(void **state)
{
    static const struct {
        const char *line;
        const char *names[9];
    } rows[] = {
        {"", {"speed-10gbit-2ms"}},
        {"RATE=1gbit,100mbit DELAY=1ms,20ms",
         {"speed-1gbit-1ms", "speed-1gbit-20ms", "speed-100mbit-1ms", "speed-100mbit-20ms"}},
        {"MTU=1500,9000 QUANTUM=64k,1M",
         {"speed-10gbit-2ms-mtu1500-quantum64k", "speed-10gbit-2ms-mtu1500-quantum1M",
          "speed-10gbit-2ms-mtu9000-quantum64k", "speed-10gbit-2ms-mtu9000-quantum1M"}},
        {"MTU=9000 QUANTUM=1M READAHEAD=64", {"speed-10gbit-2ms"}}, /* not swept */
        {"READAHEAD=12,64 REQUESTS=1,4",
         {"speed-10gbit-2ms-readahead12-requests1", "speed-10gbit-2ms-readahead12-requests4",
          "speed-10gbit-2ms-readahead64-requests1", "speed-10gbit-2ms-readahead64-requests4"}},
        {"LINK=none REQUESTS=1,2",
         {"speed-unshaped-0ms-requests1", "speed-unshaped-0ms-requests2"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct harness_plan plan;
        must_parse(rows[i].line);
        assert_true(harness_plan_make(&plan, &settings, &error));
        size_t count = 0;
        for (; rows[i].names[count] != NULL; count++) {
            assert_true(count < plan.count);
            assert_string_equal(plan.configurations[count].name, rows[i].names[count]);
        }
        assert_int_equal(plan.count, count);
        harness_plan_release(&plan);
    }
}

static void too_many_combinations(void **state)
{
    char line[600] = "RATE=1gbit";
    for (unsigned i = 2; i <= 32; i++) {
        snprintf(line + strlen(line), sizeof line - strlen(line), ",%ugbit", i);
    }
    strcat(line, " DELAY=1ms");
    for (unsigned i = 2; i <= 32; i++) {
        snprintf(line + strlen(line), sizeof line - strlen(line), ",%ums", i);
    }
    struct harness_plan plan;
    must_parse(line);
    assert_true(harness_plan_make(&plan, &settings, &error));
    assert_int_equal(plan.count, 1024);
    harness_plan_release(&plan);
    strcat(line, " MTU=1500,9000");
    must_parse(line);
    assert_false(harness_plan_make(&plan, &settings, &error));
    check_error(&error, ERROR_USAGE, "more than 1024 runs");
    harness_plan_release(&plan);
}

static void the_shape_of_a_run(void **state)
{
    struct harness_plan plan;
    must_parse("RATE=1gbit DELAY=1ms,2ms MTU=9000 LOSS=1% JITTER=1ms QUANTUM=2M REQUESTS=4");
    assert_true(harness_plan_make(&plan, &settings, &error));
    struct link_config config = harness_link_config(&settings, &plan.configurations[1]);
    assert_int_equal(config.mtu, 9000);
    for (size_t way = 0; way < LINK_WAYS; way++) {
        assert_int_equal(config.shapes[way].rate_bits_per_s, 1000000000);
        assert_int_equal(config.shapes[way].delay_ns, 2 * NS_PER_MS);
        assert_int_equal(config.shapes[way].jitter_ns, NS_PER_MS);
        assert_int_equal(config.shapes[way].loss_ppm, 10000);
        assert_true(config.shapes[way].queue_bytes >= 8 * MIB); /* 4 quanta at the least */
    }
    harness_plan_release(&plan);
    must_parse("LINK=none");
    assert_true(harness_plan_make(&plan, &settings, &error));
    config = harness_link_config(&settings, &plan.configurations[0]);
    assert_int_equal(config.shapes[0].rate_bits_per_s, 0);
    assert_int_equal(config.shapes[0].delay_ns, 0);
    assert_int_equal(config.shapes[0].queue_bytes, 0);
    harness_plan_release(&plan);
}

/* ---- Commands and time ---- */

static const struct harness_place here = {.test_program = "tool",
                                          .host = "10.99.0.1",
                                          .port = "548",
                                          .volume = "bench",
                                          .user = "",
                                          .json_path = "out/x.json"};

static void check_command(const char *line, uint64_t size_bytes, const struct harness_place *place,
                          const char *expected)
{
    struct harness_plan plan;
    struct harness_command command;
    char text[500] = "";
    must_parse(line);
    assert_true(harness_plan_make(&plan, &settings, &error));
    harness_command_make(&command, &settings, &plan.configurations[0], size_bytes, place);
    for (size_t i = 0; i < command.count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s[%s]", i > 0 ? " " : "", command.words[i]);
    }
    assert_null(command.words[command.count]);
    assert_string_equal(text, expected);
    harness_plan_release(&plan);
}

static void commands(void **state)
{
    check_command("", 4096, &here,
                  "[tool] [-c] [-7] [-z] [0.00390625] [-f] [Read,Write,Copy] [-n] [5] [-W] [1] "
                  "[-r] [1] [-h] [10.99.0.1] [-p] [548] [-s] [bench] [-u] [] [--mark-fd] [3] [-j] "
                  "[out/x.json]");
    struct harness_place foreign = here;
    foreign.json_path = NULL;
    check_command("OPS=write ITER=2 WARMUP=0 REQUESTS=4 EXTRA_FLAGS=\"-q512 -y 'a b'\"", 1000,
                  &foreign,
                  "[tool] [-c] [-7] [-z] [1000b] [-f] [Write] [-n] [2] [-W] [0] [-r] [4] [-h] "
                  "[10.99.0.1] [-p] [548] [-s] [bench] [-u] [] [-q512] [-y] [a b]");
    check_command("", 256 * MIB, &foreign,
                  "[tool] [-c] [-7] [-z] [256] [-f] [Read,Write,Copy] [-n] [5] [-W] [1] [-r] [1] "
                  "[-h] [10.99.0.1] [-p] [548] [-s] [bench] [-u] []");
}

static void the_command_for_a_server_elsewhere(void **state)
{
    struct harness_place place;
    must_parse("LINK=host HOST=afp://me@nas.example:5480/Data");
    harness_place_fill(&place, &settings, NULL);
    place.test_program = "tool";
    check_command("LINK=host HOST=afp://me@nas.example:5480/Data SWEEP=1M OPS=Read", MIB, &place,
                  "[tool] [-c] [-7] [-z] [1] [-f] [Read] [-n] [5] [-W] [1] [-r] [1] "
                  "[-h] [nas.example] [-p] [5480] [-s] [Data] [-u] [me]");
}

/* The environment's USER and HOST are everywhere, and mean nothing without LINK=host. */
static void a_server_elsewhere(void **state)
{
    setenv("USER", "somebody", 1);
    setenv("HOST", "this.machine", 1);
    must_parse("");
    assert_false(settings.elsewhere.wanted);
    must_parse("LINK=host VOLUME=Data");
    assert_string_equal(settings.elsewhere.user, "somebody");
    assert_string_equal(settings.elsewhere.location.host, "this.machine");
    assert_int_equal(settings.elsewhere.location.port, 548);
    must_parse("LINK=host HOST=afp://me@nas/Data");
    assert_string_equal(settings.elsewhere.user, "me");
    assert_string_equal(settings.elsewhere.volume, "Data");
    must_parse("LINK=host HOST=afp://me@nas/Data USER=you VOLUME=More PORT=5");
    assert_string_equal(settings.elsewhere.user, "you");
    assert_string_equal(settings.elsewhere.volume, "More");
    assert_int_equal(settings.elsewhere.location.port, 5);
    must_parse("LINK=host HOST=afp://me@nas/Data USER=");
    assert_string_equal(settings.elsewhere.user, "");
    clean_environment(NULL);
}

static void estimates(void **state)
{
    struct harness_plan plan;
    must_parse("RATE=100mbit DELAY=500ms SWEEP=1M OPS=Write ITER=2 WARMUP=0");
    assert_true(harness_plan_make(&plan, &settings, &error));
    uint64_t slow_ns = harness_estimate_ns(&settings, &plan.configurations[0]);
    /* each of 2 runs: a write and a flush are 2 round trips of 1 s, still for 2 s; a login of a
     * dozen; still before and after */
    assert_true(slow_ns > (2 * (2 + 2) + 12 + 4) * NS_PER_S);
    assert_true(slow_ns < 60 * NS_PER_S);
    harness_plan_release(&plan);
    must_parse("RATE=100mbit DELAY=500ms SWEEP=1M OPS=Write ITER=4 WARMUP=0");
    assert_true(harness_plan_make(&plan, &settings, &error));
    uint64_t more_ns = harness_estimate_ns(&settings, &plan.configurations[0]);
    assert_true(more_ns >= slow_ns + 2 * 4 * NS_PER_S);
    harness_plan_release(&plan);
    /* 512 MiB at 1 kbit/s take 50 days, a million of them more than 64 bits of nanoseconds hold:
     * no less than one of them may be told, and the times of all runs can be added up */
    must_parse("RATE=1kbit SWEEP=512M OPS=Write ITER=1000000");
    assert_true(harness_plan_make(&plan, &settings, &error));
    uint64_t longest_ns = harness_estimate_ns(&settings, &plan.configurations[0]);
    assert_true(longest_ns > UINT64_C(50) * 86400 * NS_PER_S);
    assert_true(longest_ns < UINT64_MAX / PLAN_LIMIT);
    harness_plan_release(&plan);
}

static void the_plan_in_print(void **state)
{
    struct harness_plan plan;
    char *text = NULL;
    size_t size;
    must_parse("RATE=1gbit DELAY=1ms SWEEP=4k ITER=1 OPS=Read");
    assert_true(harness_plan_make(&plan, &settings, &error));
    FILE *out = open_memstream(&text, &size);
    harness_plan_print(out, &plan, &settings, &here);
    fclose(out);
    static const char expected[] =
        "speed-1gbit-1ms: RATE=1gbit DELAY=1ms MTU=1500 QUANTUM=the-server's "
        "READAHEAD=the-server's REQUESTS=1\n"
        "    tool -c -7 -z 0.00390625 -f Read -n 1 -W 1 -r 1 -h 10.99.0.1 -p 548 -s bench -u '' "
        "--mark-fd 3 -j out/x.json\n"
        "    at least 0 min ";
    check(strncmp(text, expected, sizeof expected - 1) == 0, "%s", text);
    free(text);
    harness_plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(every_way_to_give_a_key),
        cmocka_unit_test(values),
        cmocka_unit_test(without_a_shape),
        cmocka_unit_test(refused),
        cmocka_unit_test(combinations_and_names),
        cmocka_unit_test(too_many_combinations),
        cmocka_unit_test(the_shape_of_a_run),
        cmocka_unit_test(commands),
        cmocka_unit_test(the_command_for_a_server_elsewhere),
        cmocka_unit_test(a_server_elsewhere),
        cmocka_unit_test(estimates),
        cmocka_unit_test(the_plan_in_print),
    };
    return cmocka_run_group_tests(tests, clean_environment, release);
}
