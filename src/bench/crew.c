#include "bench/crew.h"

#include "base/memory.h"

#include <pthread.h>

struct member {
    struct crew *crew;
    void *worker;
    pthread_t thread;
    bool ok;
    struct error error;
};

struct crew {
    size_t count;
    size_t started;          /* threads that exist */
    bool whole;              /* all of them do: the barrier waits for a fixed number */
    pthread_mutex_t hiring;  /* held until `whole` is known */
    crew_function *function; /* NULL: go home */
    /* Passed twice in each step: all begin, all have finished. The barrier also hands `function`
     * and the members' results from one thread to the other. */
    pthread_barrier_t barrier;
    struct member members[];
};

static void *work(void *context)
{
    struct member *member = context;
    struct crew *crew = member->crew;
    pthread_mutex_lock(&crew->hiring);
    bool whole = crew->whole;
    pthread_mutex_unlock(&crew->hiring);
    while (whole) {
        pthread_barrier_wait(&crew->barrier);
        if (crew->function == NULL) {
            return NULL;
        }
        member->ok = crew->function(member->worker, &member->error);
        pthread_barrier_wait(&crew->barrier);
    }
    return NULL;
}

/* All threads or none. */
static bool hire(struct crew *crew, struct error *error)
{
    int code = pthread_barrier_init(&crew->barrier, NULL, (unsigned)crew->count + 1);
    pthread_mutex_lock(&crew->hiring);
    while (code == 0 && crew->started < crew->count) {
        struct member *member = &crew->members[crew->started];
        code = pthread_create(&member->thread, NULL, work, member);
        crew->started += code == 0;
    }
    crew->whole = code == 0;
    pthread_mutex_unlock(&crew->hiring);
    if (code == 0) {
        return true;
    }
    for (size_t i = 0; i < crew->started; i++) {
        pthread_join(crew->members[i].thread, NULL);
    }
    return error_set_errno(error, code, "cannot start a thread for each of %zu sessions",
                           crew->count);
}

bool crew_start(struct crew **result, void *workers, size_t count, size_t size, struct error *error)
{
    struct crew *crew = memory_allocate(1, sizeof *crew + count * sizeof(struct member));
    if (crew == NULL) {
        return memory_error(error, "for the sessions' threads");
    }
    crew->count = count;
    for (size_t i = 0; i < count; i++) {
        crew->members[i].crew = crew;
        crew->members[i].worker = (char *)workers + i * size;
    }
    *result = crew;
    if (count == 1) {
        return true;
    }
    pthread_mutex_init(&crew->hiring, NULL);
    if (!hire(crew, error)) {
        memory_release(crew);
        *result = NULL;
        return false;
    }
    return true;
}

bool crew_step(struct crew *crew, crew_function *function, struct error *error)
{
    if (crew->count == 1) {
        return function(crew->members[0].worker, error);
    }
    crew->function = function;
    pthread_barrier_wait(&crew->barrier);
    pthread_barrier_wait(&crew->barrier);
    for (size_t i = 0; i < crew->count; i++) {
        if (!crew->members[i].ok) {
            *error = crew->members[i].error;
            return false;
        }
    }
    return true;
}

void crew_end(struct crew *crew)
{
    if (crew == NULL) {
        return;
    }
    if (crew->count > 1) {
        crew->function = NULL;
        pthread_barrier_wait(&crew->barrier);
        for (size_t i = 0; i < crew->count; i++) {
            pthread_join(crew->members[i].thread, NULL);
        }
        pthread_barrier_destroy(&crew->barrier);
        pthread_mutex_destroy(&crew->hiring);
    }
    memory_release(crew);
}
