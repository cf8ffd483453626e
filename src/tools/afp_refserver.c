/* afp_refserver - the reference server as a program. */
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/listen.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/process_guard.h"
#include "server/faults.h"
#include "server/server.h"
#include "server/store.h"
#include "uam/uam.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LISTEN_LIMIT    16
#define VOLUME_LIMIT    64
#define USER_LIMIT      64
#define UAM_LIMIT       32
#define QUANTUM_LEAST   512
#define QUANTUM_MOST    (UINT32_MAX - 64U) /* a DSI frame counts its bytes in 32 bits */
#define SESSIONS_MOST   10000
#define READ_AHEAD_MOST (UINT64_C(1) << 40)
#define FAULT_LIMIT     64

struct settings {
    const char *addresses[LISTEN_LIMIT];
    size_t address_count;
    struct server_volume volumes[VOLUME_LIMIT];
    size_t volume_count;
    struct server_user users[USER_LIMIT];
    size_t user_count;
    const struct uam *uams[UAM_LIMIT];
    size_t uam_count;                       /* 0: all */
    char *texts[VOLUME_LIMIT + USER_LIMIT]; /* copies that the above point into */
    size_t text_count;
    uint32_t port;
    uint64_t quantum;
    uint64_t read_ahead;
    struct fault faults[FAULT_LIMIT];
    size_t fault_count;
    uint32_t sessions;
    uint32_t forks;
    bool no_guest;
    bool strict_frames;
    const char *server_name;
    const char *machine_type;
};

/* ---- The command line ---- */

/* A copy of an argument that lives as long as the settings. */
static char *keep_text(struct settings *settings, const char *text, struct error *error)
{
    char *copy = memory_copy_string(text);
    if (copy == NULL) {
        memory_error(error, "for the command line");
        return NULL;
    }
    settings->texts[settings->text_count++] = copy;
    return copy;
}

static bool too_many(const struct option_row *row, size_t count, size_t limit, struct error *error)
{
    return count < limit ||
           error_set(error, ERROR_USAGE, 0, "--%s is given more than %zu times", row->name, limit);
}

static bool add_address(void *context, const struct option_row *row, const char *value,
                        struct error *error)
{
    struct settings *settings = context;
    if (!too_many(row, settings->address_count, LISTEN_LIMIT, error)) {
        return false;
    }
    settings->addresses[settings->address_count++] = value;
    return true;
}

/* One word after a volume's name. */
static bool volume_word(struct server_volume *volume, const char *word, struct error *error)
{
    static const struct {
        const char *prefix;
        size_t offset;
    } sizes[] = {
        {"limit=", offsetof(struct server_volume, limit_bytes)},
        {"free=", offsetof(struct server_volume, free_bytes)},
    };
    static const char store[] = "store=";
    static const char path[] = "path=";
    static const char password[] = "password=";
    if (strcmp(word, "read-only") == 0) {
        volume->read_only = true;
        return true;
    }
    if (strncmp(word, store, sizeof store - 1) == 0) {
        volume->store = word + sizeof store - 1;
        return store_by_name(volume->store) != NULL ||
               error_set(error, ERROR_USAGE, 0, "--volume %s: no store '%s'; there are %s",
                         volume->name, volume->store, store_names());
    }
    if (strncmp(word, path, sizeof path - 1) == 0) {
        volume->path = word + sizeof path - 1;
        return true;
    }
    if (strncmp(word, password, sizeof password - 1) == 0) {
        volume->password = word + sizeof password - 1;
        return true;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t length = strlen(sizes[i].prefix);
        if (strncmp(word, sizes[i].prefix, length) == 0) {
            uint64_t *field = (uint64_t *)(void *)((char *)volume + sizes[i].offset);
            return parse_size(word + length, "--volume's size", 1, 1, INT64_MAX, field, error);
        }
    }
    if (volume->password != NULL) { /* the word may be the rest of it */
        return error_set(error, ERROR_USAGE, 0,
                         "--volume %s: what follows password= is no word (a password has no comma)",
                         volume->name);
    }
    return error_set(error, ERROR_USAGE, 0,
                     "--volume %s: '%.*s' is none of path=, store=, limit=, free=, password=, "
                     "read-only",
                     volume->name, (int)strcspn(word, "="), word);
}

static bool add_volume(void *context, const struct option_row *row, const char *value,
                       struct error *error)
{
    struct settings *settings = context;
    char *rest = too_many(row, settings->volume_count, VOLUME_LIMIT, error)
                     ? keep_text(settings, value, error)
                     : NULL;
    if (rest == NULL) {
        return false;
    }
    char *copy = rest;
    struct server_volume volume = {.name = strsep(&rest, ",")};
    const char *word;
    while ((word = strsep(&rest, ",")) != NULL) {
        if (!volume_word(&volume, word, error)) {
            return false;
        }
    }
    if (volume.store == NULL) {
        volume.store = volume.path != NULL ? "directory" : "memory";
    }
    if (volume.password != NULL) { /* other users see the argument list */
        options_wipe((char *)value + (volume.password - copy));
    }
    settings->volumes[settings->volume_count++] = volume;
    return true;
}

static bool add_user(void *context, const struct option_row *row, const char *value,
                     struct error *error)
{
    struct settings *settings = context;
    char *copy = too_many(row, settings->user_count, USER_LIMIT, error)
                     ? keep_text(settings, value, error)
                     : NULL;
    if (copy == NULL) {
        return false;
    }
    char *colon = strchr(copy, ':');
    if (colon == NULL || colon == copy) {
        return error_set(error, ERROR_USAGE, 0, "--user wants NAME:PASSWORD");
    }
    *colon = '\0';
    settings->users[settings->user_count++] = (struct server_user){copy, colon + 1};
    options_wipe((char *)value + (colon + 1 - copy)); /* other users see the argument list */
    return true;
}

/* One word of the list of login methods. */
static const struct uam *find_uam(const char *word, size_t length)
{
    char copy[16] = "";
    if (length >= sizeof copy) {
        return NULL;
    }
    memcpy(copy, word, length);
    return uam_by_option(copy);
}

static bool set_uams(void *context, const struct option_row *row, const char *value,
                     struct error *error)
{
    struct settings *settings = context;
    settings->uam_count = 0;
    for (;; value++) {
        size_t length = strcspn(value, ",");
        const struct uam *uam = find_uam(value, length);
        if (uam == NULL) {
            char known[120] = "";
            uam_append_options(", ", known, sizeof known);
            return error_set(error, ERROR_USAGE, 0,
                             "--uams: '%.*s' is no login method; there are %s", (int)length, value,
                             known);
        }
        if (settings->uam_count == UAM_LIMIT) {
            return error_set(error, ERROR_USAGE, 0, "--uams: more than %d methods", UAM_LIMIT);
        }
        settings->uams[settings->uam_count++] = uam;
        value += length;
        if (*value == '\0') {
            return true;
        }
    }
}

static bool add_fault(void *context, const struct option_row *row, const char *value,
                      struct error *error)
{
    struct settings *settings = context;
    return too_many(row, settings->fault_count, FAULT_LIMIT, error) &&
           (fault_parse(&settings->faults[settings->fault_count++], value, error) ||
            error_prefix(error, "--fault '%s'", value));
}

#define FIELD(name) .offset = offsetof(struct settings, name)

static const char *login_methods(const char *separator, char *text, size_t size)
{
    text[0] = '\0';
    uam_append_options(separator, text, size);
    return text;
}

static const struct option_row rows[] = {
    {0, "listen", "ADDR", "listen there, not on 127.0.0.1 and ::1; may be repeated", OPTION_CALL,
     .call = add_address, .group = "Where it is reached"},
    {'p', "port", "N", "TCP port, 0: one that is free", OPTION_NUMBER, FIELD(port), .minimum = 0,
     .maximum = UINT16_MAX, .fallback = "548"},
    {0, "sessions", "N", "most sessions at once", OPTION_NUMBER, FIELD(sessions), .minimum = 1,
     .maximum = SESSIONS_MOST, .fallback = "256"},
    {0, "server-name", "NAME", "the server's name", OPTION_TEXT, FIELD(server_name)},
    {0, "machine-type", "STRING", "what it says it is", OPTION_TEXT, FIELD(machine_type)},

    {0, "volume", "NAME[,WORD]...", "a volume; see below", OPTION_CALL, .call = add_volume,
     .fallback = "bench", .group = "Volumes and users"},
    {0, "user", "NAME:PASSWORD", "a user", OPTION_CALL, .call = add_user},
    {0, "uams", "LIST", "login methods", OPTION_CALL, .call = set_uams, .choices = login_methods,
     .fallback = "all"},
    {0, "no-guest", NULL, "guests may not log in", OPTION_FLAG, FIELD(no_guest)},

    {0, "quantum", "SIZE", "most data in one write request", OPTION_SIZE, FIELD(quantum),
     .minimum = QUANTUM_LEAST, .maximum = QUANTUM_MOST, .unit = 1, .fallback = "1M",
     .group = "How it behaves"},
    {0, "strict-frames", NULL, "request block and data share the quantum, as Netatalk 4.5.1",
     OPTION_FLAG, FIELD(strict_frames)},
    {0, "read-ahead", "SIZE", "receive so much of who takes no replies", OPTION_SIZE,
     FIELD(read_ahead), .minimum = 0, .maximum = READ_AHEAD_MOST, .unit = 1, .fallback = "12M"},
    {0, "forks", "N", "most forks that a session has open", OPTION_NUMBER, FIELD(forks),
     .minimum = 1, .maximum = SERVER_FORKS_MOST, .fallback = "4096"},
    {0, "fault", "FAULT", "go wrong on purpose: NAME[=VALUE][@REQUEST[#WHICH]]", OPTION_CALL,
     .call = add_fault},
};

static const char *const remedies[REMEDIES] = {
    [REMEDY_HIGH_PORT] = ": ports below 1024 (net.ipv4.ip_unprivileged_port_start) need root or "
                         "CAP_NET_BIND_SERVICE; -p 10548 does not, and -p 0 takes one that is free",
};

static const struct option_program program = {
    .name = "afp_refserver",
    .purpose = "a small, fast AFP server for tests and measurements",
    .usage = "[OPTION]...",
    .closing = "Words after a volume's name:\n"
               "  path=DIR         serve this directory, whose name holds no comma\n"
               "  store=memory     files are kept in memory (default)\n"
               "  store=directory  what path= implies\n"
               "  store=null       reads are made up, writes are counted and dropped\n"
               "  limit=SIZE       the volume is full at this size\n"
               "  free=SIZE        claim this much free space\n"
               "  password=TEXT    ask for this password, 1 to 8 bytes without a comma\n"
               "  read-only        nothing can be changed\n"
               "\n"
               "Example: afp_refserver --port 10548 --user me:secret --volume bench\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .remedies = remedies,
};

static void release_texts(struct settings *settings)
{
    for (size_t i = 0; i < settings->text_count; i++) {
        memory_wipe(settings->texts[i], strlen(settings->texts[i]));
        memory_release(settings->texts[i]);
    }
}

/* Both loopback addresses by default, for clients that try either one first. */
static struct server_config make_config(struct settings *settings)
{
    struct server_config config = server_config_default();
    if (settings->address_count == 0) {
        settings->addresses[settings->address_count++] = "127.0.0.1";
        if (listen_can_bind("::1")) {
            settings->addresses[settings->address_count++] = "::1";
        }
    }
    config.listen_addresses = settings->addresses;
    config.listen_count = settings->address_count;
    config.port = (uint16_t)settings->port;
    if (settings->volume_count > 0) {
        config.volumes = settings->volumes;
        config.volume_count = settings->volume_count;
    }
    config.users = settings->users;
    config.user_count = settings->user_count;
    config.allow_guest = !settings->no_guest;
    config.uams = settings->uam_count > 0 ? settings->uams : NULL;
    config.uam_count = settings->uam_count;
    config.quantum = (uint32_t)settings->quantum;
    config.strict_frames = settings->strict_frames;
    config.read_ahead_bytes = settings->read_ahead;
    config.faults = settings->faults;
    config.fault_count = settings->fault_count;
    config.session_limit = settings->sessions;
    config.fork_limit = (uint16_t)settings->forks;
    config.server_name = settings->server_name;
    config.machine_type = settings->machine_type;
    return config;
}

/* ---- Running ---- */

static void *wait_for_signal(void *server)
{
    sigset_t signals;
    int received;
    interrupt_signals(&signals);
    sigwait(&signals, &received);
    server_stop(server);
    return NULL;
}

static bool announce(const struct server_config *config, const struct server *server,
                     struct error *error)
{
    for (size_t i = 0; i < config->listen_count; i++) {
        printf("listening on %s port %u\n", config->listen_addresses[i],
               (unsigned)server_port(server));
    }
    return fflush(stdout) == 0 || error_set_errno(error, errno, "cannot write to stdout");
}

/* Serves until interrupted, which one thread waits for and all others have blocked. */
static bool serve(const struct server_config *config, struct server *server, struct error *error)
{
    pthread_t waiter;
    int code = pthread_create(&waiter, NULL, wait_for_signal, server);
    if (code != 0) {
        return error_set_errno(error, code, "cannot start a thread");
    }
    bool done = announce(config, server, error) && server_run(server, error);
    pthread_kill(waiter, SIGTERM); /* if it was not a signal that ended the server */
    pthread_join(waiter, NULL);
    return done;
}

static bool run(struct settings *settings, struct error *error)
{
    struct server_config config = make_config(settings);
    struct server *server;
    sigset_t signals;
    interrupt_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    limits_raise_descriptors();
    if (!server_start(&server, &config, error)) {
        return false;
    }
    bool done = serve(&config, server, error);
    server_free(server);
    return done;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .port = 548,
        .quantum = SERVER_DEFAULT_QUANTUM,
        .read_ahead = SERVER_DEFAULT_READ_AHEAD,
        .sessions = 256,
        .forks = SERVER_DEFAULT_FORKS,
        .server_name = "afpbench",
        .machine_type = "afpbench",
    };
    struct error error;
    enum options_outcome outcome;
    enum exit_status otherwise = EXIT_TEST_FAILED;
    process_guard();
    bool done = options_parse(&program, argc, argv, &settings, &outcome, &error);
    if (done && outcome == OPTIONS_RUN) {
        otherwise = EXIT_CANNOT_RUN;
        done = run(&settings, &error);
    }
    release_texts(&settings);
    return done ? EXIT_DONE : options_report(&program, &error, otherwise);
}
