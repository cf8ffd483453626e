#include "netlab/privilege.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a run asks for before it has a user namespace of its own, and all within. */
static const struct {
    unsigned number;
    const char *name; /* without CAP_ */
} needed[] = {
    {CAP_SYS_ADMIN, "SYS_ADMIN"},
    {CAP_SETUID, "SETUID"},
    {CAP_SETGID, "SETGID"},
    {CAP_SETFCAP, "SETFCAP"},
};

/* All of its numbers are read as hexadecimal: the filter's mode is one digit. */
static uint64_t number_after(const char *status, const char *name)
{
    uint64_t number = 0;
    const char *line = strstr(status, name);
    return line != NULL && sscanf(line + strlen(name), "%" SCNx64, &number) == 1 ? number : 0;
}

void privilege_parse(struct privilege *privilege, const char *status)
{
    privilege->capabilities = number_after(status, "\nCapEff:");
    privilege->filtered = number_after(status, "\nSeccomp:") == 2;
}

void privilege_read(struct privilege *privilege)
{
    char status[4096] = "";
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, status, sizeof status - 1) : 0;
    if (file >= 0) {
        close(file);
    }
    status[got > 0 ? got : 0] = '\0';
    *privilege = (struct privilege){.root = geteuid() == 0};
    privilege_parse(privilege, status);
}

/* " --cap-add=SYS_ADMIN": the names that are missing, each after `before`. */
static void list_missing(const struct privilege *privilege, const char *before, char *text,
                         size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        size_t used = strlen(text);
        if ((privilege->capabilities >> needed[i].number & 1) == 0) {
            snprintf(text + used, size - used, "%s%s", before, needed[i].name);
        }
    }
}

static void advise_root(const struct privilege *privilege, char text[PRIVILEGE_TEXT_LENGTH])
{
    char names[80];
    char options[100];
    list_missing(privilege, " CAP_", names, sizeof names);
    list_missing(privilege, " --cap-add=", options, sizeof options);
    bool missing = names[0] != '\0';
    const char *filter = missing ? " and has a seccomp filter" : " has a seccomp filter";
    const char *neither = missing ? "" : " is held by a security module";
    snprintf(text, PRIVILEGE_TEXT_LENGTH,
             "root here%s%s%s, as in a container: start that with --privileged, or%s%s "
             "--security-opt apparmor=unconfined",
             missing ? " lacks" : "", names, privilege->filtered ? filter : neither, options,
             privilege->filtered ? " --security-opt seccomp=unconfined" : "");
}

const char *privilege_advice(const struct privilege *privilege, bool full,
                             char text[PRIVILEGE_TEXT_LENGTH])
{
    static const char more[] = "sysctl -w user.max_user_namespaces=10000";
    if (full) {
        snprintf(text, PRIVILEGE_TEXT_LENGTH,
                 privilege->root ? "allow them with %s, in a container on its host"
                                 : "as root, allow them with %s",
                 more);
    } else if (privilege->root) {
        advise_root(privilege, text);
    } else if (privilege->filtered) {
        snprintf(text, PRIVILEGE_TEXT_LENGTH,
                 "a seccomp filter decides, as in a container: start that with --security-opt "
                 "seccomp=unconfined, or run this as root of one with --privileged");
    } else {
        snprintf(text, PRIVILEGE_TEXT_LENGTH,
                 "as root, allow them with sysctl -w kernel.unprivileged_userns_clone=1 (Debian) "
                 "or kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), or run this as root");
    }
    return text;
}
