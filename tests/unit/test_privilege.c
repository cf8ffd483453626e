/* What who may not make namespaces is told. */
#include "unit.h"

#include "netlab/privilege.h"

#define DOCKER UINT64_C(0xa80425fb) /* what root of a container has by default */
#define ALL    UINT64_C(0x1ffffffffff)

static void facts_are_read(void **state)
{
    struct privilege privilege = {.root = true};
    privilege_parse(&privilege, "Name:\tx\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n"
                                "Seccomp_filters:\t1\n");
    assert_true(privilege.root);
    assert_true(privilege.filtered);
    assert_true(privilege.capabilities == DOCKER);
    privilege_parse(&privilege, "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
    assert_false(privilege.filtered);
    assert_true(privilege.capabilities == 0);
    privilege_parse(&privilege, "");
    assert_true(privilege.capabilities == 0);
}

static void advice_fits_who_asks(void **state)
{
    static const struct {
        struct privilege privilege;
        bool full;
        const char *advice;
    } rows[] = {
        {{true, true, DOCKER},
         false,
         "root here lacks CAP_SYS_ADMIN and has a seccomp filter, as in a container: start that "
         "with --privileged, or --cap-add=SYS_ADMIN --security-opt seccomp=unconfined "
         "--security-opt apparmor=unconfined"},
        {{true, false, DOCKER},
         false,
         "root here lacks CAP_SYS_ADMIN, as in a container: start that with --privileged, or "
         "--cap-add=SYS_ADMIN --security-opt apparmor=unconfined"},
        {{true, true, ALL},
         false,
         "root here has a seccomp filter, as in a container: start that with --privileged, or "
         "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"},
        {{true, false, ALL},
         false,
         "root here is held by a security module, as in a container: start that with "
         "--privileged, or --security-opt apparmor=unconfined"},
        {{true, true, 0},
         false,
         "root here lacks CAP_SYS_ADMIN CAP_SETUID CAP_SETGID CAP_SETFCAP and has a seccomp "
         "filter, as in a container: start that with --privileged, or --cap-add=SYS_ADMIN "
         "--cap-add=SETUID --cap-add=SETGID --cap-add=SETFCAP --security-opt seccomp=unconfined "
         "--security-opt apparmor=unconfined"},
        {{true, false, ALL},
         true,
         "allow them with sysctl -w user.max_user_namespaces=10000, in a container on its host"},
        {{false, false, 0}, true, "as root, allow them with sysctl -w user.max_user_namespaces"},
        {{false, true, 0}, false, "a seccomp filter decides, as in a container: start that with "},
        {{false, false, 0}, false, "as root, allow them with sysctl -w kernel.unprivileged_userns"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[PRIVILEGE_TEXT_LENGTH];
        privilege_advice(&rows[i].privilege, rows[i].full, text);
        check(strncmp(text, rows[i].advice, strlen(rows[i].advice)) == 0, "row %zu: %s", i, text);
        check(strlen(text) < PRIVILEGE_TEXT_LENGTH - 1, "row %zu is cut", i);
        check(!rows[i].privilege.root || strstr(text, "as root") == NULL, "row %zu: %s", i, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_read),
        cmocka_unit_test(advice_fits_who_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
