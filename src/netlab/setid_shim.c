/*
 * setid_shim - preloaded into a server where there is one user: taking on another identity succeeds
 * and does nothing.
 *
 * In a user namespace with one mapped user every set*id call to another one fails, though all files
 * are that user's anyway. Stands alone: no function of the C library is needed, so it loads beside
 * any version of it.
 */
#include <grp.h>
#include <sys/fsuid.h>
#include <unistd.h>

int setuid(uid_t uid)
{
    return 0;
}

int setgid(gid_t gid)
{
    return 0;
}

int seteuid(uid_t uid)
{
    return 0;
}

int setegid(gid_t gid)
{
    return 0;
}

int setreuid(uid_t ruid, uid_t euid)
{
    return 0;
}

int setregid(gid_t rgid, gid_t egid)
{
    return 0;
}

int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
    return 0;
}

int setresgid(gid_t rgid, gid_t egid, gid_t sgid)
{
    return 0;
}

int setgroups(size_t count, const gid_t *groups)
{
    return 0;
}

int initgroups(const char *user, gid_t group)
{
    return 0;
}

int setfsuid(uid_t uid)
{
    return 0;
}

int setfsgid(gid_t gid)
{
    return 0;
}
