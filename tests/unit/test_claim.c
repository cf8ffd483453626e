/* base/claim: one owner for a name, which ends with its process. */
#include "unit.h"

#include "base/claim.h"

#include "scratch.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char place[SCRATCH_SIZE];

static const char *in_place(const char *name)
{
    static char path[SCRATCH_SIZE + 40];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static int set_up(void **state)
{
    scratch_make(place);
    return 0;
}

static int tear_down(void **state)
{
    scratch_remove(place);
    return 0;
}

static void test_one_owner(void **state)
{
    struct claim first;
    struct claim second;
    struct claim other;
    struct error error;
    char holder[40];
    snprintf(holder, sizeof holder, "process %d", (int)getpid());
    assert_true(claim_take(&first, in_place("result"), &error));
    assert_false(claim_take(&second, in_place("result"), &error));
    check_error(&error, ERROR_USAGE, "belongs to another run");
    check_error(&error, ERROR_USAGE, holder);
    claim_give_back(&second); /* nothing: the first keeps it */
    assert_false(claim_take(&second, in_place("result"), &error));
    assert_true(claim_take(&other, in_place("results"), &error));
    claim_give_back(&first);
    assert_true(claim_take(&second, in_place("result"), &error));
    claim_give_back(&second);
    claim_give_back(&second);
    claim_give_back(&other);
    assert_int_equal(rmdir(place), 0); /* nothing is left */
    assert_int_equal(mkdir(place, 0700), 0);
}

static void test_it_ends_with_its_process(void **state)
{
    struct claim claim;
    struct error error;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t owner = fork();
    assert_true(owner >= 0);
    if (owner == 0) {
        bool taken = claim_take(&claim, in_place("result"), &error);
        if (write(ready[1], taken ? "y" : "n", 1) == 1) {
            pause();
        }
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_false(claim_take(&claim, in_place("result"), &error));
    assert_int_equal(kill(owner, SIGKILL), 0);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    assert_true(claim_take(&claim, in_place("result"), &error));
    claim_give_back(&claim);
    close(ready[0]);
    close(ready[1]);
}

/* A forked child that gives back what it inherited, and the next owner before its parent does too:
 * that one keeps its name. */
static void test_given_back_twice(void **state)
{
    struct claim claim;
    struct claim next;
    struct claim third;
    struct error error;
    assert_true(claim_take(&claim, in_place("result"), &error));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        claim_give_back(&claim);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(claim_take(&next, in_place("result"), &error));
    claim_give_back(&claim);
    assert_false(claim_take(&third, in_place("result"), &error));
    claim_give_back(&next);
}

static void test_what_can_have_no_owner(void **state)
{
    struct claim claim;
    struct error error;
    assert_true(claim_take(&claim, "/dev/null", &error));
    assert_int_equal(claim.file, -1);
    claim_give_back(&claim);
    assert_false(claim_take(&claim, in_place("missing/result"), &error));
    check_error(&error, ERROR_SYSTEM, "missing/result");
    char longer[5000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_false(claim_take(&claim, longer, &error));
    assert_int_equal(error.domain, ERROR_LIMIT);
}

/* A lock file that is a link is not followed: what it leads to is not ours. */
static void test_no_link_is_followed(void **state)
{
    struct claim claim;
    struct error error;
    char target[SCRATCH_SIZE + 40];
    snprintf(target, sizeof target, "%s", in_place("target"));
    assert_int_equal(symlink(target, in_place(".result.lock")), 0);
    assert_false(claim_take(&claim, in_place("result"), &error));
    assert_int_equal(access(target, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_ends_with_its_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given_back_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_can_have_no_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_link_is_followed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
