#include "unit.h"

#include "base/child.h"
#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_TEXT "sleep 1000 & sleep 1000"

static struct interrupt interrupt = {-1};

static int set_up(void **state)
{
    struct error error;
    return interrupt_open(&interrupt, &error) ? 0 : -1;
}

static int tear_down(void **state)
{
    interrupt_close(&interrupt);
    return 0;
}

/* A script for the shell, whose output goes to `output`. */
struct script {
    char *arguments[4];
    int descriptors[3];
    struct child_program program;
};

static const struct child_program *make_script(struct script *script, const char *text, int output)
{
    static char shell[] = "sh";
    static char option[] = "-c";
    *script = (struct script){.arguments = {shell, option, (char *)text},
                              .descriptors = {-1, output, output}};
    script->program = (struct child_program){
        .arguments = script->arguments, .descriptors = script->descriptors, .descriptor_count = 3};
    return &script->program;
}

static int open_output(void)
{
    struct error error;
    int output = child_output_open(&error);
    check(output >= 0, "%s", error.message);
    return output;
}

static void check_output(int output, const char *expected)
{
    struct error error;
    char *text = child_output_text(output, 1000, "it", &error);
    check(text != NULL, "%s", error.message);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- Beginning ---- */

static const char *go_to_root(const void *context)
{
    return chdir(context) == 0 ? NULL : "cannot go elsewhere for";
}

/* What it has: the descriptors it is given, no signal ignored or blocked, a group of its own. */
static void what_a_child_has(void **state)
{
    static char *environment[] = {(char *)"WORD=x", (char *)"PATH=/usr/bin:/bin", NULL};
    struct script script;
    struct child_watch watch = {.name = "it"};
    struct error error;
    int status = -1;
    int output = open_output();
    int other = open("/dev/null", O_RDONLY); /* not for it, though it does not close by itself */
    make_script(&script,
                "read x; echo $? \"$WORD\"; pwd; for fd in /proc/self/fd/*; do echo ${fd##*/}; "
                "done | sort -n | sed 5q | grep -c '^[0-2]$'; test -e /proc/$$/fd/9 || echo none; "
                "grep -E '^Sig(Blk|Ign)' /proc/$$/status | tr -d '\\t'; "
                "test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo group",
                output);
    script.program.environment = environment;
    script.program.prepare = go_to_root;
    script.program.context = "/";
    assert_true(other >= 0 && dup2(other, 9) == 9);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    bool ok = child_run(&script.program, &watch, &status, &error);
    signal(SIGPIPE, before);
    close(9);
    close(other);
    check(ok, "%s", error.message);
    assert_int_equal(status, 0);
    check_output(output, "1 x\n/\n3\nnone\nSigBlk:0000000000000000\nSigIgn:0000000000000000\n"
                         "group\n");
    close(output);
}

static void what_cannot_begin(void **state)
{
    static char missing[] = "/nonexistent/program";
    char *const arguments[] = {missing, NULL};
    const int bad[] = {-1, 900};
    const struct {
        struct child_program program;
        const char *message;
    } rows[] = {
        {{.arguments = arguments}, "cannot run /nonexistent/program: No such file"},
        {{.arguments = arguments, .prepare = go_to_root, .context = "/nonexistent"},
         "cannot go elsewhere for /nonexistent/program: No such file"},
        {{.arguments = arguments, .descriptors = bad, .descriptor_count = 2},
         "cannot place the descriptors of /nonexistent/program: Bad file descriptor"},
        {{.arguments = arguments, .descriptors = bad, .descriptor_count = CHILD_DESCRIPTORS + 1},
         "more than 16 descriptors for /nonexistent/program"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct child child;
        struct error error;
        assert_false(child_start(&child, &rows[i].program, &error));
        check(strstr(error.message, rows[i].message) != NULL, "%s", error.message);
        assert_int_equal(child.process, 0);
        child_end(&child, 0); /* there is none */
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
}

/* ---- The end ---- */

static void how_it_ends(void **state)
{
    static const struct {
        const char *text, *end;
    } rows[] = {
        {"exit 0", "ended with exit code 0"},
        {"exit 7", "ended with exit code 7"},
        {"kill -9 $$", "was killed by signal 9 (Killed)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct script script;
        struct child_watch watch = {.name = "it", .interrupt = &interrupt};
        struct error error;
        char end[CHILD_END_LENGTH];
        int status;
        check(child_run(make_script(&script, rows[i].text, -1), &watch, &status, &error), "%s",
              error.message);
        assert_string_equal(child_end_text(status, end), rows[i].end);
    }
}

/* Nothing of it runs on: the pipe, which all of its group have open, closes. */
static void ended_before_it_ends(bool with_limit, enum error_domain domain, const char *message)
{
    struct script script;
    struct child_watch watch = {
        .name = "it", .limit_ns = with_limit ? 20 * NS_PER_MS : 0, .interrupt = &interrupt};
    struct error error;
    int ends[2];
    int status = 0;
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const struct child_program *program = make_script(&script, LONG_TEXT, ends[1]);
    assert_false(child_run(program, &watch, &status, &error));
    check_error(&error, domain, message);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

static void at_its_limit(void **state)
{
    ended_before_it_ends(true, ERROR_TIMEOUT, "it does not end");
}

static void at_an_interrupt(void **state)
{
    assert_int_equal(raise(SIGTERM), 0); /* it is blocked, and waits for whoever looks */
    ended_before_it_ends(false, ERROR_INTERRUPTED, "interrupted");
    interrupt_acknowledge(&interrupt);
}

/* It may tidy up, alone or with its group. */
static void asked_to_end(void **state)
{
    for (int group = 0; group < 2; group++) {
        struct script script;
        struct child child;
        struct error error;
        int output = open_output();
        int ends[2];
        char byte;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        make_script(&script,
                    "trap 'echo tidied; exit 3' TERM; echo up >&2; while :; do sleep 0.01; done",
                    output);
        script.descriptors[2] = ends[1];
        check(child_start(&child, &script.program, &error), "%s", error.message);
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        assert_false(child_has_ended(&child));
        child_terminate(&child, group == 1);
        child_end(&child, 1000 * NS_PER_S);
        assert_true(WIFEXITED(child.status));
        assert_int_equal(WEXITSTATUS(child.status), 3);
        check_output(output, "tidied\n");
        close(ends[0]);
        close(output);
    }
}

/* ---- What it says ---- */

struct listener {
    int fd;
    char text[20];
    size_t length;
};

static bool listen_to(void *context, struct error *error)
{
    struct listener *listener = context;
    ssize_t got = read(listener->fd, listener->text + listener->length, 1);
    if (got <= 0) {
        close(listener->fd);
        listener->fd = -1;
    } else if (listener->text[listener->length++] == '!') {
        return error_set(error, ERROR_CONTENT, 0, "it shouts");
    }
    return true;
}

/* Everything is heard before its end counts; who hears may refuse. */
static void heard_while_it_runs(void **state)
{
    for (int shouts = 0; shouts < 2; shouts++) {
        struct script script;
        struct child child;
        struct error error;
        int ends[2];
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        make_script(&script, shouts ? "printf 'ab!'; sleep 1000" : "printf abc", ends[1]);
        struct listener listener = {.fd = ends[0]};
        struct child_watch watch = {
            .name = "it", .fd = &listener.fd, .on_readable = listen_to, .context = &listener};
        check(child_start(&child, &script.program, &error), "%s", error.message);
        close(ends[1]);
        assert_int_equal(child_watch(&child, &watch, &error), !shouts);
        assert_string_equal(listener.text, shouts ? "ab!" : "abc");
        if (shouts) {
            check_error(&error, ERROR_CONTENT, "it shouts");
            assert_false(child_has_ended(&child));
        }
        child_end(&child, 0);
        if (listener.fd >= 0) {
            close(listener.fd);
        }
    }
}

static void output_has_a_bound(void **state)
{
    struct error error;
    int output = open_output();
    assert_int_equal(write(output, "12345", 5), 5);
    char *text = child_output_text(output, 5, "the output", &error);
    assert_string_equal(text, "12345");
    free(text);
    assert_null(child_output_text(output, 4, "the output", &error));
    check_error(&error, ERROR_LIMIT, "the output is too large: 5 bytes");
    close(output);
}

static void last_words(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", ""}, {"\n \n", ""}, {"one", "one"}, {"a\nb\tc\n\n", "b c"}, {"long words", "long wo"},
    };
    char line[8];
    for (size_t i = 0; i < COUNT(rows); i++) {
        int output = open_output();
        assert_int_equal(write(output, rows[i].text, strlen(rows[i].text)), strlen(rows[i].text));
        child_last_words(output, line, sizeof line);
        assert_string_equal(line, rows[i].words);
        close(output);
    }
    int output = open_output();
    assert_int_equal(ftruncate(output, 1 << 20), 0);
    assert_int_equal(pwrite(output, "\nend\n", 5, 1 << 20), 5);
    child_last_words(output, line, sizeof line);
    assert_string_equal(line, "end");
    close(output);
    child_last_words(-1, line, sizeof line);
    assert_string_equal(line, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_child_has),    cmocka_unit_test(what_cannot_begin),
        cmocka_unit_test(how_it_ends),         cmocka_unit_test(at_its_limit),
        cmocka_unit_test(at_an_interrupt),     cmocka_unit_test(asked_to_end),
        cmocka_unit_test(heard_while_it_runs), cmocka_unit_test(output_has_a_bound),
        cmocka_unit_test(last_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
