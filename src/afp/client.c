#include "afp/client.h"

#include "afp/login_method.h"
#include "afp/name.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

struct afp_client {
    struct dsi_session *session;
    struct afp_description description;
    enum afp_version version;
    const struct uam *uam;
    uint32_t quantum;
    uint32_t server_time; /* in AFP's seconds (3.2), when it was asked last; 0: it does not tell */
    uint64_t server_time_ns; /* our clock then */
    bool extended_login;     /* with FPLoginExt */
    bool logged_in;
};

/* ---- One request and its reply ---- */

struct exchange {
    struct wire out;
    struct wire in;
    int32_t result;
    struct name_buffer names[3]; /* that paths of the request point to */
    size_t name_count;
    bool secret; /* the request holds a password */
    uint8_t block[DSI_BLOCK_LIMIT];
    uint8_t answer[DSI_BLOCK_LIMIT];
};

static void exchange_begin(struct exchange *exchange)
{
    exchange->out = wire_encoder(exchange->block, sizeof exchange->block);
    exchange->name_count = 0;
    exchange->secret = false;
}

/* Sends what was encoded; `in` then stands at the reply's payload. */
static bool exchange_run(struct dsi_session *session, struct exchange *exchange, bool patient,
                         struct error *error)
{
    if (!wire_ok(&exchange->out)) {
        return error_set(error, ERROR_LIMIT, 0, "a name is too long for %s",
                         afp_command_name(exchange->block[0]));
    }
    struct dsi_request request = {.command = DSI_COMMAND,
                                  .name = afp_command_name(exchange->block[0]),
                                  .block = {exchange->block, exchange->out.at},
                                  .reply = exchange->answer,
                                  .reply_capacity = sizeof exchange->answer,
                                  .patient = patient,
                                  .secret = exchange->secret,
                                  .tag = exchange->block[0]};
    struct dsi_reply reply;
    if (!dsi_call(session, &request, &reply, error)) {
        return false;
    }
    size_t length = reply.reply_length;
    exchange->in =
        wire_decoder(exchange->answer,
                     length < sizeof exchange->answer ? length : sizeof exchange->answer);
    exchange->result = reply.result;
    return true;
}

static bool malformed(struct afp_client *client, const struct exchange *exchange,
                      struct error *error)
{
    return error_set(error, ERROR_PROTOCOL, 0, "%s sent a malformed reply to %s",
                     dsi_peer(client->session), afp_command_name(exchange->block[0]));
}

/* Sends; refusals become an error: "cannot <what> '<name>': <result>". */
static bool request(struct afp_client *client, struct exchange *exchange, const char *what,
                    const char *name, struct error *error)
{
    bool patient = exchange->block[0] == AFP_COPY_FILE || exchange->block[0] == AFP_FLUSH_FORK;
    if (!exchange_run(client->session, exchange, patient, error)) {
        return error_prefix(error, "cannot %s%s%s%s", what, name != NULL ? " '" : "",
                            name != NULL ? name : "", name != NULL ? "'" : "");
    }
    if (exchange->result != AFP_OK) {
        return afp_error(error, exchange->result, "cannot %s%s%s%s (%s)", what,
                         name != NULL ? " '" : "", name != NULL ? name : "",
                         name != NULL ? "'" : "", afp_command_name(exchange->block[0]));
    }
    return true;
}

/* ---- Login ---- */

bool afp_describe_server(struct afp_description *description, const struct dsi_config *config,
                         struct error *error)
{
    struct dsi_session *session = NULL;
    size_t length;
    if (!dsi_connect(&session, config, error)) {
        return false;
    }
    bool ok =
        dsi_get_status(session, description->bytes, sizeof description->bytes, &length, error);
    if (ok) {
        struct wire in = wire_decoder(description->bytes, length);
        afp_server_info(&in, &description->info);
        ok = wire_ok(&in) || error_set(error, ERROR_PROTOCOL, 0,
                                       "%s sent a malformed description of itself (FPGetSrvrInfo)",
                                       dsi_peer(session));
    }
    dsi_close(session);
    return ok;
}

/* The first message of a login (4.1). A guest has no name. */
static bool encode_login(struct afp_client *client, struct exchange *exchange,
                         const struct uam_credentials *credentials, struct span auth,
                         struct error *error)
{
    struct name_buffer user = {.size = 0};
    if (client->uam->needs_password &&
        !name_encode(&user, credentials->user, NAME_OF_USER, client->version, error)) {
        return false;
    }
    struct span version = span_from_string(afp_version_entry(client->version)->string);
    struct span uam = login_method_name(client->uam, &client->description.info);
    if (client->extended_login) {
        struct afp_login_ext_request login = {0, version, uam, name_span(&user), auth};
        afp_login_ext_request(&exchange->out, &login);
    } else {
        struct afp_login_request login = {version, uam, name_span(&user), auth};
        afp_login_request(&exchange->out, &login);
    }
    return true;
}

static void append_names(char *text, size_t size, const struct afp_info_list *list)
{
    for (uint8_t i = 0; i < list->count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%.*s", i > 0 ? ", " : "", (int)list->items[i].size,
                 (const char *)list->items[i].data);
    }
}

/* A version, or a method, that is not among those the server lists. */
static bool not_taken(const struct afp_client *client, const char *wanted, int32_t result,
                      const char *result_name, const struct afp_info_list *list,
                      struct error *error)
{
    char offered[160] = "";
    append_names(offered, sizeof offered, list);
    return error_set(error, ERROR_AFP, result, "%s does not take %s: %s (%d); it offers %s",
                     dsi_peer(client->session), wanted, result_name, result,
                     offered[0] != '\0' ? offered : "none");
}

static bool login_refused(struct afp_client *client, const struct exchange *exchange,
                          const struct uam_credentials *credentials, struct error *error)
{
    const struct afp_server_info *info = &client->description.info;
    if (exchange->result == AFP_BAD_VERSION) {
        return not_taken(client, afp_version_entry(client->version)->label, exchange->result,
                         "BadVersNum", &info->versions, error);
    }
    if (exchange->result == AFP_BAD_UAM) {
        const char *wanted = client->uam == &uam_guest ? "guests" : client->uam->name;
        return not_taken(client, wanted, exchange->result, "BadUAM", &info->uams, error);
    }
    if (client->uam == &uam_guest) {
        return afp_error(error, exchange->result, "login as guest at %s failed",
                         dsi_peer(client->session));
    }
    return afp_error(error, exchange->result, "login of user '%s' at %s failed (%s)",
                     credentials->user, dsi_peer(client->session), client->uam->name);
}

/* Server and client take turns until the server accepts or refuses. */
static bool converse(struct afp_client *client, struct exchange *exchange, struct uam_state *state,
                     const struct uam_credentials *credentials, struct error *error)
{
    uint8_t bytes[UAM_MESSAGE_LIMIT];
    struct afp_login_continue turn = {0};
    bool ok = true;
    exchange->result = AFP_AUTH_CONTINUE;
    while (ok && exchange->result == AFP_AUTH_CONTINUE) {
        bool first = state->step == 0;
        struct wire auth = wire_encoder(bytes, sizeof bytes);
        ok = uam_client_turn(client->uam, state, credentials, turn.auth, &auth, error);
        if (ok) {
            exchange_begin(exchange);
            exchange->secret = true;
            turn.auth = (struct span){bytes, auth.at};
            if (first) {
                ok = encode_login(client, exchange, credentials, turn.auth, error);
            } else {
                afp_login_continue_request(&exchange->out, &turn);
            }
            ok = ok && exchange_run(client->session, exchange, false, error);
        }
        if (ok && exchange->result == AFP_AUTH_CONTINUE) {
            afp_login_challenge(&exchange->in, &turn);
            ok = wire_ok(&exchange->in) || malformed(client, exchange, error);
        }
    }
    memory_wipe(bytes, sizeof bytes);
    return ok;
}

/* The name as a server's password file has it, which SRP makes part of the proof: composed. */
static const char *compose_user(char user[AFP_NAME_LIMIT_UTF8 + 1], const char *typed)
{
    struct name_buffer name;
    if (typed == NULL || !name_compose(&name, span_from_string(typed))) {
        return typed; /* encode_login() says what is wrong with it */
    }
    memcpy(user, name.bytes, name.size);
    user[name.size] = '\0';
    return user;
}

static bool run_login(struct afp_client *client, const struct uam_credentials *credentials,
                      struct error *error)
{
    struct uam_state state = {0};
    struct exchange exchange;
    char user[AFP_NAME_LIMIT_UTF8 + 1];
    struct uam_credentials own = *credentials;
    own.user = compose_user(user, credentials->user);
    bool ok = converse(client, &exchange, &state, &own, error);
    if (!ok) {
        error_prefix(error, "login");
    } else if (exchange.result != AFP_OK) {
        ok = login_refused(client, &exchange, credentials, error);
    } else {
        struct span proof = {exchange.answer, exchange.in.size};
        ok = uam_client_end(client->uam, &state, proof, error) || error_prefix(error, "login");
    }
    memory_wipe(exchange.block, sizeof exchange.block);
    uam_state_wipe(&state);
    client->logged_in = ok;
    return ok;
}

/* The method and the version, from what was asked for and what the server offers. */
static bool choose(struct afp_client *client, const struct uam_credentials *credentials,
                   struct error *error)
{
    const struct afp_server_info *info = &client->description.info;
    if (client->version == AFP_HIGHEST && !afp_highest_version(info, &client->version)) {
        char offered[160] = "";
        append_names(offered, sizeof offered, &info->versions);
        return error_set(
            error, ERROR_LIMIT, 0,
            "no AFP version in common: the server offers %s; this program has %s to %s",
            offered[0] != '\0' ? offered : "none", afp_versions[0].string,
            afp_versions[AFP_VERSION_COUNT - 1].string);
    }
    client->extended_login = client->version >= AFP_3_0;
    return client->uam != NULL || (login_method_choose(&client->uam, info, error) &&
                                   uam_password_fits(client->uam, credentials, error));
}

static bool connect_and_login(struct afp_client *client, const struct afp_client_config *config,
                              struct error *error)
{
    return dsi_connect(&client->session, &config->dsi, error) &&
           dsi_open(client->session, &client->quantum, error) &&
           run_login(client, &config->credentials, error);
}

/* Logs in; again with FPLogin where the server does not know FPLoginExt, on a new connection, for
 * it ends the one of a failed login (4.1). */
static bool login_either_way(struct afp_client *client, const struct afp_client_config *config,
                             struct error *error)
{
    struct error first;
    if (connect_and_login(client, config, &first)) {
        return true;
    }
    if (!client->extended_login || first.domain != ERROR_AFP ||
        first.code != AFP_CALL_NOT_SUPPORTED) {
        *error = first;
        return false;
    }
    dsi_close(client->session);
    client->session = NULL;
    client->extended_login = false;
    return connect_and_login(client, config, error);
}

/* A user that the server does not know under this method; the password has not been judged where
 * the method needs a record that the user may not have. */
static bool lacks_record(const struct uam *uam, const struct error *error)
{
    return uam->own_record && error->domain == ERROR_AFP &&
           (error->code == AFP_NOT_AUTHENTICATED || error->code == AFP_PARAMETER_ERROR);
}

/* Logs in by the method that was asked for, or else by one after the other of those that both sides
 * have, as long as nothing but a missing record may stand in the way. */
static bool login_any_method(struct afp_client *client, const struct afp_client_config *config,
                             struct error *error)
{
    const struct afp_server_info *info = &client->description.info;
    char refused[160] = "";
    while (!login_either_way(client, config, error)) {
        const struct uam *next = config->uam == NULL ? login_method_after(client->uam, info) : NULL;
        struct error misfit;
        if (!lacks_record(client->uam, error) || next == NULL ||
            !uam_password_fits(next, &config->credentials, &misfit)) {
            return refused[0] != '\0' && error_append(error, "; before that %s", refused);
        }
        size_t used = strlen(refused);
        snprintf(refused + used, sizeof refused - used, "%s%s: %s (%d)", used > 0 ? ", " : "",
                 client->uam->name, afp_result_name(error->code), error->code);
        dsi_close(client->session);
        client->session = NULL;
        client->uam = next;
    }
    return true;
}

bool afp_client_open(struct afp_client **result, const struct afp_client_config *config,
                     struct error *error)
{
    if (config->uam != NULL && !uam_password_fits(config->uam, &config->credentials, error)) {
        return false;
    }
    struct afp_client *client = memory_allocate(1, sizeof *client);
    if (client == NULL) {
        return memory_error(error, "for an AFP session");
    }
    client->version = config->version;
    client->uam = config->uam;
    if (!afp_describe_server(&client->description, &config->dsi, error) ||
        !choose(client, &config->credentials, error) || !login_any_method(client, config, error)) {
        afp_client_close(client);
        return false;
    }
    *result = client;
    return true;
}

void afp_client_close(struct afp_client *client)
{
    if (client == NULL) {
        return;
    }
    if (client->logged_in && dsi_ready(client->session)) {
        struct exchange exchange;
        struct error ignored; /* the session ends in any case */
        exchange_begin(&exchange);
        afp_plain_request(&exchange.out, AFP_LOGOUT);
        best_effort(exchange_run(client->session, &exchange, false, &ignored));
    }
    dsi_close(client->session);
    memory_release(client);
}

bool afp_client_claim_session(struct afp_client *client, const char *id, uint32_t timestamp,
                              struct error *error)
{
    struct afp_session_token_request message = {
        .type = 3, .timestamp = timestamp, .client_id = span_from_string(id)};
    struct exchange exchange;
    if (client->version < AFP_3_0) {
        return true;
    }
    exchange_begin(&exchange);
    afp_session_token_request(&exchange.out, &message);
    return exchange_run(client->session, &exchange, false, error);
}

/* ---- Facts ---- */

struct dsi_session *afp_client_session(struct afp_client *client)
{
    return client->session;
}

const struct afp_server_info *afp_client_server(const struct afp_client *client)
{
    return &client->description.info;
}

enum afp_version afp_client_version(const struct afp_client *client)
{
    return client->version;
}

const struct uam *afp_client_uam(const struct afp_client *client)
{
    return client->uam;
}

uint32_t afp_client_quantum(const struct afp_client *client)
{
    return client->quantum;
}

uint32_t afp_client_write_chunk(const struct afp_client *client)
{
    return afp_write_chunk(client->description.info.machine_type, client->quantum, client->version);
}

uint64_t afp_client_size_limit(const struct afp_client *client)
{
    return client->version >= AFP_3_0 ? INT64_MAX : AFP_SHORT_SIZE_LIMIT;
}

enum afp_command afp_client_read_command(const struct afp_client *client)
{
    return client->version >= AFP_3_0 ? AFP_READ_EXT : AFP_READ;
}

enum afp_command afp_client_write_command(const struct afp_client *client)
{
    return client->version >= AFP_3_0 ? AFP_WRITE_EXT : AFP_WRITE;
}

/* ---- Names ---- */

/* A name as a path of the session's kind (2.3); the exchange keeps its bytes. */
static bool make_path(const struct afp_client *client, struct exchange *exchange, const char *name,
                      struct afp_path *path, struct error *error)
{
    struct name_buffer *encoded = &exchange->names[exchange->name_count++];
    if (!name_encode(encoded, name, NAME_OF_FILE, client->version, error)) {
        return false;
    }
    *path = (struct afp_path){
        .type = client->version >= AFP_3_0 ? AFP_PATH_UTF8 : AFP_PATH_LONG,
        .hint = AFP_TEXT_HINT_UTF8,
        .name = name_span(encoded),
    };
    return true;
}

/* ---- Volumes ---- */

/* What FPGetSrvrParms says of a volume. */
struct listed_volume {
    bool listed;
    uint8_t flags;
    struct name_buffer name; /* as the server lists it, else as we would */
};

/* `sent` is the name in the form of the session's version: servers may list another. */
static bool is_same_name(const struct afp_client *client, struct span listed, struct span sent)
{
    return client->version >= AFP_3_0 ? name_equals(listed, sent) : span_equals(listed, sent);
}

/* A server that does not answer, or hides the volume, may open it all the same; where the list is
 * longer than a reply may be here, its end is missing. */
static bool look_up_volume(struct afp_client *client, const char *name,
                           struct listed_volume *volume, struct error *error)
{
    struct exchange exchange;
    *volume = (struct listed_volume){0};
    if (!name_encode(&volume->name, name, NAME_OF_VOLUME, client->version, error)) {
        return false;
    }
    exchange_begin(&exchange);
    afp_plain_request(&exchange.out, AFP_GET_SERVER_PARMS);
    if (!exchange_run(client->session, &exchange, false, error)) {
        return error_prefix(error, "cannot list the volumes");
    }
    struct afp_server_parms_reply head = {0};
    if (exchange.result == AFP_OK) {
        afp_server_parms_reply(&exchange.in, &head);
        client->server_time = head.time;
        client->server_time_ns = clock_now_ns();
    }
    for (uint8_t i = 0; i < head.count && !volume->listed; i++) {
        struct afp_server_parms_volume entry;
        afp_server_parms_volume(&exchange.in, &entry);
        if (!wire_ok(&exchange.in)) {
            return true;
        }
        if (is_same_name(client, entry.name, name_span(&volume->name))) {
            volume->listed = true;
            volume->flags = entry.flags;
            volume->name.size = entry.name.size;
            memcpy(volume->name.bytes, entry.name.data, entry.name.size);
        }
    }
    return true;
}

/* Says more of a volume that would not open. */
static bool volume_refused(struct afp_client *client, const char *name,
                           const struct listed_volume *volume, bool password_given,
                           struct error *error)
{
    if (error->domain != ERROR_AFP) {
        return false;
    }
    if (error->code == AFP_OBJECT_NOT_FOUND) {
        return error_set(error, ERROR_AFP, AFP_OBJECT_NOT_FOUND,
                         "there is no volume '%s' on %s: ObjectNotFound (%d)", name,
                         dsi_peer(client->session), AFP_OBJECT_NOT_FOUND);
    }
    if (error->code == AFP_ACCESS_DENIED && password_given) {
        return afp_error(error, AFP_ACCESS_DENIED, "the password for volume '%s' on %s is wrong",
                         name, dsi_peer(client->session));
    }
    if (error->code == AFP_ACCESS_DENIED && (volume->flags & AFP_LISTED_HAS_PASSWORD)) {
        return afp_error(error, AFP_ACCESS_DENIED, "volume '%s' on %s asks for a password", name,
                         dsi_peer(client->session)) ||
               error_remedy(error, REMEDY_VOLUME_PASSWORD);
    }
    return false;
}

bool afp_client_open_volume(struct afp_client *client, const char *name, const char *password,
                            uint16_t *volume, struct error *error)
{
    struct exchange exchange;
    struct listed_volume found;
    size_t length = password != NULL ? strlen(password) : 0;
    if (length > AFP_VOLUME_PASSWORD_SIZE) {
        return error_set(error, ERROR_USAGE, 0, "a volume's password has at most %d bytes",
                         AFP_VOLUME_PASSWORD_SIZE);
    }
    if (!look_up_volume(client, name, &found, error)) {
        return false;
    }
    /* A volume that is listed as open to all does not get to see the password. */
    bool open_to_all = found.listed && !(found.flags & AFP_LISTED_HAS_PASSWORD);
    struct afp_open_volume_request open = {.bitmap = AFP_VOLUME_ID,
                                           .name = name_span(&found.name),
                                           .has_password = length > 0 && !open_to_all};
    memcpy(open.password, length > 0 ? password : "", length);
    exchange_begin(&exchange);
    exchange.secret = open.has_password;
    afp_open_volume_request(&exchange.out, &open);
    bool ok = request(client, &exchange, "open volume", name, error);
    memory_wipe(open.password, sizeof open.password);
    memory_wipe(exchange.block, sizeof exchange.block);
    if (!ok) {
        return volume_refused(client, name, &found, open.has_password, error);
    }
    struct afp_volume_reply reply;
    afp_volume_reply(&exchange.in, &reply);
    if (!wire_ok(&exchange.in) || !(reply.bitmap & AFP_VOLUME_ID)) {
        exchange.block[0] = AFP_OPEN_VOLUME;
        return malformed(client, &exchange, error);
    }
    *volume = reply.parms.id;
    return true;
}

/* The commands that name one thing by its number and answer nothing. */
static bool id_request(struct afp_client *client, enum afp_command command, uint16_t id,
                       const char *what, struct error *error)
{
    struct exchange exchange;
    exchange_begin(&exchange);
    struct afp_id_request message = {.id = id};
    afp_id_request(&exchange.out, command, &message);
    return request(client, &exchange, what, NULL, error);
}

bool afp_client_close_volume(struct afp_client *client, uint16_t volume, struct error *error)
{
    return id_request(client, AFP_CLOSE_VOLUME, volume, "close the volume", error);
}

bool afp_client_free_space(struct afp_client *client, uint16_t volume, uint64_t *free_bytes,
                           struct error *error)
{
    bool wide = client->version >= AFP_2_2;
    struct exchange exchange;
    exchange_begin(&exchange);
    struct afp_get_volume_parms_request ask = {
        .volume = volume, .bitmap = wide ? AFP_VOLUME_FREE_EXT : AFP_VOLUME_FREE};
    afp_get_volume_parms_request(&exchange.out, &ask);
    if (!request(client, &exchange, "ask for free space", NULL, error)) {
        return false;
    }
    struct afp_volume_reply reply;
    afp_volume_reply(&exchange.in, &reply);
    if (!wire_ok(&exchange.in) || reply.bitmap != ask.bitmap) {
        return malformed(client, &exchange, error);
    }
    /* Old servers stop at 2 GiB - 1, Netatalk at 4 GiB - 1. */
    bool full = reply.parms.free_bytes >= AFP_SHORT_SIZE_LIMIT;
    uint64_t narrow = full ? UINT64_MAX : reply.parms.free_bytes;
    *free_bytes = wide ? reply.parms.free_bytes_ext : narrow;
    return true;
}

/* ---- Files and directories ---- */

static bool node_request(struct afp_client *client, struct exchange *exchange,
                         enum afp_command command, struct afp_place place, const char *name,
                         const char *what, struct error *error)
{
    struct afp_node_request message = {.volume = place.volume, .directory = place.directory};
    exchange_begin(exchange);
    if (!make_path(client, exchange, name, &message.path, error)) {
        return false;
    }
    afp_node_request(&exchange->out, command, &message);
    return request(client, exchange, what, name, error);
}

bool afp_client_create_directory(struct afp_client *client, struct afp_place place,
                                 const char *name, uint32_t *directory, struct error *error)
{
    struct exchange exchange;
    if (!node_request(client, &exchange, AFP_CREATE_DIRECTORY, place, name, "create directory",
                      error)) {
        return false;
    }
    afp_create_directory_reply(&exchange.in, directory);
    return wire_ok(&exchange.in) || malformed(client, &exchange, error);
}

bool afp_client_create_file(struct afp_client *client, struct afp_place place, const char *name,
                            struct error *error)
{
    struct exchange exchange;
    return node_request(client, &exchange, AFP_CREATE_FILE, place, name, "create file", error);
}

bool afp_client_delete(struct afp_client *client, struct afp_place place, const char *name,
                       struct error *error)
{
    struct exchange exchange;
    return node_request(client, &exchange, AFP_DELETE, place, name, "delete", error);
}

bool afp_client_copy_file(struct afp_client *client, struct afp_place source, const char *name,
                          struct afp_place target, const char *new_name, struct error *error)
{
    struct afp_copy_file_request message = {.source_volume = source.volume,
                                            .source_directory = source.directory,
                                            .target_volume = target.volume,
                                            .target_directory = target.directory};
    struct exchange exchange;
    exchange_begin(&exchange);
    if (!make_path(client, &exchange, name, &message.source, error) ||
        !make_path(client, &exchange, "", &message.target, error) ||
        !make_path(client, &exchange, new_name, &message.new_name, error)) {
        return false;
    }
    afp_copy_file_request(&exchange.out, &message);
    return request(client, &exchange, "let the server copy file", name, error);
}

static enum afp_command enumerate_command(const struct afp_client *client)
{
    if (client->version >= AFP_3_1) {
        return AFP_ENUMERATE_EXT2;
    }
    return client->version >= AFP_3_0 ? AFP_ENUMERATE_EXT : AFP_ENUMERATE;
}

/* The name in UTF-8; one that is none stays as it came, and nothing can be done with it. */
/* Dates are signed seconds of one clock, the server's: ours may go differently. */
static void set_age(const struct afp_client *client, struct afp_entry *entry, uint32_t modified)
{
    uint64_t since_s = (clock_now_ns() - client->server_time_ns) / NS_PER_S;
    int64_t age_s = (int64_t)(int32_t)client->server_time + (int64_t)since_s - (int32_t)modified;
    entry->age_known = client->server_time != 0;
    entry->age_s = age_s > 0 ? (uint64_t)age_s : 0;
}

static void entry_from_parms(const struct afp_client *client, struct afp_entry *entry,
                             const struct afp_enumerate_entry *found)
{
    struct name_buffer name;
    bool utf8 = client->version >= AFP_3_0;
    struct span listed = utf8 ? found->parms.utf8_name : found->parms.long_name;
    if (utf8 ? name_decompose(&name, listed) : name_from_mac(&name, listed)) {
        listed = name_span(&name);
    }
    size_t length = listed.size < sizeof entry->name ? listed.size : sizeof entry->name - 1;
    if (length > 0) {
        memcpy(entry->name, listed.data, length);
    }
    entry->name[length] = '\0';
    entry->kind = found->kind;
    entry->id = found->parms.id;
    set_age(client, entry, found->parms.modified);
}

bool afp_client_entry(struct afp_client *client, struct afp_place place, uint32_t index,
                      struct afp_entry *entry, bool *found, struct error *error)
{
    enum afp_command command = enumerate_command(client);
    uint16_t name_bit = client->version >= AFP_3_0 ? AFP_NODE_UTF8_NAME : AFP_NODE_LONG_NAME;
    uint16_t bitmap = (uint16_t)(AFP_NODE_ID | AFP_NODE_MODIFIED | name_bit);
    struct afp_enumerate_request ask = {.volume = place.volume,
                                        .directory = place.directory,
                                        .file_bitmap = bitmap,
                                        .directory_bitmap = bitmap,
                                        .count = 1,
                                        .start = index,
                                        .reply_limit = 1024};
    struct exchange exchange;
    exchange_begin(&exchange);
    if (!make_path(client, &exchange, "", &ask.path, error)) {
        return false;
    }
    afp_enumerate_request(&exchange.out, command, &ask);
    *found = true;
    /* A server says ObjectNotFound beyond the last entry. */
    if (!request(client, &exchange, "list a directory", NULL, error)) {
        *found = false;
        return error->domain == ERROR_AFP && error->code == AFP_OBJECT_NOT_FOUND;
    }
    struct afp_enumerate_reply head;
    struct afp_enumerate_entry first = {0};
    afp_enumerate_reply(&exchange.in, &head);
    afp_enumerate_entry(&exchange.in, command, &head, &first);
    if (!wire_ok(&exchange.in) || head.count == 0) {
        return malformed(client, &exchange, error);
    }
    entry_from_parms(client, entry, &first);
    return true;
}

/* ---- Forks ---- */

static uint16_t length_bit(const struct afp_client *client)
{
    return client->version >= AFP_3_0 ? AFP_FILE_DATA_LENGTH_EXT : AFP_FILE_DATA_LENGTH;
}

bool afp_client_open_fork(struct afp_client *client, struct afp_place place, const char *name,
                          uint16_t access, uint16_t *fork, uint64_t *length, struct error *error)
{
    struct afp_open_fork_request message = {.volume = place.volume,
                                            .directory = place.directory,
                                            .bitmap = length_bit(client),
                                            .access = access};
    struct exchange exchange;
    exchange_begin(&exchange);
    if (!make_path(client, &exchange, name, &message.path, error)) {
        return false;
    }
    afp_open_fork_request(&exchange.out, &message);
    if (!request(client, &exchange, "open file", name, error)) {
        return false;
    }
    struct afp_open_fork_reply reply = {0};
    afp_open_fork_reply(&exchange.in, &reply);
    *fork = reply.fork;
    *length = reply.parms.data_length;
    return wire_ok(&exchange.in) || malformed(client, &exchange, error);
}

bool afp_client_late_fork(struct afp_client *client, uint16_t *fork)
{
    struct dsi_reply late;
    struct span payload;
    if (!dsi_late_reply(client->session, &late, &payload) || late.tag != AFP_OPEN_FORK ||
        late.result != AFP_OK) {
        return false;
    }
    struct wire in = wire_decoder(payload.data, payload.size);
    struct afp_open_fork_reply reply = {0};
    afp_open_fork_reply(&in, &reply);
    *fork = reply.fork;
    return wire_ok(&in);
}

bool afp_client_close_fork(struct afp_client *client, uint16_t fork, struct error *error)
{
    return id_request(client, AFP_CLOSE_FORK, fork, "close a file", error);
}

bool afp_client_set_fork_length(struct afp_client *client, uint16_t fork, uint64_t length,
                                struct error *error)
{
    struct afp_set_fork_parms_request message = {
        .fork = fork, .bitmap = length_bit(client), .length = length};
    struct exchange exchange;
    exchange_begin(&exchange);
    afp_set_fork_parms_request(&exchange.out, &message);
    return request(client, &exchange, "set a file's length", NULL, error);
}

bool afp_client_flush_fork(struct afp_client *client, uint16_t fork, struct error *error)
{
    return id_request(client, AFP_FLUSH_FORK, fork, "flush a file", error);
}
