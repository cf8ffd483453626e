#include "cli/words.h"

#include "base/memory.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Reads one word from *text to *to, both moved on; false: a quote is not closed. */
static bool take_word(const char **text, char **to)
{
    char quote = '\0';
    const char *from = *text;
    for (; *from != '\0' && (quote != '\0' || !is_blank(*from)); from++) {
        bool escapes = *from == '\\' && quote != '\'';
        if (escapes && from[1] == '\0') {
            return false;
        }
        if (escapes && (quote == '\0' || strchr("\"\\$`", from[1]) != NULL)) {
            *(*to)++ = *++from;
        } else if (quote == '\0' && (*from == '\'' || *from == '"')) {
            quote = *from;
        } else if (quote != '\0' && *from == quote) {
            quote = '\0';
        } else {
            *(*to)++ = *from;
        }
    }
    *(*to)++ = '\0';
    *text = from;
    return quote == '\0';
}

bool words_split(struct words *words, const char *text, const char *what, struct error *error)
{
    *words = (struct words){.storage = memory_allocate(strlen(text) + 1, 1)};
    if (words->storage == NULL) {
        return memory_error(error, "for a list of words");
    }
    char *to = words->storage;
    for (;;) {
        while (is_blank(*text)) {
            text++;
        }
        if (*text == '\0') {
            return true;
        }
        if (words->count == WORD_LIMIT) {
            return error_set(error, ERROR_USAGE, 0, "%s: more than %d words", what, WORD_LIMIT);
        }
        words->list[words->count++] = to;
        if (!take_word(&text, &to)) {
            return error_set(error, ERROR_USAGE, 0, "%s: a quote is not closed, or a '\\' ends it",
                             what);
        }
    }
}

void words_release(struct words *words)
{
    memory_release(words->storage);
    *words = (struct words){0};
}

void words_write_quoted(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    }
    fputc('\'', out);
}
