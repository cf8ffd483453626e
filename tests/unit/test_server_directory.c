/* The store `directory`: what it must not do, and what others do behind its back. What it has in
 * common with the other stores is tested beside them. */
#include "base/clock.h"
#include "server/store_file.h"
#include "server_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char inside[SCRATCH_SIZE], outside[SCRATCH_SIZE];
static struct store *store;
static int at; /* the directory that is served */

static void open_store(uint64_t limit_bytes)
{
    struct store_settings settings = {.path = inside, .limit_bytes = limit_bytes};
    struct error error;
    assert_true(store_directory.create(&store, &settings, &error));
}

static int setup(void **state)
{
    scratch_make(inside);
    scratch_make(outside);
    at = open(inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    open_store(0);
    return 0;
}

static int teardown(void **state)
{
    assert_int_equal(seteuid(getuid()), 0); /* a test that failed may have left another */
    store->ops->destroy(store);
    close(at);
    scratch_remove(inside);
    scratch_remove(outside);
    return 0;
}

/* ---- Short words for what the tests do ---- */

static void put_file(const char *name, const char *text)
{
    int file = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static void expect_file(const char *name, const char *text)
{
    char buffer[200] = "";
    int file = openat(at, name, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(read(file, buffer, sizeof buffer - 1), strlen(text));
    assert_string_equal(buffer, text);
    close(file);
}

static bool exists(const char *directory, const char *name)
{
    char path[SCRATCH_SIZE + NAME_MAX + 2];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return lstat(path, &status) == 0;
}

static struct store_node *root(void)
{
    return store->ops->by_id(store, AFP_ROOT_ID);
}

static struct store_node *child_in(struct store_node *directory, struct span name, int32_t wanted)
{
    struct store_node *node;
    assert_int_equal(store->ops->child(store, directory, name, &node), wanted);
    assert_int_equal(node != NULL, wanted == AFP_OK);
    return node;
}

static struct store_node *child(const char *name)
{
    return child_in(root(), span_from_string(name), AFP_OK);
}

static void no_child(const char *name)
{
    child_in(root(), span_from_string(name), AFP_OBJECT_NOT_FOUND);
}

static struct store_attributes get(struct store_node *node)
{
    struct store_attributes attributes;
    store->ops->get(store, node, &attributes);
    return attributes;
}

static uint32_t id_of(const char *name)
{
    return get(child(name)).id;
}

static struct store_node *by_id(uint32_t id)
{
    return store->ops->by_id(store, id);
}

static int32_t add(const char *name, enum afp_node_kind kind)
{
    struct store_node *node;
    return store->ops->add(store, root(), span_from_string(name), kind, &node);
}

static int32_t open_fork(struct store_node *file, uint16_t access, struct store_fork **fork)
{
    return store->ops->fork_open(store, file, STORE_DATA_FORK, access, fork);
}

/* The names in the root, in order, each with a blank behind it. */
static const char *listing(void)
{
    static char names[2000];
    struct store_node *node;
    names[0] = '\0';
    assert_int_equal(store->ops->list(store, root()), AFP_OK);
    for (size_t i = 0; (node = store->ops->entry(store, root(), i)) != NULL; i++) {
        struct span name = get(node).name;
        strncat(names, (const char *)name.data, name.size);
        strcat(names, " ");
    }
    return names;
}

/* ---- Nothing leads out ---- */

static void links_and_devices_do_not_exist(void **state)
{
    assert_int_equal(symlinkat("/etc/passwd", at, "passwd"), 0);
    assert_int_equal(symlinkat("/etc", at, "etc"), 0);
    assert_int_equal(symlinkat("file", at, "relative"), 0);
    assert_int_equal(mkfifoat(at, "fifo", 0666), 0);
    put_file("file", "mine");
    assert_string_equal(listing(), "file ");
    assert_int_equal(store->ops->offspring(store, root()), 1);
    no_child("passwd");
    no_child("etc");
    no_child("relative");
    no_child("fifo");
    assert_int_equal(add("passwd", AFP_FILE), AFP_OBJECT_EXISTS);
    assert_int_equal(add("etc", AFP_DIRECTORY), AFP_OBJECT_EXISTS);
    assert_int_equal(store->ops->move(store, child("file"), root(), span_from_string("relative")),
                     AFP_OBJECT_EXISTS);
    expect_file("file", "mine");
}

static void names_that_are_none(void **state)
{
    static const struct span names[] = {
        {(const uint8_t *)"", 0},
        {(const uint8_t *)".", 1},
        {(const uint8_t *)"..", 2},
        {(const uint8_t *)"a\0b", 3},
        {(const uint8_t *)"a:b", 3},
        {(const uint8_t *)"\xff", 1},
        {(const uint8_t *)"\xc0\xaf", 2},         /* an overlong slash */
        {(const uint8_t *)"\xed\xa0\x80", 3},     /* half a surrogate pair */
        {(const uint8_t *)"\xf4\x90\x80\x80", 4}, /* beyond the last character */
        {(const uint8_t *)"\xe2\x82", 2},         /* cut */
    };
    put_file("file", "");
    for (size_t i = 0; i < COUNT(names); i++) {
        struct store_node *node;
        child_in(root(), names[i], AFP_OBJECT_NOT_FOUND);
        assert_int_equal(store->ops->add(store, root(), names[i], AFP_FILE, &node),
                         AFP_PARAMETER_ERROR);
        assert_int_equal(store->ops->add(store, root(), names[i], AFP_DIRECTORY, &node),
                         AFP_PARAMETER_ERROR);
        assert_int_equal(store->ops->move(store, child("file"), root(), names[i]),
                         AFP_PARAMETER_ERROR);
    }
    put_file("\xff", "");
    assert_string_equal(listing(), "file ");
    static uint8_t long_name[256];
    memset(long_name, 'x', sizeof long_name);
    child_in(root(), (struct span){long_name, 256}, AFP_OBJECT_NOT_FOUND);
    struct store_node *node;
    assert_int_equal(store->ops->add(store, root(), (struct span){long_name, 255}, AFP_FILE, &node),
                     AFP_OK);
}

/* What looks like a path is a name with slashes, which the disk has as colons. */
static void slashes(void **state)
{
    static const char *const names[][2] = {
        {"/etc/passwd", ":etc:passwd"},
        {"../escaped", "..:escaped"},
        {"a/../../escaped", "a:..:..:escaped"},
        {"/", ":"},
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        no_child(names[i][0]);
        assert_int_equal(add(names[i][0], AFP_FILE), AFP_OK);
        assert_true(exists(inside, names[i][1]));
        child(names[i][0]);
    }
    assert_string_equal(listing(), "/etc/passwd ../escaped a/../../escaped / ");
    assert_false(exists(inside, "../escaped"));
}

static atomic_bool swapping;

/* Again and again "d" is a directory, then a link that leads out. */
static void *swap(void *ignored)
{
    while (atomic_load(&swapping)) {
        assert_int_equal(renameat2(at, "d", at, "link", RENAME_EXCHANGE), 0);
    }
    return NULL;
}

static void a_directory_that_becomes_a_link(void **state)
{
    pthread_t thread;
    unsigned hits = 0;
    assert_int_equal(mkdirat(at, "d", 0777), 0);
    assert_int_equal(symlinkat(outside, at, "link"), 0);
    put_file("d/seen", "inside");
    atomic_store(&swapping, true);
    assert_int_equal(pthread_create(&thread, NULL, swap, NULL), 0);
    uint64_t end_ns = clock_now_ns() + NS_PER_S / 2;
    for (unsigned i = 0; clock_now_ns() < end_ns || hits == 0; i++) {
        struct store_node *directory, *node;
        struct store_fork *fork;
        struct span d = span_from_string("d");
        if (store->ops->child(store, root(), d, &directory) != AFP_OK) {
            continue;
        }
        if (store->ops->child(store, directory, span_from_string("seen"), &node) == AFP_OK &&
            open_fork(node, AFP_ACCESS_READ, &fork) == AFP_OK) {
            char buffer[6];
            assert_int_equal(store->ops->read(store, fork, 0, buffer, sizeof buffer), AFP_OK);
            assert_memory_equal(buffer, "inside", 6);
            store->ops->fork_close(store, fork);
            hits++;
        }
        char name[20];
        snprintf(name, sizeof name, "%u", i);
        (void)store->ops->add(store, directory, span_from_string(name), AFP_FILE, &node);
        assert_false(exists(outside, name));
    }
    atomic_store(&swapping, false);
    pthread_join(thread, NULL);
    assert_int_equal(rmdir(outside), 0); /* still empty */
}

/* ---- Behind the server's back ---- */

/* A node is its path: under another name it is another one, and the old one is gone for good. */
static void renamed(void **state)
{
    static const uint8_t none[32];
    struct store_attributes wanted = {.finder_info = "TEXT"};
    put_file("a", "1");
    assert_int_equal(mkdirat(at, "d", 0777), 0);
    put_file("d/f", "2");
    uint32_t id = id_of("a"), d = id_of("d");
    uint32_t f = get(child_in(by_id(d), span_from_string("f"), AFP_OK)).id;
    assert_int_equal(store->ops->set(store, child("a"), AFP_NODE_FINDER_INFO, &wanted), AFP_OK);
    /* The new name is met first, then the old one missed. */
    assert_int_equal(renameat(at, "a", at, "b"), 0);
    assert_int_not_equal(id_of("b"), id);
    assert_memory_equal(get(child("b")).finder_info, none, 32);
    no_child("a");
    assert_null(by_id(id));
    /* With a directory goes what is in it, also when the name comes back. */
    assert_int_equal(renameat(at, "d", at, "e"), 0);
    assert_null(by_id(f));
    no_child("d");
    assert_null(by_id(d));
    assert_int_equal(renameat(at, "e", at, "d"), 0);
    assert_null(by_id(f));
    struct store_node *node = child_in(child("d"), span_from_string("f"), AFP_OK);
    assert_int_not_equal(get(node).id, f);
    assert_ptr_equal(by_id(get(node).id), node);
    assert_string_equal(listing(), "b d ");
}

static void replaced(void **state)
{
    put_file("f", "old");
    uint32_t id = id_of("f");
    assert_int_equal(unlinkat(at, "f", 0), 0);
    put_file("f", "newer");
    assert_int_equal(id_of("f"), id);
    assert_int_equal(get(child("f")).fork_lengths[STORE_DATA_FORK], 5);
    assert_int_equal(unlinkat(at, "f", 0), 0);
    assert_int_equal(mkdirat(at, "f", 0777), 0);
    assert_int_equal(get(child("f")).kind, AFP_DIRECTORY);
    assert_null(by_id(id));
    id = id_of("f");
    assert_int_equal(unlinkat(at, "f", AT_REMOVEDIR), 0);
    assert_int_equal(symlinkat("/etc", at, "f"), 0);
    assert_null(by_id(id));
}

static void hard_links(void **state)
{
    put_file("a", "both");
    assert_int_equal(linkat(at, "a", at, "b", 0), 0);
    uint32_t a = id_of("a"), b = id_of("b");
    assert_int_not_equal(a, b);
    assert_string_equal(listing(), "a b ");
    assert_int_equal(id_of("a"), a);
    assert_int_equal(id_of("b"), b);
    assert_int_equal(store->ops->remove(store, child("a")), AFP_OK);
    assert_int_equal(id_of("b"), b);
}

static void others_add_and_remove(void **state)
{
    put_file("a", "");
    put_file("b", "");
    put_file("c", "");
    (void)listing();
    uint32_t first = get(store->ops->entry(store, root(), 0)).id;
    struct span gone = get(store->ops->entry(store, root(), 1)).name;
    char name[2] = {(char)gone.data[0], '\0'};
    assert_int_equal(unlinkat(at, name, 0), 0);
    /* In the middle of an enumeration, the entries behind it move up. */
    assert_non_null(store->ops->entry(store, root(), 1));
    assert_null(store->ops->entry(store, root(), 2));
    put_file("d", "");
    put_file("e", "");
    assert_int_equal(store->ops->list(store, root()), AFP_OK);
    assert_int_equal(store->ops->offspring(store, root()), 4);
    assert_int_equal(get(store->ops->entry(store, root(), 0)).id, first);
    assert_non_null(store->ops->entry(store, root(), 3));
    assert_null(store->ops->entry(store, root(), 4));
}

/* A directory that has not changed for long is not read again, and still nothing is missed. */
static void a_settled_directory(void **state)
{
    put_file("a", "");
    sleep(4);
    assert_string_equal(listing(), "a ");
    assert_int_equal(store->ops->offspring(store, root()), 1);
    assert_string_equal(listing(), "a ");
    put_file("b", "");
    assert_string_equal(listing(), "a b ");
    assert_int_equal(store->ops->offspring(store, root()), 2);
    assert_int_equal(unlinkat(at, "a", 0), 0);
    assert_string_equal(listing(), "b ");
}

static void changed_contents(void **state)
{
    struct store_fork *fork;
    char buffer[6];
    put_file("f", "one");
    assert_int_equal(open_fork(child("f"), AFP_ACCESS_READ, &fork), AFP_OK);
    assert_int_equal(store->ops->fork_length(store, fork), 3);
    put_file("f", "longer");
    assert_int_equal(store->ops->fork_length(store, fork), 6);
    assert_int_equal(store->ops->read(store, fork, 0, buffer, 6), AFP_OK);
    assert_memory_equal(buffer, "longer", 6);
    assert_int_equal(get(child("f")).fork_lengths[STORE_DATA_FORK], 6);
    store->ops->fork_close(store, fork);
}

/* What a client is told of a file that somebody removes while it is open. */
static void removed_while_open(void **state)
{
    char path[SCRATCH_SIZE + 4];
    fixture_prepare("directory");
    fixture_run();
    create_and_open(1, "f", 1);
    expect_write("FPWrite 00 0001 00000000 00000005", "hello", 5, AFP_OK, "00000005");
    snprintf(path, sizeof path, "%s/f", fixture.directories[0]);
    assert_int_equal(unlink(path), 0);
    expect("FPRead 00 0001 00000000 00000005 0000", AFP_OK, "'hello'");
    expect_write("FPWrite 00 0001 00000005 00000001", "!", 1, AFP_OK, "00000006");
    expect("FPFlushFork 00 0001", AFP_OK, "");
    expect("FPSetForkParms 00 0001 0200 00000003", AFP_OK, "");
    expect("FPGetForkParms 00 0001 0200", AFP_OBJECT_NOT_FOUND, "");
    expect("FPGetFileDirParms 00 0001 root 0100 0000 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPDelete 00 0001 root 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPCopyFile 00 0001 root 0002 root 02 01 'f' 02 00 02 00", AFP_OBJECT_NOT_FOUND, "");
    close_fork(1);
    create_file(1, "f");
    /* The whole directory goes. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(fixture.directories[0]), 0);
    expect("FPCreateFile 00 0001 root 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPGetVolParms 00 0001 0020", AFP_OK, "0020 0001");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0001 1000 02 00", AFP_OBJECT_NOT_FOUND, "");
    fixture_stop();
}

/* ---- Files as they are on disk ---- */

static void attributes_on_disk(void **state)
{
    struct store_attributes wanted = {.modified = 100000, .mode = 0106741, .created = 50};
    struct stat status;
    assert_int_equal(add("f", AFP_FILE), AFP_OK);
    assert_true((int32_t)get(child("f")).created > 800000000);
    assert_int_equal(
        store->ops->set(store, child("f"),
                        AFP_NODE_MODIFIED | AFP_NODE_CREATED | AFP_NODE_UNIX_PRIVILEGES, &wanted),
        AFP_OK);
    assert_int_equal(fstatat(at, "f", &status, 0), 0);
    assert_int_equal(status.st_mtime, AFP_EPOCH_UNIX_SECONDS + 100000);
    assert_int_equal(status.st_mode & 07777, 0741); /* no program of ours runs as somebody else */
    assert_int_equal(get(child("f")).created, 50);
    assert_int_equal(get(child("f")).modified, 100000);
    assert_int_equal(get(child("f")).mode, 0100741);
}

static void content_on_disk(void **state)
{
    struct store_fork *fork;
    struct store_write write = {.size = 5};
    assert_int_equal(add("f", AFP_FILE), AFP_OK);
    assert_int_equal(open_fork(child("f"), AFP_ACCESS_WRITE, &fork), AFP_OK);
    assert_int_equal(store->ops->write_begin(store, fork, &write), AFP_OK);
    assert_int_equal(store->ops->write(store, fork, &write, "hello"), AFP_OK);
    store->ops->write_end(store, fork, &write);
    assert_int_equal(store->ops->fork_flush(store, fork), AFP_OK);
    expect_file("f", "hello");
    assert_int_equal(store->ops->fork_set_length(store, fork, 2), AFP_OK);
    expect_file("f", "he");
    store->ops->fork_close(store, fork);
}

/* Resource forks, Finder info and the like leave no trace. */
static void nothing_else_on_disk(void **state)
{
    struct store_attributes wanted = {.finder_info = "TEXT", .attributes = 1, .backed_up = 5};
    struct store_fork *fork;
    assert_int_equal(add("f", AFP_FILE), AFP_OK);
    assert_int_equal(store->ops->fork_open(store, child("f"), STORE_RESOURCE_FORK, AFP_ACCESS_WRITE,
                                           &fork),
                     AFP_OK);
    assert_int_equal(store->ops->fork_set_length(store, fork, 1000), AFP_OK);
    store->ops->fork_close(store, fork);
    assert_int_equal(
        store->ops->set(store, child("f"),
                        AFP_NODE_FINDER_INFO | AFP_NODE_ATTRIBUTES | AFP_NODE_BACKED_UP, &wanted),
        AFP_OK);
    assert_int_equal(get(child("f")).fork_lengths[STORE_RESOURCE_FORK], 1000);
    assert_int_equal(get(child("f")).fork_lengths[STORE_DATA_FORK], 0);
    expect_file("f", "");
    assert_int_equal(unlinkat(at, "f", 0), 0);
    assert_int_equal(rmdir(inside), 0);
}

static void deep_paths(void **state)
{
    enum { DEPTH = 40 };
    char name[201];
    struct store_node *node = root();
    memset(name, 'n', 200);
    name[200] = '\0';
    for (unsigned i = 0; i < DEPTH; i++) { /* twice what a path may have */
        assert_int_equal(store->ops->add(store, node, span_from_string(name), AFP_DIRECTORY, &node),
                         AFP_OK);
    }
    uint32_t id = get(node).id;
    assert_ptr_equal(by_id(id), node);
    for (unsigned i = 0; i < DEPTH; i++) {
        struct store_node *parent = store->ops->parent(store, node);
        assert_int_equal(store->ops->remove(store, node), AFP_OK);
        node = parent;
    }
    assert_string_equal(listing(), "");
}

static void a_limit_counts_what_is_there(void **state)
{
    assert_int_equal(mkdirat(at, "d", 0777), 0);
    put_file("a", "0123456789");
    put_file("d/b", "01234");
    store->ops->destroy(store);
    open_store(100);
    assert_int_equal(store->ops->space(store).total_bytes, 100);
    assert_int_equal(store->ops->space(store).free_bytes, 85);
    assert_int_equal(unlinkat(at, "a", 0), 0);
    no_child("a");
    assert_int_equal(store->ops->space(store).free_bytes, 95);
}

static void files_of_other_servers_stay(void **state)
{
    assert_int_equal(mkdirat(at, "d", 0777), 0);
    put_file("d/f", "");
    assert_int_equal(store->ops->remove(store, child("d")), AFP_DIRECTORY_NOT_EMPTY);
    assert_int_equal(unlinkat(at, "d/f", 0), 0);
    assert_int_equal(symlinkat("x", at, "d/hidden"), 0);
    assert_int_equal(store->ops->remove(store, child("d")), AFP_DIRECTORY_NOT_EMPTY);
    assert_int_equal(unlinkat(at, "d/hidden", 0), 0);
    assert_int_equal(store->ops->remove(store, child("d")), AFP_OK);
}

/* ---- What the system refuses ---- */

static void results(void **state)
{
    static const int32_t rows[][2] = {
        {EACCES, -5000}, {EPERM, -5000},  {ENOSPC, -5008},    {EDQUOT, -5047},
        {EROFS, -5031},  {ENOENT, -5018}, {ENOTEMPTY, -5007}, {EEXIST, -5017},
        {EMFILE, -5026}, {ELOOP, -5018},  {EIO, -5014},       {EXDEV, -5036},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(file_result(rows[i][0]), rows[i][1]);
    }
}

/* As a user whom permissions bind, also where root runs the tests. */
static void permissions(void **state)
{
    struct store_fork *fork;
    struct store_node *node;
    put_file("readable", "r");
    put_file("writable", "w");
    put_file("closed", "c");
    assert_int_equal(mkdirat(at, "d", 0777), 0);
    put_file("d/f", "");
    assert_int_equal(fchmodat(at, "readable", 0444, 0), 0);
    assert_int_equal(fchmodat(at, "writable", 0222, 0), 0);
    assert_int_equal(fchmodat(at, "closed", 0, 0), 0);
    assert_int_equal(fchmodat(at, "d", 0444, 0), 0);
    assert_int_equal(fchmod(at, 0555), 0);
    bool was_root = geteuid() == 0;
    assert_true(!was_root || seteuid(65534) == 0);

    assert_int_equal(open_fork(child("closed"), AFP_ACCESS_READ, &fork), AFP_ACCESS_DENIED);
    assert_int_equal(open_fork(child("readable"), AFP_ACCESS_WRITE, &fork), AFP_ACCESS_DENIED);
    assert_int_equal(open_fork(child("readable"), AFP_ACCESS_READ, &fork), AFP_OK);
    store->ops->fork_close(store, fork);
    assert_int_equal(open_fork(child("writable"), AFP_ACCESS_READ, &fork), AFP_ACCESS_DENIED);
    assert_int_equal(open_fork(child("writable"), AFP_ACCESS_WRITE, &fork), AFP_OK);
    assert_int_equal(store->ops->fork_set_length(store, fork, 0), AFP_OK);
    store->ops->fork_close(store, fork);
    assert_int_equal(add("new", AFP_FILE), AFP_ACCESS_DENIED);
    assert_int_equal(add("new", AFP_DIRECTORY), AFP_ACCESS_DENIED);
    assert_int_equal(store->ops->remove(store, child("closed")), AFP_ACCESS_DENIED);
    assert_int_equal(store->ops->move(store, child("closed"), root(), span_from_string("x")),
                     AFP_ACCESS_DENIED);
    struct store_node *d = child("d");
    assert_int_equal(store->ops->child(store, d, span_from_string("f"), &node), AFP_ACCESS_DENIED);
    assert_int_equal(store->ops->list(store, d), AFP_ACCESS_DENIED);

    assert_true(!was_root || seteuid(0) == 0);
    assert_int_equal(fchmod(at, 0777), 0);
    assert_int_equal(fchmodat(at, "d", 0777, 0), 0);
}

static void no_more_descriptors(void **state)
{
    struct rlimit limit, few;
    struct store_fork *fork;
    struct store_node *node;
    put_file("f", "");
    assert_int_equal(mkdirat(at, "d", 0777), 0);
    struct store_node *file = child("f"), *d = child("d");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = (struct rlimit){3, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int32_t opened = open_fork(file, AFP_ACCESS_READ, &fork);
    int32_t added = add("new", AFP_FILE);
    int32_t found = store->ops->child(store, d, span_from_string("x"), &node);
    int32_t listed = store->ops->list(store, root());
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(opened, AFP_TOO_MANY_FILES_OPEN);
    assert_int_equal(added, AFP_TOO_MANY_FILES_OPEN);
    assert_int_equal(found, AFP_TOO_MANY_FILES_OPEN);
    assert_int_equal(listed, AFP_TOO_MANY_FILES_OPEN);
    assert_int_equal(open_fork(child("f"), AFP_ACCESS_READ, &fork), AFP_OK); /* nothing lost */
    store->ops->fork_close(store, fork);
}

/* A small file system of our own, where that is allowed; it goes with the process. */
static bool mount_small(const char *directory)
{
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", directory, "tmpfs", 0, "size=4m") != 0) {
        print_message("# skipped: needs root and a mount of tmpfs\n");
        return false;
    }
    return true;
}

static void full_and_read_only_file_systems(void **state)
{
    static uint8_t data[200000];
    fixture_prepare("directory");
    if (!mount_small(fixture.directories[1])) {
        scratch_remove(fixture.directories[0]);
        scratch_remove(fixture.directories[1]);
        skip();
    }
    fixture_run();
    expect("FPGetVolParms 00 0002 0400", AFP_OK, "0400 0000000000400000");
    create_and_open(1, "f", 1);
    expect("FPSetForkParms 00 0001 0200 00600000", AFP_OK, "");
    expect("FPCopyFile 00 0001 root 0002 root 02 01 'f' 02 00 02 00", AFP_DISK_FULL, "");
    expect("FPGetFileDirParms 00 0002 root 0000 0000 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    create_and_open(2, "g", 2);
    unsigned written = 0;
    int32_t result;
    do {
        char request[60];
        snprintf(request, sizeof request, "FPWriteExt 00 0002 %016zx 0000000000000000",
                 written * sizeof data);
        result = peer_write(&client, request, data, sizeof data);
    } while (result == AFP_OK && ++written < 30);
    assert_int_equal(result, AFP_DISK_FULL);
    assert_in_range(written, 18, 21);
    expect("FPFlushFork 00 0002", AFP_OK, ""); /* the session goes on */
    close_fork(2);
    assert_int_equal(mount(NULL, fixture.directories[1], NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    expect("FPCreateFile 00 0002 root 02 01 'h'", AFP_VOLUME_LOCKED, "");
    expect("FPDelete 00 0002 root 02 01 'g'", AFP_VOLUME_LOCKED, "");
    expect("FPOpenFork 00 0002 root 0000 0003 02 01 'g'", AFP_VOLUME_LOCKED, "");
    expect("FPOpenFork 00 0002 root 0000 0001 02 01 'g'", AFP_OK, "0000 0002");
    peer_close(&client);
    service_close(&fixture.service);
    assert_int_equal(umount(fixture.directories[1]), 0);
    scratch_remove(fixture.directories[0]);
    scratch_remove(fixture.directories[1]);
}

/* ---- Where the fast ways do not exist ---- */

static bool wait_on(void *context, uint64_t silent_ns, struct error *error)
{
    return silent_ns < 10 * NS_PER_S;
}

/* A file that is appended to takes no splice. */
static void a_file_without_splice(void **state)
{
    static uint8_t data[300000], back[sizeof data];
    struct error error;
    struct inbox inbox;
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    int file = openat(at, "f", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    fill(data, sizeof data);
    assert_true(inbox_open(&inbox, sockets[0], NS_PER_S, wait_on, NULL, &error));
    uint64_t total = 0;
    while (total < sizeof data) { /* as much as a socket holds */
        uint64_t moved;
        int code;
        ssize_t sent = send(sockets[1], data + total, sizeof data - total, MSG_DONTWAIT);
        assert_true(sent > 0);
        inbox.frame_left = (uint64_t)sent;
        assert_true(inbox_to_file(&inbox, file, total, (uint64_t)sent, &moved, &code, &error));
        assert_int_equal(code, 0);
        assert_int_equal(moved, sent);
        total += moved;
    }
    assert_int_equal(pread(file, back, sizeof back, 0), sizeof back);
    assert_memory_equal(back, data, sizeof data);
    inbox_close(&inbox);
    close(file);
    close(sockets[0]);
    close(sockets[1]);
}

/* Nor does this one send itself. */
static void a_file_without_sendfile(void **state)
{
    static char data[3000], back[sizeof data];
    struct error error;
    int sockets[2];
    struct store_fork fork = {.on_disk = true};
    atomic_init(&fork.file, open("/proc/self/environ", O_RDONLY | O_CLOEXEC));
    atomic_init(&fork.writable, -1);
    ssize_t size = pread(atomic_load(&fork.file), data, sizeof data, 0);
    assert_true(size > 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    struct outbox outbox = {.socket = sockets[1]}; /* there is room: it waits for nothing */
    assert_true(file_send(store, &fork, &outbox, 0, (uint64_t)size, &error));
    assert_int_equal(recv(sockets[0], back, (size_t)size, MSG_WAITALL), size);
    assert_memory_equal(back, data, (size_t)size);
    close(sockets[0]);
    close(sockets[1]);
    close(atomic_load(&fork.file));
}

/* Between file systems and of odd sizes, a copy is the same as within one. */
static void copies_between_file_systems(void **state)
{
    static uint8_t data[200001];
    char path[SCRATCH_SIZE + 4];
    fixture_prepare("directory");
    scratch_remove(fixture.directories[1]);
    if (!scratch_try(fixture.directories[1], "/dev/shm")) {
        scratch_make(fixture.directories[1]);
    }
    fixture_run();
    fill(data, sizeof data);
    create_and_open(1, "f", 1);
    expect_write("FPWriteExt 00 0001 0000000000200000 0000000000000000", data, sizeof data, AFP_OK,
                 "0000000000230d41");
    for (unsigned i = 0; i < 2; i++) {
        static const char *const requests[] = {
            "FPCopyFile 00 0001 root 0001 root 02 01 'f' 02 00 02 01 'g'",
            "FPCopyFile 00 0001 root 0002 root 02 01 'f' 02 00 02 01 'g'",
        };
        static uint8_t back[sizeof data];
        struct stat status;
        expect(requests[i], AFP_OK, "");
        snprintf(path, sizeof path, "%s/g", fixture.directories[i]);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        assert_int_equal(fstat(file, &status), 0);
        assert_int_equal(status.st_size, 0x200000 + sizeof data);
        assert_int_equal(pread(file, back, sizeof back, 0x200000), sizeof back);
        assert_memory_equal(back, data, sizeof data);
        close(file);
    }
    fixture_stop();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    umask(0);
    const struct CMUnitTest tests[] = {
        TEST(links_and_devices_do_not_exist),
        TEST(names_that_are_none),
        TEST(slashes),
        TEST(a_directory_that_becomes_a_link),
        TEST(renamed),
        TEST(replaced),
        TEST(hard_links),
        TEST(others_add_and_remove),
        TEST(a_settled_directory),
        TEST(changed_contents),
        cmocka_unit_test(removed_while_open),
        TEST(attributes_on_disk),
        TEST(content_on_disk),
        TEST(nothing_else_on_disk),
        TEST(deep_paths),
        TEST(a_limit_counts_what_is_there),
        TEST(files_of_other_servers_stay),
        cmocka_unit_test(results),
        TEST(permissions),
        TEST(no_more_descriptors),
        cmocka_unit_test(full_and_read_only_file_systems),
        TEST(a_file_without_splice),
        TEST(a_file_without_sendfile),
        cmocka_unit_test(copies_between_file_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
