/* The comparison for a CI system: JUnit's XML, one testcase for each test and size. A gate that
 * fails is a failure, one that is not decided an error; a case that cannot be compared is skipped.
 */
#include "base/clock.h"
#include "report/comparison_format.h"

static void write_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    escape_write(out, ESCAPE_XML, value);
    fputc('"', out);
}

static void write_property(FILE *out, const char *name, const char *side, const char *value)
{
    fprintf(out, "      <property name=\"%s %s\"", name, side);
    write_attribute(out, "value", value);
    fputs("/>\n", out);
}

static void write_properties(FILE *out, const struct comparison_report *report)
{
    const struct {
        const char *label, *name;
        const struct stored_result *result;
    } sides[] = {{"A", report->before_name, report->before},
                 {"B", report->after_name, report->after}};
    fputs("    <properties>\n", out);
    for (size_t side = 0; side < sizeof sides / sizeof sides[0]; side++) {
        const struct stored_result *result = sides[side].result;
        fprintf(out, "      <property name=\"source %s\" value=\"", sides[side].label);
        comparison_write_source(out, ESCAPE_XML, sides[side].name, result);
        fputs("\"/>\n", out);
        for (size_t i = 0; i < STORED_CONDITIONS; i++) {
            if (result->conditions[i] != NULL) {
                write_property(out, stored_condition_names[i], sides[side].label,
                               result->conditions[i]);
            }
        }
    }
    fputs("    </properties>\n", out);
}

/* Every figure of the table, one to a line. */
static void write_figures(FILE *out, const struct comparison_report *report,
                          const struct comparison_row *row)
{
    for (size_t i = 0; i < comparison_column_count; i++) {
        const struct comparison_column *column = &comparison_columns[i];
        char cell[CELL_LENGTH];
        column->cell(report, row, cell);
        escape_write(out, ESCAPE_XML, column->heading);
        fprintf(out, "%s%s: ", column->unit[0] != '\0' ? ", " : "", column->unit);
        escape_write(out, ESCAPE_XML, cell);
        fputc('\n', out);
    }
}

/* Of a gate that did not pass; NULL: nothing of the kind. */
static const char *element_of(const struct comparison_row *row)
{
    static const char *const elements[] = {
        [GATE_PASSED] = NULL, [GATE_NOT_DECIDED] = "error", [GATE_FAILED] = "failure"};
    return row->gate != NULL ? elements[row->outcome] : NULL;
}

static void write_case(FILE *out, const struct comparison_report *report,
                       const struct comparison_row *row)
{
    char name[COMPARISON_NAME_LENGTH];
    char outcome[VERDICT_TEXT_LENGTH];
    const char *element = element_of(row);
    fputs("    <testcase classname=\"afpbench.", out);
    escape_write(out, ESCAPE_XML, row->test);
    fputc('"', out);
    write_attribute(out, "name", comparison_row_name(row, name));
    fprintf(out, " time=\"%.6f\">\n", row->after.median_ns / (double)NS_PER_S);
    if (element != NULL) {
        fprintf(out, "      <%s", element);
        write_attribute(out, "type", row->gate->text);
        write_attribute(out, "message", row->reason);
        fputs(">", out);
        write_figures(out, report, row);
        fprintf(out, "</%s>\n", element);
    } else if (row->state != COMPARISON_MADE) {
        fputs("      <skipped", out);
        write_attribute(out, "message", comparison_row_outcome(report, row, outcome));
        fputs("/>\n", out);
    }
    fputs("      <system-out>", out);
    write_figures(out, report, row);
    fputs("</system-out>\n    </testcase>\n", out);
}

static size_t count_skipped(const struct comparison_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        const struct comparison_row *row = &report->rows[i];
        count += row->state != COMPARISON_MADE && element_of(row) == NULL;
    }
    return count;
}

static void write_differences(FILE *out, const struct comparison_report *report)
{
    fputs("    <system-out>", out);
    for (size_t i = 0; i < report->difference_count; i++) {
        fputs("differs: ", out);
        comparison_write_difference(out, ESCAPE_XML, &report->differences[i]);
        fputc('\n', out);
    }
    char text[VERDICT_TEXT_LENGTH];
    for (size_t i = 0; comparison_doubt(report, i, text); i++) {
        fputs("warning: ", out);
        escape_write(out, ESCAPE_XML, text);
        fputc('\n', out);
    }
    escape_write(out, ESCAPE_XML, comparison_basis_text(report));
    fputs("</system-out>\n", out);
}

void comparison_junit_write(FILE *out, const struct comparison_report *report)
{
    size_t errors = report->undecided_count;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"afp_report\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n"
            "  <testsuite name=\"comparison\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
            "skipped=\"%zu\">\n",
            report->row_count, report->failed_count, errors, report->row_count,
            report->failed_count, errors, count_skipped(report));
    write_properties(out, report);
    for (size_t i = 0; i < report->row_count; i++) {
        write_case(out, report, &report->rows[i]);
    }
    write_differences(out, report);
    fputs("  </testsuite>\n</testsuites>\n", out);
}
