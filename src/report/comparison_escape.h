/*
 * comparison_escape.h - texts of unknown origin (file names, what a stored result says of a
 * machine) written so that they stay text in the document around them. Pure but for the stream.
 */
#ifndef AFPBENCH_REPORT_COMPARISON_ESCAPE_H
#define AFPBENCH_REPORT_COMPARISON_ESCAPE_H

#include <stdio.h>

enum escape {
    ESCAPE_PLAIN,    /* a terminal or a file: no control characters */
    ESCAPE_MARKDOWN, /* GitHub's, also inside a table */
    ESCAPE_XML,      /* text or a quoted attribute of XML 1.0 */
};

/* Control characters, bytes that are no UTF-8, and what XML forbids become '?'. */
void escape_write(FILE *out, enum escape escape, const char *text);

#endif
