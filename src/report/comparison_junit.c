/* The comparison for a CI system: JUnit's XML, one testcase for each test and size. A gate that
 * fails is a failure; a case that cannot be compared is skipped. */
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
static void write_figures(FILE *out, const struct comparison_row *row)
{
    for (size_t i = 0; i < comparison_column_count; i++) {
        const struct comparison_column *column = &comparison_columns[i];
        char cell[CELL_LENGTH];
        column->cell(row, cell);
        escape_write(out, ESCAPE_XML, column->heading);
        fprintf(out, "%s%s: ", column->unit[0] != '\0' ? ", " : "", column->unit);
        escape_write(out, ESCAPE_XML, cell);
        fputc('\n', out);
    }
}

static void write_case(FILE *out, const struct comparison_row *row)
{
    char name[COMPARISON_NAME_LENGTH];
    char change[CELL_LENGTH];
    fputs("    <testcase classname=\"afpbench.", out);
    escape_write(out, ESCAPE_XML, row->test);
    fputc('"', out);
    write_attribute(out, "name", comparison_row_name(row, name));
    fprintf(out, " time=\"%.6f\">\n", row->after.median_ns / (double)NS_PER_S);
    if (row->failed_gate != NULL) {
        fputs("      <failure", out);
        write_attribute(out, "type", row->failed_gate->text);
        write_attribute(out, "message", comparison_change_text(row, change));
        fputs(">", out);
        write_figures(out, row);
        fputs("</failure>\n", out);
    } else if (row->state != COMPARISON_MADE) {
        fputs("      <skipped", out);
        write_attribute(out, "message", comparison_row_outcome(row));
        fputs("/>\n", out);
    }
    fputs("      <system-out>", out);
    write_figures(out, row);
    fputs("</system-out>\n    </testcase>\n", out);
}

static void write_differences(FILE *out, const struct comparison_report *report)
{
    fputs("    <system-out>", out);
    for (size_t i = 0; i < report->difference_count; i++) {
        fputs("differs: ", out);
        comparison_write_difference(out, ESCAPE_XML, &report->differences[i]);
        fputc('\n', out);
    }
    escape_write(out, ESCAPE_XML, comparison_closing);
    fputs("</system-out>\n", out);
}

void comparison_junit_write(FILE *out, const struct comparison_report *report)
{
    size_t skipped = report->row_count - report->made_count;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"afp_report\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
            "  <testsuite name=\"comparison\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
            "skipped=\"%zu\">\n",
            report->row_count, report->failed_count, report->row_count, report->failed_count,
            skipped);
    write_properties(out, report);
    for (size_t i = 0; i < report->row_count; i++) {
        write_case(out, &report->rows[i]);
    }
    write_differences(out, report);
    fputs("  </testsuite>\n</testsuites>\n", out);
}
