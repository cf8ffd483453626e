/*
 * test_rows.h - the table of tests: TEST_ROW(id, implementation, name, requests, data, colour).
 *
 * Included several times, with TEST_ROW() defined to what is wanted of each row; hence no guard.
 * The implementation is a `struct speed_test` in workload/, which only workload/speed.c looks at.
 * The order is that of Netatalk's tables.
 */
TEST_ROW(READ, speed_read, "Read", REQUEST_BIT(REQUEST_READ), DATA_TO_CLIENT, "1f77b4")
TEST_ROW(WRITE, speed_write, "Write", REQUEST_BIT(REQUEST_WRITE) | REQUEST_BIT(REQUEST_FLUSH),
         DATA_TO_SERVER, "d62728")
TEST_ROW(COPY, speed_copy, "Copy", REQUEST_BIT(REQUEST_READ) | REQUEST_BIT(REQUEST_WRITE),
         DATA_BOTH_WAYS, "2ca02c")
TEST_ROW(SERVER_COPY, speed_server_copy, "ServerCopy", REQUEST_BIT(REQUEST_COPY), DATA_STAYS,
         "ff7f0e")
