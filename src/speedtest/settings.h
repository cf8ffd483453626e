/* settings.h - the command line of afp_speedtest, parsed and checked. */
#ifndef AFPBENCH_SPEEDTEST_SETTINGS_H
#define AFPBENCH_SPEEDTEST_SETTINGS_H

#include "afp/afp.h"
#include "cli/lists.h"
#include "cli/location.h"
#include "cli/options.h"
#include "cli/password.h"
#include "dsi/session.h"
#include "uam/uam.h"
#include "workload/speed.h"

#define SESSION_LIMIT 256 /* of --sessions */

struct speedtest_settings {
    /* where */
    const char *host; /* as given with -h */
    struct location location;
    uint32_t port; /* 0: not given */
    const char *volume;
    const char *second_volume;
    const char *refserver_store; /* NULL: test another server */
    const char *refserver_path;  /* the directory for store "directory" */
    bool posix;                  /* -L: `volume` and `second_volume` are directories */
    const char *path;            /* -P: another way to give the first one */
    bool direct;                 /* -D */
    /* who */
    enum afp_version version;
    bool uam_given;
    const struct uam *uam; /* NULL: auto */
    const char *user;
    bool has_password;
    char password[PASSWORD_LIMIT];
    bool has_volume_password;
    char volume_password[AFP_VOLUME_PASSWORD_SIZE + 1]; /* of both volumes; empty: none */
    /* what */
    const struct speed_test *tests[TEST_LIMIT];
    size_t test_count;
    uint64_t size_bytes; /* 0: not given */
    uint64_t sweep[SIZE_LIMIT];
    size_t sweep_count; /* 0: a single size */
    uint64_t chunk_bytes;
    uint32_t interleaved; /* -r; 0: not given */
    uint32_t batched;     /* -R; 0: not given */
    enum flow_sink sink;
    const char *existing_file;
    bool sparse;
    bool no_flush;
    bool new_files;
    uint32_t iterations;
    uint32_t warmups;
    uint64_t pause_ns;
    uint32_t sessions;
    /* how it is told */
    bool csv;
    bool statistics;
    const char *json_path; /* NULL: none; "-": stdout */
    /* how */
    uint32_t timeout_s;
    bool mark; /* --mark-fd is given */
    uint32_t mark_fd;
    bool interactive;
    bool verbose;
    bool very_verbose;
    bool info;
    bool clean;
    uint64_t clean_age_s; /* of what goes although its run may live; UINT64_MAX: none */
};

extern const struct option_program speedtest_program;

/* Defaults, the command line, and what follows from it: host, user, password. */
MUST_CHECK bool speedtest_settings_parse(struct speedtest_settings *settings, int argc, char **argv,
                                         enum options_outcome *outcome, struct error *error);

/* How many sizes are tested: 1 without a sweep. */
size_t speedtest_size_count(const struct speedtest_settings *settings);

/* The part that the tests need, for one of the sizes. */
struct speed_options speedtest_speed_options(const struct speedtest_settings *settings,
                                             size_t size_index);

#endif
