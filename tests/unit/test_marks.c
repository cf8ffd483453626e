/* result/marks: the lines of --mark-fd, written and read. */
#include "unit.h"

#include "result/marks.h"

static void marks_are_read(void **state)
{
    struct mark begin;
    struct mark end;
    struct error error;
    assert_true(mark_read("begin Read 4096 2 measured", &begin, &error));
    assert_true(mark_read("end Read 4096 2 measured 4096 1 3 5 7 9 11 123456789", &end, &error));
    assert_true(begin.begin && !end.begin);
    assert_string_equal(end.test, "Read");
    assert_int_equal(end.size_bytes, 4096);
    assert_int_equal(end.number, 2);
    assert_false(end.warmup);
    assert_int_equal(end.counts.bytes, 4096);
    assert_int_equal(end.counts.requests[REQUEST_READ], 1);
    assert_int_equal(end.counts.requests[REQUEST_WRITE], 3);
    assert_int_equal(end.counts.requests[REQUEST_FLUSH], 5);
    assert_int_equal(end.counts.requests[REQUEST_COPY], 7);
    assert_int_equal(end.counts.runts, 9);
    assert_int_equal(end.counts.round_trips, 11);
    assert_int_equal(end.duration_ns, 123456789);
    assert_true(mark_ends(&end, &begin));
    assert_false(mark_ends(&begin, &end));
    assert_false(mark_ends(&begin, &begin));
    end.number = 3;
    assert_false(mark_ends(&end, &begin));
    assert_true(mark_read("begin Write 1 1 warmup", &begin, &error));
    assert_true(begin.warmup);
}

static void junk_is_no_mark(void **state)
{
    static const char *const lines[] = {
        "",
        "begin",
        "begin Read 4096 1",
        "begin Read 4096 1 cold",
        "begin Read 4096 0 measured",
        "begin Read 4096 4294967296 measured",
        "begin Read -1 1 measured",
        "begin  4096 1 measured",
        "begin Read 4096 1 measured ",
        "begin Read 4096 1 measured 5",
        "begin AnExtraordinarilyLongNameOfATest 4096 1 measured",
        "end Read 4096 1 measured",
        "end Read 4096 1 measured 1 2 3 4 5 6 7",
        "end Read 4096 1 measured 1 2 3 4 5 6 7 x",
        "end Read 4096 1 measured 1 2 3 4 5 6 7 8 9",
        "end Read 4096 1 measured 1 2 3 4 5 6 7 99999999999999999999",
        "start Read 4096 1 measured",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct mark mark;
        struct error error;
        char *line = (char *)exact_copy(lines[i], strlen(lines[i]) + 1);
        check(!mark_read(line, &mark, &error), "taken: %s", line);
        check_error(&error, ERROR_PROTOCOL, "which is no mark");
        free(line);
    }
}

/* What is written is read back the same, and the text is that of doc/formats.md. */
static void what_is_written_is_read(void **state)
{
    static const struct {
        struct mark mark;
        const char *line;
    } rows[] = {
        {{.begin = true, .test = "Read", .size_bytes = 4096, .number = 2},
         "begin Read 4096 2 measured"},
        {{.begin = true, .test = "ServerCopy", .number = UINT32_MAX, .warmup = true},
         "begin ServerCopy 0 4294967295 warmup"},
        {{.test = "Write",
          .size_bytes = 1,
          .number = 1,
          .counts = {.bytes = 2,
                     .requests = {[REQUEST_READ] = 3,
                                  [REQUEST_WRITE] = 4,
                                  [REQUEST_FLUSH] = 5,
                                  [REQUEST_COPY] = 6},
                     .runts = 7,
                     .round_trips = 8},
          .duration_ns = INT64_MAX},
         "end Write 1 1 measured 2 3 4 5 6 7 8 9223372036854775807"},
        {{.test = "AVeryVeryLongNameOfATe", .number = 1, .warmup = true},
         "end AVeryVeryLongNameOfATe 0 1 warmup 0 0 0 0 0 0 0 0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[MARK_LENGTH];
        char again[MARK_LENGTH];
        struct mark mark;
        struct error error;
        size_t length = mark_write(&rows[i].mark, line);
        assert_int_equal(line[length - 1], '\n');
        line[length - 1] = '\0';
        assert_string_equal(line, rows[i].line);
        check(mark_read(line, &mark, &error), "%s", error.message);
        assert_int_equal(mark.begin, rows[i].mark.begin);
        assert_int_equal(mark.counts.requests[REQUEST_COPY],
                         rows[i].mark.counts.requests[REQUEST_COPY]);
        assert_int_equal(mark.duration_ns, rows[i].mark.duration_ns);
        assert_int_equal(mark_write(&mark, again), length);
        assert_memory_equal(again, rows[i].line, length - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_read),
        cmocka_unit_test(junk_is_no_mark),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
