/*
 * settings.h - the keys of afp_perftest: one table, from which come KEY=value words, the
 * environment's variables, options (--key value) and --help.
 *
 * A word or an option goes before the environment; the last one counts. Values are strict.
 *
 * To add a key: a row in harness_keys[] and its field; for one of which a list of values makes
 * several runs also a place in enum harness_axis; its line in doc/afp_perftest.1.
 */
#ifndef AFPBENCH_HARNESS_SETTINGS_H
#define AFPBENCH_HARNESS_SETTINGS_H

#include "cli/lists.h"
#include "cli/location.h"
#include "cli/options.h"
#include "cli/password.h"
#include "cli/words.h"
#include "netlab/link.h"
#include "netlab/server_under_test.h"

/* Keys that may be lists: each combination of their values is a run. In the order of a run's name.
 */
enum harness_axis {
    AXIS_RATE,
    AXIS_DELAY,
    AXIS_MTU,
    AXIS_QUANTUM,
    AXIS_READ_AHEAD,
    AXIS_REQUESTS,
    HARNESS_AXES
};

#define AXIS_VALUE_LIMIT 32

struct harness_value {
    char text[LIST_ITEM_LENGTH]; /* as typed; "" for the server's own */
    uint64_t number;
};

struct harness_values {
    struct harness_value items[AXIS_VALUE_LIMIT];
    size_t count;
};

enum harness_source { SOURCE_DEFAULT, SOURCE_ENVIRONMENT, SOURCE_ARGUMENT };

/* The server of LINK=host: no lab, nothing on its link is counted. */
struct harness_elsewhere {
    bool wanted;
    const char *host, *volume, *password_file; /* as given; NULL: not given */
    const char *user;                          /* "": a guest */
    uint32_t port;                             /* 0: not given */
    struct location location;                  /* all that the above say together */
    char password[PASSWORD_LIMIT];             /* by harness_settings_password() */
};

struct harness_settings {
    struct harness_values axes[HARNESS_AXES];
    const char *suite;
    const char *jitter, *loss, *sweep, *operations; /* as typed */
    uint64_t jitter_ns;
    uint32_t loss_ppm;
    uint32_t iterations, warmups;
    uint64_t sizes[SIZE_LIMIT];
    size_t size_count;
    const struct speed_test *tests[TEST_LIMIT];
    size_t test_count;
    const struct server_kind *server; /* NULL: auto */
    const struct link_backend *link;  /* NULL: auto */
    bool shaped;                      /* false with LINK=none and LINK=host */
    struct harness_elsewhere elsewhere;
    const char *congestion_control;   /* NULL: the kernel's */
    const char *afpd, *netatalk_root; /* NULL: none */
    const char *test_program;         /* NULL: ours, or from PATH */
    const char *output_directory;
    struct words extra_flags;
    const char *extra_text; /* of which they were made; NULL: none */
    bool strict;
    bool force, dry_run;
};

struct harness_key {
    const char *name;     /* "RATE"; the option is --rate */
    const char *argument; /* "LIST" */
    const char *fallback; /* used when nothing is given; "": none */
    const char *help;     /* without choices and default */
    MUST_CHECK bool (*take)(struct harness_settings *settings, const struct harness_key *key,
                            const char *text, struct error *error);
    size_t offset; /* of the field that `take` fills */
    uint64_t minimum, maximum;
    MUST_CHECK bool (*parse)(const char *text, const char *key, uint64_t *value,
                             struct error *error);
    const char *options[2]; /* of afp_speedtest, that it sets: they are not for EXTRA_FLAGS */
    /* As in struct option_row. */
    const char *group, *words;
    const char *(*choices)(const char *separator, char *text, size_t size);
};

extern const struct harness_key harness_keys[];
extern const size_t harness_key_count;

/* For messages; has no rows. */
extern const struct option_program harness_program;

/* Reads the environment, then the command line. Release also after a failure. */
MUST_CHECK bool harness_settings_parse(struct harness_settings *settings, int argc, char **argv,
                                       enum options_outcome *outcome, struct error *error);
/* Gets the password of a user of a server elsewhere: from PASSWORD_FILE, from AFP_PASSWORD, which
 * is then overwritten, or from the terminal. Nothing to do for a guest, or without such a server.
 */
MUST_CHECK bool harness_settings_password(struct harness_settings *settings, struct error *error);

/* Wipes the password too. */
void harness_settings_release(struct harness_settings *settings);

uint64_t harness_largest_size(const struct harness_settings *settings);

#endif
