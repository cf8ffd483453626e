#include "speedtest/sessions.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>

#define KEEP_ALIVE_NS (5 * NS_PER_S)

static bool open_directory(struct speedtest_sessions *sessions,
                           const struct afp_client_config *config,
                           const struct speedtest_settings *settings, struct error *error)
{
    struct posix_options options = {.directory = settings->volume,
                                    .second_directory = settings->second_volume,
                                    .direct = settings->direct,
                                    .interrupt = config->dsi.interrupt};
    return posix_target_open(&sessions->targets[sessions->count], &options, error);
}

static bool open_volume(struct speedtest_sessions *sessions, const struct afp_client_config *config,
                        const struct speedtest_settings *settings, struct error *error)
{
    size_t index = sessions->count;
    if (!afp_client_open(&sessions->clients[index], config, error)) {
        return false;
    }
    if (!afp_target_open(&sessions->targets[index], sessions->clients[index], settings->volume,
                         settings->second_volume, settings->volume_password, error)) {
        afp_client_close(sessions->clients[index]);
        return false;
    }
    return true;
}

static bool open_one(struct speedtest_sessions *sessions, const struct afp_client_config *config,
                     const struct speedtest_settings *settings, struct error *error)
{
    bool ok = settings->posix ? open_directory(sessions, config, settings, error)
                              : open_volume(sessions, config, settings, error);
    sessions->count += ok;
    return ok;
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
        bool alive = target->ops->idle(target, clock_now_ns() + NS_PER_MS, -1, &readable, &ignored);
        (void)alive;
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
        if (!open_one(sessions, config, settings, error)) {
            return settings->sessions == 1 || error->domain == ERROR_INTERRUPTED
                       ? false
                       : error_prefix(error, "session %u of %u", (unsigned)i + 1,
                                      (unsigned)settings->sessions);
        }
    }
    return true;
}

void speedtest_sessions_close(struct speedtest_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++) {
        if (sessions->clients[i] == NULL) {
            posix_target_close(sessions->targets[i]);
            continue;
        }
        afp_target_close(sessions->targets[i]);
        afp_client_close(sessions->clients[i]);
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
        if (sessions->clients[i] != NULL &&
            dsi_outstanding(afp_client_session(sessions->clients[i])) > 0) {
            return true;
        }
    }
    return false;
}

static void copy_span(char *to, size_t size, struct span from)
{
    snprintf(to, size, "%.*s", (int)from.size, from.size > 0 ? (const char *)from.data : "");
}

static void describe_server(struct afp_client *client, struct conditions *conditions)
{
    const struct afp_server_info *info = afp_client_server(client);
    snprintf(conditions->peer, sizeof conditions->peer, "%s", dsi_peer(afp_client_session(client)));
    copy_span(conditions->server_name, sizeof conditions->server_name,
              info->utf8_name.size > 0 ? info->utf8_name : info->server_name);
    copy_span(conditions->machine_type, sizeof conditions->machine_type, info->machine_type);
    conditions->version_count = info->versions.count;
    for (uint8_t i = 0; i < info->versions.count; i++) {
        copy_span(conditions->versions[i].text, sizeof conditions->versions[i].text,
                  info->versions.items[i]);
    }
    conditions->login_method_count = info->uams.count;
    for (uint8_t i = 0; i < info->uams.count; i++) {
        copy_span(conditions->login_methods[i].text, sizeof conditions->login_methods[i].text,
                  info->uams.items[i]);
    }
    conditions->server_flags = info->flags;
    conditions->quantum_offered_bytes = afp_client_quantum(client);
    conditions->afp_version = afp_version_entry(afp_client_version(client))->string;
    conditions->login_method = afp_client_uam(client)->name;
}

static void describe_directory(const struct target *target,
                               const struct speedtest_settings *settings,
                               struct conditions *conditions)
{
    const struct posix_facts *facts = posix_target_facts(target);
    conditions->directory = settings->volume;
    conditions->second_directory = settings->second_volume;
    conditions->direct = facts->direct;
    snprintf(conditions->file_system, sizeof conditions->file_system, "%s", facts->file_system[0]);
}

void speedtest_sessions_describe(const struct speedtest_sessions *sessions,
                                 const struct speedtest_settings *settings,
                                 struct conditions *conditions)
{
    if (sessions->clients[0] != NULL) {
        describe_server(sessions->clients[0], conditions);
        conditions->reference_store = settings->refserver_store;
        conditions->second_volume = sessions->targets[0]->facts.second_place;
    } else {
        describe_directory(sessions->targets[0], settings, conditions);
    }
}

bool speedtest_sessions_note(const struct speedtest_sessions *sessions, size_t index, char *text,
                             size_t size)
{
    if (sessions->clients[0] != NULL) {
        return false;
    }
    const struct posix_facts *facts = posix_target_facts(sessions->targets[0]);
    const char *file_system = facts->file_system[0];
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
            snprintf(text, size, "%s%s%s", notes[i].before, file_system, notes[i].after);
            return true;
        }
    }
    return false;
}
