/* The product's tables of tests, compiled again with one row more: the linker takes these and
 * leaves those in the library alone. */
#include "result/tests.c" // NOLINT(bugprone-suspicious-include)

/* Both have a table made from TEST_ROW(). */
#include "workload/speed.c" // NOLINT(bugprone-suspicious-include)
