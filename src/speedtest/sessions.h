/* sessions.h - the sessions of one afp_speedtest: a target and a run each. */
#ifndef AFPBENCH_SPEEDTEST_SESSIONS_H
#define AFPBENCH_SPEEDTEST_SESSIONS_H

#include "afp/client.h"
#include "speedtest/settings.h"
#include "workload/speed.h"

struct speedtest_sessions {
    size_t count; /* targets that are open */
    struct target *targets[SESSION_LIMIT];
    struct speed_run *runs; /* one for each */
};

/* Logs in settings->sessions times and opens the volumes, or with -L the directories. False leaves
 * those open that were; close in any case. */
MUST_CHECK bool speedtest_sessions_open(struct speedtest_sessions *sessions,
                                        const struct afp_client_config *config,
                                        const struct speedtest_settings *settings,
                                        struct error *error);
void speedtest_sessions_close(struct speedtest_sessions *sessions);

/* Waits until `fd` can be read or `deadline_ns` of the monotonic clock has passed, keeping every
 * session alive in turn. */
MUST_CHECK bool speedtest_sessions_await(const struct speedtest_sessions *sessions, int fd,
                                         uint64_t deadline_ns, bool *readable, struct error *error);

/* Whether any session still awaits an answer. */
bool speedtest_sessions_busy(const struct speedtest_sessions *sessions);

#endif
