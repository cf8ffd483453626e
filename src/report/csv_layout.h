/*
 * csv_layout.h - the CSV that Netatalk's plot scripts, dashboards and merge scripts read
 * (doc/formats.md), for those that write, join and read it: its blocks of rows, the lines that
 * begin them, and how a text falls into lines and fields.
 *
 * The rows of single runs come first; then, of a sweep, a block for each test and one for TCP. A
 * block has a title, except the runs, then its column names, and ends at a blank line.
 *
 * Pure. Pieces point into the text that they were taken from.
 */
#ifndef AFPBENCH_REPORT_CSV_LAYOUT_H
#define AFPBENCH_REPORT_CSV_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define CSV_RUN_HEADER    "test_name,iteration,file_size_mb,microseconds,throughput_mbs"
#define CSV_SUMMARY_TITLE "# File Size Performance Summary for " /* and the test's name */
#define CSV_SHORT_SUMMARY_HEADER                                                                   \
    "file_size_mb,mean_throughput_mbs,median_throughput_mbs,"                                      \
    "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms"
#define CSV_SUMMARY_HEADER "file_size_bytes," CSV_SHORT_SUMMARY_HEADER
#define CSV_TCP_TITLE      "# TCP Metrics Evolution Summary"
#define CSV_TCP_HEADER     "metric,initial,final,delta"

#define CSV_FIELD_LIMIT 8

enum csv_block {
    CSV_NONE,
    CSV_RUNS,
    CSV_SUMMARY,
    CSV_SHORT_SUMMARY, /* of Netatalk up to 4.5.1, which lacks the first column */
    CSV_TCP,
    CSV_BLOCK_COUNT
};

/* How many columns a block has; 0 for CSV_NONE. */
size_t csv_columns(enum csv_block block);

struct csv_piece {
    const char *text; /* not terminated */
    size_t length;
};

bool csv_pieces_equal(struct csv_piece a, struct csv_piece b);
bool csv_piece_is(struct csv_piece piece, const char *text);
bool csv_piece_begins(struct csv_piece piece, const char *text);

/* Where the next line begins, how much there is from there on, and what the last one was. */
struct csv_lines {
    const char *at;
    size_t left;
    size_t number; /* from 1 on */
    bool ended;    /* by a newline, not by the end of the text */
};

/* The next line without its newline; false at the end of the text. */
bool csv_next_line(struct csv_lines *lines, struct csv_piece *line);

/* The block whose column names this line is, or CSV_NONE. */
enum csv_block csv_block_begun(struct csv_piece line);

/* What stands between the commas. Returns how many; CSV_FIELD_LIMIT + 1 for more than that. */
size_t csv_split(struct csv_piece line, struct csv_piece fields[CSV_FIELD_LIMIT]);

#endif
