/* test_rows.h - the product's rows and one more, for test_tests. No guard, as there. */
#include "../../../../src/result/test_rows.h"

TEST_ROW(TOUCH, speed_touch, "Touch", REQUEST_BIT(REQUEST_READ), DATA_TO_CLIENT, "abcdef")
