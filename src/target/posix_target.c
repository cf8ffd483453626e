#include "target/posix_target.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "target/made_files.h"
#include "target/posix_io.h"
#include "target/workname.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FILE_LIMIT 8                  /* files that a workload has open at once, with room */
#define CORE_BYTES ((size_t)64 << 20) /* how much of a file mincore() looks at in one go */

/* A directory the user named, and ours in it. */
struct workplace {
    const char *path; /* NULL: there is none */
    int parent;
    int directory; /* -1: not made */
};

/* The files of a copy by the file system, opened before it is timed; -1: not open. */
struct copy {
    int from, to;
    uint64_t size_bytes;
};

/* What the file system is, and takes. */
struct posix_facts {
    char file_system[32];   /* of the first: "ext4"; a number for one that is not known by name */
    bool direct;            /* O_DIRECT is in use */
    bool direct_refused;    /* asked for, but the file system does not take it */
    bool ring_refused;      /* more than one outstanding was asked for, but no io_uring */
    char copy_refusal[120]; /* why copy_file_range does not work; empty: it does */
};

struct posix_target {
    struct target target;
    struct posix_facts facts;
    const struct interrupt *interrupt;
    const char *second_directory; /* as it was given */
    char directory_name[WORKNAME_LENGTH];
    struct workplace places[TARGET_PLACES];
    struct made_files made;
    struct target_file files[FILE_LIMIT];
    struct copy copy;
    struct posix_io *io;
};

static struct posix_target *self(struct target *target)
{
    return (struct posix_target *)target;
}

/* Without a second directory both places are the first. */
static struct workplace *workplace_of(struct posix_target *posix, enum target_place *place)
{
    if (posix->places[*place].path == NULL) {
        *place = TARGET_FIRST;
    }
    return &posix->places[*place];
}

/* ---- Reads and writes: posix_io.c ---- */

static bool reserve(struct target *target, uint32_t depth, struct error *error)
{
    struct posix_target *posix = self(target);
    bool ok = posix_io_reserve(posix->io, depth, &posix->facts.ring_refused, error);
    target->facts.in_turn = posix->facts.ring_refused;
    return ok;
}

static bool submit(struct target *target, const struct target_operation *operation,
                   struct error *error)
{
    return posix_io_submit(self(target)->io, operation, error);
}

static bool reap(struct target *target, struct target_completion *completion, struct error *error)
{
    return posix_io_reap(self(target)->io, completion, error);
}

static bool account(struct target *target, struct target_account *account, struct error *error)
{
    *account = (struct target_account){.waited_ns = posix_io_waited_ns(self(target)->io)};
    return true;
}

static bool idle(struct target *target, uint64_t deadline_ns, int fd, bool *readable,
                 struct error *error)
{
    const struct interrupt *interrupt = self(target)->interrupt;
    struct pollfd descriptors[] = {{.fd = interrupt->fd, .events = POLLIN},
                                   {.fd = fd, .events = POLLIN}};
    if (stream_poll(descriptors, 2, deadline_ns) < 0) {
        return error_set_errno(error, errno, "poll");
    }
    *readable = descriptors[1].revents != 0;
    return interrupt_check(interrupt, error);
}

/* ---- File systems ---- */

struct file_system {
    uint32_t magic;
    const char *name;
    bool remote; /* what it says of its space may be a server's word */
};
static const struct file_system file_systems[] = {
    {0x0000EF53, "ext4", false},  {0x01021994, "tmpfs", false}, {0x794C7630, "overlay", false},
    {0x9123683E, "btrfs", false}, {0x58465342, "xfs", false},   {0x00006969, "nfs", true},
    {0xFF534D42, "cifs", true},   {0xFE534D42, "smb2", true},   {0x65735546, "fuse", true},
    {0x01021997, "9p", true},     {0x2FC12FC1, "zfs", false},   {0x5346414F, "afs", true},
};

/* NULL: none of those; *magic is 0 where the kernel does not tell. */
static const struct file_system *find_file_system(int fd, uint32_t *magic)
{
    struct statfs status;
    *magic = fstatfs(fd, &status) == 0 ? (uint32_t)status.f_type : 0;
    for (size_t i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++) {
        if (file_systems[i].magic == *magic) {
            return &file_systems[i];
        }
    }
    return NULL;
}

/* ---- Files ---- */

static bool make_directory(struct posix_target *posix, struct workplace *work, struct error *error)
{
    if (work->directory >= 0) {
        return true;
    }
    if (mkdirat(work->parent, posix->directory_name, 0700) < 0) {
        bool refused = errno == EROFS || errno == EACCES || errno == EPERM;
        error_set_errno(error, errno, "cannot create directory '%s' in '%s'", posix->directory_name,
                        work->path);
        return refused && error_remedy(error, REMEDY_EXISTING_FILE);
    }
    work->directory = openat(work->parent, posix->directory_name,
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (work->directory < 0) {
        int cause = errno;
        unlinkat(work->parent, posix->directory_name, AT_REMOVEDIR);
        return error_set_errno(error, cause, "cannot open directory '%s'", posix->directory_name);
    }
    return true;
}

static void end_copy(struct posix_target *posix)
{
    if (posix->copy.from >= 0) {
        close(posix->copy.from);
    }
    if (posix->copy.to >= 0) {
        close(posix->copy.to);
    }
    posix->copy = (struct copy){.from = -1, .to = -1};
}

static bool create_new(struct posix_target *posix, enum target_place place, const char *name,
                       int *fd, struct error *error)
{
    struct workplace *work = workplace_of(posix, &place);
    if (!make_directory(posix, work, error)) {
        return false;
    }
    *fd = openat(work->directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0) {
        return error_set_errno(error, errno, "cannot create file '%s' in '%s'", name, work->path);
    }
    if (!made_files_note(&posix->made, place, name, error)) {
        close(*fd);
        return false;
    }
    return true;
}

static bool create_file(struct target *target, enum target_place place, const char *name,
                        struct error *error)
{
    int fd;
    if (!create_new(self(target), place, name, &fd, error)) {
        return false;
    }
    close(fd);
    return true;
}

static bool open_in(struct posix_target *posix, int directory, const char *name, int flags,
                    struct target_file **file, struct error *error)
{
    struct target_file *found = NULL;
    for (size_t i = 0; i < FILE_LIMIT && found == NULL; i++) {
        found = posix->files[i].open ? NULL : &posix->files[i];
    }
    if (found == NULL) {
        return error_set(error, ERROR_LIMIT, 0, "a workload opens too many files");
    }
    /* Both ways: an odd tail does not fit O_DIRECT. */
    found->buffered = openat(directory, name, flags | O_CLOEXEC);
    if (found->buffered < 0) {
        return error_set_errno(error, errno, "cannot open file '%s'", name);
    }
    found->direct = found->buffered;
    if (posix->facts.direct) {
        found->direct = openat(directory, name, flags | O_DIRECT | O_CLOEXEC);
        if (found->direct < 0) {
            int cause = errno;
            close(found->buffered);
            return error_set_errno(error, cause, "cannot open file '%s' with O_DIRECT", name);
        }
    }
    found->open = true;
    *file = found;
    return true;
}

static bool open_file(struct target *target, enum target_place place, const char *name,
                      struct target_file **file, struct error *error)
{
    struct posix_target *posix = self(target);
    struct workplace *work = workplace_of(posix, &place);
    return open_in(posix, work->directory, name, O_RDWR | O_NOFOLLOW, file, error);
}

static bool close_file(struct target *target, struct target_file *file, struct error *error)
{
    file->open = false;
    if (file->direct != file->buffered) {
        close(file->direct);
    }
    return close(file->buffered) == 0 || error_set_errno(error, errno, "cannot close a file");
}

static bool open_existing(struct target *target, const char *name, struct target_file **file,
                          uint64_t *size_bytes, struct error *error)
{
    struct posix_target *posix = self(target);
    int parent = posix->places[TARGET_FIRST].parent;
    struct stat status;
    /* Looked at first: to open a fifo waits for its writer, to open a device may do anything. */
    if (fstatat(parent, name, &status, 0) < 0) {
        return error_set_errno(error, errno, "cannot open file '%s'", name);
    }
    if (!S_ISREG(status.st_mode)) {
        return error_set(error, ERROR_LIMIT, 0, "'%s' is not a regular file", name);
    }
    *size_bytes = (uint64_t)status.st_size;
    return open_in(posix, parent, name, O_RDONLY, file, error);
}

static bool remove_file(struct target *target, enum target_place place, const char *name,
                        struct error *error)
{
    struct posix_target *posix = self(target);
    struct workplace *work = workplace_of(posix, &place);
    end_copy(posix);
    if (unlinkat(work->directory, name, 0) < 0 && errno != ENOENT) {
        return error_set_errno(error, errno, "cannot delete '%s' in '%s'", name, work->path);
    }
    made_files_forget(&posix->made, place, name);
    return true;
}

static bool set_length(struct target *target, struct target_file *file, uint64_t size_bytes,
                       struct error *error)
{
    return ftruncate(file->buffered, (off_t)size_bytes) == 0 ||
           error_set_errno(error, errno, "cannot set a file's length to %" PRIu64, size_bytes);
}

static bool flush(struct target *target, struct target_file *file, struct error *error)
{
    return fsync(file->buffered) == 0 || error_set_errno(error, errno, "fsync");
}

/* ---- The client's own cache ---- */

/* Whether any page of the range is in memory. */
static bool range_resident(int fd, off_t offset, size_t size, unsigned char *pages, bool *resident)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, offset);
    if (map == MAP_FAILED) {
        return false;
    }
    bool known = mincore(map, size, pages) == 0;
    for (size_t i = 0; known && i < (size + page - 1) / page; i++) {
        *resident = *resident || (pages[i] & 1) != 0;
    }
    munmap(map, size);
    return known;
}

/* A file whose pages cannot be looked at counts as warm: nothing is claimed that was not seen. */
static bool any_resident(int fd, bool *resident, struct error *error)
{
    struct stat status;
    unsigned char *pages = memory_allocate(CORE_BYTES / 4096, 1);
    if (pages == NULL) {
        return memory_error(error, "for looking at the cache");
    }
    *resident = false;
    bool known = fstat(fd, &status) == 0;
    for (off_t at = 0; known && !*resident && at < status.st_size; at += (off_t)CORE_BYTES) {
        off_t left = status.st_size - at;
        size_t size = left < (off_t)CORE_BYTES ? (size_t)left : CORE_BYTES;
        known = range_resident(fd, at, size, pages, resident);
    }
    *resident = *resident || !known;
    memory_release(pages);
    return true;
}

static bool cool(struct target *target, struct target_file *file, enum cache_state *state,
                 struct error *error)
{
    bool resident = true;
    if (fsync(file->buffered) < 0 && errno != EINVAL && errno != EROFS && errno != EBADF) {
        return error_set_errno(error, errno, "fsync");
    }
    int refused = posix_fadvise(file->buffered, 0, 0, POSIX_FADV_DONTNEED);
    (void)refused; /* what counts is what mincore() sees: tmpfs takes O_DIRECT too, and is memory */
    if (!any_resident(file->buffered, &resident, error)) {
        return false;
    }
    if (resident) {
        *state = CACHE_CLIENT_WARM;
    } else {
        *state = self(target)->facts.direct ? CACHE_BYPASSED : CACHE_CLIENT_COLD;
    }
    return true;
}

/* ---- Copies by the file system, free space ---- */

/* In steps, so that an interrupt is seen while a large file is copied. */
static bool copy_range(int from, int to, uint64_t size, const struct interrupt *interrupt,
                       struct error *error)
{
    uint64_t copied = 0;
    while (copied < size) {
        uint64_t left = size - copied;
        size_t step = left < (1U << 30) ? (size_t)left : (1U << 30);
        ssize_t moved = copy_file_range(from, NULL, to, NULL, step, 0);
        if (moved < 0) {
            return error_set_errno(error, errno, "copy_file_range at offset %" PRIu64, copied);
        }
        if (moved == 0) {
            return error_set(error, ERROR_CLOSED, 0,
                             "copy_file_range ended at offset %" PRIu64 " of %" PRIu64, copied,
                             size);
        }
        copied += (uint64_t)moved;
        if (copied < size && !interrupt_check(interrupt, error)) {
            return false;
        }
    }
    return true;
}

static bool prepare_copy(struct target *target, const char *name, enum target_place place,
                         const char *new_name, struct error *error)
{
    struct posix_target *posix = self(target);
    struct copy *copy = &posix->copy;
    struct stat status;
    end_copy(posix);
    /* Here too: a quick copy looks at nothing else. */
    if (!interrupt_check(posix->interrupt, error)) {
        return false;
    }
    copy->from =
        openat(posix->places[TARGET_FIRST].directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (copy->from < 0 || fstat(copy->from, &status) < 0) {
        return error_set_errno(error, errno, "cannot open file '%s'", name);
    }
    copy->size_bytes = (uint64_t)status.st_size;
    return create_new(posix, place, new_name, &copy->to, error);
}

static bool server_copy(struct target *target, const char *name, enum target_place place,
                        const char *new_name, struct error *error)
{
    struct posix_target *posix = self(target);
    const struct copy *copy = &posix->copy;
    return (copy->to >= 0 || prepare_copy(target, name, place, new_name, error)) &&
           copy_range(copy->from, copy->to, copy->size_bytes, posix->interrupt, error);
}

static bool free_space(struct target *target, enum target_place place, uint64_t *free_bytes,
                       bool *exact, struct error *error)
{
    uint32_t magic;
    struct statvfs status;
    struct workplace *work = workplace_of(self(target), &place);
    if (fstatvfs(work->parent, &status) < 0) {
        return error_set_errno(error, errno, "cannot ask for free space of '%s'", work->path);
    }
    bool counts = status.f_blocks != 0; /* ramfs and its like do not */
    const struct file_system *system = find_file_system(work->parent, &magic);
    *exact = counts && status.f_bavail > 0 && (system == NULL || !system->remote);
    *free_bytes = counts ? (uint64_t)status.f_bavail * status.f_frsize : UINT64_MAX;
    return true;
}

/* ---- Clean-up ---- */

static bool remove_directory(struct posix_target *posix, struct workplace *work,
                             struct error *error)
{
    if (work->directory < 0) {
        return true;
    }
    close(work->directory);
    work->directory = -1;
    if (unlinkat(work->parent, posix->directory_name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
        error_set_errno(error, errno, "cannot delete");
        return error_prefix(error, "the directory '%s' stays in '%s'", posix->directory_name,
                            work->path) ||
               error_remedy(error, REMEDY_CLEANING);
    }
    return true;
}

/* Goes on after a failure: what can be removed is removed. */
static bool clean_up(struct target *target, uint64_t deadline_ns, struct error *error)
{
    struct posix_target *posix = self(target);
    bool ok = posix_io_settle(posix->io, deadline_ns, error);
    end_copy(posix);
    for (size_t i = 0; i < FILE_LIMIT; i++) {
        struct error cause;
        if (posix->files[i].open && !close_file(target, &posix->files[i], &cause)) {
            *error = cause;
            ok = false;
        }
    }
    for (size_t i = 0; i < MADE_FILES_LIMIT; i++) {
        struct made_file *made = &posix->made.list[i];
        if (made->name[0] != '\0') {
            ok = remove_file(target, made->place, made->name, error) && ok;
        }
    }
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        ok = remove_directory(posix, &posix->places[i], error) && ok;
    }
    return ok;
}

/* ---- Leftovers of killed runs ---- */

/* Our directories hold plain files only; anything else makes the removal fail and is left alone. */
static bool remove_leftover(int parent, const char *name, struct error *error)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL) {
        int cause = errno;
        if (fd >= 0) {
            close(fd);
        }
        return error_set_errno(error, cause, "cannot open it");
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!dots && unlinkat(dirfd(directory), entry->d_name, 0) < 0) {
            break; /* rmdir says why */
        }
    }
    closedir(directory);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 ||
           error_set_errno(error, errno, "cannot delete it");
}

/* Whether nothing in the directory's list of files has changed for the age that the user named. */
static bool is_old(int parent, const char *name, uint64_t age_s)
{
    struct stat status;
    struct timespec now;
    return age_s != UINT64_MAX && fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec >= status.st_mtime &&
           (uint64_t)(now.tv_sec - status.st_mtime) >= age_s;
}

/* Listed through a descriptor of its own: a listing moves the descriptor, and closes it. */
static bool remove_place_leftovers(const struct workplace *work, const struct leftover_sweep *sweep,
                                   struct error *error)
{
    int fd = openat(work->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL) {
        int cause = errno;
        if (fd >= 0) {
            close(fd);
        }
        return error_set_errno(error, cause, "cannot list '%s'", work->path);
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        const char *reason;
        struct error cause;
        if (!workname_is_ours(entry->d_name, &reason)) {
            continue;
        }
        if (reason != NULL && is_old(work->parent, entry->d_name, sweep->age_s)) {
            reason = NULL;
        }
        bool removed = reason == NULL && remove_leftover(work->parent, entry->d_name, &cause);
        if (reason == NULL && !removed) {
            reason = cause.message;
        }
        sweep->report(sweep->context, entry->d_name, removed, reason);
    }
    closedir(directory);
    return true;
}

static bool remove_leftovers(struct target *target, const struct leftover_sweep *sweep,
                             struct error *error)
{
    struct posix_target *posix = self(target);
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        if (posix->places[i].path != NULL &&
            !remove_place_leftovers(&posix->places[i], sweep, error)) {
            return false;
        }
    }
    return true;
}

/* ---- Beginning and end ---- */

static void describe(const struct target *target, struct conditions *conditions)
{
    const struct posix_target *posix = (const struct posix_target *)target;
    conditions->directory = posix->places[TARGET_FIRST].path;
    conditions->second_directory = posix->second_directory;
    conditions->direct = posix->facts.direct;
    snprintf(conditions->file_system, sizeof conditions->file_system, "%s",
             posix->facts.file_system);
}

/* What was refused, of which only the first reserve() and the first look know. */
static bool note(const struct target *target, size_t index, char *text, size_t size)
{
    const struct posix_facts *facts = &((const struct posix_target *)target)->facts;
    const struct {
        bool applies;
        const char *before, *after; /* the file system's name */
    } notes[] = {
        {facts->direct_refused, "", " takes no O_DIRECT: buffered instead"},
        {facts->ring_refused, "there is no io_uring here: requests on ",
         " run one after the other"},
    };
    size_t seen = 0;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (notes[i].applies && seen++ == index) {
            snprintf(text, size, "%s%s%s", notes[i].before, facts->file_system, notes[i].after);
            return true;
        }
    }
    return false;
}

static void close_target(struct target *target)
{
    struct posix_target *posix = self(target);
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        if (posix->places[i].parent >= 0) {
            close(posix->places[i].parent);
        }
    }
    posix_io_close(posix->io);
    memory_release(posix);
}

static const struct target_ops posix_target_ops = {
    .reserve = reserve,
    .submit = submit,
    .reap = reap,
    .account = account,
    .idle = idle,
    .create_file = create_file,
    .open_file = open_file,
    .remove_file = remove_file,
    .open_existing = open_existing,
    .close_file = close_file,
    .set_length = set_length,
    .flush = flush,
    .cool = cool,
    .prepare_copy = prepare_copy,
    .server_copy = server_copy,
    .free_space = free_space,
    .clean_up = clean_up,
    .remove_leftovers = remove_leftovers,
    .describe = describe,
    .note = note,
    .close = close_target,
};

static void name_file_system(int fd, char name[32])
{
    uint32_t magic;
    const struct file_system *system = find_file_system(fd, &magic);
    if (system != NULL) {
        snprintf(name, 32, "%s", system->name);
    } else if (magic != 0) {
        snprintf(name, 32, "0x%08" PRIx32, magic);
    } else {
        snprintf(name, 32, "unknown");
    }
}

static bool open_places(struct posix_target *posix, const struct posix_options *options,
                        struct error *error)
{
    const char *const paths[TARGET_PLACES] = {options->directory, options->second_directory};
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        struct workplace *work = &posix->places[i];
        *work = (struct workplace){.path = paths[i], .parent = -1, .directory = -1};
    }
    struct stat status[TARGET_PLACES] = {0};
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        struct workplace *work = &posix->places[i];
        if (work->path == NULL) {
            continue;
        }
        work->parent = open(work->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (work->parent < 0 || fstat(work->parent, &status[i]) < 0) {
            return error_set_errno(error, errno, "cannot use the directory '%s'", work->path);
        }
    }
    name_file_system(posix->places[TARGET_FIRST].parent, posix->facts.file_system);
    struct workplace *second = &posix->places[TARGET_SECOND];
    bool same_device = status[TARGET_FIRST].st_dev == status[TARGET_SECOND].st_dev;
    posix->target.facts.second_place = second->path != NULL && !same_device;
    if (same_device && status[TARGET_FIRST].st_ino == status[TARGET_SECOND].st_ino) {
        second->path = NULL; /* the same directory under two names */
    }
    return true;
}

/* Whether a block can be read with O_DIRECT: some refuse the opening, some the reading. */
static bool try_direct(struct posix_target *posix, const char *name)
{
    struct target_file *file = NULL;
    struct error refusal;
    char block[2 * POSIX_ALIGNMENT];
    posix->facts.direct = true;
    if (!open_file(&posix->target, TARGET_FIRST, name, &file, &refusal)) {
        return false;
    }
    return pread(file->direct, memory_align(block, POSIX_ALIGNMENT), POSIX_ALIGNMENT, 0) ==
           POSIX_ALIGNMENT;
}

/* Tries what file systems may refuse, by doing it with a block in our own directories. */
static bool probe(struct posix_target *posix, bool direct, struct error *error)
{
    struct target *target = &posix->target;
    enum target_place second = TARGET_SECOND;
    int fd;
    bool ok = create_new(posix, TARGET_FIRST, "probe", &fd, error);
    if (ok) {
        ok = ftruncate(fd, POSIX_ALIGNMENT) == 0 || error_set_errno(error, errno, "ftruncate");
        close(fd);
    }
    ok = ok && make_directory(posix, workplace_of(posix, &second), error);
    if (ok && direct) {
        posix->facts.direct = try_direct(posix, "probe");
        posix->facts.direct_refused = !posix->facts.direct;
    }
    if (ok && !server_copy(target, "probe", TARGET_SECOND, "copy", error)) {
        snprintf(posix->facts.copy_refusal, sizeof posix->facts.copy_refusal, "%.*s",
                 (int)sizeof posix->facts.copy_refusal - 1, error->message);
    }
    struct error later;
    if (!clean_up(target, clock_now_ns() + TARGET_HURRY_NS, ok ? error : &later)) {
        return false;
    }
    return ok;
}

bool posix_target_open(struct target **target, const struct posix_options *options,
                       struct error *error)
{
    struct posix_target *posix = memory_allocate(1, sizeof *posix);
    if (posix == NULL) {
        return memory_error(error, "for a target");
    }
    posix->target.ops = &posix_target_ops;
    posix->interrupt = options->interrupt;
    posix->second_directory = options->second_directory;
    posix->copy = (struct copy){.from = -1, .to = -1};
    workname_make(posix->directory_name);
    bool ok = open_places(posix, options, error) &&
              posix_io_open(&posix->io, options->interrupt, error) &&
              probe(posix, options->direct, error);
    if (!ok) {
        close_target(&posix->target);
        return false;
    }
    posix->target.facts = (struct target_facts){
        .read_chunk = POSIX_DEFAULT_CHUNK,
        .write_chunk = POSIX_DEFAULT_CHUNK,
        .chunk_limit = UINT32_MAX,
        .size_limit = INT64_MAX,
        .server_copy = posix->facts.copy_refusal[0] == '\0',
        .copy_refusal = posix->facts.copy_refusal,
        .second_place = posix->target.facts.second_place,
        .alignment = posix->facts.direct ? POSIX_ALIGNMENT : 1,
    };
    *target = &posix->target;
    return true;
}
