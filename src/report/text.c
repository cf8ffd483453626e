#include "report/text.h"

#include "base/clock.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>

static bool written(FILE *out, struct error *error)
{
    if (fflush(out) == 0 && !ferror(out)) {
        return true;
    }
    return error_set_errno(error, errno, "cannot write the results");
}

bool text_begin(void *context, const struct test_case *test, struct error *error)
{
    FILE *out = ((struct text_report *)context)->out;
    fprintf(out, "%s quantum %" PRIu32 ", size %" PRIu64 "%s\n", test->name, test->chunk_bytes,
            test->size_bytes, test->sparse ? " sparse file" : "");
    fputs("run\t microsec\t  KB/s\n", out);
    return written(out, error);
}

bool text_sample(void *context, const struct test_case *test, const struct sample *sample,
                 struct error *error)
{
    (void)test;
    FILE *out = ((struct text_report *)context)->out;
    if (sample->warmup) {
        return true;
    }
    char rate[RATE_TEXT_LENGTH];
    uint64_t microseconds = (sample->duration_ns + NS_PER_US / 2) / NS_PER_US;
    fprintf(out, "%" PRIu32 "\t%9" PRIu64 "\t%9s\n", sample->number, microseconds,
            rate_kib_text(sample->size_bytes, sample->duration_ns, rate));
    return written(out, error);
}
