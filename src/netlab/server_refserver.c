#include "netlab/server_under_test.h"

#include "base/find_program.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static bool find(char path[PROGRAM_PATH_LENGTH], struct error *error)
{
    return program_find_ours("afp_refserver", path) ||
           error_set(error, ERROR_SYSTEM, ENOENT,
                     "no afp_refserver beside this program and none in PATH");
}

static bool found(const struct server_request *request, struct error *error)
{
    char path[PROGRAM_PATH_LENGTH];
    return find(path, error);
}

static bool start(struct server_under_test *server, struct lab *lab,
                  const struct server_request *request, struct error *error)
{
    char path[PROGRAM_PATH_LENGTH];
    char port[40];
    char quantum[40];
    char listen[] = "--listen=" LAB_SERVER_ADDRESS;
    char volume[] = "--volume=" SERVER_UNDER_TEST_VOLUME;
    if (!find(path, error)) {
        return false;
    }
    snprintf(port, sizeof port, "--port=%u", (unsigned)server->port);
    snprintf(quantum, sizeof quantum, "--quantum=%ub", (unsigned)request->quantum_bytes);
    server->log = child_output_open(error);
    if (server->log < 0) {
        return false;
    }
    snprintf(server->log_path, sizeof server->log_path, "/proc/self/fd/%d", server->log);
    snprintf(server->how, sizeof server->how, "afp_refserver");
    server->volume = SERVER_UNDER_TEST_VOLUME;
    char *const arguments[] = {
        path, listen, port, volume, request->quantum_bytes > 0 ? quantum : NULL, NULL};
    const int descriptors[] = {-1, server->log, server->log};
    struct child_program program = {
        .arguments = arguments,
        .descriptors = descriptors,
        .descriptor_count = sizeof descriptors / sizeof descriptors[0],
        .prepare = lab_enter,
        .context = &(struct lab_place){.lab = lab, .side = LAB_SERVER},
    };
    return child_start(&server->child, &program, error);
}

const struct server_kind server_refserver = {
    .name = "refserver",
    .takes_read_ahead = false,
    .found = found,
    .start = start,
};
