#include "report/figures.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool report_written(FILE *out, struct error *error)
{
    return (fflush(out) == 0 && !ferror(out)) ||
           error_set_errno(error, errno, "cannot write the results");
}

double rate_mib(double bytes, double duration_ns)
{
    return result_rate(bytes, duration_ns) / (double)MIB;
}

const char *size_label(uint64_t size_bytes, char label[SIZE_LABEL_LENGTH])
{
    if (size_bytes < MIB) {
        snprintf(label, SIZE_LABEL_LENGTH, "%" PRIu64 " KB", size_bytes / KIB);
    } else {
        snprintf(label, SIZE_LABEL_LENGTH, "%" PRIu64 " MB", size_bytes / MIB);
    }
    return label;
}

bool result_has_runs(const struct result *result, const char *name)
{
    for (size_t i = 0; i < result->case_count; i++) {
        if (result->cases[i]->summary.times.count > 0 &&
            strcmp(result->cases[i]->test.name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- TCP ---- */

/* Where a row's value comes from: a socket option or a field of TCP_INFO. */
enum source { FROM_SEND_BUFFER, FROM_RECEIVE_BUFFER, FROM_SEGMENT, FROM_FIELD };

/* How it is printed: whole, in KB, or microseconds as milliseconds with two decimals. */
enum form { AS_NUMBER, AS_KB, AS_MS };

static const struct {
    const char *key, *label, *unit;
    enum source source;
    enum tcp_field_id field;
    enum form form;
    bool may_be_zero;
} descriptions[] = {
    {"tcp_send_buffer_kb", "TCP Send Buffer", " KB", FROM_SEND_BUFFER, 0, AS_KB, false},
    {"tcp_recv_buffer_kb", "TCP Recv Buffer", " KB", FROM_RECEIVE_BUFFER, 0, AS_KB, false},
    {"tcp_mss_bytes", "TCP MSS", " B", FROM_SEGMENT, 0, AS_NUMBER, false},
    {"tcp_cwnd_segments", "Cwnd (segments)", "", FROM_FIELD, TCP_CONGESTION_WINDOW, AS_NUMBER,
     true},
    {"tcp_ssthresh_segments", "SSThresh (segments)", "", FROM_FIELD, TCP_SLOW_START_THRESHOLD,
     AS_NUMBER, true},
    {"tcp_rtt_ms", "RTT", " ms", FROM_FIELD, TCP_RTT, AS_MS, false},
    {"tcp_rtt_variance_ms", "RTT Variance", " ms", FROM_FIELD, TCP_RTT_VARIANCE, AS_MS, false},
    {"tcp_retrans_current", "Retrans (current)", "", FROM_FIELD, TCP_RETRANSMITTING, AS_NUMBER,
     true},
    {"tcp_total_retrans", "Total Retrans", "", FROM_FIELD, TCP_TOTAL_RETRANSMITS, AS_NUMBER, true},
    {"tcp_lost_packets", "Lost Packets", "", FROM_FIELD, TCP_LOST, AS_NUMBER, true},
    {"tcp_reordering", "Reordering", "", FROM_FIELD, TCP_REORDERING_LIMIT, AS_NUMBER, true},
    {"tcp_send_mss_bytes", "TCP Send MSS", " B", FROM_FIELD, TCP_SEND_MSS, AS_NUMBER, false},
    {"tcp_recv_mss_bytes", "TCP Recv MSS", " B", FROM_FIELD, TCP_RECEIVE_MSS, AS_NUMBER, false},
    {"tcp_adv_mss_bytes", "TCP Adv MSS", " B", FROM_FIELD, TCP_ADVERTISED_MSS, AS_NUMBER, false},
    {"tcp_recv_space_kb", "TCP Recv Space", " KB", FROM_FIELD, TCP_RECEIVE_SPACE, AS_KB, false},
};

static bool row_value(const struct tcp_snapshot *snapshot, size_t index, int64_t *value)
{
    uint64_t number = 0;
    bool known = true;
    switch (descriptions[index].source) {
    case FROM_SEND_BUFFER:
        number = snapshot->send_buffer_bytes;
        break;
    case FROM_RECEIVE_BUFFER:
        number = snapshot->receive_buffer_bytes;
        break;
    case FROM_SEGMENT:
        number = snapshot->segment_bytes;
        break;
    case FROM_FIELD:
        known = tcp_snapshot_value(snapshot, descriptions[index].field, &number);
        break;
    }
    *value = (int64_t)number;
    return known && (number > 0 || descriptions[index].may_be_zero);
}

/* Rounds away from zero at the half, so that a change is printed as it is, whatever its sign. */
static int64_t hundredths_of_ms(int64_t microseconds)
{
    return (microseconds + (microseconds < 0 ? -5 : 5)) / 10;
}

static void set_values(struct tcp_row *row, enum form form, int64_t initial, int64_t final)
{
    int64_t change = final - initial;
    switch (form) {
    case AS_NUMBER:
        *row = (struct tcp_row){.initial = initial, .final = final, .change = change};
        break;
    case AS_KB:
        *row = (struct tcp_row){
            .initial = initial / 1024, .final = final / 1024, .change = change / 1024};
        break;
    case AS_MS:
        *row = (struct tcp_row){.decimals = 2,
                                .initial = hundredths_of_ms(initial),
                                .final = hundredths_of_ms(final),
                                .change = hundredths_of_ms(change)};
        break;
    }
}

/* From the first run's begin to the last one's end: how the connection changed over all of them. */
size_t tcp_rows(const struct result *result, struct tcp_row rows[TCP_ROW_LIMIT])
{
    const struct tcp_snapshot *first = NULL;
    const struct tcp_snapshot *last = NULL;
    for (size_t i = 0; i < result->case_count; i++) {
        const struct result_case *result_case = result->cases[i];
        for (uint32_t j = 0; j < result_case->sample_count; j++) {
            first = first == NULL ? &result_case->samples[j].tcp_before : first;
            last = &result_case->samples[j].tcp_after;
        }
    }
    size_t count = 0;
    for (size_t i = 0; first != NULL && i < sizeof descriptions / sizeof descriptions[0]; i++) {
        int64_t initial;
        int64_t final;
        if (row_value(first, i, &initial) && row_value(last, i, &final)) {
            set_values(&rows[count], descriptions[i].form, initial, final);
            rows[count].key = descriptions[i].key;
            rows[count].label = descriptions[i].label;
            rows[count].unit = descriptions[i].unit;
            count++;
        }
    }
    return count;
}

const char *scaled_text(int64_t value, int decimals, char text[SCALED_TEXT_LENGTH])
{
    int64_t scale = decimals == 2 ? 100 : 1;
    if (decimals == 0) {
        snprintf(text, SCALED_TEXT_LENGTH, "%" PRId64, value);
    } else {
        snprintf(text, SCALED_TEXT_LENGTH, "%s%" PRId64 ".%02" PRId64, value < 0 ? "-" : "",
                 (int64_t)llabs(value) / scale, (int64_t)llabs(value) % scale);
    }
    return text;
}
