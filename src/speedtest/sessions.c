#include "speedtest/sessions.h"

#include "base/clock.h"
#include "base/memory.h"
#include "target/afp_target.h"
#include "target/posix_target.h"

#define KEEP_ALIVE_NS (5 * NS_PER_S)

static bool open_directory(struct target **target, const struct afp_client_config *config,
                           const struct speedtest_settings *settings, struct error *error)
{
    struct posix_options options = {.directory = settings->volume,
                                    .second_directory = settings->second_volume,
                                    .direct = settings->direct,
                                    .interrupt = config->dsi.interrupt};
    return posix_target_open(target, &options, error);
}

static bool open_volume(struct target **target, const struct afp_client_config *config,
                        const struct speedtest_settings *settings, struct error *error)
{
    struct afp_client *client;
    if (!afp_client_open(&client, config, error)) {
        return false;
    }
    bool ok = afp_target_open(target, client, settings->volume, settings->second_volume,
                              settings->volume_password, error);
    if (!ok) {
        afp_client_close(client);
    }
    return ok;
}

/* Nothing else here or above asks which kind it is. */
static bool open_target(struct target **target, const struct afp_client_config *config,
                        const struct speedtest_settings *settings, struct error *error)
{
    return settings->posix ? open_directory(target, config, settings, error)
                           : open_volume(target, config, settings, error);
}

/* Those that are open wait until the others are as well: for longer than a server waits for them,
 * where logins are slow. Their failure is told by their first request. */
static void keep_alive(struct speedtest_sessions *sessions, uint64_t *next_ns)
{
    uint64_t now = clock_now_ns();
    for (size_t i = 0; i < sessions->count && now >= *next_ns; i++) {
        struct target *target = sessions->targets[i];
        struct error ignored;
        bool readable;
        best_effort(target->ops->idle(target, clock_now_ns() + NS_PER_MS, -1, &readable, &ignored));
    }
    *next_ns = now >= *next_ns ? now + KEEP_ALIVE_NS : *next_ns;
}

bool speedtest_sessions_open(struct speedtest_sessions *sessions,
                             const struct afp_client_config *config,
                             const struct speedtest_settings *settings, struct error *error)
{
    sessions->runs = memory_allocate(settings->sessions, sizeof *sessions->runs);
    if (sessions->runs == NULL) {
        return memory_error(error, "for the sessions");
    }
    uint64_t next_ns = clock_now_ns() + KEEP_ALIVE_NS;
    for (uint32_t i = 0; i < settings->sessions; i++) {
        keep_alive(sessions, &next_ns);
        if (!open_target(&sessions->targets[i], config, settings, error)) {
            return settings->sessions == 1 || error->domain == ERROR_INTERRUPTED
                       ? false
                       : error_prefix(error, "session %u of %u", (unsigned)i + 1,
                                      (unsigned)settings->sessions);
        }
        sessions->count++;
    }
    return true;
}

void speedtest_sessions_close(struct speedtest_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++) {
        sessions->targets[i]->ops->close(sessions->targets[i]);
    }
    memory_release(sessions->runs);
    sessions->runs = NULL;
    sessions->count = 0;
}

bool speedtest_sessions_await(const struct speedtest_sessions *sessions, int fd,
                              uint64_t deadline_ns, bool *readable, struct error *error)
{
    *readable = false;
    for (size_t i = 0; !*readable && clock_now_ns() < deadline_ns; i = (i + 1) % sessions->count) {
        struct target *target = sessions->targets[i];
        uint64_t turn_ns = clock_now_ns() + NS_PER_S;
        if (!target->ops->idle(target, turn_ns < deadline_ns ? turn_ns : deadline_ns, fd, readable,
                               error)) {
            return false;
        }
    }
    return true;
}

bool speedtest_sessions_busy(const struct speedtest_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++) {
        const struct target *target = sessions->targets[i];
        if (target->ops->busy != NULL && target->ops->busy(target)) {
            return true;
        }
    }
    return false;
}
