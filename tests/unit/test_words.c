/* tools/words: split as a shell does, and quoted so that it comes back. */
#include "unit.h"

#include "cli/words.h"

static const struct {
    const char *text;
    const char *words[5];
} rows[] = {
    {"", {NULL}},
    {"  \t\n ", {NULL}},
    {"-a", {"-a"}},
    {" -q 64 ", {"-q", "64"}},
    {"-u 'a b' \"c d\"", {"-u", "a b", "c d"}},
    {"''", {""}},
    {"a''b\"\"c", {"abc"}},
    {"a\\ b", {"a b"}},
    {"'a\\b'", {"a\\b"}},
    {"\"a\\b\\\"\"", {"a\\b\""}},
    {"$HOME *.c `id` $(id)", {"$HOME", "*.c", "`id`", "$(id)"}},
    {"a;b|c&", {"a;b|c&"}},
    {"x 'it'\\''s'", {"x", "it's"}},
};

static void splits(void **state)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct words words;
        struct error error;
        char *text = (char *)exact_copy(rows[i].text, strlen(rows[i].text) + 1);
        check(words_split(&words, text, "EXTRA_FLAGS", &error), "%s: %s", text, error.message);
        size_t count = 0;
        for (; rows[i].words[count] != NULL; count++) {
            check(count < words.count, "%s: only %zu words", text, words.count);
            assert_string_equal(words.list[count], rows[i].words[count]);
        }
        check(words.count == count, "%s: %zu words", text, words.count);
        assert_null(words.list[count]);
        words_release(&words);
        free(text);
    }
}

static void refuses(void **state)
{
    static const char *const texts[] = {"'a", "\"a", "a 'b\"", "a\\", "\"\\"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct words words;
        struct error error;
        check(!words_split(&words, texts[i], "EXTRA_FLAGS", &error), "taken: %s", texts[i]);
        check_error(&error, ERROR_USAGE, "EXTRA_FLAGS");
        words_release(&words);
    }
}

static void no_more_words_than_fit(void **state)
{
    char text[2 * (WORD_LIMIT + 1) + 1] = "";
    struct words words;
    struct error error;
    memset(text, ' ', sizeof text - 1);
    for (size_t i = 0; i <= WORD_LIMIT; i++) {
        text[2 * i] = 'w';
    }
    assert_false(words_split(&words, text, "EXTRA_FLAGS", &error));
    check_error(&error, ERROR_USAGE, "more than 256 words");
    words_release(&words);
    text[2 * WORD_LIMIT] = ' ';
    assert_true(words_split(&words, text, "EXTRA_FLAGS", &error));
    assert_int_equal(words.count, WORD_LIMIT);
    words_release(&words);
}

static void quotes(void **state)
{
    static const struct {
        const char *word, *quoted;
    } words[] = {{"-z", "-z"},           {"", "''"},     {"a b", "'a b'"},
                 {"it's", "'it'\\''s'"}, {"$x", "'$x'"}, {"4096b", "4096b"}};
    for (size_t i = 0; i < COUNT(words); i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        words_write_quoted(out, words[i].word);
        fclose(out);
        assert_string_equal(text, words[i].quoted);
        struct words back;
        struct error error;
        assert_true(words_split(&back, text, "back", &error));
        assert_string_equal(back.list[0], words[i].word);
        words_release(&back);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits),
        cmocka_unit_test(refuses),
        cmocka_unit_test(no_more_words_than_fit),
        cmocka_unit_test(quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
