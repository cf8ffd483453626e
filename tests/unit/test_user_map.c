/* The texts of user maps and ranges. */
#include "unit.h"

#include "netlab/user_map.h"

static void test_identity(void **state)
{
    static const struct {
        const char *own, *map;
        uint64_t count;
    } rows[] = {
        {"         0          0 4294967295\n", "0 0 4294967295\n", 4294967295},
        {"         0       1000          1\n", "0 0 1\n", 1},
        {"0 1000 1\n1 100000 65536\n", "0 0 1\n1 1 65536\n", 65537},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char map[64];
        uint64_t count;
        assert_true(user_map_identity(rows[i].own, map, sizeof map, &count));
        assert_string_equal(map, rows[i].map);
        assert_int_equal(count, rows[i].count);
    }
}

static void test_no_map(void **state)
{
    char map[15];
    uint64_t count;
    assert_false(user_map_identity("", map, sizeof map, &count));
    assert_false(user_map_identity("0 0\n", map, sizeof map, &count));
    assert_false(user_map_identity("root\n", map, sizeof map, &count));
    /* "0 0 4294967295\n" and its end are 16 bytes */
    assert_false(user_map_identity("0 0 4294967295\n", map, sizeof map, &count));
}

static void test_range(void **state)
{
    static const struct {
        const char *line;
        bool good;
    } rows[] = {
        {"bench:100000:65536\n", true},
        {"1234:100000:65536", true},
        {"bench:100000:65534\n", true},
        {"bench:100000:65533\n", false},
        {"other:100000:65536\n", false},
        {"12345:100000:65536\n", false},
        {"bench:100000\n", false},
        {"bench\n", false},
        {"\n", false},
        {"bench:x:65536\n", false},
        {"bench:100000:65536:1\n", false},
        {"bench:0:65536\n", false}, /* nobody may be given the host's root */
        {"# bench:100000:65536\n", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t first = 0;
        uint64_t count = 0;
        bool good = user_map_range(rows[i].line, "bench", 1234, &first, &count);
        check(good == rows[i].good, "%s", rows[i].line);
        check(!good || (first == 100000 && count >= 65534), "%s", rows[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_no_map),
        cmocka_unit_test(test_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
