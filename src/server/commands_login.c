/* FPLogin, FPLoginExt, FPLoginCont, FPLogout: doc/protocol.md 4. */
#include "server/call.h"

#include <string.h>
#include <time.h>

/* The users of the configuration as the login methods look them up. */
static const struct server_user *find_user(const struct server_config *config, struct span name)
{
    for (size_t i = 0; i < config->user_count; i++) {
        if (name_equals(span_from_string(config->users[i].name), name)) {
            return &config->users[i];
        }
    }
    return NULL;
}

static const char *password_of(void *context, struct span user)
{
    const struct server_user *found = find_user(context, user);
    return found != NULL ? found->password : NULL;
}

/* 3.2: clients of 2.x see local time. */
static int32_t local_offset_s(void)
{
    time_t now = time(NULL);
    struct tm local;
    return localtime_r(&now, &local) != NULL ? (int32_t)local.tm_gmtoff : 0;
}

static void accept_login(struct session *session)
{
    const struct server_config *config = session->service->config;
    struct span name = {session->user, session->user_size};
    const struct server_user *user = find_user(config, name);
    session->logged_in = true;
    session->user_id = user != NULL && session->uam->needs_password
                           ? SERVICE_FIRST_USER_ID + (uint32_t)(user - config->users)
                           : SERVICE_GUEST_ID;
    session->gmt_offset_s = session->version < AFP_3_0 ? local_offset_s() : 0;
    session->uam = NULL;
    uam_state_wipe(&session->uam_state);
}

/* 4.1: after a failed login the reply leaves and the connection ends. */
static int32_t refuse_login(struct call *call, int32_t result)
{
    struct session *session = call->session;
    session->ending = true;
    session->uam = NULL;
    uam_state_wipe(&session->uam_state);
    call->reply.at = 0;
    return result;
}

/* Appendix A. */
static const int32_t verdict_results[UAM_VERDICT_COUNT] = {
    [UAM_ACCEPTED] = AFP_OK,
    [UAM_CONTINUE] = AFP_AUTH_CONTINUE,
    [UAM_REFUSED] = AFP_NOT_AUTHENTICATED,
    [UAM_BAD_PROOF] = AFP_BAD_PROOF,
    [UAM_MALFORMED] = AFP_PARAMETER_ERROR,
    [UAM_BROKEN] = AFP_MISC_ERROR,
};

/* Hands the client's bytes to the login method and turns its verdict into a reply. */
static int32_t login_step(struct call *call, struct span auth)
{
    struct session *session = call->session;
    struct uam_directory directory = {.password = password_of,
                                      .context = (void *)session->service->config};
    struct span user = {session->user, session->user_size};
    uint8_t bytes[UAM_MESSAGE_LIMIT];
    struct wire out = wire_encoder(bytes, sizeof bytes);
    enum uam_verdict verdict =
        uam_server_turn(session->uam, &session->uam_state, &directory, user, auth, &out);
    struct span answer = {bytes, out.at};
    if (!wire_ok(&out)) {
        return refuse_login(call, AFP_MISC_ERROR);
    }
    if (verdict == UAM_ACCEPTED) {
        wire_rest(&call->reply, &answer);
        accept_login(session);
    } else if (verdict == UAM_CONTINUE) {
        struct afp_login_continue challenge = {session->login_id++, answer};
        afp_login_challenge(&call->reply, &challenge);
    } else {
        return refuse_login(call, verdict_results[verdict]);
    }
    return verdict_results[verdict];
}

/* `user` is UTF-8 or, if `mac`, MacRoman (4.1). It is kept composed, as SRP takes it for its proof.
 */
static bool keep_user(struct session *session, struct span user, bool mac)
{
    struct name_buffer decomposed, name;
    bool known =
        !mac ? name_compose(&name, user)
             : name_from_mac(&decomposed, user) && name_compose(&name, name_span(&decomposed));
    if (known) {
        memcpy(session->user, name.bytes, name.size);
        session->user_size = name.size;
    }
    return known;
}

/* A second login is refused and does no harm; whatever is wrong with the first ends the session:
 * nobody may try on (4.1). */
static int32_t begin_login(struct call *call, const struct afp_login_request *login, bool mac)
{
    struct session *session = call->session;
    const struct afp_version_entry *version = afp_version_by_string(login->version);
    const struct uam *uam = uam_by_name(login->uam);
    if (session->logged_in) {
        return AFP_PARAMETER_ERROR;
    }
    if (!wire_ok(&call->request) || !keep_user(session, login->user, mac)) {
        return refuse_login(call, AFP_PARAMETER_ERROR);
    }
    if (version == NULL) {
        return refuse_login(call, AFP_BAD_VERSION);
    }
    if (uam == NULL || !service_offers(session->service, uam)) {
        return refuse_login(call, AFP_BAD_UAM);
    }
    session->version = version->version;
    session->uam = uam;
    session->login_id = 0;
    uam_state_wipe(&session->uam_state);
    return login_step(call, login->auth);
}

int32_t command_login(struct call *call)
{
    struct afp_login_request login = {0};
    afp_login_request(&call->request, &login);
    return begin_login(call, &login, true);
}

int32_t command_login_ext(struct call *call)
{
    struct afp_login_ext_request message = {0};
    afp_login_ext_request(&call->request, &message);
    struct afp_login_request login = {message.version, message.uam, message.user, message.auth};
    return begin_login(call, &login, false);
}

int32_t command_login_continue(struct call *call)
{
    struct session *session = call->session;
    struct afp_login_continue message = {0};
    afp_login_continue_request(&call->request, &message);
    if (session->uam == NULL) {
        return AFP_NOT_AUTHENTICATED;
    }
    if (!wire_ok(&call->request) || message.id != (uint16_t)(session->login_id - 1)) {
        return refuse_login(call, AFP_PARAMETER_ERROR);
    }
    return login_step(call, message.auth);
}

int32_t command_logout(struct call *call)
{
    struct session *session = call->session;
    session_close_forks(session, NULL);
    memset(session->volumes_open, 0, session->service->config->volume_count * sizeof(bool));
    session->logged_in = false;
    return AFP_OK;
}
