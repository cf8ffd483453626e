/* message_rows.h - every message with its bytes (doc/protocol.md 3 to 5 and appendix C). What reads
 * this table tests and fuzzes a new message without a change: it needs one row. */
#ifndef AFPBENCH_TESTS_MESSAGE_ROWS_H
#define AFPBENCH_TESTS_MESSAGE_ROWS_H

#include "afp/message.h"

#define MESSAGE_LIMIT 512 /* bytes of any message or its struct */
#define ZEROS_32      "0000000000000000000000000000000000000000000000000000000000000000"
#define ZEROS_20      "0000000000000000000000000000000000000000"

struct message_row {
    const char *name;
    void (*run)(struct wire *wire, void *message);
    const void *message;
    size_t size;
    const char *bytes; /* as bytes_from_text() reads it */
};

extern const struct message_row message_rows[];
extern const size_t message_row_count;

/* FPEnumerate's reply with up to two entries. */
struct listing {
    struct afp_enumerate_reply head;
    struct afp_enumerate_entry entries[2];
};
void run_listing_ext2(struct wire *wire, void *message);

#endif
