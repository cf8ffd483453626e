#include "report/comparison_gate.h"

#include <stdio.h>
#include <string.h>

#define DIGIT_LIMIT 9

static bool bad_gate(const char *gate, size_t length, struct error *error)
{
    int shown = length < GATE_TEXT_LENGTH ? (int)length : GATE_TEXT_LENGTH;
    return error_set(error, ERROR_USAGE, 0,
                     "'%.*s' is no gate; the form is slower|faster[>NUMBER%%], several "
                     "with commas, as in 'slower>5%%,faster>50%%'",
                     shown, gate);
}

/* Digits with an optional fraction and a percent sign, as a fraction of 1. Independent of the
 * locale. */
static bool parse_percent(const char *text, size_t length, double *fraction)
{
    double value = 0;
    double scale = 1;
    size_t digits = 0;
    bool behind_point = false;
    if (length < 2 || text[length - 1] != '%') {
        return false;
    }
    for (size_t i = 0; i < length - 1; i++) {
        if (text[i] == '.' && !behind_point && digits > 0 && i + 2 < length) {
            behind_point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || ++digits > DIGIT_LIMIT) {
            return false;
        }
        value = value * 10 + (text[i] - '0');
        scale *= behind_point ? 10 : 1;
    }
    *fraction = value / scale / 100;
    return true;
}

static bool parse_gate(const char *text, size_t length, struct comparison_gate *gate)
{
    static const struct {
        const char *word;
        bool faster;
    } words[] = {{"slower", false}, {"faster", true}};
    *gate = (struct comparison_gate){.asks.margin = VERDICT_WORDS};
    if (length >= sizeof gate->text) {
        return false;
    }
    memcpy(gate->text, text, length);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t word_length = strlen(words[i].word);
        if (length < word_length || memcmp(text, words[i].word, word_length) != 0) {
            continue;
        }
        const char *rest = text + word_length;
        size_t rest_length = length - word_length;
        gate->asks.faster = words[i].faster;
        return rest_length == 0 ||
               (rest[0] == '>' && parse_percent(rest + 1, rest_length - 1, &gate->asks.margin));
    }
    return false;
}

bool comparison_gates_parse(const char *expression, struct comparison_gates *gates,
                            struct error *error)
{
    for (;;) {
        size_t length = strcspn(expression, ",");
        if (gates->count == GATE_LIMIT) {
            return error_set(error, ERROR_USAGE, 0, "more than %d gates", GATE_LIMIT);
        }
        if (!parse_gate(expression, length, &gates->list[gates->count])) {
            return bad_gate(expression, length, error);
        }
        gates->count++;
        if (expression[length] == '\0') {
            return true;
        }
        expression += length + 1;
    }
}
