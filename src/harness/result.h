/*
 * result.h - what one configuration of afp_perftest measured: data only.
 *
 * The harness fills a `struct harness_result`; tables, CSV, text, JSON and picture each read it and
 * nothing else. Times are nanoseconds, sizes bytes. A result owns its sizes, cases, runs and what
 * the test program wrote; other strings are borrowed. One thread.
 */
#ifndef AFPBENCH_HARNESS_RESULT_H
#define AFPBENCH_HARNESS_RESULT_H

#include "netlab/calibration.h"
#include "netlab/lab.h"
#include "netlab/link.h"
#include "result/marks.h"

#define HARNESS_TEXT_LENGTH 200

/* What one end's TCP did, all connections to the server's port together. */
struct harness_end {
    uint32_t connections;
    uint64_t bytes_sent, segments_out, data_segments_out, retransmits;
    /* What it waited for while it had something to send. */
    uint64_t busy_us, receive_window_us, send_buffer_us;
    uint32_t segment_bytes;  /* MSS at the end of the time */
    struct tcp_snapshot tcp; /* of the first connection, then */
};

/* What happened between two moments at which the link was still. */
struct harness_traffic {
    struct packet_counts ways[LINK_WAYS];
    uint64_t lost[LINK_WAYS], dropped[LINK_WAYS];
    uint64_t segments_out[LAB_SIDES]; /* OutSegs of each side's namespace */
    struct harness_end ends[LAB_SIDES];
};

void harness_traffic_add(struct harness_traffic *sum, const struct harness_traffic *more);

/* A run as the marks of the test program tell it, and what crossed meanwhile. */
struct harness_run {
    uint32_t number;
    bool warmup;
    bool spoiled; /* by the link's lateness: set aside, and made again with the same number */
    struct sample_counts counts; /* no histogram */
    uint64_t duration_ns;
    uint64_t late_ns; /* the most that the link was late inside it */
    struct harness_traffic traffic;
};

/* The measured runs of a test on one size, together. */
struct harness_figures {
    size_t runs, spoiled; /* spoiled ones are in no other figure */
    uint64_t bytes, requests[REQUEST_KINDS], all_requests, runts;
    double mean_ns, bound_ns; /* of a run */
    struct harness_traffic traffic;
    uint32_t segment_bytes; /* MSS; what the MTU takes where no connection was seen */
    /* Ways that carry the data. */
    bool carries[LINK_WAYS];
    bool counted; /* packets, segments and what TCP waited for; false: these are not known */
    bool kinds_known;
    double short_per_request; /* short segments on these ways; −1: unknown, or no request */
    double fill; /* payload ÷ (data segments × MSS) on these ways; −1: no segment */
    double data_packet_bytes; /* mean size of packets with data there, with the Ethernet header */
    double packet_bytes;      /* mean size of all packets, both ways */
    double ack_share;         /* pure ACKs of all packets, both ways; −1: unknown */
    /* What the sending end's TCP waited for; both ends of a Copy. */
    uint64_t busy_us, receive_window_us, send_buffer_us;
    double goodput; /* bits per second */
    double share;   /* goodput ÷ what the link can carry; −1 without a shape */
};

/* A test on one size. */
struct harness_case {
    char test[MARK_TEST_LENGTH];
    struct harness_run *runs; /* warm-ups first */
    size_t count;
    struct harness_figures figures; /* by harness_figures() */
};

/* One invocation of the test program. */
struct harness_size {
    uint64_t size_bytes;
    bool complete;
    uint64_t duration_ns, late_ns; /* of the whole invocation */
    struct harness_traffic
        whole;                  /* from before its start to after its end: login, fills, warm-ups */
    struct harness_case *cases; /* none if the test program knows no marks */
    size_t case_count;
    char *csv; /* its standard output; NULL: none */
};

struct harness_result {
    char name[HARNESS_TEXT_LENGTH]; /* of the run and its files */
    /* Asked for; texts as they were typed. */
    const char *suite, *rate, *delay, *tests;
    const char *jitter, *loss;
    uint32_t quantum_asked_bytes, read_ahead_asked; /* 0: the server's */
    uint32_t outstanding, iterations, warmups;
    const char *congestion_control; /* NULL: the kernel's */
    const char *extra_flags;        /* of the test program; NULL: none */
    char started[32];               /* UTC, ISO 8601 */
    const char *const *arguments;   /* of the command line */
    size_t argument_count;
    /* What it ran on. */
    struct link_config link;
    bool counted;        /* what crosses the link; false: the server is elsewhere */
    const char *backend; /* its name */
    bool backend_chosen; /* by LINK=auto */
    bool shaped;         /* by rate and delay; false: as fast as it goes */
    char link_conditions[HARNESS_TEXT_LENGTH];
    struct lab_settings settings[LAB_SIDES];
    bool calibrated;
    struct calibration calibration;
    enum calibration_verdict verdict;
    bool has_lateness; /* how late the back end sent packets */
    uint64_t lateness_median_ns, lateness_p99_ns, lateness_maximum_ns;
    const char *server; /* the kind */
    bool server_chosen; /* by SERVER=auto */
    char server_how[HARNESS_TEXT_LENGTH], server_version[HARNESS_TEXT_LENGTH];
    uint32_t quantum_offered_bytes; /* read back; 0: unknown */
    const char *test_program;
    bool test_program_marks; /* it tells of its runs */
    /* What came of it. */
    struct harness_size *sizes; /* in sweep order; those that were begun */
    size_t size_count;
    struct json_t *document; /* the test program's, of all sizes together; NULL: it writes none */
    char *messages;          /* what it said on stderr, in all sizes; NULL: nothing */
    bool complete;
    char failure[400]; /* empty: none */
    char **faults;     /* why the figures are invalid, a line each */
    size_t fault_count;
    bool drawn; /* there is a picture of it */
};

/* Adds the next size, with nothing in it; a pointer that holds until the next one is added. */
MUST_CHECK struct harness_size *harness_result_add_size(struct harness_result *result,
                                                        uint64_t size_bytes, struct error *error);

/* The runs of a test; NULL: there are none. */
struct harness_case *harness_size_case(const struct harness_size *size, const char *test);

/* Adds a run to the case of this test, which is made when it is new. */
MUST_CHECK struct harness_run *harness_size_add_run(struct harness_size *size, const char *test,
                                                    struct error *error);

/* A reason why the result must not be believed; a limited number is kept, all are counted. */
#define HARNESS_FAULT_LIMIT 100
bool harness_result_add_fault(struct harness_result *result, struct error *error,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));

void harness_result_release(struct harness_result *result);

#endif
