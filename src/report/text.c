#include "report/text.h"

#include "base/clock.h"
#include "base/units.h"
#include "report/figures.h"
#include "report/text_statistics.h"

#include <inttypes.h>

static bool on_begin(void *context, const struct result_case *result_case, struct error *error)
{
    const struct text_report *text = context;
    const struct test_case *test = &result_case->test;
    fprintf(text->out, "%s quantum %" PRIu32 ", size %" PRIu64 "%s\n", test->name,
            test->chunk_bytes, test->size_bytes, test->sparse ? " sparse file" : "");
    fputs("run\t microsec\t  KB/s\n", text->out);
    return report_written(text->out, error);
}

static bool on_sample(void *context, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    const struct text_report *text = context;
    if (sample->warmup || sample->spoiled) {
        return true;
    }
    char rate[RATE_TEXT_LENGTH];
    uint64_t microseconds = (sample->duration_ns + NS_PER_US / 2) / NS_PER_US;
    fprintf(text->out, "%" PRIu32 "\t%9" PRIu64 "\t%9s\n", sample->number, microseconds,
            rate_kib_text(sample->size_bytes, sample->duration_ns, rate));
    return report_written(text->out, error);
}

static bool on_end(void *context, const struct result *result,
                   const struct result_case *result_case, struct error *error)
{
    const struct text_report *text = context;
    if (text->statistics) {
        text_statistics_block(text->out, result_case);
    }
    return report_written(text->out, error);
}

static bool on_finish(void *context, const struct result *result, struct error *error)
{
    const struct text_report *text = context;
    if (text->statistics) {
        text_statistics_tables(text->out, result);
    }
    return report_written(text->out, error);
}

struct observer text_observer(struct text_report *text)
{
    return (struct observer){.on_begin = on_begin,
                             .on_sample = on_sample,
                             .on_end = on_end,
                             .on_finish = on_finish,
                             .context = text};
}
