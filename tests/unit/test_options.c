/* tools/options and the command line of afp_speedtest: values, ranges, combinations, passwords. */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "speedtest/settings.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define ARGUMENTS 24

/* A command line in memory of its own, as the system gives it: "word word", '' is an empty word. */
struct command_line {
    char text[1200];
    int count;
    char *words[ARGUMENTS + 1];
};

static void split(struct command_line *line, const char *text)
{
    *line = (struct command_line){.count = 1, .words = {"program"}};
    snprintf(line->text, sizeof line->text, "%s", text);
    for (char *word = strtok(line->text, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(line->count < ARGUMENTS);
        if (strcmp(word, "''") == 0) {
            word[0] = '\0';
        }
        line->words[line->count++] = word;
    }
}

static void check_message(const struct error *error, const char *arguments, const char *message)
{
    check(error->domain == ERROR_USAGE && strstr(error->message, message) != NULL &&
              strchr(error->message, '\n') == NULL,
          "'%s': %s", arguments, error->message);
}

/* ---- The table ---- */

struct small_settings {
    bool flag, other_flag;
    const char *text;
    uint32_t number;
    uint64_t size;
    const char *called; /* "none" without an argument */
};

static bool take(void *settings, const struct option_row *row, const char *value,
                 struct error *error)
{
    ((struct small_settings *)settings)->called = value != NULL ? value : "none";
    return value == NULL || strcmp(value, "bad") != 0 ||
           error_set(error, ERROR_USAGE, 0, "--%s does not like 'bad'", row->name);
}

#define FIELD(name) .offset = offsetof(struct small_settings, name)

static const struct option_row small_rows[] = {
    {.letter = 'f', .name = "flag", .help = "", .kind = OPTION_FLAG, FIELD(flag)},
    {.letter = 'o', .help = "", .kind = OPTION_FLAG, FIELD(other_flag)},
    {.letter = 't', .name = "text", .argument = "T", .help = "", .kind = OPTION_TEXT, FIELD(text)},
    {.letter = 'n',
     .name = "number",
     .argument = "N",
     .help = "",
     .kind = OPTION_NUMBER,
     FIELD(number),
     .minimum = 1,
     .maximum = 100},
    {.letter = 'd',
     .name = "size",
     .argument = "S",
     .help = "",
     .kind = OPTION_SIZE,
     FIELD(size),
     .minimum = 1,
     .maximum = 2 * MIB,
     .unit = KIB},
    {.name = "call", .argument = "[C]", .help = "", .kind = OPTION_CALL, .call = take},
    {.name = "only-long",
     .argument = "N",
     .help = "",
     .kind = OPTION_NUMBER,
     FIELD(number),
     .minimum = 5,
     .maximum = 6},
};

static const struct option_program small_program = {.name = "small",
                                                    .purpose = "test",
                                                    .usage = "",
                                                    .rows = small_rows,
                                                    .count = COUNT(small_rows)};

static bool parse_small(const char *arguments, struct small_settings *settings,
                        struct command_line *line, struct error *error)
{
    enum options_outcome outcome = OPTIONS_PRINTED;
    *settings = (struct small_settings){.text = "-", .called = "-"};
    split(line, arguments);
    bool ok = options_parse(&small_program, line->count, line->words, settings, &outcome, error);
    assert_int_equal(outcome, OPTIONS_RUN);
    return ok;
}

static void values(void **state)
{
    static const struct {
        const char *arguments;
        struct small_settings settings;
    } rows[] = {
        {"", {false, false, "-", 0, 0, "-"}},
        {"-f", {true, false, "-", 0, 0, "-"}},
        {"-fo", {true, true, "-", 0, 0, "-"}},
        {"--flag -o", {true, true, "-", 0, 0, "-"}},
        {"-t x -n 100 -d 1.5k", {false, false, "x", 100, 1536, "-"}},
        {"-tx -n1 -d2M", {false, false, "x", 1, 2097152, "-"}},
        {"--text=x --number=7 --size=1", {false, false, "x", 7, 1024, "-"}},
        {"--text x --number 7", {false, false, "x", 7, 0, "-"}},
        {"-t '' -t -f", {false, false, "-f", 0, 0, "-"}},
        {"-n 1 -n 2", {false, false, "-", 2, 0, "-"}},
        {"--call", {false, false, "-", 0, 0, "none"}},
        {"--call=x", {false, false, "-", 0, 0, "x"}},
        {"--only-long 6", {false, false, "-", 6, 0, "-"}},
        {"-f --", {true, false, "-", 0, 0, "-"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct command_line line;
        struct small_settings settings;
        struct error error;
        check(parse_small(rows[i].arguments, &settings, &line, &error), "'%s': %s",
              rows[i].arguments, error.message);
        assert_int_equal(settings.flag, rows[i].settings.flag);
        assert_int_equal(settings.other_flag, rows[i].settings.other_flag);
        assert_string_equal(settings.text, rows[i].settings.text);
        check(settings.number == rows[i].settings.number, "'%s'", rows[i].arguments);
        check(settings.size == rows[i].settings.size, "'%s'", rows[i].arguments);
        assert_string_equal(settings.called, rows[i].settings.called);
    }
}

static void errors_name_option_and_range(void **state)
{
    static const struct {
        const char *arguments;
        const char *message;
    } rows[] = {
        {"-n 0", "-n '0' is not a whole number from 1 to 100"},
        {"-n 101", "-n '101' is not"},
        {"-n -1", "-n '-1' is not"},
        {"-n 1x", "-n '1x' is not"},
        {"-n ''", "-n '' is not"},
        {"--number 99999999999999999999", "-n '99999999999999999999' is not"},
        {"-d 0", "-d '0' is not a size from 1 byte to 2 MiB"},
        {"-d 3M", "-d '3M' is not"},
        {"-d x", "-d 'x' is not"},
        {"--only-long 7", "--only-long '7' is not a whole number from 5 to 6"},
        {"--call=bad", "--call does not like 'bad'"},
        {"-x", "unknown or ambiguous option -x"},
        {"-fx", "unknown or ambiguous option -x"},
        {"--nothing", "unknown or ambiguous option --nothing"},
        {"--flag=1", "--flag"},
        {"-n", "no value for -n"},
        {"-fn", "no value for -n"},
        {"--number", "no value for --number"},
        {"word", "stray word 'word'"},
        {"-f word -o", "stray word 'word'"},
        {"-f -- -o", "stray word '-o'"},
        {"--call x", "stray word 'x'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct command_line line;
        struct small_settings settings;
        struct error error;
        check(!parse_small(rows[i].arguments, &settings, &line, &error), "'%s' is taken",
              rows[i].arguments);
        check_message(&error, rows[i].arguments, rows[i].message);
    }
}

/* An error in the middle of a cluster of letters must not disturb the next parse. */
static void parses_again_after_an_error(void **state)
{
    for (int i = 0; i < 3; i++) {
        struct command_line line;
        struct small_settings settings;
        struct error error;
        assert_false(parse_small("-fxo", &settings, &line, &error));
        assert_true(parse_small("-o", &settings, &line, &error));
        assert_false(settings.flag);
        assert_true(settings.other_flag);
    }
}

/* ---- afp_speedtest ---- */

static struct speedtest_settings settings;
static struct error parse_error;

static bool parse(const char *arguments)
{
    static struct command_line line; /* the settings point into it */
    enum options_outcome outcome;
    split(&line, arguments);
    memset(&settings, 0xff, sizeof settings);
    return speedtest_settings_parse(&settings, line.count, line.words, &outcome, &parse_error);
}

#define PARSE(arguments) check(parse(arguments), "%s: %s", arguments, parse_error.message)

/* No terminal to ask on, and no password in the environment unless a test puts it there. */
static int no_surroundings(void **state)
{
    unsetenv("AFP_PASSWORD");
    int null = open("/dev/null", O_RDONLY);
    return null >= 0 && dup2(null, STDIN_FILENO) == 0 ? 0 : -1;
}

static void defaults(void **state)
{
    PARSE("-s vol -w pw");
    assert_string_equal(settings.location.host, "localhost");
    assert_int_equal(settings.location.port, 548);
    assert_int_equal(settings.version, AFP_3_4);
    assert_null(settings.uam);
    assert_int_equal(settings.test_count, 1);
    assert_string_equal(settings.tests[0]->facts->name, "Write");
    assert_int_equal(settings.timeout_s, 30);
    assert_null(settings.refserver_store);
    const struct passwd *account = getpwuid(getuid());
    if (account != NULL) {
        assert_string_equal(settings.user, account->pw_name);
    }
    struct speed_options options = speedtest_speed_options(&settings, 0);
    assert_int_equal(options.size_bytes, 67108864);
    assert_false(options.size_given);
    assert_int_equal(options.chunk_bytes, 0);
    assert_int_equal(options.policy, FLOW_WINDOW);
    assert_int_equal(options.depth, 1);
    assert_int_equal(options.sink, SINK_COPY);
    assert_true(options.flush);
    assert_false(options.sparse);
    assert_null(options.existing_file);
    assert_int_equal(options.measure.warmups, 1);
    assert_int_equal(options.measure.iterations, 1);
    assert_int_equal(options.measure.pause_ns, 0);
    assert_false(options.measure.fresh_files);
}

static void options_reach_the_tests(void **state)
{
    PARSE("-s vol -w pw -a -e -y -d 0.004 -q 1048556b -R 8 -n 5 -W 0 -t 2.25 -f read,COPY,read "
          "--sink discard");
    struct speed_options options = speedtest_speed_options(&settings, 0);
    assert_int_equal(options.size_bytes, 4194);
    assert_true(options.size_given);
    assert_int_equal(options.chunk_bytes, 1048556);
    assert_int_equal(options.policy, FLOW_BATCH);
    assert_int_equal(options.depth, 8);
    assert_int_equal(options.sink, SINK_DISCARD);
    assert_false(options.flush);
    assert_true(options.sparse);
    assert_int_equal(options.measure.warmups, 0);
    assert_int_equal(options.measure.iterations, 5);
    assert_int_equal(options.measure.pause_ns, 2250 * NS_PER_MS);
    assert_true(options.measure.fresh_files);
    assert_int_equal(settings.test_count, 3);
    assert_string_equal(settings.tests[0]->facts->name, "Read");
    assert_string_equal(settings.tests[1]->facts->name, "Copy");
    assert_string_equal(settings.tests[2]->facts->name, "Read");
}

static void windows_and_batches(void **state)
{
    static const struct {
        const char *arguments;
        enum flow_policy policy;
        uint32_t depth;
    } rows[] = {
        {"-s v -w p", FLOW_WINDOW, 1},
        {"-s v -w p -r 1", FLOW_WINDOW, 1},
        {"-s v -w p -r 4096", FLOW_WINDOW, 4096},
        {"-s v -w p -R 1", FLOW_BATCH, 1},
        {"-s v -w p -R 4", FLOW_BATCH, 4},
        {"-s v -w p -r 1 -R 4", FLOW_BATCH, 4},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        PARSE(rows[i].arguments);
        struct speed_options options = speedtest_speed_options(&settings, 0);
        check(options.policy == rows[i].policy && options.depth == rows[i].depth, "%s",
              rows[i].arguments);
    }
}

/* ---- Sweeps, outputs, sessions ---- */

static void sweeps(void **state)
{
    static const struct {
        const char *arguments;
        size_t count;
        uint64_t first, last;
    } rows[] = {
        {"-s v -w p", 1, 64 * MIB, 64 * MIB}, /* no sweep */
        {"-s v -w p -d 3", 1, 3 * MIB, 3 * MIB},
        {"-s v -w p -z 2", 1, 2 * MIB, 2 * MIB},
        {"-s v -w p -z 4k,0.004,2M,100b,1g", 5, 4096, GIB},
        {"-s v -w p -z 8,4", 2, 8 * MIB, 4 * MIB}, /* as they are given */
        {"-s v -w p -z 1,1", 2, MIB, MIB},
        {"-s v -w p --sweep=1T", 1, GIB << 10, GIB << 10},
        {"-s v -w p -z ci", 17, 4096, 256 * MIB},
        {"-s v -w p -z full", 18, 4096, 512 * MIB},
        {"-s v -w p -z full -z 2,3", 2, 2 * MIB, 3 * MIB}, /* the last one counts */
        {"-s v -w p -z 1,2,3 -z ci", 17, 4096, 256 * MIB},
        {"-s v -w p -2 -z 1,2147483647b", 2, MIB, 2147483647},
        {"-s v -w p -z 1024T", 1, UINT64_C(1) << 50, UINT64_C(1) << 50},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        PARSE(rows[i].arguments);
        size_t count = speedtest_size_count(&settings);
        check(count == rows[i].count, "%s: %zu sizes", rows[i].arguments, count);
        struct speed_options first = speedtest_speed_options(&settings, 0);
        struct speed_options last = speedtest_speed_options(&settings, count - 1);
        check(first.size_bytes == rows[i].first, "%s", rows[i].arguments);
        check(last.size_bytes == rows[i].last, "%s", rows[i].arguments);
        assert_int_equal(first.size_given, i > 0);
        assert_int_equal(settings.sweep_count > 0, i > 1);
    }
    PARSE("-s v -w p -z full"); /* each twice the one before */
    for (size_t i = 0; i < 18; i++) {
        assert_int_equal(speedtest_speed_options(&settings, i).size_bytes, 4 * KIB << i);
    }
}

static void no_sweep_of_junk(void **state)
{
    static const struct {
        const char *list;
        const char *message;
    } rows[] = {
        {"''", "-z '' is not a size from 1 byte to 1024 TiB"},
        {",", "-z '' is not"},
        {"4k,", "-z '' is not"},
        {",4k", "-z '' is not"},
        {"4k,,8k", "-z '' is not"},
        {"0", "-z '0' is not"},
        {"4k,0.0000001,8k", "-z '0.0000001' is not"},
        {"1025T", "-z '1025T' is not"},
        {"x", "-z 'x' is not"},
        {"CI", "-z 'CI' is not"},
        {"ci,1", "-z 'ci' is not"},
        {"1;2", "-z '1;2' is not"},
        {"1e3", "-z '1e3' is not"},
        {"-1", "-z '-1' is not"},
        {"0000000000000000000000000000000000000001", "-z '000"},
        {"1,2222222222222222222222222222222222222222222222222", "-z '2222"},
        {"4 -d 4", "-d is one size, -z a sweep: give one of them"},
        {"ci -d 64", "-d is one size, -z a sweep: give one of them"},
        {"1,2G -2", "use -3 or higher"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "-s v -w p -z %s", rows[i].list);
        check(!parse(arguments), "'%s' is taken", arguments);
        check_message(&parse_error, arguments, rows[i].message);
    }
}

static void no_more_sizes_than_the_limit(void **state)
{
    for (size_t sizes = SIZE_LIMIT; sizes <= SIZE_LIMIT + 1; sizes++) {
        char list[512] = "-s v -w p -z 1k";
        for (size_t i = 1; i < sizes; i++) {
            strcat(list, ",1k");
        }
        assert_int_equal(parse(list), sizes <= SIZE_LIMIT);
        assert_int_equal(settings.sweep_count, SIZE_LIMIT);
    }
    check_error(&parse_error, ERROR_USAGE, "-z: more than 64 sizes");
}

static void outputs(void **state)
{
    PARSE("-s v -w p");
    assert_false(settings.csv);
    assert_false(settings.statistics);
    assert_null(settings.json_path);
    PARSE("-s v -w p -c -T -j file");
    assert_true(settings.csv);
    assert_true(settings.statistics);
    assert_string_equal(settings.json_path, "file");
    PARSE("-s v -w p --json=- --statistics");
    assert_string_equal(settings.json_path, "-");
    PARSE("-s v -w p -c -j -- -T"); /* a file of that name */
    assert_string_equal(settings.json_path, "--");
    static const char *const forms[] = {"-s v -w p -c -j -", "-s v -w p -j - -c",
                                        "-s v -w p --csv --json -", "-cj- -s v -w p"};
    for (size_t i = 0; i < COUNT(forms); i++) {
        check(!parse(forms[i]), "'%s' is taken", forms[i]);
        check_message(&parse_error, forms[i], "-c and -j - both want stdout");
    }
    assert_false(parse("-s v -w p -j ''"));
    check_message(&parse_error, "-j ''", "-j needs the name of a file");
}

static void sessions(void **state)
{
    PARSE("-s v -w p");
    assert_int_equal(settings.sessions, 1);
    PARSE("-s v -w p --sessions 256");
    assert_int_equal(settings.sessions, SESSION_LIMIT);
    static const char *const values[] = {"0", "257", "-1", "x", "2.5", "''"};
    for (size_t i = 0; i < COUNT(values); i++) {
        char arguments[80];
        snprintf(arguments, sizeof arguments, "-s v -w p --sessions %s", values[i]);
        check(!parse(arguments), "'%s' is taken", arguments);
        check_message(&parse_error, arguments, "is not a whole number from 1 to 256");
    }
}

static void versions(void **state)
{
    for (size_t i = 0; i < AFP_VERSION_COUNT; i++) {
        char arguments[40];
        snprintf(arguments, sizeof arguments, "-s v -w p -%zu", i + 1);
        PARSE(arguments);
        assert_int_equal(settings.version, afp_versions[i].version);
    }
    PARSE("-s v -w p --afp2.2");
    assert_int_equal(settings.version, AFP_2_2);
}

/* An explicit option goes before what the URL says. */
static void where_the_server_is(void **state)
{
    static const struct {
        const char *arguments;
        const char *host;
        uint16_t port;
        const char *user;
        const char *volume;
    } rows[] = {
        {"-h afp://joe@nas:1548/disk -w p", "nas", 1548, "joe", "disk"},
        {"-h afp://joe@nas:1548/disk -w p -p 99 -u ann -s other", "nas", 99, "ann", "other"},
        {"-h afp://joe;AUTH=No%20User%20Authent@nas/disk", "nas", 548, "", "disk"},
        {"-h afp://;AUTH=guest@nas/disk", "nas", 548, "", "disk"},
        {"-h afp://joe;AUTH=guest@nas/disk -A dhx2 -w p", "nas", 548, "joe", "disk"},
        {"-h afp://nas/disk -w p -u ann", "nas", 548, "ann", "disk"},
        {"-h ::1 -w p -u ann -s v", "::1", 548, "ann", "v"},
        {"--refserver", "localhost", 548, "", "bench"},
        {"--refserver=null -s v", "localhost", 548, "", "v"},
        {"-s v -u ''", "localhost", 548, "", "v"},
        {"-s v -A guest", "localhost", 548, "", "v"},
        {"-s v -u ann -A GUEST", "localhost", 548, "", "v"},
        {"--refserver -u ann -w p", "localhost", 548, "ann", "bench"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        PARSE(rows[i].arguments);
        assert_string_equal(settings.location.host, rows[i].host);
        assert_int_equal(settings.location.port, rows[i].port);
        assert_string_equal(settings.user, rows[i].user);
        assert_string_equal(settings.volume, rows[i].volume);
        check((settings.uam == &uam_guest) == (rows[i].user[0] == '\0'), "%s", rows[i].arguments);
    }
    PARSE("--info -h nas"); /* needs no volume, user or password */
    assert_true(settings.info);
}

static void versions_and_login_methods(void **state)
{
    static const struct {
        const char *arguments;
        enum afp_version version;
        const struct uam *uam; /* NULL: auto */
    } rows[] = {
        {"-1", AFP_2_1, NULL},
        {"-2 -A cleartxt", AFP_2_2, &uam_cleartext},
        {"--afp2.2 -A randnum", AFP_2_2, &uam_randnum},
        {"-h afp://h;AUTH=DHX2@nas", AFP_3_4, &uam_dhx2},
        {"-h afp://h;AUTH=DHCAST128@nas", AFP_3_4, &uam_dhx},
        {"-h afp://h;AUTH=srp@nas", AFP_3_4, &uam_srp},
        {"-h afp://h;AUTH=*@nas", AFP_3_4, NULL},
        {"-h afp://h;AUTH=DHX2@nas -A auto", AFP_3_4, NULL},
        {"--afp 2.1 -A 2way", AFP_2_1, &uam_two_way},
        {"--afp 3.0 -A dhx", AFP_3_0, &uam_dhx},
        {"-6 -A DHX2", AFP_3_3, &uam_dhx2},
        {"--afp=3.4 -A srp", AFP_3_4, &uam_srp},
        {"--afp auto -A srp -A auto", AFP_HIGHEST, NULL},
        {"--afp AUTO -d 3G", AFP_HIGHEST, NULL},
        {"--afp auto -3", AFP_3_0, NULL}, /* the last one counts */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "-s v -u ann -w p %s", rows[i].arguments);
        PARSE(arguments);
        check(settings.version == rows[i].version, "%s", rows[i].arguments);
        check(settings.uam == rows[i].uam, "%s", rows[i].arguments);
    }
}

static void combinations_that_exclude_each_other(void **state)
{
    static const struct {
        const char *arguments;
        const char *message;
    } rows[] = {
        {"-h afp://u;AUTH=Kerberos@h/v -w p", "'Kerberos' is no login method; there are srp, "},
        {"-s v -w p -t x", "-t 'x' is no time from 0 to 86400 seconds"},
        {"-s v -w p -t 86400.1", "-t '86400.1' is no time"},
        {"-s v -w p -t -1", "-t '-1' is no time"},
        {"-s '' -u ''", "-s: the name is empty"},
        {"-s v -u '' -S ''", "-S: the name is empty"},
        {"-s v -u '' -F ''", "-F: the name is empty"},
        {"-s v -w p -R 2 -r 2", "-R excludes -r above 1"},
        {"-s v -w p -r 4097", "-r '4097' is not a whole number from 1 to 4096"},
        {"-s v -w p -R 0", "-R '0' is not"},
        {"-s v -w p --sink verify -F file", "--sink verify"},
        {"-s v -w p --sink drop", "copy, discard, verify"},
        {"--refserver -h nas", "leave out -h and -p"},
        {"--refserver -p 99", "leave out -h and -p"},
        {"--refserver=tape", "memory, null, a directory"},
        {"--refserver=/ -S v", "leave out -S"},
        {"-s v -w p -2 -d 2G", "use -3 or higher"},
        {"-w p", "name one with -s"},
        {"-s v -u '' -A cleartxt", "-u '' is guest"},
        {"-s v -w p -A kerberos", "auto, srp, dhx2, dhx, 2way, randnum, cleartxt, guest"},
        {"-s v -w p --afp 3.5", "--afp '3.5' is neither auto nor one of 2.1, 2.2,"},
        {"-s v -w p --afp ''", "is neither auto nor"},
        {"-s v -w p --afp 2.2 -d 2G", "use -3 or higher"},
        {"-s v -w p -f Read,Fly", "'Fly' is no test; there are Read, Write, Copy, ServerCopy"},
        {"-s v -w p -f ''", "is no test"},
        {"-s v -w p -f Read,", "is no test"},
        {"-s v -w p -p 0", "-p '0' is not a whole number from 1 to 65535"},
        {"-s v -w p -n 0", "-n '0' is not"},
        {"-s v -w p --clean=2", "--clean '2' is no age"},
        {"-s v -w p --clean=0d", "--clean '0d' is no age"},
        {"-s v -w p -d 0", "-d '0' is not a size from 1 byte to 1024 TiB"},
        {"-s v -w p -q 4G", "-q '4G' is not"},
        {"-s v -w p -h nas/x", "-h 'nas/x': not a host name"},
        {"-s v -u ann", "no password for user 'ann': give one with -w, --password-file, "
                        "AFP_PASSWORD"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(!parse(rows[i].arguments), "'%s' is taken", rows[i].arguments);
        check_message(&parse_error, rows[i].arguments, rows[i].message);
    }
    PARSE("-s v -w p -2 -d 2147483647b"); /* what the 32-bit calls reach */
}

static void no_more_tests_than_the_limit(void **state)
{
    for (size_t tests = TEST_LIMIT; tests <= TEST_LIMIT + 1; tests++) {
        char list[512] = "-s v -w p -f Read";
        for (size_t i = 1; i < tests; i++) {
            strcat(list, ",Read");
        }
        assert_int_equal(parse(list), tests <= TEST_LIMIT);
    }
    check_error(&parse_error, ERROR_USAGE, "more than 64 tests");
}

/* ---- What another program must not pass on ---- */

static void reserved_options(void **state)
{
    static const struct {
        const char *word, *name; /* NULL: none of them */
    } rows[] = {
        {"-n", "iterations"},
        {"-vn2", "iterations"},
        {"-qn", NULL}, /* n is the value */
        {"-yDV", NULL},
        {"-Tc", "csv"},
        {"-~n", NULL},
        {"-", NULL},
        {"--", NULL},
        {"n", NULL},
        {"", NULL},
        {"--iter=2", "iterations"},
        {"--iterations", "iterations"},
        {"--iterationsx", NULL},
        {"--password", "password"},
        {"--password-f=x", "password-file"},
        {"--pass=x", "password"},
        {"--=x", NULL},
        {"--quantum", NULL},
        {"--timeout=9", NULL},
        {"--refserver=/x", "refserver"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct option_row *row = options_find_reserved(&speedtest_program, rows[i].word);
        check((row == NULL) == (rows[i].name == NULL), "'%s'", rows[i].word);
        check(row == NULL || strcmp(row->name, rows[i].name) == 0, "'%s': %s", rows[i].word,
              row != NULL ? row->name : "");
    }
}

/* ---- Passwords ---- */

static void passwords_are_wiped_from_the_arguments(void **state)
{
    static const char *const forms[] = {"-s v -w hunter2",
                                        "-s v -whunter2",
                                        "-s v --password hunter2",
                                        "-s v --password=hunter2",
                                        "-s v -A guest --volume-password hunter2",
                                        "-s v -A guest --volume-password=hunter2"};
    for (size_t i = 0; i < COUNT(forms); i++) {
        struct command_line line;
        enum options_outcome outcome;
        split(&line, forms[i]);
        check(speedtest_settings_parse(&settings, line.count, line.words, &outcome, &parse_error),
              "%s", parse_error.message);
        bool volume = strstr(forms[i], "--volume") != NULL;
        assert_string_equal(volume ? settings.volume_password : settings.password, "hunter2");
        for (size_t at = 0; at + 7 <= sizeof line.text; at++) {
            check(memcmp(line.text + at, "hunter2", 7) != 0, "'%s': it is still there", forms[i]);
        }
    }
}

/* The JSON document records the arguments as main() has them after the options were parsed. */
static void no_secret_is_left_to_record(void **state)
{
    static const char *const forms[] = {
        "-s v -j file -w hunter2",
        "-s v -j file -whunter2",
        "-s v -j file -Tw hunter2 -c",
        "-s v -j file -Twhunter2",
        "-w hunter2 -s v -w hunter2 -w mine",
        "-w hunter2 -s v --password=hunter2",
        "-s v --password hunter2 -j file",
        "-s v -w mine --volume-password hunter2 -j file",
        "-s v -w mine --volume-password hunter2hunter2", /* too long */
        "-s v -w hunter2 -n 0",                          /* also where a later option is wrong */
        "-s v -w hunter2 -d 1 -z 1",
        "-h afp://joe:hunter2@nas/v",
        "-h joe:hunter2@nas -s v",
    };
    for (size_t i = 0; i < COUNT(forms); i++) {
        struct command_line line;
        enum options_outcome outcome;
        bool url = strstr(forms[i], "-h") != NULL;
        split(&line, forms[i]);
        bool ok =
            speedtest_settings_parse(&settings, line.count, line.words, &outcome, &parse_error);
        if (!ok) {
            check(strstr(parse_error.message, "hunter2") == NULL, "%s", parse_error.message);
        }
        /* A URL with a password is refused, so nothing is recorded. */
        assert_false(ok && url);
        for (int k = 0; !url && k < line.count; k++) {
            check(strstr(line.words[k], "hunter2") == NULL, "'%s': %s", forms[i], line.words[k]);
        }
    }
}

/* `--pass` may be --password or --password-file: the message must not hold the value. */
static void passwords_are_never_in_a_message(void **state)
{
    static const char *const forms[] = {"-s v --pass=hunter2", "-s v --passwords=hunter2",
                                        "-s v --info=hunter2"};
    for (size_t i = 0; i < COUNT(forms); i++) {
        check(!parse(forms[i]), "'%s' is taken", forms[i]);
        check(strstr(parse_error.message, "hunter2") == NULL, "%s", parse_error.message);
        check_message(&parse_error, forms[i], "--");
    }
}

static void long_passwords(void **state)
{
    char arguments[1200];
    char password[1100];
    for (size_t length = 1023; length <= 1024; length++) {
        memset(password, 'p', length);
        password[length] = '\0';
        snprintf(arguments, sizeof arguments, "-s v -w %s", password);
        assert_int_equal(parse(arguments), length < PASSWORD_LIMIT);
        setenv("AFP_PASSWORD", password, 1);
        assert_int_equal(parse("-s v -u ann"), length < PASSWORD_LIMIT);
        unsetenv("AFP_PASSWORD");
    }
    check_error(&parse_error, ERROR_USAGE, "longer than 1023 bytes");
}

static void password_from_the_environment(void **state)
{
    setenv("AFP_PASSWORD", "hunter2", 1);
    const char *place = getenv("AFP_PASSWORD");
    PARSE("-s v -u ann");
    assert_string_equal(settings.password, "hunter2");
    assert_string_equal(place, ""); /* overwritten */

    setenv("AFP_PASSWORD", "hunter2", 1);
    PARSE("-s v -u ann -w mine"); /* the option goes first */
    assert_string_equal(settings.password, "mine");
    unsetenv("AFP_PASSWORD");
}

/* A volume's password: 8 bytes at most, from an option, a file or the environment. */
static void volume_passwords(void **state)
{
    char path[] = "/tmp/afpbench-test-XXXXXX";
    char arguments[200];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "12345678\n", 9), 9);
    PARSE("-s v -A guest");
    assert_string_equal(settings.volume_password, "");
    PARSE("-s v -A guest --volume-password 12345678");
    assert_string_equal(settings.volume_password, "12345678");
    assert_false(parse("-s v -A guest --volume-password 123456789"));
    check_error(&parse_error, ERROR_USAGE,
                "--volume-password: the password is longer than 8 bytes");
    snprintf(arguments, sizeof arguments, "-s v -A guest --volume-password-file %s", path);
    PARSE(arguments);
    assert_string_equal(settings.volume_password, "12345678");
    assert_int_equal(pwrite(fd, "123456789\n", 10, 0), 10);
    assert_false(parse(arguments));
    check_error(&parse_error, ERROR_USAGE, "--volume-password-file: the password is longer than 8");
    setenv("AFP_VOLUME_PASSWORD", "12345678", 1);
    const char *place = getenv("AFP_VOLUME_PASSWORD");
    PARSE("-s v -A guest");
    assert_string_equal(settings.volume_password, "12345678");
    assert_string_equal(place, "");
    setenv("AFP_VOLUME_PASSWORD", "123456789", 1);
    assert_false(parse("-s v -A guest"));
    check_error(&parse_error, ERROR_USAGE,
                "AFP_VOLUME_PASSWORD: the password is longer than 8 bytes");
    setenv("AFP_VOLUME_PASSWORD", "theirs", 1);
    PARSE("-s v -A guest --volume-password mine");
    assert_string_equal(settings.volume_password, "mine");
    PARSE("-L -s /tmp"); /* there are no volumes: it is not looked at */
    assert_string_equal(settings.volume_password, "");
    unsetenv("AFP_VOLUME_PASSWORD");
    assert_false(parse("-L -s /tmp --volume-password x"));
    check_error(&parse_error, ERROR_USAGE, "--volume-password");
    close(fd);
    unlink(path);
}

/* What a version cannot carry is said with the option, before anything is sent. */
static void names(void **state)
{
    static const struct {
        const char *arguments;
        const char *message; /* NULL: taken */
    } rows[] = {
        {"-2 -s Gr\u00F6\u00DFe -S \u00C5 -F \u2260 -A guest", NULL},
        {"-2 -s Gro\u0308\u00DFe -A guest", NULL},
        {"-3 -s \u65E5 -F \u65E5 -A guest", NULL},
        {"-2 -s \u65E5 -A guest",
         "-s: the volume name '\u65E5' has a character that MacRoman lacks"},
        {"-1 -s v -S \u65E5 -A guest", "-S: the volume name '\u65E5' has a character"},
        {"-2 -s v -F \u65E5 -A guest", "-F: the file name '\u65E5' has a character"},
        {"-2 -s v -u \u65E5 -w x", "-u: the user name '\u65E5' has a character"},
        {"-s \xFF -A guest", "-s: the volume name '\xFF' is not UTF-8"},
        {"-2 -s v -F 12345678901234567890123456789012 -A guest",
         "-F: the file name '12345678901234567890123456789012' has 32 bytes in MacRoman, and AFP "
         "2.2 takes 31"},
        {"-2 -s v -F 1234567890123456789012345678901 -A guest", NULL},
        {"-2 -s 1234567890123456789012345678 -A guest", "AFP 2.2 takes 27"},
        {"-2 -h afp://host/%E6%97%A5 -A guest", "-s: the volume name"},
        {"-L -s /tmp/\u65E5", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(parse(rows[i].arguments) == (rows[i].message == NULL), "row %zu: %s", i,
              parse_error.message);
        if (rows[i].message != NULL) {
            check_error(&parse_error, ERROR_USAGE, rows[i].message);
        }
    }
}

static void password_from_a_file(void **state)
{
    static const struct {
        const char *content;
        const char *password; /* NULL: refused */
    } rows[] = {
        {"hunter2", "hunter2"},
        {"hunter2\n", "hunter2"},
        {"hunter2\r\nmore", "hunter2"},
        {"with blanks ", "with blanks "},
        {"", ""},
        {"\nsecond", ""},
    };
    char path[] = "/tmp/afpbench-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char password[PASSWORD_LIMIT];
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t size = strlen(rows[i].content);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, rows[i].content, size, 0), size);
        check(password_from_file(path, password, sizeof password, &parse_error), "row %zu", i);
        assert_string_equal(password, rows[i].password);
    }
    for (size_t length = 1023; length <= 1024; length++) {
        char text[1024];
        memset(text, 'p', sizeof text);
        assert_int_equal(pwrite(fd, text, length, 0), length);
        assert_int_equal(password_from_file(path, password, sizeof password, &parse_error),
                         length == 1023);
    }
    assert_int_equal(pwrite(fd, "hun\0er2\n", 8, 0), 8);
    assert_false(password_from_file(path, password, sizeof password, &parse_error));
    check_error(&parse_error, ERROR_USAGE, "the password has a zero byte in it");
    close(fd);
    unlink(path);
    assert_false(password_from_file("/tmp", password, sizeof password, &parse_error));
    check_error(&parse_error, ERROR_USAGE, "password file '/tmp': cannot read the password: ");
    assert_false(password_from_file(path, password, sizeof password, &parse_error));
    check_error(&parse_error, ERROR_USAGE, "cannot open password file '/tmp/afpbench-test-");
}

/* What is below this program names no option of it: it says so itself. The last remedies are for
 * what only others do: to listen, to read results. */
static void every_remedy_has_its_option(void **state)
{
    for (size_t i = REMEDY_NONE + 1; i < REMEDIES; i++) {
        const char *remedy = speedtest_program.remedies[i];
        bool option = remedy != NULL && strchr(remedy, '-') != NULL;
        check(option == (i < REMEDY_HIGH_PORT), "remedy %zu", i);
    }
    assert_null(speedtest_program.remedies[REMEDY_NONE]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(errors_name_option_and_range),
        cmocka_unit_test(parses_again_after_an_error),
        cmocka_unit_test(defaults),
        cmocka_unit_test(options_reach_the_tests),
        cmocka_unit_test(windows_and_batches),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(no_sweep_of_junk),
        cmocka_unit_test(no_more_sizes_than_the_limit),
        cmocka_unit_test(outputs),
        cmocka_unit_test(sessions),
        cmocka_unit_test(versions),
        cmocka_unit_test(where_the_server_is),
        cmocka_unit_test(versions_and_login_methods),
        cmocka_unit_test(combinations_that_exclude_each_other),
        cmocka_unit_test(no_more_tests_than_the_limit),
        cmocka_unit_test(reserved_options),
        cmocka_unit_test(passwords_are_wiped_from_the_arguments),
        cmocka_unit_test(no_secret_is_left_to_record),
        cmocka_unit_test(passwords_are_never_in_a_message),
        cmocka_unit_test(long_passwords),
        cmocka_unit_test(password_from_the_environment),
        cmocka_unit_test(password_from_a_file),
        cmocka_unit_test(volume_passwords),
        cmocka_unit_test(names),
        cmocka_unit_test(every_remedy_has_its_option),
    };
    return cmocka_run_group_tests(tests, no_surroundings, NULL);
}
