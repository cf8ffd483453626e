#include "netlab/server_under_test.h"

#include "base/child.h"
#include "base/find_program.h"
#include "base/memory.h"
#include "base/units.h"
#include "netlab/server_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where servers are kept that no PATH of ordinary users names. */
#define SERVER_DIRECTORIES "/usr/sbin:/usr/local/sbin:/sbin:/usr/bin:/usr/local/bin:/bin"
#define SHIM_NAME          "afpbench_setid_shim.so"
#define VERSION_LIMIT      MIB        /* of what afpd -V prints */
#define METADATA_BYTES     (64 * MIB) /* beside the files: CNID database, log, empty clusters */

/* One server at work. Everything of its own lies in memory over its state directory. */
struct netatalk {
    const char *root;                /* "" or the directory it is started in */
    char afpd[PROGRAM_PATH_LENGTH];  /* inside the root */
    char state[PROGRAM_PATH_LENGTH]; /* its state directory, inside the root */
    bool needs_shim;
    struct server_mounts mounts;
};

/* ---- Finding it ---- */

static const char *root_of(const struct server_request *request)
{
    return request->netatalk_root != NULL ? request->netatalk_root : "";
}

/* Distributions keep afpd in an sbin that is in no user's PATH: those are looked through as well.
 */
static bool find_afpd(const struct server_request *request, char path[PROGRAM_PATH_LENGTH],
                      struct error *error)
{
    const char *root = root_of(request);
    const char *name = request->afpd != NULL ? request->afpd : "afpd";
    const char *inherited = getenv("PATH");
    if ((root[0] == '\0' && program_find(name, inherited, root, path)) ||
        program_find(name, SERVER_DIRECTORIES, root, path)) {
        return true;
    }
    if (request->afpd != NULL) {
        return error_set(error, ERROR_SYSTEM, ENOENT, "AFPD: there is no program %s%s%s", name,
                         root[0] != '\0' ? " in NETATALK_ROOT " : "", root);
    }
    return root[0] != '\0'
               ? error_set(error, ERROR_SYSTEM, ENOENT, "NETATALK_ROOT: no afpd in %s", root)
               : error_set(error, ERROR_SYSTEM, ENOENT,
                           "no afpd in PATH; name one with AFPD, or a directory that has Netatalk "
                           "with NETATALK_ROOT");
}

static bool found(const struct server_request *request, struct error *error)
{
    char path[PROGRAM_PATH_LENGTH];
    return find_afpd(request, path, error);
}

/* In the build's tree, or where it was installed: beside the directory of the programs. */
static bool find_shim(char path[PROGRAM_PATH_LENGTH])
{
    static const char *const places[] = {"/netlab/", "/" AFPBENCH_LIBRARY_DIRECTORY "/"};
    char directory[PROGRAM_PATH_LENGTH];
    char *last = program_own_directory(directory) ? strrchr(directory, '/') : NULL;
    if (last == NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(last, (size_t)(directory + sizeof directory - last), "%s", places[i]);
        if (program_join(path, directory, SHIM_NAME) && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Asking it where its files are ---- */

/* The value of a "   name:   value" line. */
static bool find_value(const char *text, const char *name, char value[PROGRAM_PATH_LENGTH])
{
    const char *at = strstr(text, name);
    if (at == NULL) {
        return false;
    }
    at += strlen(name);
    at += strspn(at, " \t");
    size_t length = strcspn(at, "\n");
    while (length > 1 && at[length - 1] == '/') {
        length--;
    }
    return length > 0 && at[0] == '/' &&
           snprintf(value, PROGRAM_PATH_LENGTH, "%.*s", (int)length, at) < PROGRAM_PATH_LENGTH;
}

static struct lab_place place_of(const struct netatalk *netatalk, const struct lab *lab)
{
    return (struct lab_place){
        .lab = lab, .side = LAB_SERVER, .root = netatalk->root[0] != '\0' ? netatalk->root : NULL};
}

/* What `afpd -V` prints, to be released; NULL with an error. */
static char *version_text(struct netatalk *netatalk, struct lab *lab, struct error *error)
{
    char version[] = "-V";
    char *const arguments[] = {netatalk->afpd, version, NULL};
    const struct lab_place place = place_of(netatalk, lab);
    const struct child_watch watch = {.name = netatalk->afpd};
    int state = 0;
    int answer = child_output_open(error);
    if (answer < 0) {
        return NULL;
    }
    const int descriptors[] = {-1, answer, answer};
    struct child_program program = {
        .arguments = arguments,
        .descriptors = descriptors,
        .descriptor_count = sizeof descriptors / sizeof descriptors[0],
        .prepare = lab_enter,
        .context = &place,
    };
    bool told = child_run(&program, &watch, &state, error) &&
                (state == 0 ||
                 error_set(error, ERROR_SYSTEM, 0, "%s %s fails", arguments[0], arguments[1]));
    char *text = told ? child_output_text(answer, VERSION_LIMIT, "what afpd -V says", error) : NULL;
    close(answer);
    return text;
}

/* afpd -V tells where this binary was built to keep its state. */
static bool ask_for_directories(struct netatalk *netatalk, struct lab *lab, struct error *error)
{
    char *text = version_text(netatalk, lab, error);
    bool told = text != NULL;
    told = told && (find_value(text, "state directory:", netatalk->state) ||
                    error_set(error, ERROR_SYSTEM, 0,
                              "%s -V names no state directory: is it Netatalk's, 3.1 or later?",
                              netatalk->afpd));
    memory_release(text);
    return told;
}

/* ---- A place of its own ---- */

/* `path` is inside the root. */
static bool outside(const struct netatalk *netatalk, const char *path,
                    char joined[PROGRAM_PATH_LENGTH], struct error *error)
{
    return program_join(joined, netatalk->root, path) ||
           error_set(error, ERROR_LIMIT, 0, "the path %s%s is too long", netatalk->root, path);
}

static bool in_state(const struct netatalk *netatalk, const char *name,
                     char joined[PROGRAM_PATH_LENGTH], struct error *error)
{
    char directory[PROGRAM_PATH_LENGTH];
    return outside(netatalk, netatalk->state, directory, error) &&
           (program_join(joined, directory, name) ||
            error_set(error, ERROR_LIMIT, 0, "the path %s%s is too long", directory, name));
}

static bool mount_memory(struct netatalk *netatalk, const char *path, uint64_t size_bytes,
                         mode_t mode, struct error *error)
{
    char directory[PROGRAM_PATH_LENGTH];
    return outside(netatalk, path, directory, error) &&
           server_mounts_memory(&netatalk->mounts, directory, size_bytes, mode, error);
}

static bool make_directory(const char *path, mode_t mode, struct error *error)
{
    return (mkdir(path, mode) == 0 && chmod(path, mode) == 0) ||
           error_set_errno(error, errno, "cannot make the directory %s", path);
}

/* The lock file is in /run/lock, which a root directory that never ran may lack. */
static bool make_lock_directory(struct netatalk *netatalk, struct error *error)
{
    char lock[PROGRAM_PATH_LENGTH];
    if (!outside(netatalk, "/run/lock", lock, error)) {
        return false;
    }
    if (access(lock, F_OK) == 0) {
        return mount_memory(netatalk, "/run/lock", 0, 01777, error);
    }
    return mount_memory(netatalk, "/run", 0, 0755, error) && make_directory(lock, 01777, error);
}

static bool show_system(struct netatalk *netatalk, struct error *error)
{
    static const char *const directories[] = {"/proc", "/dev"};
    char path[PROGRAM_PATH_LENGTH];
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        if (!outside(netatalk, directories[i], path, error) ||
            !server_mounts_bind(&netatalk->mounts, directories[i], path, error)) {
            return false;
        }
    }
    return mount_memory(netatalk, "/tmp", 0, 01777, error);
}

/* What is there when the server starts; its own installation would have made the first. */
static bool make_directories(const struct netatalk *netatalk, struct error *error)
{
    static const struct {
        const char *name;
        mode_t mode;
    } directories[] = {{"/CNID", 0755}, {"/" SERVER_UNDER_TEST_VOLUME, 01777}};
    char path[PROGRAM_PATH_LENGTH];
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        if (!in_state(netatalk, directories[i].name, path, error) ||
            !make_directory(path, directories[i].mode, error)) {
            return false;
        }
    }
    return true;
}

static bool make_place(struct netatalk *netatalk, const struct server_request *request,
                       struct error *error)
{
    uint64_t bytes = request->volume_bytes > 0 ? request->volume_bytes + METADATA_BYTES : 0;
    if (netatalk->root[0] != '\0' && !show_system(netatalk, error)) {
        return false;
    }
    return mount_memory(netatalk, netatalk->state, bytes, 0755, error) &&
           make_lock_directory(netatalk, error) && make_directories(netatalk, error);
}

/* ---- Its configuration ---- */

/* Guests, CNIDs in SQLite and no zeroconf: it needs no users, no other daemon, no database. */
static void write_lines(FILE *file, const struct netatalk *netatalk,
                        const struct server_request *request, uint16_t port)
{
    fprintf(file,
            "[Global]\n"
            "afp port = %u\n"
            "afp listen = %s\n"
            "uam list = uams_guest.so\n"
            "cnid scheme = sqlite\n"
            "zeroconf = no\n"
            "log file = %s/afpd.log\n"
            "log level = default:note\n",
            (unsigned)port, LAB_SERVER_ADDRESS, netatalk->state);
    if (request->quantum_bytes > 0) {
        fprintf(file, "server quantum = %u\n", (unsigned)request->quantum_bytes);
    }
    if (request->read_ahead > 0) {
        fprintf(file, "dsireadbuf = %u\n", (unsigned)request->read_ahead);
    }
    fprintf(file, "[%s]\npath = %s/%s\n", SERVER_UNDER_TEST_VOLUME, netatalk->state,
            SERVER_UNDER_TEST_VOLUME);
}

static bool write_configuration(const struct netatalk *netatalk,
                                const struct server_request *request, uint16_t port,
                                struct error *error)
{
    char path[PROGRAM_PATH_LENGTH];
    if (!in_state(netatalk, "/afp.conf", path, error)) {
        return false;
    }
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return error_set_errno(error, errno, "cannot make %s", path);
    }
    write_lines(file, netatalk, request, port);
    bool written = ferror(file) == 0;
    return (fclose(file) == 0 && written) || error_set_errno(error, errno, "cannot write %s", path);
}

/* ---- Starting it ---- */

static bool install_shim(const struct netatalk *netatalk, struct error *error)
{
    char from[PROGRAM_PATH_LENGTH];
    char to[PROGRAM_PATH_LENGTH];
    if (!find_shim(from)) {
        return error_set(error, ERROR_SYSTEM, ENOENT,
                         "afpd needs more users than this one: install the package uidmap and give "
                         "the user a range in /etc/subuid and /etc/subgid (usermod "
                         "--add-subuids 100000-165535 --add-subgids 100000-165535), or put %s "
                         "into %s beside the directory of this program",
                         SHIM_NAME, AFPBENCH_LIBRARY_DIRECTORY);
    }
    return in_state(netatalk, "/" SHIM_NAME, to, error) && server_copy_program(from, to, error);
}

static bool open_log(struct server_under_test *server, const struct netatalk *netatalk,
                     struct error *error)
{
    if (!in_state(netatalk, "/afpd.log", server->log_path, error)) {
        return false;
    }
    server->log = open(server->log_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return server->log >= 0 || error_set_errno(error, errno, "cannot make %s", server->log_path);
}

/* Our environment and, before it, one more entry (or NULL). */
static char **extend_environment(char *entry)
{
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **extended = memory_allocate(count + 2, sizeof *extended);
    if (extended != NULL) {
        size_t used = 0;
        if (entry != NULL) {
            extended[used++] = entry;
        }
        memcpy(extended + used, environ, count * sizeof *extended);
    }
    return extended;
}

/* afpd in the foreground, without the netatalk program that would start more than it. */
static bool start_afpd(struct server_under_test *server, struct netatalk *netatalk, struct lab *lab,
                       struct error *error)
{
    char preload[PROGRAM_PATH_LENGTH + 40];
    char configuration[PROGRAM_PATH_LENGTH + 16];
    char foreground[] = "-d";
    char file_option[] = "-F";
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/%s", netatalk->state, SHIM_NAME);
    snprintf(configuration, sizeof configuration, "%s/afp.conf", netatalk->state);
    char *const arguments[] = {netatalk->afpd, foreground, file_option, configuration, NULL};
    char **environment = extend_environment(netatalk->needs_shim ? preload : NULL);
    if (environment == NULL) {
        return memory_error(error, "for the server's environment");
    }
    const int descriptors[] = {-1, server->log, server->log};
    const struct lab_place place = place_of(netatalk, lab);
    struct child_program program = {
        .arguments = arguments,
        .environment = environment,
        .descriptors = descriptors,
        .descriptor_count = sizeof descriptors / sizeof descriptors[0],
        .prepare = lab_enter,
        .context = &place,
    };
    bool started = child_start(&server->child, &program, error);
    memory_release(environment);
    return started;
}

static bool start(struct server_under_test *server, struct lab *lab,
                  const struct server_request *request, struct error *error)
{
    struct netatalk *netatalk = memory_allocate(1, sizeof *netatalk);
    if (netatalk == NULL) {
        return memory_error(error, "for the server");
    }
    server->state = netatalk;
    server->volume = SERVER_UNDER_TEST_VOLUME;
    netatalk->root = root_of(request);
    netatalk->needs_shim = request->users == SUPERVISOR_ONE_USER;
    if (!find_afpd(request, netatalk->afpd, error) || !ask_for_directories(netatalk, lab, error) ||
        !make_place(netatalk, request, error) ||
        (netatalk->needs_shim && !install_shim(netatalk, error)) ||
        !write_configuration(netatalk, request, server->port, error) ||
        !open_log(server, netatalk, error) || !start_afpd(server, netatalk, lab, error)) {
        return error_prefix(error, "cannot start Netatalk");
    }
    const char *identity =
        netatalk->needs_shim ? "with the set-id shim" : supervisor_users_names[request->users];
    snprintf(server->how, sizeof server->how, "%.50s%s%.70s, %s", netatalk->afpd,
             netatalk->root[0] != '\0' ? " in " : "", netatalk->root, identity);
    return true;
}

static void release(struct server_under_test *server)
{
    struct netatalk *netatalk = server->state;
    if (netatalk != NULL) {
        server_mounts_release(&netatalk->mounts);
        memory_release(netatalk);
        server->state = NULL;
    }
}

const struct server_kind server_netatalk = {
    .name = "netatalk",
    .takes_read_ahead = true,
    .found = found,
    .start = start,
    .release = release,
};
