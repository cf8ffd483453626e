/*
 * result.h - what a benchmark measured, and who is told about it.
 *
 * bench/ fills a `struct result` case by case; observers (text, CSV, JSON, progress) read it and
 * nothing else. Times are nanoseconds of the monotonic clock, sizes are bytes. A result owns its
 * cases and samples; strings are borrowed and live as long as the program's options. Filled by one
 * thread.
 */
#ifndef AFPBENCH_RESULT_RESULT_H
#define AFPBENCH_RESULT_RESULT_H

#include "base/error.h"
#include "base/tcp_info.h"
#include "stats/histogram.h"
#include "stats/summary.h"

#include <stddef.h>
#include <stdint.h>

enum request_kind { REQUEST_READ, REQUEST_WRITE, REQUEST_FLUSH, REQUEST_COPY, REQUEST_KINDS };

/* "read", "write", "flush", "server_copy" */
extern const char *const request_kind_names[REQUEST_KINDS];

/* What a timed section moved. */
struct sample_counts {
    uint64_t bytes; /* payload; a copy counts the file once */
    uint64_t requests[REQUEST_KINDS];
    uint64_t runts;            /* reads and writes smaller than the chunk */
    uint64_t short_replies;    /* reads answered with less: the rest was one more request */
    uint64_t round_trips;      /* at least so many: requests ÷ outstanding, rounded up */
    struct histogram *service; /* of reads and writes; NULL: not wanted */
};

uint64_t sample_requests(const struct sample_counts *counts);

/* What a target knows of its own work at one moment. */
struct target_account {
    struct tcp_snapshot tcp; /* length 0: no connection */
    uint64_t waited_ns;      /* time spent blocked so far, waiting for the other side */
};

/* What TCP counted during a run, all sessions together. */
enum tcp_count {
    TCP_COUNT_SENT_BYTES,
    TCP_COUNT_RECEIVED_BYTES,
    TCP_COUNT_SEGMENTS_OUT,
    TCP_COUNT_SEGMENTS_IN,
    TCP_COUNT_DATA_SEGMENTS_OUT,
    TCP_COUNT_DATA_SEGMENTS_IN,
    TCP_COUNTS
};

/* "sent_bytes", … */
extern const char *const tcp_count_names[TCP_COUNTS];

struct sample_tcp {
    bool known[TCP_COUNTS]; /* the kernel has this counter */
    uint64_t counts[TCP_COUNTS];
};

/* Where the time of a run went, all sessions together; the parts sum to elapsed_ns. shares.h */
enum share {
    SHARE_RECEIVE_WINDOW, /* waiting for the peer to open its window */
    SHARE_SEND_BUFFER,    /* waiting for room in our own send buffer */
    SHARE_SERVER,         /* waiting for the server, beyond the round trip */
    SHARE_CLIENT_CPU,     /* our own work */
    SHARE_REST,           /* on the way, or not scheduled */
    SHARES
};

/* "receive_window_ns", … */
extern const char *const share_names[SHARES];

struct sample {
    uint32_t number; /* from 1; warm-ups have their own count */
    bool warmup;
    bool spoiled;         /* by what somebody else saw happen: it counts for nothing, and is made
                             again with the same number */
    uint64_t size_bytes;  /* of all sessions' files together: what the rate is made of */
    uint64_t duration_ns; /* from the first session's start to the last one's end */
    uint64_t elapsed_ns;  /* the sessions' own durations, added up */
    uint64_t cpu_ns;      /* of the measuring threads */
    uint64_t waited_ns;   /* blocked, waiting for the other side */
    struct sample_counts counts;
    struct sample_tcp tcp;
    uint64_t shares_ns[SHARES];
    struct tcp_snapshot tcp_before, tcp_after; /* of the first session */
};

/* A test on one size. */
struct test_case {
    const char *name;     /* "Read" */
    uint32_t chunk_bytes; /* data of one full request, as really used */
    uint64_t size_bytes;  /* of one file */
    bool sparse;
    bool batched;       /* -R, else -r */
    const char *sink;   /* what becomes of data read: "copy", …; NULL: nothing is read */
    bool flush;         /* a write ends with a flush */
    bool new_files;     /* one for each run */
    bool existing_file; /* read from one that was there */
    uint32_t depth;
    uint32_t sessions;
    uint32_t warmups;
    uint32_t iterations;
};

/* Where a Read came from, as far as the client can tell. */
enum cache_state {
    CACHE_UNKNOWN,     /* not a Read, or nothing is known */
    CACHE_SERVER_WARM, /* the server was just given the file */
    CACHE_CLIENT_COLD, /* the client's own page cache held nothing of it */
    CACHE_CLIENT_WARM, /* it could not be dropped from there */
    CACHE_BYPASSED,    /* O_DIRECT */
};

/* What the measured runs of a case say together; all 0 without one. */
struct result_summary {
    struct stats_summary times; /* of the durations, in nanoseconds */
    uint64_t bytes;             /* of one run, all sessions */
    /* As of result_rate(). */
    double mean_rate, median_rate, slowest_rate, fastest_rate;
    uint64_t shares_ns[SHARES];
    struct histogram_summary service; /* of single reads and writes */
};

struct result_case {
    struct test_case test;
    enum cache_state cache;
    struct sample *samples; /* warm-ups first */
    uint32_t sample_count;
    /* Those that count for nothing, at most as many as iterations: behind the room of the others,
     * from result_spoiled() on. */
    uint32_t spoiled_count;
    uint64_t *session_ns;          /* durations by session: sample index × sessions + session */
    struct histogram service;      /* of the measured runs' reads and writes */
    struct result_summary summary; /* when the last sample is in */
    bool ended;
    struct error failure; /* domain ERROR_NONE: none */
};

/* What ran where, for the record; filled by the tool. */
struct conditions {
    const char *program, *version;
    const char *const *arguments; /* without secrets */
    size_t argument_count;
    char started[32]; /* UTC, ISO 8601 */
    char host_name[128], kernel[160], machine[65], cpu[128];
    uint32_t cpu_count;
    /* What of it the program may use: processors by affinity, time as a share of one processor (0:
     * no quota), memory of its control groups (0: no limit). */
    uint32_t cpus_allowed, cpu_quota_percent;
    uint64_t memory_limit_bytes;
    char peer[80];
    char server_name[128], machine_type[64];
    const char *afp_version, *login_method;
    const char *reference_store; /* of --refserver; NULL: another server */
    /* With POSIX calls instead of a server: */
    bool second_volume;    /* of a server: copies go to a second volume */
    const char *directory; /* NULL: a server was tested */
    const char *second_directory;
    char file_system[32];
    bool direct;
    struct {
        char text[32];
    } versions[16], login_methods[16];
    size_t version_count, login_method_count;
    uint32_t server_flags;
    uint32_t quantum_offered_bytes;
    double load_before, load_after; /* one-minute load averages */
    double steal_percent;           /* of all CPU time during the run; -1: unknown */
    char warning[200];              /* what made the figures doubtful; empty: nothing */
};

struct result {
    struct conditions conditions;
    struct result_case **cases;
    size_t case_count;
    bool sweep;           /* several sizes: summaries at the end */
    bool complete;        /* everything that was asked for ran */
    struct error failure; /* why not; domain ERROR_NONE: no failure */
};

/* Makes the next case, with room for all of its samples; NULL if there is no memory. */
MUST_CHECK struct result_case *result_add_case(struct result *result, const struct test_case *test,
                                               struct error *error);
/* Takes the newest case out again: it could not be begun. */
void result_drop_case(struct result *result);
void result_release(struct result *result);

/* The index of the first spoiled sample, in samples and session_ns. */
uint32_t result_spoiled(const struct result_case *result_case);

/* The measured samples, warm-ups and spoiled ones left out. */
const struct sample *result_measured(const struct result_case *result_case, size_t *count);

/* Bytes per second; 0 where the clock saw no time pass. */
double result_rate(double bytes, double duration_ns);

/* Fills the case's summary from its samples and service times, once, before on_end. */
MUST_CHECK bool result_summarize(struct result_case *result_case, struct error *error);

/* Told in this order: begin, then progress, run_begin, run_end and sample for each run, then end,
 * for each case; finish at last; the observer that was added first before the others. Notes come at
 * any time. Any function may be NULL. Those that write return false when they cannot, which ends
 * the run; end and finish reach all observers all the same, so that a full disk under one report
 * does not cost the other. */
struct observer {
    MUST_CHECK bool (*on_begin)(void *context, const struct result_case *result_case,
                                struct error *error);
    /* Close around the timed section, outside it: everything is prepared, nothing is undone yet, no
     * thread but the caller's uses a target. May take its time. Of the sample only number, warmup
     * and size_bytes are known before the run. */
    MUST_CHECK bool (*on_run_begin)(void *context, const struct result_case *result_case,
                                    const struct sample *sample, struct error *error);
    /* `again`, false before, is set by who saw something spoil the run. */
    MUST_CHECK bool (*on_run_end)(void *context, const struct result_case *result_case,
                                  const struct sample *sample, bool *again, struct error *error);
    /* Then it is known whether the sample is spoiled. */
    MUST_CHECK bool (*on_sample)(void *context, const struct result_case *result_case,
                                 const struct sample *sample, struct error *error);
    /* After the last run, or after the failure that is noted in the case. */
    MUST_CHECK bool (*on_end)(void *context, const struct result *result,
                              const struct result_case *result_case, struct error *error);
    MUST_CHECK bool (*on_finish)(void *context, const struct result *result, struct error *error);
    /* Something a person should know: a test that is skipped, a file kept. One line, no newline. */
    void (*on_note)(void *context, const char *text);
    /* Before each run, and every second of the pause before it; 0 left: it begins. */
    void (*on_progress)(void *context, const struct result_case *result_case, uint32_t number,
                        bool warmup, uint64_t pause_left_ns);
    void *context;
};

#define OBSERVER_LIMIT 6

struct observers {
    struct observer list[OBSERVER_LIMIT];
    size_t count;
};

void observers_add(struct observers *observers, const struct observer *observer);
MUST_CHECK bool observers_begin(const struct observers *observers,
                                const struct result_case *result_case, struct error *error);
MUST_CHECK bool observers_run_begin(const struct observers *observers,
                                    const struct result_case *result_case,
                                    const struct sample *sample, struct error *error);
MUST_CHECK bool observers_run_end(const struct observers *observers,
                                  const struct result_case *result_case,
                                  const struct sample *sample, bool *again, struct error *error);
MUST_CHECK bool observers_sample(const struct observers *observers,
                                 const struct result_case *result_case, const struct sample *sample,
                                 struct error *error);
MUST_CHECK bool observers_end(const struct observers *observers, const struct result *result,
                              const struct result_case *result_case, struct error *error);
MUST_CHECK bool observers_finish(const struct observers *observers, const struct result *result,
                                 struct error *error);
void observers_note(const struct observers *observers, const char *text);
void observers_progress(const struct observers *observers, const struct result_case *result_case,
                        uint32_t number, bool warmup, uint64_t pause_left_ns);

#endif
