/* target/workname: whose directory may be removed. Only where the end of its run is proven. */
#include "unit.h"

#include "target/workname.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that made a name and lives until it is killed. */
struct run {
    pid_t process;
    char name[WORKNAME_LENGTH];
};

static void live(int pipe_fd)
{
    char name[WORKNAME_LENGTH];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "renamed");
    workname_make(name);
    if (write(pipe_fd, name, sizeof name) != (ssize_t)sizeof name) {
        _exit(1);
    }
    for (;;) {
        pause();
    }
}

static void start(struct run *run)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    run->process = fork();
    assert_true(run->process >= 0);
    if (run->process == 0) {
        live(ends[1]);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], run->name, sizeof run->name), sizeof run->name);
    close(ends[0]);
}

static void end(const struct run *run)
{
    assert_int_equal(kill(run->process, SIGKILL), 0);
    assert_int_equal(waitpid(run->process, NULL, 0), run->process);
}

static void expect_kept(const char *name, const char *why)
{
    const char *reason;
    assert_true(workname_is_ours(name, &reason));
    check(reason != NULL && strstr(reason, why) != NULL, "'%s': %s", name, reason);
}

static void expect_removable(const char *name)
{
    const char *reason;
    assert_true(workname_is_ours(name, &reason));
    check(reason == NULL, "'%s': %s", name, reason);
}

static void test_a_living_run_is_kept_whatever_its_name(void **state)
{
    struct run run;
    char own[WORKNAME_LENGTH];
    workname_make(own);
    expect_kept(own, "still there");
    start(&run);
    expect_kept(run.name, "still there");
    end(&run);
    expect_removable(run.name);
}

static void test_a_killed_run_is_gone_before_its_parent_asks(void **state)
{
    struct run run;
    siginfo_t info;
    start(&run);
    assert_int_equal(kill(run.process, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)run.process, &info, WEXITED | WNOWAIT), 0);
    expect_removable(run.name);
    assert_int_equal(waitpid(run.process, NULL, 0), run.process);
}

/* Another machine, another boot, or a name as older versions made it of the host's name. */
static void test_other_places_are_kept(void **state)
{
    char name[WORKNAME_LENGTH];
    workname_make(name);
    size_t digit = strlen("afpbench-");
    name[digit] = name[digit] == '0' ? '1' : '0';
    expect_kept(name, "another machine");
    expect_kept("afpbench-00000001-000002-000003", "another machine");
}

/* The same machine and boot, the same process numbers, but another PID namespace. */
static void make_elsewhere(int pipe_fd)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0) {
        _exit(2);
    }
    pid_t inside = fork();
    if (inside == 0) {
        live(pipe_fd);
    }
    waitpid(inside, NULL, 0);
    _exit(0);
}

static void test_other_namespaces_are_kept(void **state)
{
    int ends[2];
    char name[WORKNAME_LENGTH];
    assert_int_equal(pipe(ends), 0);
    pid_t outside = fork();
    assert_true(outside >= 0);
    if (outside == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        make_elsewhere(ends[1]);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], name, sizeof name);
    close(ends[0]);
    if (got == 0) {
        waitpid(outside, NULL, 0);
        print_message("no user namespaces here\n");
        skip();
    }
    assert_int_equal(got, sizeof name);
    expect_kept(name, "another container");
    kill(outside, SIGKILL);
    waitpid(outside, NULL, 0);
    expect_kept(name, "another container");
}

static void test_other_names(void **state)
{
    static const char *const names[] = {"",
                                        "afpbench",
                                        "afpbench-",
                                        "afpbench-1-2-3",
                                        "afpbench-00000001-000002-00000g",
                                        "afpbench-00000001-000002-0000034",
                                        "afpbench-00000001-000002-000003x",
                                        "afpbench-0000000A-000002-000003",
                                        "Afpbench-00000001-000002-000003",
                                        "afpbench-00000001-000002",
                                        "afpbench-00000001--00002-000003",
                                        "afpbench-+0000001-000002-000003",
                                        "afpbench-0x000001-000002-000003",
                                        "afpbench- 0000001-000002-000003",
                                        "xafpbench-00000001-000002-000003",
                                        "afpbench-00000001-000002-000003/",
                                        "afpbench-XXXXXX",
                                        "keep"};
    const char *reason;
    for (size_t i = 0; i < COUNT(names); i++) {
        check(!workname_is_ours(names[i], &reason), "'%s' is none of ours", names[i]);
    }
}

static void test_two_names_differ(void **state)
{
    char one[WORKNAME_LENGTH];
    char other[WORKNAME_LENGTH];
    workname_make(one);
    usleep(10);
    workname_make(other);
    assert_int_equal(strlen(one), WORKNAME_LENGTH - 1);
    assert_string_not_equal(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_living_run_is_kept_whatever_its_name),
        cmocka_unit_test(test_a_killed_run_is_gone_before_its_parent_asks),
        cmocka_unit_test(test_other_places_are_kept),
        cmocka_unit_test(test_other_namespaces_are_kept),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_two_names_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
