#include "cli/embedded_server.h"

#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child, which is this program, so none of base/child.h. Ctrl-C on the terminal is for the
 * client, which cleans up first and then ends us. */
static void serve(struct server *server, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_CANNOT_RUN);
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    limits_raise_descriptors();
    struct error error;
    bool ok = server_run(server, &error);
    _exit(ok ? EXIT_DONE : EXIT_CANNOT_RUN);
}

bool embedded_server_start(struct embedded_server *embedded, const struct server_config *config,
                           struct error *error)
{
    struct server *server = NULL;
    if (!server_start(&server, config, error)) {
        return error_prefix(error, "cannot start the reference server");
    }
    pid_t parent = getpid();
    embedded->port = server_port(server);
    embedded->process = fork();
    if (embedded->process == 0) {
        serve(server, parent);
    }
    int cause = errno;
    server_free(server);
    if (embedded->process < 0) {
        embedded->process = 0;
        return error_set_errno(error, cause, "cannot start the reference server");
    }
    return true;
}

void embedded_server_stop(struct embedded_server *embedded)
{
    if (embedded->process > 0) {
        kill(embedded->process, SIGKILL);
        while (waitpid(embedded->process, NULL, 0) < 0 && errno == EINTR) {
        }
        embedded->process = 0;
    }
}
