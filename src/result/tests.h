/*
 * tests.h - what is known of each test, once: reports, pictures, lists and figures read it here.
 *
 * The rows stand in test_rows.h. Results read back may hold tests that are not among them: for
 * those there are no facts, and they come last. Read-only data and pure functions.
 */
#ifndef AFPBENCH_RESULT_TESTS_H
#define AFPBENCH_RESULT_TESTS_H

#include "result/result.h"

/* Which way a test's data cross the link. */
enum test_data {
    DATA_STAYS = 0, /* at the server */
    DATA_TO_CLIENT = 1,
    DATA_TO_SERVER = 2,
    DATA_BOTH_WAYS = DATA_TO_CLIENT | DATA_TO_SERVER
};

#define REQUEST_BIT(kind) (1U << (kind))

struct test_facts {
    const char *name;  /* "Read": a letter, then letters and digits */
    unsigned requests; /* the kinds that a timed section may send: REQUEST_BIT() of each */
    enum test_data data;
    const char *colour; /* of its curve: red, green, blue in hexadecimal */
};

/* TEST_READ, …: places in the table. */
#define TEST_ROW(id, implementation, ...) TEST_##id,
enum test_id {
#include "result/test_rows.h"
    TEST_COUNT
};
#undef TEST_ROW

/* In the order in which people are shown them. */
extern const struct test_facts known_tests[];
extern const size_t known_test_count;

/* By its exact name; NULL: it is none of them. */
const struct test_facts *known_test(const char *name);

/* Below, at or above 0 as `a` is shown before, with or behind `b`: the known ones in their order,
 * others behind them by name. */
int test_order(const char *a, const char *b);

/* The names of all, with `separator` between them, cut to what fits. */
const char *test_names(const char *separator, char *text, size_t size);

#endif
