#include "unit.h"

#include <stdio.h>

#include "made_result.h"

struct result_case *made_case(struct result *result, const struct test_case *test,
                              const uint64_t *durations_ns)
{
    struct error error;
    struct result_case *made = result_add_case(result, test, &error);
    check(made != NULL, "%s", error.message);
    for (uint32_t i = 0; i < test->warmups + test->iterations; i++) {
        bool warmup = i < test->warmups;
        made->samples[made->sample_count++] =
            (struct sample){.number = warmup ? i + 1 : i - test->warmups + 1,
                            .warmup = warmup,
                            .size_bytes = test->size_bytes * test->sessions,
                            .duration_ns = durations_ns[i]};
        for (uint32_t session = 0; session < test->sessions; session++) {
            made->session_ns[i * test->sessions + session] = durations_ns[i];
        }
    }
    made->ended = true;
    check(result_summarize(made, &error), "%s", error.message);
    return made;
}

void made_tcp_field(struct tcp_snapshot *snapshot, size_t field, uint64_t value)
{
    const struct tcp_field *row = &tcp_fields[field];
    uint32_t end = row->offset + row->size;
    uint8_t byte = (uint8_t)value;
    uint32_t word = (uint32_t)value;
    const void *from = row->size == 1   ? (const void *)&byte
                       : row->size == 4 ? (const void *)&word
                                        : (const void *)&value;
    memcpy(snapshot->info + row->offset, from, row->size);
    snapshot->length = end > snapshot->length ? end : snapshot->length;
}

void made_tcp(struct tcp_snapshot *tcp, uint32_t send_buffer, uint32_t window, uint32_t threshold,
              uint32_t rtt_us, uint32_t variance_us)
{
    tcp->send_buffer_bytes = send_buffer;
    tcp->segment_bytes = 1448;
    made_tcp_field(tcp, TCP_CONGESTION_WINDOW, window);
    made_tcp_field(tcp, TCP_SLOW_START_THRESHOLD, threshold);
    made_tcp_field(tcp, TCP_RTT, rtt_us);
    made_tcp_field(tcp, TCP_RTT_VARIANCE, variance_us);
}

bool made_told(const struct observer *observer, const struct result *result, struct error *error)
{
    struct observers observers = {.list = {*observer}, .count = 1};
    bool ok = true;
    for (size_t i = 0; ok && i < result->case_count; i++) {
        struct result_case *told = result->cases[i];
        ok = result_summarize(told, error) && observers_begin(&observers, told, error);
        for (uint32_t k = 0; ok && k < told->sample_count; k++) {
            ok = observers_sample(&observers, told, &told->samples[k], error);
        }
        ok = ok && observers_end(&observers, result, told, error);
    }
    return ok && observers_finish(&observers, result, error);
}

void made_output_open(struct made_output *output)
{
    *output = (struct made_output){0};
    output->file = open_memstream(&output->text, &output->size);
    assert_non_null(output->file);
}

void made_output_check(struct made_output *output, const char *expected)
{
    fclose(output->file);
    /* cmocka cuts long messages: name the place. */
    size_t same = 0;
    while (expected[same] != '\0' && output->text[same] == expected[same]) {
        same++;
    }
    check(output->text[same] == expected[same], "from byte %zu on '%.60s', not '%.60s'", same,
          output->text + same, expected + same);
    assert_null(strstr(output->text, "nan"));
    assert_null(strstr(output->text, "inf"));
    free(output->text);
}
