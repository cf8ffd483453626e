#include "harness/marks.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

#define BEGIN_FIELDS 5
#define END_FIELDS   13

/* Cuts a copy of the line at its blanks; END_FIELDS + 1 stands for more. */
static size_t split(char *text, char *fields[END_FIELDS])
{
    size_t count = 0;
    for (char *field = text; field != NULL;) {
        char *blank = strchr(field, ' ');
        if (blank != NULL) {
            *blank = '\0';
        }
        if (count == END_FIELDS) {
            return END_FIELDS + 1;
        }
        fields[count++] = field;
        field = blank != NULL ? blank + 1 : NULL;
    }
    return count;
}

static bool number(const char *text, uint64_t *value)
{
    struct error unused;
    return parse_unsigned(text, "a mark", 0, INT64_MAX, value, &unused);
}

/* TEST SIZE NUMBER KIND */
static bool parse_name(char *const fields[], struct harness_mark *mark)
{
    uint64_t run;
    size_t length = strlen(fields[1]);
    bool warmup = strcmp(fields[4], "warmup") == 0;
    if (length == 0 || length >= sizeof mark->test || !number(fields[2], &mark->size_bytes) ||
        !number(fields[3], &run) || run == 0 || run > UINT32_MAX ||
        (!warmup && strcmp(fields[4], "measured") != 0)) {
        return false;
    }
    memcpy(mark->test, fields[1], length + 1);
    mark->run.number = (uint32_t)run;
    mark->run.warmup = warmup;
    return true;
}

static bool parse_counts(char *const fields[], struct harness_run *run)
{
    uint64_t *const values[] = {&run->bytes,
                                &run->requests[REQUEST_READ],
                                &run->requests[REQUEST_WRITE],
                                &run->requests[REQUEST_FLUSH],
                                &run->requests[REQUEST_COPY],
                                &run->runts,
                                &run->round_trips,
                                &run->duration_ns};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (!number(fields[i], values[i])) {
            return false;
        }
    }
    return true;
}

bool harness_mark_parse(const char *line, struct harness_mark *mark, struct error *error)
{
    char text[MARK_LENGTH];
    char *fields[END_FIELDS];
    size_t length = strlen(line);
    *mark = (struct harness_mark){.begin = true};
    if (length < sizeof text) {
        memcpy(text, line, length + 1);
        size_t count = split(text, fields);
        mark->begin = strcmp(fields[0], "begin") == 0;
        bool end = strcmp(fields[0], "end") == 0;
        if (((mark->begin && count == BEGIN_FIELDS) || (end && count == END_FIELDS)) &&
            parse_name(fields, mark) &&
            (mark->begin || parse_counts(fields + BEGIN_FIELDS, &mark->run))) {
            return true;
        }
    }
    return error_set(error, ERROR_PROTOCOL, 0,
                     "the test program wrote '%.100s' to --mark-fd, which is no mark", line);
}

bool harness_mark_ends(const struct harness_mark *end, const struct harness_mark *begin)
{
    return begin->begin && !end->begin && strcmp(begin->test, end->test) == 0 &&
           begin->size_bytes == end->size_bytes && begin->run.number == end->run.number &&
           begin->run.warmup == end->run.warmup;
}
