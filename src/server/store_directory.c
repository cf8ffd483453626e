/*
 * The store `directory`: the files and directories below a directory of the system.
 *
 * The tree holds what is known of them: IDs, names, and what the disk has no place for and is kept
 * in memory until the server ends: Finder info, AFP attributes, backup dates, creation dates that a
 * client gave, resource forks. All else is asked for at each lookup, since others may work in the
 * directory too.
 *
 * Nothing leads out of the directory: paths are walked from its descriptor name by name, each
 * opened with O_NOFOLLOW, and no name is empty, "." or ".." or holds a slash. Symbolic links,
 * devices, sockets and names that are not composed UTF-8 do not exist for clients.
 *
 * A node is its path. What others remove, rename or replace by another kind is gone for good; what
 * they put under the name later is a new node. A file that they replace while a client has it open
 * stays the old one for all who open it until the last has closed it.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "server/mangled_name.h"
#include "server/store_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* A directory that changed more recently may change again with the same time stamp, as coarse as
 * some file systems keep it. */
#define SETTLED_NS ((int64_t)3 * (int64_t)NS_PER_S)

#define NEVER INT64_MIN

/* 3.1 and Linux agree on 255 bytes. */
#define DISK_NAME_SIZE (AFP_NAME_LIMIT_UTF8 + 1)

struct disk_node {
    struct store_node node;
    bool created_given;
    int64_t changed_ns; /* status change time, at the last look */
    /* Directories: the change time for which the children and their number are known. */
    int64_t listed_ns, counted_ns;
    uint32_t offspring;
    uint64_t seen; /* the last listing that had it */
};

struct directory_store {
    struct tree tree;
    int root;
    uint64_t listings; /* done so far */
};

static struct directory_store *directory_of(struct store *store)
{
    return (struct directory_store *)store;
}

static struct disk_node *disk_of(struct store_node *node)
{
    return (struct disk_node *)node;
}

/* ---- Names ---- */

/*
 * AFP's are decomposed, those on disk composed: what we make is so, and what others made composed
 * is found. A name on disk in another form does not exist for clients, as with Netatalk, which
 * cannot open it. ':' on disk is '/' for AFP, also as with Netatalk, since the disk has no '/'.
 */
static bool disk_name(struct span name, char disk[DISK_NAME_SIZE])
{
    struct name_buffer composed;
    if (name.size == 0 || memchr(name.data, 0, name.size) != NULL ||
        memchr(name.data, ':', name.size) != NULL || !name_compose(&composed, name)) {
        return false;
    }
    for (size_t i = 0; i < composed.size; i++) {
        disk[i] = composed.bytes[i] == '/' ? ':' : (char)composed.bytes[i];
    }
    disk[composed.size] = '\0';
    return strcmp(disk, ".") != 0 && strcmp(disk, "..") != 0;
}

/* False: clients do not get to see it. */
static bool afp_name(const char *disk, struct name_buffer *name)
{
    struct name_buffer composed = {.size = strlen(disk)};
    struct name_buffer again;
    if (composed.size > sizeof composed.bytes || strcmp(disk, ".") == 0 ||
        strcmp(disk, "..") == 0) {
        return false;
    }
    for (size_t i = 0; i < composed.size; i++) {
        composed.bytes[i] = disk[i] == ':' ? '/' : (uint8_t)disk[i];
    }
    return name_decompose(name, name_span(&composed)) &&
           name_compose(&again, name_span(&composed)) &&
           span_equals(name_span(&again), name_span(&composed));
}

/* ---- What the disk says of a file ---- */

static int64_t nanoseconds(const struct statx_timestamp *time)
{
    return time->tv_sec * (int64_t)NS_PER_S + time->tv_nsec;
}

static uint32_t afp_date(const struct statx_timestamp *time)
{
    int64_t date = time->tv_sec - AFP_EPOCH_UNIX_SECONDS;
    int64_t least = INT32_MIN + (int64_t)1; /* the least of all is AFP_DATE_NEVER */
    if (date < least) {
        date = least;
    }
    return (uint32_t)(date < INT32_MAX ? date : INT32_MAX);
}

/* An empty name asks for the descriptor itself. */
static int32_t look(int directory, const char *name, struct statx *status)
{
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] == '\0' ? AT_EMPTY_PATH : 0);
    int code = statx(directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, status);
    return code == 0 ? AFP_OK : file_result(errno);
}

/* False for what clients do not get to see. */
static bool kind_of(const struct statx *status, enum afp_node_kind *kind)
{
    *kind = S_ISDIR(status->stx_mode) ? AFP_DIRECTORY : AFP_FILE;
    return S_ISDIR(status->stx_mode) || S_ISREG(status->stx_mode);
}

/* Whether what lies under a node's name now can be it. */
static bool is_node(const struct store_node *node, const struct statx *status)
{
    enum afp_node_kind kind;
    return kind_of(status, &kind) && kind == node->kind;
}

/* Whoever has the fork open reads this without the mutex: set once, before. */
static void mark_on_disk(struct store_fork *fork)
{
    if (!fork->on_disk) {
        fork->on_disk = true;
    }
}

/* Takes what the disk says into the node. */
static int32_t update(struct directory_store *self, struct store_node *node,
                      const struct statx *status)
{
    struct disk_node *disk = disk_of(node);
    disk->changed_ns = nanoseconds(&status->stx_ctime);
    node->mode = status->stx_mode;
    node->modified = afp_date(&status->stx_mtime);
    if (!disk->created_given) {
        bool born = (status->stx_mask & STATX_BTIME) != 0;
        node->created = afp_date(born ? &status->stx_btime : &status->stx_mtime);
    }
    if (node->kind == AFP_FILE && (status->stx_size > 0 || node->forks[STORE_DATA_FORK] != NULL)) {
        struct store_fork *fork = tree_fork(node, STORE_DATA_FORK);
        if (fork == NULL) {
            return AFP_MISC_ERROR;
        }
        mark_on_disk(fork);
        tree_fork_resize(&self->tree.store, fork, status->stx_size);
    }
    return AFP_OK;
}

/* A node that is not under its name any more; its memory stays, since a caller that looks up two
 * nodes may hold it. */
static void lose(struct directory_store *self, struct store_node *node)
{
    if (node->parent != NULL) {
        tree_detach(&self->tree.store, node);
    }
    if (node->forks[STORE_DATA_FORK] != NULL) {
        tree_fork_resize(&self->tree.store, node->forks[STORE_DATA_FORK], 0);
    }
}

/* ---- Ways to a file ---- */

static void close_directory(const struct directory_store *self, int descriptor)
{
    if (descriptor != self->root) {
        close(descriptor);
    }
}

/* Walks down from the root; close_directory() ends what this began. */
static int32_t open_directory(struct directory_store *self, struct store_node *directory,
                              int *descriptor)
{
    size_t depth = 0;
    struct store_node *at = directory;
    for (; at->parent != NULL; at = at->parent) {
        depth++;
    }
    if (at != self->tree.root) {
        return AFP_OBJECT_NOT_FOUND; /* it, or one above it, is detached */
    }
    *descriptor = self->root;
    while (depth-- > 0) {
        char name[DISK_NAME_SIZE];
        at = directory;
        for (size_t i = 0; i < depth; i++) {
            at = at->parent;
        }
        (void)disk_name(tree_name(at), name);
        int next = openat(*descriptor, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int code = errno;
        close_directory(self, *descriptor);
        if (next < 0) {
            return file_result(code);
        }
        *descriptor = next;
    }
    return AFP_OK;
}

/* Where a node is: a name in an open directory. */
struct spot {
    int directory;
    char name[DISK_NAME_SIZE];
};

static int32_t open_spot(struct directory_store *self, struct store_node *node, struct spot *spot)
{
    if (node == self->tree.root) {
        *spot = (struct spot){self->root, "."};
        return AFP_OK;
    }
    if (node->parent == NULL || !disk_name(tree_name(node), spot->name)) {
        return AFP_OBJECT_NOT_FOUND;
    }
    return open_directory(self, node->parent, &spot->directory);
}

static void close_spot(const struct directory_store *self, const struct spot *spot)
{
    close_directory(self, spot->directory);
}

/* Whether a node is still where it was. */
static int32_t look_at_node(struct directory_store *self, struct store_node *node,
                            struct statx *status)
{
    struct spot spot;
    int32_t result = open_spot(self, node, &spot);
    if (result == AFP_OK) {
        result = look(spot.directory, spot.name, status);
        close_spot(self, &spot);
        if (result == AFP_OK && !is_node(node, status)) {
            result = AFP_OBJECT_NOT_FOUND;
        }
        if (result == AFP_OBJECT_NOT_FOUND) {
            lose(self, node);
        }
    }
    return result;
}

/* ---- Looking up ---- */

/* The node of a name in an open directory, both as on disk and as in AFP. */
static int32_t look_up(struct directory_store *self, struct store_node *directory, int descriptor,
                       const char *disk, struct span name, struct store_node **found)
{
    struct store_node *known;
    struct statx status;
    enum afp_node_kind kind;
    *found = NULL;
    (void)tree_child(&self->tree.store, directory, name, &known);
    int32_t result = look(descriptor, disk, &status);
    if (result == AFP_OK && !kind_of(&status, &kind)) {
        result = AFP_OBJECT_NOT_FOUND;
    }
    bool stale = known != NULL &&
                 (result == AFP_OBJECT_NOT_FOUND || (result == AFP_OK && !is_node(known, &status)));
    if (stale) {
        lose(self, known);
        known = NULL;
    }
    if (result == AFP_OK && known == NULL) {
        result = tree_add(&self->tree.store, directory, name, kind, &known);
        if (result == AFP_OK) {
            disk_of(known)->listed_ns = disk_of(known)->counted_ns = NEVER;
        }
    }
    if (result == AFP_OK) {
        result = update(self, known, &status);
    }
    if (result == AFP_OK) {
        *found = known;
    }
    return result;
}

static struct store_node *directory_by_id(struct store *store, uint32_t id)
{
    struct directory_store *self = directory_of(store);
    struct store_node *node = tree_by_id(store, id);
    struct statx status;
    if (node == self->tree.root) {
        if (look(self->root, "", &status) == AFP_OK) {
            (void)update(self, node, &status);
        }
        return node; /* also if it is gone */
    }
    bool there = node != NULL && look_at_node(self, node, &status) == AFP_OK &&
                 update(self, node, &status) == AFP_OK;
    return there ? node : NULL;
}

static int32_t directory_child(struct store *store, struct store_node *directory, struct span name,
                               struct store_node **child)
{
    struct directory_store *self = directory_of(store);
    char disk[DISK_NAME_SIZE];
    int descriptor;
    *child = NULL;
    if (!disk_name(name, disk)) {
        return AFP_OBJECT_NOT_FOUND;
    }
    int32_t result = open_directory(self, directory, &descriptor);
    if (result == AFP_OK) {
        result = look_up(self, directory, descriptor, disk, name, child);
        close_directory(self, descriptor);
    }
    return result;
}

/* ---- Listing ---- */

typedef int32_t visit_function(struct directory_store *self, struct store_node *directory,
                               int descriptor, const struct dirent *entry);

/* Each entry of a directory. */
static int32_t visit_entries(struct directory_store *self, struct store_node *directory,
                             visit_function *visit)
{
    struct spot spot;
    int32_t result = open_spot(self, directory, &spot);
    if (result != AFP_OK) {
        return result;
    }
    int descriptor =
        openat(spot.directory, spot.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    int code = errno;
    close_spot(self, &spot);
    if (stream == NULL) {
        if (descriptor >= 0) {
            close(descriptor);
        }
        return file_result(code);
    }
    const struct dirent *entry;
    while (errno = 0, result == AFP_OK && (entry = readdir(stream)) != NULL) {
        result = visit(self, directory, descriptor, entry);
    }
    code = errno;
    closedir(stream);
    return result == AFP_OK && code != 0 ? file_result(code) : result;
}

/* False for what clients do not get to see; DT_UNKNOWN needs a closer look. */
static bool may_be_shown(const struct dirent *entry, struct name_buffer *name)
{
    return (entry->d_type == DT_REG || entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
           afp_name(entry->d_name, name);
}

static int32_t visit_to_list(struct directory_store *self, struct store_node *directory,
                             int descriptor, const struct dirent *entry)
{
    struct name_buffer buffer;
    struct store_node *node;
    if (!may_be_shown(entry, &buffer)) {
        return AFP_OK;
    }
    struct span name = {buffer.bytes, buffer.size};
    int32_t result = tree_child(&self->tree.store, directory, name, &node);
    if (result == AFP_OBJECT_NOT_FOUND) {
        result = look_up(self, directory, descriptor, entry->d_name, name, &node);
    }
    if (result == AFP_OK) {
        disk_of(node)->seen = self->listings;
    }
    return result == AFP_OBJECT_NOT_FOUND ? AFP_OK : result; /* removed meanwhile, or hidden */
}

static int32_t visit_to_count(struct directory_store *self, struct store_node *directory,
                              int descriptor, const struct dirent *entry)
{
    struct name_buffer name;
    struct statx status;
    enum afp_node_kind kind;
    bool shown = may_be_shown(entry, &name);
    if (shown && entry->d_type == DT_UNKNOWN) {
        shown = look(descriptor, entry->d_name, &status) == AFP_OK && kind_of(&status, &kind);
    }
    disk_of(directory)->offspring += shown;
    return AFP_OK;
}

/* The change time that a reading which begins now will stand for. */
static int64_t settled_ns(const struct disk_node *directory)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_ns = now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
    return now_ns - directory->changed_ns > SETTLED_NS ? directory->changed_ns : NEVER;
}

static int32_t directory_list(struct store *store, struct store_node *directory)
{
    struct directory_store *self = directory_of(store);
    struct disk_node *disk = disk_of(directory);
    if (disk->listed_ns == disk->changed_ns) {
        return AFP_OK;
    }
    int64_t listed_ns = settled_ns(disk);
    self->listings++;
    int32_t result = visit_entries(self, directory, visit_to_list);
    if (result != AFP_OK) {
        return result;
    }
    for (size_t i = directory->child_count; i > 0; i--) {
        if (disk_of(directory->children[i - 1])->seen != self->listings) {
            lose(self, directory->children[i - 1]);
        }
    }
    disk->listed_ns = listed_ns;
    return AFP_OK;
}

static uint32_t directory_offspring(struct store *store, struct store_node *directory)
{
    struct directory_store *self = directory_of(store);
    struct disk_node *disk = disk_of(directory);
    if (disk->counted_ns != disk->changed_ns) {
        int64_t counted_ns = settled_ns(disk);
        disk->offspring = 0;
        bool counted = visit_entries(self, directory, visit_to_count) == AFP_OK;
        disk->counted_ns = counted ? counted_ns : NEVER;
    }
    return disk->offspring;
}

/* The child at the index; those before it that turn out to be gone give way. */
static struct store_node *directory_entry(struct store *store, struct store_node *directory,
                                          size_t index)
{
    while (index < directory->child_count) {
        struct store_node *node = directory->children[index];
        struct store_node *found;
        int32_t result = directory_child(store, directory, tree_name(node), &found);
        bool there = index < directory->child_count && directory->children[index] == node;
        if (found == node || (result != AFP_OK && there)) {
            return node; /* if it cannot be looked at now, then as it was */
        }
    }
    return NULL;
}

/* ---- Changing ---- */

static int make(int descriptor, const char *name, enum afp_node_kind kind)
{
    if (kind == AFP_DIRECTORY) {
        return mkdirat(descriptor, name, 0777);
    }
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = openat(descriptor, name, flags, 0666);
    return file < 0 ? -1 : close(file);
}

/* Made on disk first: what cannot become a node goes away again. */
static int32_t directory_add(struct store *store, struct store_node *directory, struct span name,
                             enum afp_node_kind kind, struct store_node **added)
{
    struct directory_store *self = directory_of(store);
    char disk[DISK_NAME_SIZE];
    int descriptor;
    if (!disk_name(name, disk)) {
        return AFP_PARAMETER_ERROR;
    }
    int32_t result = open_directory(self, directory, &descriptor);
    if (result != AFP_OK) {
        return result;
    }
    if (make(descriptor, disk, kind) < 0) {
        result = file_result(errno);
    } else {
        result = look_up(self, directory, descriptor, disk, name, added);
        if (result != AFP_OK) {
            (void)unlinkat(descriptor, disk, kind == AFP_DIRECTORY ? AT_REMOVEDIR : 0);
        }
    }
    close_directory(self, descriptor);
    return result;
}

static int32_t directory_remove(struct store *store, struct store_node *node)
{
    struct directory_store *self = directory_of(store);
    struct spot spot;
    int32_t result = open_spot(self, node, &spot);
    if (result != AFP_OK) {
        return result;
    }
    if (unlinkat(spot.directory, spot.name, node->kind == AFP_DIRECTORY ? AT_REMOVEDIR : 0) < 0) {
        result = file_result(errno);
    }
    close_spot(self, &spot);
    if (result != AFP_OK) {
        return result;
    }
    while (node->child_count > 0) { /* what others took away unnoticed */
        lose(self, node->children[node->child_count - 1]);
    }
    return tree_remove(store, node);
}

/* Some file systems cannot refuse to replace; there the check and the renaming are two steps. */
static int rename_to_free_name(const struct spot *from, const struct spot *to)
{
    int code = renameat2(from->directory, from->name, to->directory, to->name, RENAME_NOREPLACE);
    if (code == 0 || errno != EINVAL) {
        return code;
    }
    struct statx status;
    if (look(to->directory, to->name, &status) != AFP_OBJECT_NOT_FOUND) {
        errno = EEXIST;
        return -1;
    }
    return renameat(from->directory, from->name, to->directory, to->name);
}

static int32_t directory_move(struct store *store, struct store_node *node,
                              struct store_node *directory, struct span name)
{
    struct directory_store *self = directory_of(store);
    struct spot from, to;
    if (!disk_name(name, to.name)) {
        return AFP_PARAMETER_ERROR;
    }
    int32_t result = open_spot(self, node, &from);
    if (result != AFP_OK) {
        return result;
    }
    result = open_directory(self, directory, &to.directory);
    if (result == AFP_OK) {
        if (rename_to_free_name(&from, &to) < 0) {
            result = file_result(errno);
        }
        close_spot(self, &to);
    }
    close_spot(self, &from);
    return result == AFP_OK ? tree_move(store, node, directory, name) : result;
}

/* The names trade their files on disk, the nodes their forks. */
static int32_t directory_exchange(struct store *store, struct store_node *a, struct store_node *b)
{
    struct directory_store *self = directory_of(store);
    struct spot first, second;
    int32_t result = open_spot(self, a, &first);
    if (result != AFP_OK) {
        return result;
    }
    result = open_spot(self, b, &second);
    if (result == AFP_OK) {
        if (renameat2(first.directory, first.name, second.directory, second.name, RENAME_EXCHANGE) <
            0) {
            result = file_result(errno);
        }
        close_spot(self, &second);
    }
    close_spot(self, &first);
    return result == AFP_OK ? tree_exchange(store, a, b) : result;
}

/* What the disk has a place for. */
static int set_on_disk(const struct spot *spot, const struct store_node *node, uint16_t bitmap,
                       const struct store_attributes *wanted)
{
    if (bitmap & AFP_NODE_MODIFIED) {
        time_t modified = (int32_t)wanted->modified + (time_t)AFP_EPOCH_UNIX_SECONDS;
        struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = modified}};
        if (utimensat(spot->directory, spot->name, times, AT_SYMLINK_NOFOLLOW) < 0) {
            return -1;
        }
    }
    /* The permissions, not what makes a program run as somebody else. */
    mode_t mode = (node->mode & 07000U) | (wanted->mode & 0777U);
    if ((bitmap & AFP_NODE_UNIX_PRIVILEGES) && mode != (node->mode & 07777U)) {
        return fchmodat(spot->directory, spot->name, mode, AT_SYMLINK_NOFOLLOW);
    }
    return 0;
}

static int32_t directory_set(struct store *store, struct store_node *node, uint16_t bitmap,
                             const struct store_attributes *attributes)
{
    struct directory_store *self = directory_of(store);
    struct spot spot;
    int32_t result = open_spot(self, node, &spot);
    if (result != AFP_OK) {
        return result;
    }
    if (set_on_disk(&spot, node, bitmap, attributes) < 0) {
        result = file_result(errno);
    }
    close_spot(self, &spot);
    if (result == AFP_OK) {
        disk_of(node)->created_given |= (bitmap & AFP_NODE_CREATED) != 0;
        result = tree_set(store, node, bitmap, attributes);
    }
    return result;
}

/* ---- Forks ---- */

/* Opens the file of a node, and nothing else that came to its place. Not blocking: a FIFO would
 * make us wait. */
static int32_t open_node(struct directory_store *self, struct store_node *node, int flags,
                         int *opened)
{
    struct spot spot;
    struct statx status;
    int32_t result = open_spot(self, node, &spot);
    if (result != AFP_OK) {
        return result;
    }
    int file =
        openat(spot.directory, spot.name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        result = file_result(errno);
    }
    close_spot(self, &spot);
    if (result == AFP_OK) {
        result = look(file, "", &status);
        if (result == AFP_OK && !is_node(node, &status)) {
            result = AFP_OBJECT_NOT_FOUND;
        }
        if (result != AFP_OK) {
            close(file);
            return result;
        }
        *opened = file;
    }
    return result;
}

/* The descriptors that an access needs and the fork does not have yet. */
static int32_t open_files(struct directory_store *self, struct store_node *node,
                          struct store_fork *fork, uint16_t access)
{
    int32_t result = AFP_OK;
    int opened;
    if ((access & AFP_ACCESS_WRITE) && atomic_load(&fork->writable) < 0) {
        result = open_node(self, node, O_RDWR, &opened);
        if (result == AFP_OK && atomic_load(&fork->file) < 0) {
            atomic_store(&fork->file, opened);
        }
        if (result == AFP_ACCESS_DENIED) { /* it may be one that can be written only */
            result = open_node(self, node, O_WRONLY, &opened);
        }
        if (result == AFP_OK) {
            atomic_store(&fork->writable, opened);
        }
    }
    if (result == AFP_OK && (access & AFP_ACCESS_READ) && atomic_load(&fork->file) < 0) {
        result = open_node(self, node, O_RDONLY, &opened);
        if (result == AFP_OK) {
            atomic_store(&fork->file, opened);
        }
    }
    return result;
}

static void directory_fork_close(struct store *store, struct store_fork *fork)
{
    /* The last one to have it open, but for the owner. */
    if (fork->on_disk && fork->owner != NULL && fork->references == 2) {
        tree_close_files(fork);
        if (fork->owner->parent == NULL) {
            tree_fork_resize(store, fork, 0); /* with its last user a file without a name goes */
        }
    }
    tree_fork_close(store, fork);
}

static int32_t directory_fork_open(struct store *store, struct store_node *file,
                                   enum store_fork_kind kind, uint16_t access,
                                   struct store_fork **fork)
{
    int32_t result = tree_fork_open(store, file, kind, access, fork);
    if (result == AFP_OK && kind == STORE_DATA_FORK) {
        mark_on_disk(*fork);
        result = open_files(directory_of(store), file, *fork, access);
        if (result != AFP_OK) {
            directory_fork_close(store, *fork);
        }
    }
    return result;
}

/* ---- The store as a whole ---- */

static struct store_space directory_space(struct store *store)
{
    const struct directory_store *self = directory_of(store);
    const struct tree *tree = &self->tree;
    struct statvfs system;
    struct store_space space = {0};
    if (fstatvfs(self->root, &system) == 0) {
        space.total_bytes = (uint64_t)system.f_blocks * system.f_frsize;
        space.free_bytes = (uint64_t)system.f_bavail * system.f_frsize;
    }
    if (tree->limit_bytes != 0) {
        uint64_t free_bytes = space.free_bytes;
        space = tree_space(tree, tree->limit_bytes);
        space.free_bytes = free_bytes < space.free_bytes ? free_bytes : space.free_bytes;
    }
    return space;
}

/* A limit counts what is there already: all nodes, each after the directory that it is in. What
 * cannot be read cannot be counted. */
static void count_all(struct directory_store *self)
{
    struct store *store = &self->tree.store;
    (void)directory_list(store, self->tree.root);
    for (uint32_t id = AFP_FIRST_FREE_ID; id < self->tree.next_id; id++) {
        struct store_node *node = tree_by_id(store, id);
        if (node != NULL && node->kind == AFP_DIRECTORY) {
            (void)directory_list(store, node);
        }
    }
}

static void directory_destroy(struct store *store)
{
    struct directory_store *self = directory_of(store);
    tree_close(&self->tree);
    close(self->root);
    memory_release(self);
}

static bool open_root(struct directory_store *self, const struct store_settings *settings,
                      struct error *error)
{
    struct statx status;
    self->root = open(settings->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->root < 0) {
        return error_set_errno(error, errno, "cannot open the directory '%s'", settings->path);
    }
    self->tree.node_size = sizeof(struct disk_node);
    if (!tree_open(&self->tree, &store_directory, settings, error)) {
        close(self->root);
        return false;
    }
    struct disk_node *root = disk_of(self->tree.root);
    root->listed_ns = root->counted_ns = NEVER;
    if (look(self->root, "", &status) == AFP_OK) {
        (void)update(self, &root->node, &status);
    }
    return true;
}

static bool directory_create(struct store **store, const struct store_settings *settings,
                             struct error *error)
{
    struct directory_store *self = memory_allocate(1, sizeof *self);
    if (self == NULL) {
        return memory_error(error, "for a volume");
    }
    if (!open_root(self, settings, error)) {
        memory_release(self);
        return false;
    }
    if (settings->limit_bytes != 0) {
        count_all(self);
    }
    *store = &self->tree.store;
    return true;
}

const struct store_ops store_directory = {
    .name = "directory",
    .needs_path = true,
    .create = directory_create,
    .destroy = directory_destroy,
    .space = directory_space,
    .by_id = directory_by_id,
    .parent = tree_parent,
    .child = directory_child,
    .list = directory_list,
    .offspring = directory_offspring,
    .entry = directory_entry,
    .get = tree_get,
    .set = directory_set,
    .add = directory_add,
    .remove = directory_remove,
    .move = directory_move,
    .exchange = directory_exchange,
    .fork_open = directory_fork_open,
    .fork_close = directory_fork_close,
    .fork_length = file_fork_length,
    .fork_set_length = file_fork_set_length,
    .fork_flush = file_flush,
    .write_begin = file_write_begin,
    .write_end = tree_write_end,
    .send = file_send,
    .receive = file_receive,
    .read = file_read,
    .write = file_write,
    .copy = file_copy,
};
