#include "workload/crew.h"

#include "base/clock.h"
#include "base/memory.h"

#include <pthread.h>

struct member {
    struct crew *crew;
    void *worker;
    pthread_t thread;
    bool ok;   /* of the last step */
    bool lost; /* the care failed, with `error` */
    struct error error;
};

struct crew {
    size_t count;
    size_t started; /* threads that exist */
    struct crew_care care;
    pthread_mutex_t mutex;
    pthread_cond_t change;     /* of what follows, which the mutex guards */
    bool whole;                /* all threads exist: the barrier waits for a fixed number */
    unsigned long step;        /* counts them */
    crew_function *function;   /* of this step; NULL: go home */
    size_t finished;           /* members that have done it */
    pthread_barrier_t barrier; /* all begin: nobody waits for the mutex any more */
    struct member members[];
};

/* ---- The workers' side ---- */

/* A moment after now, for pthread_cond_timedwait(). */
static struct timespec after(uint64_t interval_ns)
{
    uint64_t then = clock_now_ns() + interval_ns;
    return (struct timespec){.tv_sec = (time_t)(then / NS_PER_S),
                             .tv_nsec = (long)(then % NS_PER_S)};
}

static void take_care(struct member *member)
{
    struct crew *crew = member->crew;
    if (member->ok && !member->lost) {
        pthread_mutex_unlock(&crew->mutex);
        member->lost = !crew->care.function(member->worker, &member->error);
        pthread_mutex_lock(&crew->mutex);
    }
}

/* Waits for a step after `done`. The mutex is held. */
static void await_step(struct member *member, unsigned long done)
{
    struct crew *crew = member->crew;
    struct timespec next = after(crew->care.interval_ns);
    while (crew->step == done) {
        if (pthread_cond_timedwait(&crew->change, &crew->mutex, &next) != 0) {
            take_care(member);
            next = after(crew->care.interval_ns);
        }
    }
}

/* A member that is lost or failed still comes to every barrier: the others wait there for it. */
static void *work(void *context)
{
    struct member *member = context;
    struct crew *crew = member->crew;
    pthread_mutex_lock(&crew->mutex);
    for (unsigned long step = 0; crew->whole; step++) {
        await_step(member, step);
        crew_function *function = crew->function;
        if (function == NULL) {
            break;
        }
        pthread_mutex_unlock(&crew->mutex);
        pthread_barrier_wait(&crew->barrier);
        bool ok = !member->lost && function(member->worker, &member->error);
        pthread_mutex_lock(&crew->mutex);
        member->ok = ok;
        crew->finished++;
        pthread_cond_broadcast(&crew->change);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

/* ---- The caller's side ---- */

static void dismiss(struct crew *crew)
{
    for (size_t i = 0; i < crew->started; i++) {
        pthread_join(crew->members[i].thread, NULL);
    }
    pthread_barrier_destroy(&crew->barrier);
    pthread_cond_destroy(&crew->change);
    pthread_mutex_destroy(&crew->mutex);
}

/* None of these needs anything that can run out. */
static void prepare(struct crew *crew)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_barrier_init(&crew->barrier, NULL, (unsigned)crew->count);
}

/* All threads or none. */
static bool hire(struct crew *crew, struct error *error)
{
    int code = 0;
    prepare(crew);
    pthread_mutex_lock(&crew->mutex); /* held until `whole` is known */
    while (code == 0 && crew->started < crew->count) {
        struct member *member = &crew->members[crew->started];
        code = pthread_create(&member->thread, NULL, work, member);
        crew->started += code == 0;
    }
    crew->whole = code == 0;
    pthread_mutex_unlock(&crew->mutex);
    if (code == 0) {
        return true;
    }
    dismiss(crew);
    return error_set_errno(error, code, "cannot start a thread for each of %zu sessions",
                           crew->count);
}

bool crew_start(struct crew **result, void *workers, size_t count, size_t size,
                const struct crew_care *care, struct error *error)
{
    struct crew *crew = memory_allocate(1, sizeof *crew + count * sizeof(struct member));
    if (crew == NULL) {
        return memory_error(error, "for the sessions' threads");
    }
    crew->count = count;
    crew->care = *care;
    for (size_t i = 0; i < count; i++) {
        crew->members[i].crew = crew;
        crew->members[i].worker = (char *)workers + i * size;
        crew->members[i].ok = true;
    }
    *result = crew;
    if (count == 1 || hire(crew, error)) {
        return true;
    }
    memory_release(crew);
    *result = NULL;
    return false;
}

/* Tells the members what comes. The mutex is held. */
static void announce(struct crew *crew, crew_function *function)
{
    crew->function = function;
    crew->finished = 0;
    crew->step++;
    pthread_cond_broadcast(&crew->change);
}

bool crew_step(struct crew *crew, crew_function *function, struct error *error)
{
    if (crew->count == 1) {
        return function(crew->members[0].worker, error);
    }
    bool ok = true;
    pthread_mutex_lock(&crew->mutex);
    announce(crew, function);
    while (crew->finished < crew->count) {
        pthread_cond_wait(&crew->change, &crew->mutex);
    }
    for (size_t i = 0; ok && i < crew->count; i++) {
        ok = crew->members[i].ok;
        if (!ok) {
            *error = crew->members[i].error;
        }
    }
    pthread_mutex_unlock(&crew->mutex);
    return ok;
}

void crew_end(struct crew *crew)
{
    if (crew == NULL) {
        return;
    }
    if (crew->count > 1) {
        pthread_mutex_lock(&crew->mutex);
        announce(crew, NULL);
        pthread_mutex_unlock(&crew->mutex);
        dismiss(crew);
    }
    memory_release(crew);
}
