#include "speedtest/settings.h"

#include "afp/name.h"
#include "base/clock.h"
#include "base/units.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_SIZE_BYTES (64 * MIB)
#define DEFAULT_TIMEOUT_S  30
#define CHUNK_LIMIT        (UINT32_MAX - 64U) /* a DSI frame counts its bytes in 32 bits */

/* ---- Options with a say of their own ---- */

static bool set_version(void *settings, const struct option_row *row, const char *value,
                        struct error *error)
{
    ((struct speedtest_settings *)settings)->version = afp_versions[row->letter - '1'].version;
    return true;
}

/* --afp: "auto", or a version as -1 to -7 have it in their long names. */
static bool set_version_by_name(void *context, const struct option_row *row, const char *value,
                                struct error *error)
{
    struct speedtest_settings *settings = context;
    static const char label[] = "AFP ";
    if (strcasecmp(value, "auto") == 0) {
        settings->version = AFP_HIGHEST;
        return true;
    }
    for (size_t i = 0; i < AFP_VERSION_COUNT; i++) {
        if (strcmp(afp_versions[i].label + sizeof label - 1, value) == 0) {
            settings->version = afp_versions[i].version;
            return true;
        }
    }
    return error_set(error, ERROR_USAGE, 0,
                     "--afp '%s' is neither auto nor one of 2.1, 2.2, 3.0, 3.1, 3.2, 3.3, 3.4",
                     value);
}

static bool set_uam(void *context, const struct option_row *row, const char *value,
                    struct error *error)
{
    struct speedtest_settings *settings = context;
    settings->uam = uam_by_option(value);
    settings->uam_given = true;
    if (settings->uam != NULL || strcasecmp(value, "auto") == 0) {
        return true;
    }
    char known[160] = "auto";
    uam_append_options(", ", known, sizeof known);
    return error_set(error, ERROR_USAGE, 0, "-A '%s' is no login method; there are %s", value,
                     known);
}

static bool set_password(void *context, const struct option_row *row, const char *value,
                         struct error *error)
{
    struct speedtest_settings *settings = context;
    bool ok = password_copy(value, settings->password, sizeof settings->password, error);
    settings->has_password = true;
    options_wipe((char *)value); /* other users see the argument list */
    return ok;
}

static bool set_volume_password(void *context, const struct option_row *row, const char *value,
                                struct error *error)
{
    struct speedtest_settings *settings = context;
    bool ok =
        password_copy(value, settings->volume_password, sizeof settings->volume_password, error);
    settings->has_volume_password = true;
    options_wipe((char *)value);
    return ok || error_prefix(error, "--%s", row->name);
}

static bool set_volume_password_file(void *context, const struct option_row *row, const char *value,
                                     struct error *error)
{
    struct speedtest_settings *settings = context;
    settings->has_volume_password = true;
    return password_from_file(value, settings->volume_password, sizeof settings->volume_password,
                              error) ||
           error_prefix(error, "--%s", row->name);
}

static bool set_password_file(void *context, const struct option_row *row, const char *value,
                              struct error *error)
{
    struct speedtest_settings *settings = context;
    settings->has_password = true;
    return password_from_file(value, settings->password, sizeof settings->password, error);
}

static bool set_tests(void *context, const struct option_row *row, const char *value,
                      struct error *error)
{
    struct speedtest_settings *settings = context;
    return list_of_tests(value, "-f", settings->tests, &settings->test_count, error);
}

static bool set_sweep(void *context, const struct option_row *row, const char *value,
                      struct error *error)
{
    struct speedtest_settings *settings = context;
    return list_of_sizes(value, "-z", settings->sweep, &settings->sweep_count, error);
}

static bool set_sink(void *context, const struct option_row *row, const char *value,
                     struct error *error)
{
    static const struct {
        const char *word;
        enum flow_sink sink;
    } sinks[] = {{"copy", SINK_COPY}, {"discard", SINK_DISCARD}, {"verify", SINK_VERIFY}};
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        if (strcmp(value, sinks[i].word) == 0) {
            ((struct speedtest_settings *)context)->sink = sinks[i].sink;
            return true;
        }
    }
    return error_set(error, ERROR_USAGE, 0, "--sink '%s' is none of copy, discard, verify", value);
}

static bool set_refserver(void *context, const struct option_row *row, const char *value,
                          struct error *error)
{
    struct speedtest_settings *settings = context;
    struct stat status;
    settings->refserver_store = value != NULL ? value : "memory";
    settings->refserver_path = NULL;
    if (strcmp(settings->refserver_store, "memory") == 0 ||
        strcmp(settings->refserver_store, "null") == 0) {
        return true;
    }
    if (strchr(value, '/') != NULL || (stat(value, &status) == 0 && S_ISDIR(status.st_mode))) {
        settings->refserver_store = "directory";
        settings->refserver_path = value;
        return true;
    }
    return error_set(error, ERROR_USAGE, 0, "--refserver '%s' is none of memory, null, a directory",
                     value);
}

static bool set_clean(void *context, const struct option_row *row, const char *value,
                      struct error *error)
{
    static const struct unit units[] = {{"m", 60}, {"h", 3600}, {"d", 86400}};
    struct speedtest_settings *settings = context;
    settings->clean = true;
    settings->clean_age_s = UINT64_MAX;
    return value == NULL ||
           parse_in_units(value, units, sizeof units / sizeof units[0], 60, 36500 * UINT64_C(86400),
                          &settings->clean_age_s) ||
           error_set(error, ERROR_USAGE, 0,
                     "--clean '%s' is no age from 1m to 36500d, as 30m, 12h or 7d", value);
}

static bool set_pause(void *context, const struct option_row *row, const char *value,
                      struct error *error)
{
    static const struct unit seconds = {"", NS_PER_S};
    struct speedtest_settings *settings = context;
    return parse_in_units(value, &seconds, 1, 0, 86400 * NS_PER_S, &settings->pause_ns) ||
           error_set(error, ERROR_USAGE, 0,
                     "-t '%s' is no time from 0 to 86400 seconds, as 2 or 0.5", value);
}

static bool set_mark(void *context, const struct option_row *row, const char *value,
                     struct error *error)
{
    struct speedtest_settings *settings = context;
    uint64_t fd;
    if (!parse_unsigned(value, "--mark-fd", 0, INT32_MAX, &fd, error)) {
        return false;
    }
    settings->mark = true;
    settings->mark_fd = (uint32_t)fd;
    return true;
}

/* ---- The table ---- */

static const char *login_methods(const char *separator, char *text, size_t size)
{
    snprintf(text, size, "auto");
    uam_append_options(separator, text, size);
    return text;
}

#define FIELD(name)        .offset = offsetof(struct speedtest_settings, name)
#define FLAG(name)         .kind = OPTION_FLAG, FIELD(name)
#define TEXT(name)         .kind = OPTION_TEXT, FIELD(name)
#define NUMBER(name, a, b) .kind = OPTION_NUMBER, FIELD(name), .minimum = (a), .maximum = (b)
#define SIZE(name, u, most)                                                                        \
    .kind = OPTION_SIZE, FIELD(name), .unit = (u), .minimum = 1, .maximum = (most)
#define CALL(function) .kind = OPTION_CALL, .call = (function)
#define RESERVED       .reserved = true
#define GROUP(heading) .group = (heading)
#define DEFAULT(text)  .fallback = (text)
#define VERSION(digit, n)                                                                          \
    {                                                                                              \
        .letter = (digit), .name = "afp" n, .help = "use AFP " n, CALL(set_version)                \
    }

static const struct option_row rows[] = {
    {'h', "host", "HOST", "name, address or afp://[user@]host[:port]/volume", TEXT(host),
     DEFAULT("localhost"), RESERVED, GROUP("Which server")},
    {'p', "port", "PORT", "1 to 65535", NUMBER(port, 1, 65535), DEFAULT("548"), RESERVED},
    {'s', "volume", "VOLUME", "volume to test", TEXT(volume), RESERVED},
    {'S', "volume2", "VOLUME", "second volume: copies go there", TEXT(second_volume)},
    {0, "refserver", "[=STORE]",
     "test a reference server of our own, with files in memory "
     "(default), in none (null) or in a directory",
     CALL(set_refserver), .words = "memory,null", RESERVED},
    {0, "timeout", "SECONDS", "give up without progress", NUMBER(timeout_s, 1, 86400),
     DEFAULT("30")},
    {0, "info", NULL, "print what the server says of itself, and exit", FLAG(info), RESERVED},
    {0, "clean", "[=AGE]",
     "remove directories that killed runs left, or all older than AGE (12h, 7d), and exit",
     CALL(set_clean), RESERVED},

    {'u', "user", "USER", "user name; '' is guest", TEXT(user), DEFAULT("yours"), RESERVED,
     GROUP("Login")},
    {'w', "password", "PASSWORD", "password (also AFP_PASSWORD, or asked for)", CALL(set_password),
     RESERVED},
    {0, "password-file", "FILE", "read the password from the first line of FILE",
     CALL(set_password_file), RESERVED},
    {'A', "uam", "METHOD", "login method; auto: the strongest that works", CALL(set_uam),
     .choices = login_methods, DEFAULT("auto")},
    {0, "volume-password", "PASSWORD", "of the volumes, at most 8 bytes (also AFP_VOLUME_PASSWORD)",
     CALL(set_volume_password), RESERVED},
    {0, "volume-password-file", "FILE", "read the volumes' password from the first line of FILE",
     CALL(set_volume_password_file), RESERVED},

    {'f', "tests", "LIST", "tests, in this order", CALL(set_tests), .choices = test_names,
     DEFAULT("Write"), RESERVED, GROUP("What is measured")},
    {'d', "size", "SIZE", "file size, MiB or with b, k, M, G", SIZE(size_bytes, MIB, LARGEST_FILE),
     DEFAULT("64"), RESERVED},
    {'z', "sweep", "LIST", "sizes like -d, comma-separated; ci: 4K to 256M, full: to 512M",
     CALL(set_sweep), RESERVED},
    {'n', "iterations", "N", "measured runs of each test", NUMBER(iterations, 1, 1000000),
     DEFAULT("1"), RESERVED},
    {'W', "warmups", "N", "warm-up runs before them, not shown", NUMBER(warmups, 0, 1000000),
     DEFAULT("1"), RESERVED},
    {'t', "pause", "SECONDS", "between runs", CALL(set_pause), DEFAULT("0")},
    {'F', "file", "NAME", "read from this file in the volume's root", TEXT(existing_file),
     RESERVED},
    {'y', "new-files", NULL, "a new file for each run", FLAG(new_files)},
    {'e', "sparse", NULL, "sparse source file", FLAG(sparse)},
    {'a', "no-flush", NULL, "don't flush to disk after write", FLAG(no_flush)},
    {'i', "interactive", NULL, "wait for Enter before each test", FLAG(interactive), RESERVED},

    {'q', "quantum", "SIZE", "data per request, KiB or with b, k, M",
     SIZE(chunk_bytes, KIB, CHUNK_LIMIT), DEFAULT("the server's quantum"),
     GROUP("Requests and sessions")},
    {'r', "requests", "N",
     "outstanding requests, interleaved: the next one leaves as soon as one "
     "is answered",
     NUMBER(interleaved, 1, DSI_WINDOW_LIMIT), DEFAULT("1"), RESERVED},
    {'R', "batch", "N",
     "outstanding requests, not interleaved: the next N leave when all are "
     "answered",
     NUMBER(batched, 1, DSI_WINDOW_LIMIT), DEFAULT("1")},
    {0, "sessions", "N", "AFP sessions at once, released together",
     NUMBER(sessions, 1, SESSION_LIMIT), DEFAULT("1")},
    {0, "sink", "WHAT", "what becomes of data read", CALL(set_sink), .words = "copy,discard,verify",
     DEFAULT("copy")},

    {'L', "posix", NULL, "POSIX calls on the directories -s and -S instead of AFP", FLAG(posix),
     RESERVED, GROUP("In a mounted directory instead (NFS, SMB, a disk)")},
    {'P', "path", "DIR", "directory to test, with -L: the same as -s", TEXT(path)},
    {'D', "direct", NULL, "O_DIRECT in open flags, with -L", FLAG(direct)},

    {'c', "csv", NULL, "CSV on stdout", FLAG(csv), RESERVED, GROUP("What is printed")},
    {'j', "json", "FILE", "result document, beside text or CSV; '-' is stdout", TEXT(json_path),
     RESERVED},
    {'T', "statistics", NULL, "statistics after each test and at the end", FLAG(statistics)},
    {'v', "verbose", NULL, "trace AFP calls on stderr", FLAG(verbose)},
    {'V', "very-verbose", NULL, "trace DSI frames too", FLAG(very_verbose)},
    {0, "mark-fd", "N", "tell descriptor N of each run's begin and end, and await its answers",
     CALL(set_mark), RESERVED},

    {.letter = '1',
     .name = "afp2.1",
     .help = "use AFP 2.1",
     CALL(set_version),
     GROUP("Protocol version")},
    VERSION('2', "2.2"),
    VERSION('3', "3.0"),
    VERSION('4', "3.1"),
    VERSION('5', "3.2"),
    VERSION('6', "3.3"),
    {.letter = '7', .name = "afp3.4", .help = "use AFP 3.4 (default)", CALL(set_version)},
    {0, "afp", "VERSION", "the same by name; auto: the highest that the server offers",
     CALL(set_version_by_name), .words = "2.1,2.2,3.0,3.1,3.2,3.3,3.4,auto"},
};

static const char *const remedies[REMEDIES] = {
    [REMEDY_TIME_LIMIT] = " (--timeout)",
    [REMEDY_AFP_VERSION] = ": use -3 or higher",
    [REMEDY_LOGIN_METHOD] = ": choose another method with -A",
    [REMEDY_GUEST] = "; -A guest logs in without a password where the server allows it",
    [REMEDY_VOLUME_PASSWORD] = "; give it with --volume-password-file, AFP_VOLUME_PASSWORD or "
                               "--volume-password",
    [REMEDY_REQUEST_SIZE] = ": lower -q",
    [REMEDY_WINDOW] = ": lower -r, -R or -q",
    [REMEDY_BLOCKS] = " (-D, -q)",
    [REMEDY_CLEANING] = " (--clean removes it later)",
    [REMEDY_EXISTING_FILE] = "; -F NAME reads a file that is there",
};

const struct option_program speedtest_program = {
    .name = "afp_speedtest",
    .purpose = "measure how fast an AFP server reads, writes and copies files",
    .usage =
        "[-1234567aceDiLTvVy] [-h host] [-p port] [-s volume] [-u user] [-f tests] [option ...]",
    .closing = "Example: afp_speedtest --refserver -n 5 -f Read,Write,Copy,ServerCopy\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .remedies = remedies,
};

/* ---- What follows from the options ---- */

static bool usage(struct error *error, const char *message)
{
    return error_set(error, ERROR_USAGE, 0, "%s", message);
}

static uint64_t largest_size(const struct speedtest_settings *settings)
{
    uint64_t largest = settings->size_bytes;
    for (size_t i = 0; i < settings->sweep_count; i++) {
        largest = settings->sweep[i] > largest ? settings->sweep[i] : largest;
    }
    return largest;
}

/* What goes with POSIX calls only, and what does not. */
static bool check_mode(const struct speedtest_settings *settings, struct error *error)
{
    if (!settings->posix) {
        if (settings->direct || settings->path != NULL) {
            return usage(error, settings->direct ? "-D goes with -L" : "-P goes with -L");
        }
        return true;
    }
    if (settings->host != NULL || settings->port != 0 || settings->refserver_store != NULL ||
        settings->info || settings->user != NULL || settings->has_password ||
        settings->has_volume_password || settings->uam_given || settings->version != 0 ||
        settings->timeout_s != 0) {
        return usage(error, "-L tests a directory: leave out -h, -p, -u, -w, -A, -1 to -7, "
                            "--timeout, --refserver, --info, --volume-password");
    }
    if (settings->sink == SINK_DISCARD) {
        return usage(error, "--sink discard needs a connection: with -L there is none");
    }
    return true;
}

/* Options that exclude each other. */
static bool check_combinations(const struct speedtest_settings *settings, struct error *error)
{
    static const char small[] = "AFP 2.x reaches files of at most 2147483647 bytes: use -3 or "
                                "higher, or a smaller -d";
    if (settings->batched != 0 && settings->interleaved > 1) {
        return usage(error, "-R excludes -r above 1");
    }
    if (settings->sink == SINK_VERIFY && settings->existing_file != NULL) {
        return usage(error, "--sink verify does not know what is in the file of -F");
    }
    if (settings->sweep_count > 0 && settings->size_bytes != 0) {
        return usage(error, "-d is one size, -z a sweep: give one of them");
    }
    if (settings->json_path != NULL && settings->json_path[0] == '\0') {
        return usage(error, "-j needs the name of a file, or '-' for stdout");
    }
    if (settings->csv && settings->json_path != NULL && strcmp(settings->json_path, "-") == 0) {
        return usage(error, "-c and -j - both want stdout: give -j a file");
    }
    if (settings->refserver_store != NULL && (settings->host != NULL || settings->port != 0)) {
        return usage(error, "--refserver starts its own server: leave out -h and -p");
    }
    if (settings->refserver_path != NULL && settings->second_volume != NULL) {
        return usage(error, "--refserver=DIR serves one volume: leave out -S, or start "
                            "afp_refserver with two");
    }
    if (settings->version != 0 && settings->version < AFP_3_0 &&
        largest_size(settings) > AFP_SHORT_SIZE_LIMIT) {
        return usage(error, small);
    }
    if (settings->volume == NULL && !settings->info) {
        return usage(error, settings->posix ? "no directory: name one with -s or -P"
                                            : "no volume: name one with -s");
    }
    return check_mode(settings, error);
}

/* What ;AUTH= in the URL names: as servers list it, or as -A does. */
static bool resolve_login(struct speedtest_settings *settings, struct error *error)
{
    const char *name = settings->location.login;
    if (name[0] == '\0' || settings->uam_given) {
        return true;
    }
    settings->uam_given = true;
    if (strcmp(name, "*") == 0) {
        return true;
    }
    settings->uam = uam_by_name(span_from_string(name));
    if (settings->uam == NULL) {
        settings->uam = uam_by_option(name);
    }
    char known[160] = "";
    uam_append_options(", ", known, sizeof known);
    return settings->uam != NULL ||
           error_set(error, ERROR_USAGE, 0, "-h: ;AUTH='%s' is no login method; there are %s", name,
                     known);
}

/* An explicit option goes before what the URL says. */
static bool resolve_server(struct speedtest_settings *settings, struct error *error)
{
    struct location *location = &settings->location;
    if (!location_parse(settings->host != NULL ? settings->host : "localhost", location, error) ||
        !resolve_login(settings, error)) {
        return false;
    }
    if (settings->port != 0) {
        location->port = (uint16_t)settings->port;
    } else if (location->port == 0) {
        location->port = DSI_DEFAULT_PORT;
    }
    if (settings->user == NULL && location->user[0] != '\0') {
        settings->user = location->user;
    }
    if (settings->volume == NULL && location->volume[0] != '\0') {
        settings->volume = location->volume;
    }
    if (settings->posix && settings->path != NULL) {
        settings->volume = settings->path;
    }
    if (settings->volume == NULL && settings->refserver_store != NULL) {
        settings->volume = "bench";
    }
    return true;
}

/* All that the version cannot carry is said before anything is sent. */
static bool check_names(const struct speedtest_settings *settings, struct error *error)
{
    const struct {
        const char *option, *text;
        enum name_use use;
    } names[] = {
        {"-s", settings->volume, NAME_OF_VOLUME},
        {"-S", settings->second_volume, NAME_OF_VOLUME},
        {"-F", settings->existing_file, NAME_OF_FILE},
        {"-u", settings->user, NAME_OF_USER},
    };
    struct name_buffer encoded;
    for (size_t i = 0; !settings->posix && i < sizeof names / sizeof names[0]; i++) {
        bool empty = names[i].text != NULL && names[i].text[0] == '\0';
        if (empty && names[i].use != NAME_OF_USER) {
            return error_set(error, ERROR_USAGE, 0, "%s: the name is empty", names[i].option);
        }
        if (names[i].text != NULL &&
            !name_encode(&encoded, names[i].text, names[i].use, settings->version, error)) {
            return error_prefix(error, "%s", names[i].option);
        }
    }
    return true;
}

static bool resolve_volume_password(struct speedtest_settings *settings, struct error *error)
{
    bool found;
    return settings->posix || settings->has_volume_password ||
           password_from_environment("AFP_VOLUME_PASSWORD", settings->volume_password,
                                     sizeof settings->volume_password, &found, error);
}

/* A reference server of our own lets guests in: then nobody needs a name. */
static bool resolve_user(struct speedtest_settings *settings, struct error *error)
{
    if (settings->posix) {
        return true;
    }
    bool nobody = settings->user != NULL && settings->user[0] == '\0';
    bool own = settings->refserver_store != NULL && settings->user == NULL && !settings->uam_given;
    if (nobody || own) {
        if (settings->uam != NULL && settings->uam->needs_password) {
            return usage(error, "-u '' is guest, but -A asks for a login with a password");
        }
        settings->uam = &uam_guest;
    }
    if (settings->info || settings->uam == &uam_guest) {
        settings->user = "";
        return true;
    }
    if (settings->user == NULL) {
        const struct passwd *account = getpwuid(getuid());
        if (account == NULL) {
            return usage(error, "the current user has no name: give one with -u");
        }
        settings->user = account->pw_name;
    }
    return settings->has_password ||
           password_from_surroundings(settings->user, settings->password, error);
}

/* What holds when nothing was said; until here 0 tells that. */
static void fill_in(struct speedtest_settings *settings)
{
    settings->version = settings->version != 0 ? settings->version : AFP_3_4;
    settings->timeout_s = settings->timeout_s != 0 ? settings->timeout_s : DEFAULT_TIMEOUT_S;
}

bool speedtest_settings_parse(struct speedtest_settings *settings, int argc, char **argv,
                              enum options_outcome *outcome, struct error *error)
{
    *settings = (struct speedtest_settings){
        .tests = {speed_test_by_name("Write", 5)},
        .test_count = 1,
        .iterations = 1,
        .warmups = 1,
        .sessions = 1,
    };
    if (!options_parse(&speedtest_program, argc, argv, settings, outcome, error)) {
        return false;
    }
    if (*outcome == OPTIONS_PRINTED) {
        return true;
    }
    if (!resolve_server(settings, error) || !check_combinations(settings, error)) {
        return false;
    }
    fill_in(settings);
    return check_names(settings, error) && resolve_volume_password(settings, error) &&
           resolve_user(settings, error);
}

size_t speedtest_size_count(const struct speedtest_settings *settings)
{
    return settings->sweep_count > 0 ? settings->sweep_count : 1;
}

struct speed_options speedtest_speed_options(const struct speedtest_settings *settings,
                                             size_t size_index)
{
    bool sweep = settings->sweep_count > 0;
    uint64_t size = sweep ? settings->sweep[size_index] : settings->size_bytes;
    bool batch = settings->batched != 0;
    uint32_t window = settings->interleaved != 0 ? settings->interleaved : 1;
    return (struct speed_options){
        .size_bytes = size != 0 ? size : DEFAULT_SIZE_BYTES,
        .size_given = size != 0,
        .chunk_bytes = (uint32_t)settings->chunk_bytes,
        .policy = batch ? FLOW_BATCH : FLOW_WINDOW,
        .depth = batch ? settings->batched : window,
        .sink = settings->sink,
        .sparse = settings->sparse,
        .flush = !settings->no_flush,
        .existing_file = settings->existing_file,
        .measure = {.warmups = settings->warmups,
                    .iterations = settings->iterations,
                    .pause_ns = settings->pause_ns,
                    .fresh_files = settings->new_files},
    };
}
