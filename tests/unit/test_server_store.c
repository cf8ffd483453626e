/* The stores: names, IDs, order, space, lengths, data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"
#include "server/store.h"

#include <stdio.h>
#include <string.h>

static struct store *store;
static char scratch[SCRATCH_SIZE];

static struct span text(const char *string)
{
    return span_from_string(string);
}

static void open_store(const char *name, uint64_t limit_bytes)
{
    struct store_settings settings = {.limit_bytes = limit_bytes};
    struct error error;
    if (store_by_name(name)->needs_path) {
        scratch_make(scratch);
        settings.path = scratch;
    }
    assert_true(store_by_name(name)->create(&store, &settings, &error));
}

static void close_store(void)
{
    store->ops->destroy(store);
    scratch_remove(scratch);
}

static struct store_node *root(void)
{
    return store->ops->by_id(store, AFP_ROOT_ID);
}

static struct store_node *add(struct store_node *directory, const char *name,
                              enum afp_node_kind kind)
{
    struct store_node *node;
    assert_int_equal(store->ops->add(store, directory, text(name), kind, &node), AFP_OK);
    return node;
}

/* NULL: there is none. */
static struct store_node *child(struct store_node *directory, const char *name)
{
    struct store_node *node;
    int32_t result = store->ops->child(store, directory, text(name), &node);
    assert_int_equal(result, node != NULL ? AFP_OK : AFP_OBJECT_NOT_FOUND);
    return node;
}

static uint32_t offspring(struct store_node *directory)
{
    return store->ops->offspring(store, directory);
}

static struct store_attributes get(struct store_node *node)
{
    struct store_attributes attributes;
    store->ops->get(store, node, &attributes);
    return attributes;
}

static struct store_fork *open_data(struct store_node *file)
{
    struct store_fork *fork;
    assert_int_equal(store->ops->fork_open(store, file, STORE_DATA_FORK,
                                           AFP_ACCESS_READ | AFP_ACCESS_WRITE, &fork),
                     AFP_OK);
    return fork;
}

static int32_t put(struct store_fork *fork, uint64_t offset, const void *data, size_t size)
{
    struct store_write write = {.offset = offset, .size = size};
    int32_t result = store->ops->write_begin(store, fork, &write);
    if (result == AFP_OK) {
        result = store->ops->write(store, fork, &write, data);
        store->ops->write_end(store, fork, &write);
    }
    return result;
}

static uint64_t free_bytes(void)
{
    return store->ops->space(store).free_bytes;
}

static void names_and_ids(void **state)
{
    open_store(*state, 0);
    struct store_node *directory = add(root(), "directory", AFP_DIRECTORY);
    struct store_node *file = add(directory, "file", AFP_FILE);
    assert_int_equal(get(root()).parent_id, AFP_ROOT_PARENT_ID);
    assert_int_equal(get(directory).id, AFP_FIRST_FREE_ID);
    assert_int_equal(get(file).parent_id, AFP_FIRST_FREE_ID);
    assert_int_equal(offspring(directory), 1);
    assert_ptr_equal(child(directory, "file"), file);
    assert_null(child(directory, "File"));
    assert_null(child(root(), "file"));
    assert_ptr_equal(store->ops->by_id(store, get(file).id), file);
    assert_null(store->ops->by_id(store, 3));
    assert_null(store->ops->parent(store, root()));
    close_store();
}

static void many_nodes_in_order(void **state)
{
    enum { COUNT = 3000 };
    char name[32];
    open_store(*state, 0);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "file %u", i);
        add(root(), name, AFP_FILE);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "file %u", i);
        struct store_node *node = child(root(), name);
        assert_ptr_equal(store->ops->entry(store, root(), i), node);
        assert_ptr_equal(store->ops->by_id(store, AFP_FIRST_FREE_ID + i), node);
    }
    assert_null(store->ops->entry(store, root(), COUNT));
    for (unsigned i = 0; i < COUNT; i += 2) {
        struct store_node *node = store->ops->by_id(store, AFP_FIRST_FREE_ID + i);
        assert_int_equal(store->ops->remove(store, node), AFP_OK);
    }
    assert_int_equal(offspring(root()), COUNT / 2);
    assert_int_equal(get(store->ops->entry(store, root(), 0)).id, AFP_FIRST_FREE_ID + 1);
    assert_null(child(root(), "file 0"));
    close_store();
}

static void remove_and_move(void **state)
{
    open_store(*state, 0);
    struct store_node *a = add(root(), "a", AFP_DIRECTORY);
    struct store_node *b = add(root(), "b", AFP_DIRECTORY);
    struct store_node *file = add(a, "file", AFP_FILE);
    assert_int_equal(store->ops->remove(store, a), AFP_DIRECTORY_NOT_EMPTY);
    uint32_t id = get(file).id;
    assert_int_equal(store->ops->move(store, file, b, text("longer name")), AFP_OK);
    assert_int_equal(get(file).id, id);
    assert_ptr_equal(child(b, "longer name"), file);
    assert_null(child(a, "file"));
    assert_int_equal(offspring(a), 0);
    assert_int_equal(store->ops->move(store, b, a, text("b")), AFP_OK);
    assert_ptr_equal(child(b, "longer name"), file);
    assert_int_equal(store->ops->move(store, file, b, text("x")), AFP_OK);
    assert_ptr_equal(child(b, "x"), file);
    close_store();
}

static void attributes_stay(void **state)
{
    open_store(*state, 0);
    struct store_node *file = add(root(), "file", AFP_FILE);
    struct store_attributes wanted = {.attributes = 0x21,
                                      .created = 5,
                                      .modified = 6,
                                      .backed_up = 7,
                                      .finder_info = "TEXTttxt",
                                      .mode = 0100600};
    assert_int_equal(get(file).backed_up, AFP_DATE_NEVER);
    store->ops->set(store, file, AFP_NODE_CREATED | AFP_NODE_FINDER_INFO, &wanted);
    struct store_attributes got = get(file);
    assert_int_equal(got.created, 5);
    assert_int_not_equal(got.modified, 6);
    assert_memory_equal(got.finder_info, wanted.finder_info, 32);
    assert_int_equal(got.attributes, 0);
    close_store();
}

static void space_is_counted(void **state)
{
    open_store(*state, 1000);
    struct store_node *file = add(root(), "file", AFP_FILE);
    struct store_fork *fork = open_data(file);
    static const uint8_t data[1000];
    assert_int_equal(put(fork, 0, data, 600), AFP_OK);
    assert_int_equal(free_bytes(), 400);
    assert_int_equal(put(fork, 100, data, 500), AFP_OK); /* nothing new */
    assert_int_equal(free_bytes(), 400);
    assert_int_equal(put(fork, 600, data, 401), AFP_DISK_FULL);
    assert_int_equal(get(file).fork_lengths[STORE_DATA_FORK], 600);
    assert_int_equal(store->ops->fork_set_length(store, fork, 1001), AFP_DISK_FULL);
    assert_int_equal(store->ops->fork_set_length(store, fork, 1000), AFP_OK);
    assert_int_equal(free_bytes(), 0);
    assert_int_equal(store->ops->fork_set_length(store, fork, 10), AFP_OK);
    assert_int_equal(free_bytes(), 990);
    assert_int_equal(put(fork, 900, data, 100), AFP_OK); /* a hole counts as well */
    assert_int_equal(free_bytes(), 0);
    /* A removed file's space is free, its open fork still there. */
    assert_int_equal(store->ops->remove(store, file), AFP_OK);
    assert_int_equal(free_bytes(), 1000);
    assert_int_equal(store->ops->fork_length(store, fork), 1000);
    assert_int_equal(put(fork, 0, data, 10), AFP_OK);
    store->ops->fork_close(store, fork);
    assert_int_equal(free_bytes(), 1000);
    close_store();
}

/* A write that ended early keeps what came and gives the rest of its room back. */
static void part_of_a_write(void **state)
{
    open_store(*state, 1000);
    struct store_fork *fork = open_data(add(root(), "file", AFP_FILE));
    struct store_write write = {.offset = 100, .size = 500};
    assert_int_equal(store->ops->write_begin(store, fork, &write), AFP_OK);
    assert_int_equal(free_bytes(), 400);
    struct store_write part = {.offset = 100, .size = 50};
    uint8_t data[50] = "part";
    assert_int_equal(store->ops->write(store, fork, &part, data), AFP_OK);
    write.written = part.written;
    store->ops->write_end(store, fork, &write);
    assert_int_equal(store->ops->fork_length(store, fork), 150);
    assert_int_equal(free_bytes(), 850);
    store->ops->fork_close(store, fork);
    close_store();
}

static void data_comes_back(void **state)
{
    open_store(*state, 0);
    struct store_fork *fork = open_data(add(root(), "file", AFP_FILE));
    uint8_t buffer[20];
    static const uint8_t zeros[20];
    assert_int_equal(store->ops->read(store, fork, 0, buffer, 20), AFP_OK); /* never written */
    assert_memory_equal(buffer, zeros, 20);
    assert_int_equal(put(fork, 10, "0123456789", 10), AFP_OK);
    assert_int_equal(store->ops->read(store, fork, 5, buffer, 15), AFP_OK);
    assert_memory_equal(buffer, "\0\0\0\0\0000123456789", 15);
    /* Cut and grown again, it holds zeros. */
    assert_int_equal(store->ops->fork_set_length(store, fork, 12), AFP_OK);
    assert_int_equal(store->ops->fork_set_length(store, fork, 20), AFP_OK);
    assert_int_equal(store->ops->read(store, fork, 10, buffer, 10), AFP_OK);
    assert_memory_equal(buffer, "01\0\0\0\0\0\0\0\0", 10);
    store->ops->fork_close(store, fork);
    close_store();
}

static void exchanged_forks(void **state)
{
    open_store(*state, 0);
    struct store_node *a = add(root(), "a", AFP_FILE);
    struct store_node *b = add(root(), "b", AFP_FILE);
    struct store_fork *fork = open_data(a);
    uint32_t id = get(a).id;
    assert_int_equal(put(fork, 0, "hello", 5), AFP_OK);
    assert_int_equal(store->ops->exchange(store, a, b), AFP_OK);
    assert_int_equal(get(a).fork_lengths[STORE_DATA_FORK], 0);
    assert_int_equal(get(b).fork_lengths[STORE_DATA_FORK], 5);
    assert_int_equal(get(a).id, id);
    assert_int_equal(put(fork, 5, "x", 1), AFP_OK); /* the open fork went with its contents */
    assert_int_equal(get(b).fork_lengths[STORE_DATA_FORK], 6);
    store->ops->fork_close(store, fork);
    close_store();
}

static void null_makes_up_its_data(void **state)
{
    open_store("null", 0);
    struct store_fork *fork = open_data(add(root(), "file", AFP_FILE));
    static uint8_t once[3000000], again[1000];
    assert_int_equal(store->ops->fork_set_length(store, fork, UINT64_C(1) << 60), AFP_OK);
    assert_int_equal(store->ops->read(store, fork, 0, once, sizeof once), AFP_OK);
    for (size_t offset = 1048000; offset < 1049000; offset += 333) {
        assert_int_equal(store->ops->read(store, fork, offset, again, sizeof again), AFP_OK);
        assert_memory_equal(again, once + offset, sizeof again);
    }
    assert_memory_not_equal(once, once + (1 << 20), 4096);
    store->ops->fork_close(store, fork);
    close_store();
}

#define IN(store, test)                                                                            \
    {                                                                                              \
#test " (" store ")", test, NULL, NULL, store                                              \
    }
/* The stores that give back what was written; all. */
#define KEEPING(test) IN("memory", test), IN("directory", test)
#define ALL(test)     KEEPING(test), IN("null", test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALL(names_and_ids),   ALL(many_nodes_in_order), ALL(remove_and_move),
        ALL(attributes_stay), ALL(space_is_counted),    ALL(part_of_a_write),
        ALL(exchanged_forks), KEEPING(data_comes_back), cmocka_unit_test(null_makes_up_its_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
