#include "report/comparison_format.h"

#include <errno.h>
#include <string.h>

static const struct comparison_format formats[] = {
    {"text", comparison_text_write},
    {"markdown", comparison_markdown_write},
    {"junit", comparison_junit_write},
};

const char *const comparison_legend[COMPARISON_LEGEND_LINES] = {
    "ratio: the median time of B by that of A, above 1 is slower, with its 95 % bootstrap "
    "interval.",
    "p: Mann-Whitney's test of the runs, then adjusted by Holm's correction over all cases.",
    "smallest: the effect that these runs would have shown 9 times in 10 in a single case; more "
    "cases take more.",
};

const struct comparison_format *comparison_format_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

const char *comparison_format_names(void)
{
    return "text, markdown, junit";
}

bool comparison_write(const struct comparison_format *format, FILE *out,
                      const struct comparison_report *report, struct error *error)
{
    errno = 0;
    format->write(out, report);
    return (fflush(out) == 0 && !ferror(out)) ||
           error_set_errno(error, errno, "cannot write the report");
}

void comparison_write_source(FILE *out, enum escape escape, const char *name,
                             const struct stored_result *result)
{
    escape_write(out, escape, name);
    fprintf(out, " (%s", result->format);
    if (result->started != NULL) {
        fputs(", started ", out);
        escape_write(out, escape, result->started);
    }
    if (!result->has_conditions) {
        fputs("; conditions not recorded", out);
    }
    if (result->incomplete) {
        fputs("; incomplete", out);
        if (result->why_incomplete != NULL) {
            fputs(": ", out);
            escape_write(out, escape, result->why_incomplete);
        }
    }
    fputc(')', out);
}

void comparison_write_difference(FILE *out, enum escape escape,
                                 const struct comparison_difference *difference)
{
    fprintf(out, "%s: ", difference->condition);
    escape_write(out, escape, difference->before);
    fputs(" in A, ", out);
    escape_write(out, escape, difference->after);
    fputs(" in B", out);
    if (difference->row_count > 1) {
        fprintf(out, " (%s and %zu more)", difference->row, difference->row_count - 1);
    } else if (difference->row_count == 1) {
        fprintf(out, " (%s)", difference->row);
    }
}

void comparison_write_count(FILE *out, const struct comparison_report *report)
{
    static const enum compare_verdict verdicts[] = {COMPARE_SLOWER, COMPARE_FASTER,
                                                    COMPARE_NO_DIFFERENCE};
    fprintf(out, "%zu case%s:", report->row_count, report->row_count == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        fprintf(out, "%s %zu %s", i > 0 ? "," : "", comparison_report_count(report, verdicts[i]),
                compare_verdict_text(verdicts[i]));
    }
    if (report->made_count < report->row_count) {
        fprintf(out, ", %zu not compared", report->row_count - report->made_count);
    }
}
