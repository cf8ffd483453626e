#include "harness/settings.h"

#include "base/memory.h"
#include "base/units.h"
#include "dsi/session.h"
#include "speedtest/settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_LIMIT    40
#define OPTION_LIMIT (KEY_LIMIT + 2)
#define NAME_LENGTH  32
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- Values ---- */

static bool take_text(struct harness_settings *settings, const struct harness_key *key,
                      const char *text, struct error *error)
{
    *(const char **)((char *)settings + key->offset) = text[0] != '\0' ? text : NULL;
    return true;
}

static bool take_port(struct harness_settings *settings, const struct harness_key *key,
                      const char *text, struct error *error)
{
    uint64_t port = 0;
    bool ok = text[0] == '\0' || parse_unsigned(text, key->name, 1, 65535, &port, error);
    settings->elsewhere.port = (uint32_t)port;
    return ok;
}

static bool take_number(struct harness_settings *settings, const struct harness_key *key,
                        const char *text, struct error *error)
{
    uint64_t number;
    if (!parse_unsigned(text, key->name, key->minimum, key->maximum, &number, error)) {
        return false;
    }
    *(uint32_t *)((char *)settings + key->offset) = (uint32_t)number;
    return true;
}

static bool take_flag(struct harness_settings *settings, const struct harness_key *key,
                      const char *text, struct error *error)
{
    uint64_t number;
    if (!parse_unsigned(text, key->name, 0, 1, &number, error)) {
        return false;
    }
    *(bool *)((char *)settings + key->offset) = number == 1;
    return true;
}

static bool is_known(const struct harness_values *values, uint64_t number)
{
    for (size_t i = 0; i < values->count; i++) {
        if (values->items[i].number == number) {
            return true;
        }
    }
    return false;
}

/* Of a key that makes several runs. */
static bool take_list(struct harness_settings *settings, const struct harness_key *key,
                      const char *text, struct error *error)
{
    struct harness_values *values = (void *)((char *)settings + key->offset);
    values->count = 0;
    if (text[0] == '\0') {
        values->items[values->count++] = (struct harness_value){.number = 0};
        return true;
    }
    while (text != NULL) {
        struct harness_value value;
        list_next(&text, value.text);
        bool ok = key->parse != NULL ? key->parse(value.text, key->name, &value.number, error)
                                     : parse_unsigned(value.text, key->name, key->minimum,
                                                      key->maximum, &value.number, error);
        if (!ok) {
            return false;
        }
        if (values->count == AXIS_VALUE_LIMIT) {
            return error_set(error, ERROR_USAGE, 0, "%s: more than %d values", key->name,
                             AXIS_VALUE_LIMIT);
        }
        if (is_known(values, value.number)) {
            return error_set(error, ERROR_USAGE, 0, "%s: '%s' is there twice", key->name,
                             value.text);
        }
        values->items[values->count++] = value;
    }
    return true;
}

static bool parse_quantum(const char *text, const char *key, uint64_t *value, struct error *error)
{
    return parse_size(text, key, 1, 1, UINT32_MAX, value, error);
}

static bool take_jitter(struct harness_settings *settings, const struct harness_key *key,
                        const char *text, struct error *error)
{
    settings->jitter = text;
    return link_parse_time(text, key->name, &settings->jitter_ns, error);
}

static bool take_loss(struct harness_settings *settings, const struct harness_key *key,
                      const char *text, struct error *error)
{
    settings->loss = text;
    return link_parse_loss(text, key->name, &settings->loss_ppm, error);
}

/* The first item that an earlier one equals; `count`: there is none. */
static size_t find_twice(const void *items, size_t count, size_t item_size)
{
    const char *bytes = items;
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (memcmp(bytes + i * item_size, bytes + k * item_size, item_size) == 0) {
                return i;
            }
        }
    }
    return count;
}

static bool take_sweep(struct harness_settings *settings, const struct harness_key *key,
                       const char *text, struct error *error)
{
    settings->sweep = text;
    if (!list_of_sizes(text, key->name, settings->sizes, &settings->size_count, error)) {
        return false;
    }
    size_t twice = find_twice(settings->sizes, settings->size_count, sizeof settings->sizes[0]);
    return twice == settings->size_count ||
           error_set(error, ERROR_USAGE, 0, "%s: %" PRIu64 " bytes are there twice", key->name,
                     settings->sizes[twice]);
}

static bool take_operations(struct harness_settings *settings, const struct harness_key *key,
                            const char *text, struct error *error)
{
    settings->operations = text;
    if (!list_of_tests(text, key->name, settings->tests, &settings->test_count, error)) {
        return false;
    }
    size_t twice = find_twice(settings->tests, settings->test_count, sizeof settings->tests[0]);
    return twice == settings->test_count ||
           error_set(error, ERROR_USAGE, 0, "%s: %s is there twice", key->name,
                     settings->tests[twice]->facts->name);
}

static bool take_suite(struct harness_settings *settings, const struct harness_key *key,
                       const char *text, struct error *error)
{
    settings->suite = text;
    if (strcmp(text, "speed") == 0) {
        return true;
    }
    if (strcmp(text, "lan") == 0 || strcmp(text, "both") == 0) {
        return error_set(error, ERROR_USAGE, 0, "%s=%s is not available yet: there is speed",
                         key->name, text);
    }
    return error_set(error, ERROR_USAGE, 0, "%s '%s' is none of speed, lan, both", key->name, text);
}

static bool take_server(struct harness_settings *settings, const struct harness_key *key,
                        const char *text, struct error *error)
{
    settings->server = server_kind_by_name(text);
    return settings->server != NULL || strcmp(text, "auto") == 0 ||
           error_set(error, ERROR_USAGE, 0, "%s '%s' is none of auto, netatalk, refserver",
                     key->name, text);
}

/* One and the same on every machine, for the same figures: kernels differ in what they take by
 * themselves, and it is a fifth of a small file's time. */
static bool take_control(struct harness_settings *settings, const struct harness_key *key,
                         const char *text, struct error *error)
{
    settings->congestion_control = strcmp(text, "kernel") == 0 ? NULL : text;
    return true;
}

static bool take_link(struct harness_settings *settings, const struct harness_key *key,
                      const char *text, struct error *error)
{
    settings->link = link_backend_by_name(text);
    settings->elsewhere.wanted = strcmp(text, "host") == 0;
    settings->shaped = settings->link != &link_none && !settings->elsewhere.wanted;
    if (strcmp(text, "netem") == 0 && settings->link == NULL) {
        return error_set(error, ERROR_LIMIT, 0,
                         "%s=netem: this back end is not there yet; %s=emulator keeps the same "
                         "shapes",
                         key->name, key->name);
    }
    return settings->link != NULL || settings->elsewhere.wanted || strcmp(text, "auto") == 0 ||
           error_set(error, ERROR_USAGE, 0, "%s '%s' is none of auto, netem, emulator, none, host",
                     key->name, text);
}

static const char *setter_of(const char *option)
{
    for (size_t i = 0; i < harness_key_count; i++) {
        for (size_t k = 0; k < COUNT(harness_keys[i].options); k++) {
            const char *set = harness_keys[i].options[k];
            if (set != NULL && strcmp(set, option) == 0) {
                return harness_keys[i].name;
            }
        }
    }
    return NULL;
}

/* Given again an option of ours would win, and the labels of the result would not be true. A
 * password would get into the record. */
static bool check_flag(const char *word, const struct harness_key *key, struct error *error)
{
    const struct option_row *row = options_find_reserved(&speedtest_program, word);
    if (row == NULL) {
        return true;
    }
    const char *setter = setter_of(row->name);
    return setter != NULL ? error_set(error, ERROR_USAGE, 0, "%s: --%s is set with %s", key->name,
                                      row->name, setter)
                          : error_set(error, ERROR_USAGE, 0, "%s: --%s is not for this program",
                                      key->name, row->name);
}

static bool take_flags(struct harness_settings *settings, const struct harness_key *key,
                       const char *text, struct error *error)
{
    struct words *words = &settings->extra_flags;
    words_release(words);
    settings->extra_text = text[0] != '\0' ? text : NULL;
    bool ok = words_split(words, text, key->name, error);
    for (size_t i = 0; ok && i < words->count; i++) {
        ok = check_flag(words->list[i], key, error);
    }
    return ok;
}

static bool take_nothing_yet(struct harness_settings *settings, const struct harness_key *key,
                             const char *text, struct error *error)
{
    return text[0] == '\0' ||
           error_set(error, ERROR_USAGE, 0, "%s is not available yet", key->name);
}

/* ---- The table ---- */

#define FIELD(name)  .offset = offsetof(struct harness_settings, name)
#define TEXT(name)   .take = take_text, FIELD(name)
#define AXIS(axis)   .take = take_list, FIELD(axes[axis])
#define RANGE(a, b)  .minimum = (a), .maximum = (b)
#define NUMBER(name) .take = take_number, FIELD(name)

const struct harness_key harness_keys[] = {
    {"RATE", "LIST", "10gbit", "link rate as tc reads it, of the Ethernet line", AXIS(AXIS_RATE),
     .parse = link_parse_rate, .group = "The link"},
    {"DELAY", "LIST", "2ms", "one-way delay; the round trip is twice this", AXIS(AXIS_DELAY),
     .parse = link_parse_time},
    {"MTU", "LIST", "1500", "of both ends", AXIS(AXIS_MTU), RANGE(576, 65535)},
    {"JITTER", "TIME", "0", "the delay varies evenly by up to this", take_jitter},
    {"LOSS", "SHARE", "0", "of packets lost each way, such as 0.1%", take_loss},
    {"CC", "NAME", "cubic", "congestion control of both ends; kernel: the kernel's own",
     take_control},
    {"LINK", "NAME", "auto", "how the link is made; none: as fast as it goes", take_link,
     .words = "auto,emulator,none,host"},
    {"STRICT", "0|1", "0", "1: stop where the machine does not keep a rate", take_flag,
     FIELD(strict), .words = "0,1"},

    {"SERVER", "NAME", "auto", "server under test; auto: the first that is there", take_server,
     .words = "auto,netatalk,refserver", .group = "The server"},
    {"QUANTUM", "LIST", "", "the server's quantum, bytes or with K, M", AXIS(AXIS_QUANTUM),
     .parse = parse_quantum},
    {"READAHEAD", "LIST", "", "afpd's dsireadbuf", AXIS(AXIS_READ_AHEAD), RANGE(1, 65535)},
    {"AFPD", "FILE", "", "another afpd", TEXT(afpd)},
    {"NETATALK_ROOT", "DIR", "", "a root directory that has Netatalk", TEXT(netatalk_root)},

    {"HOST", "HOST", "", "name, address or afp:// URL of the server", TEXT(elsewhere.host),
     .group = "A server elsewhere (LINK=host)", .options = {"host"}},
    {"PORT", "PORT", "", "1 to 65535; without it 548", take_port, .options = {"port"}},
    {"USER", "USER", "", "user name; given empty it is a guest", TEXT(elsewhere.user),
     .options = {"user"}},
    {"VOLUME", "VOLUME", "", "volume to test", TEXT(elsewhere.volume), .options = {"volume"}},
    {"PASSWORD_FILE", "FILE", "",
     "has the password in its first line (also AFP_PASSWORD, or asked for)",
     TEXT(elsewhere.password_file), .options = {"password-file"}},

    {"SUITE", "NAME", "speed", "which tests; lan and both come later", take_suite, .words = "speed",
     .group = "What is measured"},
    {"OPS", "LIST", "Read,Write,Copy", "tests; the data of ServerCopy never cross the link",
     take_operations, .choices = test_names, .options = {"tests"}},
    {"SWEEP", "LIST", "ci", "sizes (-z of the test program); ci: 4K to 256M, full: to 512M",
     take_sweep, .options = {"sweep", "size"}},
    {"ITER", "N", "5", "measured runs of each test and size", NUMBER(iterations), RANGE(1, 1000000),
     .options = {"iterations"}},
    {"WARMUP", "N", "1", "warm-up runs before them", NUMBER(warmups), RANGE(0, 1000000),
     .options = {"warmups"}},
    {"REQUESTS", "LIST", "1", "outstanding requests (-r of the test program)", AXIS(AXIS_REQUESTS),
     RANGE(1, DSI_WINDOW_LIMIT), .options = {"requests"}},
    {"EXTRA_FLAGS", "WORDS", "", "further options of the test program", take_flags},
    {"TOOL", "FILE", "", "another test program than our afp_speedtest", TEXT(test_program)},
    {"PAIRS", "N", "", "of AB; comes later", take_nothing_yet},

    {"OUTDIR", "DIR", "perftest-results", "where the result files go", TEXT(output_directory),
     .group = "The results"},
    {"BASELINE", "DIR", "", "earlier results to compare with; comes later", take_nothing_yet},
};
const size_t harness_key_count = sizeof harness_keys / sizeof harness_keys[0];

const struct option_program harness_program = {
    .name = "afp_perftest",
    .purpose = "measure an AFP server over a link of known rate, delay and MTU",
    .usage = "[KEY=value ...] [--dry-run] [--force]",
    .closing = "Each option is a key as well: --rate 1gbit, RATE=1gbit as a word, RATE=1gbit in\n"
               "the environment. Words and options go before the environment. Where a LIST has\n"
               "several values of rate, delay, MTU, quantum, read-ahead or requests, every\n"
               "combination runs.\n\n"
               "Example: afp_perftest RATE=1gbit DELAY=1ms,10ms SWEEP=4k,1M ITER=3\n",
    .words = OPTION_WORDS_KEYS,
};

/* ---- From the surroundings to the settings ---- */

/* What was given for each key, before it is read. */
struct given {
    struct harness_settings *settings;
    const char *texts[KEY_LIMIT];
    enum harness_source sources[KEY_LIMIT];
    char names[KEY_LIMIT][NAME_LENGTH]; /* of the options */
    bool dry_run, force;
};

/* "NETATALK_ROOT" → "netatalk-root" */
static void name_option(const char *key, char name[NAME_LENGTH])
{
    size_t i = 0;
    for (; key[i] != '\0' && i < NAME_LENGTH - 1; i++) {
        name[i] = key[i] == '_' ? '-' : (char)tolower((unsigned char)key[i]);
    }
    name[i] = '\0';
}

static void give(struct given *given, size_t key, const char *text)
{
    given->texts[key] = text;
    given->sources[key] = SOURCE_ARGUMENT;
}

static bool take_option(void *context, const struct option_row *row, const char *value,
                        struct error *error)
{
    give(context, row->offset, value);
    return true;
}

/* harness_key_count: there is none of this name. */
static size_t find_key(const char *name, size_t length)
{
    size_t key = 0;
    while (key < harness_key_count && (strlen(harness_keys[key].name) != length ||
                                       memcmp(harness_keys[key].name, name, length) != 0)) {
        key++;
    }
    return key;
}

static bool take_word(void *context, const char *word, struct error *error)
{
    size_t length = strcspn(word, "=");
    if (strcmp(word, "AB") == 0) {
        return error_set(error, ERROR_USAGE, 0, "AB is not available yet");
    }
    if (word[length] != '=') {
        return error_set(error, ERROR_USAGE, 0,
                         "stray word '%s': expected KEY=value; see %s --help", word,
                         harness_program.name);
    }
    size_t key = find_key(word, length);
    if (key < harness_key_count) {
        give(context, key, word + length + 1);
        return true;
    }
    for (size_t i = 0; i < harness_key_count; i++) {
        const char *name = harness_keys[i].name;
        if (strlen(name) == length && strncasecmp(name, word, length) == 0) {
            return error_set(error, ERROR_USAGE, 0, "unknown key '%.*s': it is written %s",
                             (int)length, word, name);
        }
    }
    return error_set(error, ERROR_USAGE, 0, "unknown key '%.*s'; see %s --help",
                     (int)(length < 40 ? length : 40), word, harness_program.name);
}

static void read_environment(struct given *given)
{
    for (size_t i = 0; i < harness_key_count; i++) {
        const char *value = getenv(harness_keys[i].name);
        given->texts[i] = value != NULL ? value : harness_keys[i].fallback;
        given->sources[i] = value != NULL ? SOURCE_ENVIRONMENT : SOURCE_DEFAULT;
    }
}

/* The rows are made here, so that the keys stand in one list only. */
static bool read_command_line(struct given *given, int argc, char **argv,
                              enum options_outcome *outcome, struct error *error)
{
    static const struct option_row own[] = {
        {0, "force", NULL, "overwrite results that are there", OPTION_FLAG,
         .offset = offsetof(struct given, force)},
        {0, "dry-run", NULL, "print plan, commands and estimated time, and exit", OPTION_FLAG,
         .offset = offsetof(struct given, dry_run)},
    };
    struct option_row rows[OPTION_LIMIT];
    size_t count = 0;
    for (size_t i = 0; i < harness_key_count; i++) {
        const struct harness_key *key = &harness_keys[i];
        name_option(key->name, given->names[i]);
        rows[count++] = (struct option_row){.name = given->names[i],
                                            .argument = key->argument,
                                            .help = key->help,
                                            .fallback = key->fallback,
                                            .group = key->group,
                                            .words = key->words,
                                            .choices = key->choices,
                                            .kind = OPTION_CALL,
                                            .offset = i,
                                            .call = take_option};
    }
    for (size_t i = 0; i < COUNT(own); i++) {
        rows[count++] = own[i];
    }
    struct option_program program = harness_program;
    program.rows = rows;
    program.count = count;
    program.word = take_word;
    return options_parse(&program, argc, argv, given, outcome, error);
}

static bool was_given(const struct given *given, const char *name)
{
    size_t key = find_key(name, strlen(name));
    return given->sources[key] != SOURCE_DEFAULT && given->texts[key][0] != '\0';
}

static bool take_all(struct given *given, struct error *error)
{
    for (size_t i = 0; i < harness_key_count; i++) {
        const struct harness_key *key = &harness_keys[i];
        const char *text = given->texts[i];
        /* Nothing means the default, so that a script can pass on an empty variable. */
        text = text[0] != '\0' ? text : key->fallback;
        if (!key->take(given->settings, key, text, error)) {
            return given->sources[i] != SOURCE_ENVIRONMENT
                       ? false
                       : error_prefix(error, "from the environment");
        }
    }
    return true;
}

/* ---- What follows ---- */

static bool check_jitter(const struct harness_settings *settings, struct error *error)
{
    const struct harness_values *delays = &settings->axes[AXIS_DELAY];
    for (size_t i = 0; i < delays->count; i++) {
        if (settings->jitter_ns > delays->items[i].number) {
            return error_set(error, ERROR_USAGE, 0, "JITTER %s is more than DELAY %s",
                             settings->jitter, delays->items[i].text);
        }
    }
    return true;
}

static bool refuse(const struct given *given, const char *const *keys, enum harness_source least,
                   const char *why, struct error *error)
{
    for (; *keys != NULL; keys++) {
        size_t key = find_key(*keys, strlen(*keys));
        if (given->sources[key] >= least && given->texts[key][0] != '\0') {
            return error_set(error, ERROR_USAGE, 0, "%s: leave out %s", why, *keys);
        }
    }
    return true;
}

/* What stands in a name where there is no shape. */
static void name_shape(struct harness_settings *settings, const char *rate, const char *delay)
{
    const char *const texts[] = {[AXIS_RATE] = rate, [AXIS_DELAY] = delay};
    for (size_t axis = 0; axis < COUNT(texts); axis++) {
        settings->axes[axis] = (struct harness_values){.count = 1};
        snprintf(settings->axes[axis].items[0].text, LIST_ITEM_LENGTH, "%s", texts[axis]);
    }
}

/* A link without a shape must not carry the name of one. */
static bool unshape(struct harness_settings *settings, const struct given *given,
                    struct error *error)
{
    static const char *const shapes[] = {"RATE", "DELAY", "JITTER", "LOSS", NULL};
    name_shape(settings, "unshaped", "0ms");
    return refuse(given, shapes, SOURCE_ENVIRONMENT, "LINK=none has no shape", error);
}

/* ---- A server elsewhere ---- */

static const char *or_else(const char *text, const char *otherwise)
{
    return text == NULL && otherwise[0] != '\0' ? otherwise : text;
}

/* The environment's USER is whoever sits here: what a URL says goes before it. */
static bool resolve_host(struct harness_settings *settings, const struct given *given,
                         struct error *error)
{
    struct harness_elsewhere *elsewhere = &settings->elsewhere;
    struct location *location = &elsewhere->location;
    size_t user = find_key("USER", strlen("USER"));
    bool typed = given->sources[user] == SOURCE_ARGUMENT;
    if (elsewhere->host == NULL) {
        return error_set(error, ERROR_USAGE, 0, "LINK=host needs the server's HOST");
    }
    if (!location_parse(elsewhere->host, location, error)) {
        return error_prefix(error, "HOST");
    }
    if (typed && given->texts[user][0] == '\0') {
        elsewhere->user = "";
    } else if (!typed && location->user[0] != '\0') {
        elsewhere->user = location->user;
    }
    elsewhere->volume = or_else(elsewhere->volume, location->volume);
    if (elsewhere->port != 0) {
        location->port = (uint16_t)elsewhere->port;
    } else if (location->port == 0) {
        location->port = DSI_DEFAULT_PORT;
    }
    return (elsewhere->volume != NULL ||
            error_set(error, ERROR_USAGE, 0, "LINK=host needs a VOLUME of the server")) &&
           (elsewhere->user != NULL ||
            error_set(error, ERROR_USAGE, 0, "LINK=host needs a USER: given empty it is a guest"));
}

static bool place_elsewhere(struct harness_settings *settings, const struct given *given,
                            struct error *error)
{
    static const char *const ours[] = {"RATE", "DELAY",         "MTU",    "JITTER",  "LOSS",
                                       "CC",   "STRICT",        "SERVER", "QUANTUM", "READAHEAD",
                                       "AFPD", "NETATALK_ROOT", NULL};
    if (!refuse(given, ours, SOURCE_ARGUMENT, "LINK=host is a server as it is", error) ||
        !resolve_host(settings, given, error)) {
        return false;
    }
    name_shape(settings, "host", settings->elsewhere.location.host);
    return true;
}

/* A shell sets HOST and USER whatever we do: from the environment they mean nothing here. */
static bool stay_here(const struct given *given, struct error *error)
{
    static const char *const theirs[] = {"HOST", "PORT", "USER", "VOLUME", "PASSWORD_FILE", NULL};
    return refuse(given, theirs, SOURCE_ARGUMENT, "only LINK=host has a server elsewhere", error);
}

bool harness_settings_password(struct harness_settings *settings, struct error *error)
{
    struct harness_elsewhere *elsewhere = &settings->elsewhere;
    bool found = true;
    if (!elsewhere->wanted || elsewhere->user[0] == '\0') {
        return true;
    }
    if (elsewhere->password_file != NULL) {
        return password_from_file(elsewhere->password_file, elsewhere->password,
                                  sizeof elsewhere->password, error);
    }
    if (!password_from_environment("AFP_PASSWORD", elsewhere->password, sizeof elsewhere->password,
                                   &found, error) ||
        (!found && !password_from_terminal(elsewhere->user, elsewhere->password, &found, error))) {
        return false;
    }
    return found || error_set(error, ERROR_USAGE, 0,
                              "no password for user '%s': give one with PASSWORD_FILE, "
                              "AFP_PASSWORD or on a terminal; USER= is a guest",
                              elsewhere->user);
}

/* ---- All of it ---- */

static bool check(struct harness_settings *settings, const struct given *given, struct error *error)
{
    bool has_read_ahead = was_given(given, "READAHEAD");
    if (settings->elsewhere.wanted) {
        return place_elsewhere(settings, given, error);
    }
    if (!stay_here(given, error) || (!settings->shaped && !unshape(settings, given, error))) {
        return false;
    }
    if (has_read_ahead && settings->server != NULL && !settings->server->takes_read_ahead) {
        return error_set(error, ERROR_USAGE, 0, "READAHEAD is afpd's: %s has none",
                         settings->server->name);
    }
    return check_jitter(settings, error);
}

bool harness_settings_parse(struct harness_settings *settings, int argc, char **argv,
                            enum options_outcome *outcome, struct error *error)
{
    struct given *given = memory_allocate(1, sizeof *given);
    *settings = (struct harness_settings){.shaped = true};
    if (given == NULL) {
        return memory_error(error, "for the settings");
    }
    given->settings = settings;
    read_environment(given);
    bool ok =
        read_command_line(given, argc, argv, outcome, error) &&
        (*outcome == OPTIONS_PRINTED || (take_all(given, error) && check(settings, given, error)));
    settings->dry_run = given->dry_run;
    settings->force = given->force;
    memory_release(given);
    return ok;
}

void harness_settings_release(struct harness_settings *settings)
{
    memory_wipe(settings->elsewhere.password, sizeof settings->elsewhere.password);
    words_release(&settings->extra_flags);
}

uint64_t harness_largest_size(const struct harness_settings *settings)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < settings->size_count; i++) {
        largest = settings->sizes[i] > largest ? settings->sizes[i] : largest;
    }
    return largest;
}
