#include "fake_target.h"

#include "unit.h"

#include "base/clock.h"

#include <stdio.h>

static struct fake_target *self(struct target *target)
{
    return (struct fake_target *)target;
}

/* Counts a call and notes it; false if it is the one that fails. */
static bool call(struct fake_target *fake, struct error *error, const char *word, const char *name)
{
    if (word != NULL) {
        size_t used = strlen(fake->log);
        snprintf(fake->log + used, sizeof fake->log - used, "%s%s%s ", word,
                 name != NULL ? ":" : "", name != NULL ? name : "");
    }
    return ++fake->calls != fake->fail_at || error_set(error, ERROR_AFP, -5014, "%s", FAKE_MESSAGE);
}

/* ---- Reads and writes ---- */

static bool reserve(struct target *target, uint32_t depth, struct error *error)
{
    struct fake_target *fake = self(target);
    assert_true(depth <= FAKE_DEPTH);
    assert_int_equal(fake->pending_count, 0);
    fake->depth = depth > fake->depth ? depth : fake->depth;
    return call(fake, error, NULL, NULL);
}

static bool submit(struct target *target, const struct target_operation *operation,
                   struct error *error)
{
    struct fake_target *fake = self(target);
    const struct target_file *file = operation->file;
    assert_true(fake->pending_count < fake->depth);
    assert_true(operation->tag < fake->depth);
    assert_true(operation->size > 0);
    assert_non_null(file);
    assert_true(file->open);
    for (uint32_t i = 0; i < fake->pending_count; i++) {
        assert_int_not_equal(fake->pending[i].tag, operation->tag);
    }
    if (operation->kind == TARGET_READ) {
        assert_true(operation->offset + operation->size <= file->size);
        fake->discarded |= operation->read_buffer == NULL;
        fake->buffered |= operation->read_buffer != NULL;
        fake->reads_pending++;
    } else {
        assert_false(file->read_only);
        assert_non_null(operation->write_buffer);
    }
    fake->submitted_in_drain |= fake->draining;
    fake->submits++;
    fake->pending[fake->pending_count++] = *operation;
    if (fake->pending_count > fake->most_pending) {
        fake->most_pending = fake->pending_count;
    }
    if (fake->reads_pending > fake->most_reads) {
        fake->most_reads = fake->reads_pending;
    }
    return call(fake, error, NULL, NULL);
}

static void grow(struct target_file *file, uint64_t size)
{
    if (size > file->capacity) {
        file->bytes = realloc(file->bytes, size);
        file->moved = realloc(file->moved, size);
        assert_non_null(file->bytes);
        assert_non_null(file->moved);
        memset(file->moved + file->capacity, 0, size - file->capacity);
        memset(file->bytes + file->capacity, 0, size - file->capacity);
        file->capacity = size;
    }
    if (size > file->size) {
        file->size = size;
    }
}

static void move_data(const struct fake_target *fake, const struct target_operation *operation)
{
    struct target_file *file = operation->file;
    if (operation->kind == TARGET_WRITE) {
        grow(file, operation->offset + operation->size);
        memcpy(file->bytes + operation->offset, operation->write_buffer, operation->size);
    } else if (operation->read_buffer != NULL && !fake->reads_nothing) {
        memcpy(operation->read_buffer, file->bytes + operation->offset, operation->size);
    }
    for (size_t i = 0; i < operation->size; i++) {
        file->moved[operation->offset + i]++;
    }
}

static bool reap(struct target *target, struct target_completion *completion, struct error *error)
{
    struct fake_target *fake = self(target);
    assert_true(fake->pending_count > 0); /* else a real target would wait for ever */
    uint32_t last = fake->pending_count - 1;
    uint32_t chosen = fake->order == FAKE_FIFO   ? 0
                      : fake->order == FAKE_LIFO ? last
                                                 : next_random(&fake->random) % (last + 1);
    struct target_operation operation = fake->pending[chosen];
    fake->short_reaps += fake->pending_count < fake->depth;
    memmove(&fake->pending[chosen], &fake->pending[chosen + 1],
            (last - chosen) * sizeof fake->pending[0]);
    fake->pending_count = last;
    fake->draining = last > 0;
    fake->reaps++;
    if (!call(fake, error, NULL, NULL)) {
        return false;
    }
    bool read = operation.kind == TARGET_READ;
    size_t missing = read && fake->short_reads ? operation.size / 2 : 0;
    operation.size -= missing;
    fake->reads_pending -= read;
    move_data(fake, &operation);
    *completion = (struct target_completion){.tag = operation.tag,
                                             .missing = missing,
                                             .submitted_ns = 7,
                                             .sent_ns = 7,
                                             .completed_ns = 7 + fake->service_ns};
    return true;
}

static bool account(struct target *target, struct target_account *account, struct error *error)
{
    struct fake_target *fake = self(target);
    assert_int_equal(fake->pending_count, 0);
    fake->accounts++;
    *account = (struct target_account){.waited_ns = fake->waited_ns};
    fake->waited_ns += fake->waiting_step;
    return call(fake, error, fake->log_accounts ? "account" : NULL, NULL);
}

static bool idle(struct target *target, uint64_t deadline_ns, int fd, bool *readable,
                 struct error *error)
{
    struct fake_target *fake = self(target);
    uint64_t now = clock_now_ns();
    assert_int_equal(fd, -1);
    assert_int_equal(fake->pending_count, 0);
    fake->idle_ns += deadline_ns > now ? deadline_ns - now : 0;
    *readable = false;
    return call(fake, error, "idle", NULL);
}

/* ---- Files ---- */

struct target_file *fake_find(struct fake_target *fake, enum target_place place, const char *name)
{
    bool one_place = !fake->target.facts.second_place;
    for (size_t i = 0; i < FAKE_FILES; i++) {
        struct target_file *file = &fake->files[i];
        if (file->name[0] != '\0' && strcmp(file->name, name) == 0 &&
            (one_place || file->place == place)) {
            return file;
        }
    }
    return NULL;
}

struct target_file *fake_file(struct fake_target *fake, enum target_place place, const char *name,
                              uint64_t size)
{
    for (size_t i = 0; i < FAKE_FILES; i++) {
        struct target_file *file = &fake->files[i];
        if (file->name[0] == '\0') {
            *file = (struct target_file){.place = place};
            snprintf(file->name, sizeof file->name, "%s", name);
            grow(file, size);
            return file;
        }
    }
    fail_msg("too many files");
    return NULL;
}

static bool create_file(struct target *target, enum target_place place, const char *name,
                        struct error *error)
{
    struct fake_target *fake = self(target);
    if (!call(fake, error, "create", name)) {
        return false;
    }
    if (fake_find(fake, place, name) != NULL) {
        return error_set(error, ERROR_AFP, -5017, "'%s' exists", name);
    }
    fake_file(fake, place, name, 0);
    return true;
}

static bool open_file(struct target *target, enum target_place place, const char *name,
                      struct target_file **file, struct error *error)
{
    struct fake_target *fake = self(target);
    if (!call(fake, error, "open", name)) {
        return false;
    }
    struct target_file *found = fake_find(fake, place, name);
    if (found == NULL) {
        return error_set(error, ERROR_AFP, -5018, "there is no '%s'", name);
    }
    assert_false(found->open);
    found->open = true;
    *file = found;
    return true;
}

static void forget(struct target_file *file)
{
    free(file->bytes);
    free(file->moved);
    *file = (struct target_file){.name = ""};
}

static bool remove_file(struct target *target, enum target_place place, const char *name,
                        struct error *error)
{
    struct fake_target *fake = self(target);
    if (!call(fake, error, "remove", name)) {
        return false;
    }
    struct target_file *found = fake_find(fake, place, name);
    if (found == NULL) {
        return error_set(error, ERROR_AFP, -5018, "there is no '%s'", name);
    }
    assert_false(found->read_only); /* a file of the user's */
    assert_false(found->open);
    forget(found);
    return true;
}

static bool open_existing(struct target *target, const char *name, struct target_file **file,
                          uint64_t *size_bytes, struct error *error)
{
    struct fake_target *fake = self(target);
    if (!call(fake, error, "existing", name)) {
        return false;
    }
    struct target_file *found = fake_find(fake, TARGET_FIRST, name);
    if (found == NULL) {
        return error_set(error, ERROR_AFP, -5018, "there is no '%s'", name);
    }
    found->open = true;
    found->read_only = true;
    *file = found;
    *size_bytes = found->size;
    return true;
}

static bool close_file(struct target *target, struct target_file *file, struct error *error)
{
    assert_true(file->open);
    file->open = false;
    return call(self(target), error, "close", file->name);
}

static bool set_length(struct target *target, struct target_file *file, uint64_t size_bytes,
                       struct error *error)
{
    assert_true(file->open && !file->read_only);
    grow(file, size_bytes);
    return call(self(target), error, "length", file->name);
}

static bool cool(struct target *target, struct target_file *file, enum cache_state *state,
                 struct error *error)
{
    struct fake_target *fake = self(target);
    assert_true(file->open);
    assert_int_equal(fake->pending_count, 0);
    *state = ++fake->cools == fake->warm_cool ? CACHE_CLIENT_WARM : fake->cooled;
    return call(fake, error, NULL, NULL);
}

static bool flush(struct target *target, struct target_file *file, struct error *error)
{
    assert_true(file->open);
    assert_int_equal(self(target)->pending_count, 0);
    return call(self(target), error, "flush", file->name);
}

static bool server_copy(struct target *target, const char *name, enum target_place place,
                        const char *new_name, struct error *error)
{
    struct fake_target *fake = self(target);
    if (!call(fake, error, "copy", new_name)) {
        return false;
    }
    const struct target_file *source = fake_find(fake, TARGET_FIRST, name);
    assert_non_null(source);
    assert_false(source->open); /* the server wants to deny writers */
    if (fake_find(fake, place, new_name) != NULL) {
        return error_set(error, ERROR_AFP, -5017, "'%s' exists", new_name);
    }
    struct target_file *copy = fake_file(fake, place, new_name, source->size);
    memcpy(copy->bytes, source->bytes, source->size);
    return true;
}

static bool free_space(struct target *target, enum target_place place, uint64_t *free_bytes,
                       bool *exact, struct error *error)
{
    struct fake_target *fake = self(target);
    *free_bytes = fake->free_bytes[place];
    *exact = fake->free_exact;
    return call(fake, error, place == TARGET_FIRST ? "free:1" : "free:2", NULL);
}

static bool clean_up(struct target *target, uint64_t deadline_ns, struct error *error)
{
    struct fake_target *fake = self(target);
    fake->pending_count = 0;
    for (size_t i = 0; i < FAKE_FILES; i++) {
        fake->files[i].open = false;
        if (!fake->files[i].read_only) {
            forget(&fake->files[i]);
        }
    }
    return true;
}

/* ---- Beginning and end ---- */

static const struct target_ops fake_ops = {
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
    .server_copy = server_copy,
    .free_space = free_space,
    .clean_up = clean_up,
};

struct fake_target *fake_target_new(void)
{
    struct fake_target *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->target.ops = &fake_ops;
    fake->target.facts = (struct target_facts){.alignment = 1,
                                               .read_chunk = 1000,
                                               .write_chunk = 980,
                                               .chunk_limit = 1000,
                                               .size_limit = INT64_MAX,
                                               .server_copy = true,
                                               .second_place = true};
    fake->free_bytes[TARGET_FIRST] = fake->free_bytes[TARGET_SECOND] = UINT64_C(1) << 40;
    fake->free_exact = true;
    fake->cooled = CACHE_SERVER_WARM;
    return fake;
}

void fake_target_reset(struct fake_target *fake)
{
    fake->calls = fake->fail_at = fake->accounts = fake->cools = 0;
    fake->pending_count = fake->depth = fake->reads_pending = 0;
    fake->random = 1;
    fake->log[0] = '\0';
    fake->most_pending = fake->most_reads = 0;
    fake->submits = fake->reaps = fake->short_reaps = 0;
    fake->draining = fake->submitted_in_drain = fake->discarded = fake->buffered = false;
    fake->idle_ns = 0;
}

void fake_target_free(struct fake_target *fake)
{
    for (size_t i = 0; i < FAKE_FILES; i++) {
        forget(&fake->files[i]);
    }
    free(fake);
}
