#include "server/service.h"

#include "afp/server_info.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "uam/crypto.h"

#include <netinet/in.h>
#include <string.h>

static bool check_volume(const struct server_config *config, size_t index, struct error *error)
{
    const char *name = config->volumes[index].name;
    const char *password = config->volumes[index].password;
    if (name[0] == '\0') {
        return error_set(error, ERROR_USAGE, 0, "a volume has no name");
    }
    if (password != NULL && (password[0] == '\0' || strlen(password) > AFP_VOLUME_PASSWORD_SIZE)) {
        return error_set(error, ERROR_USAGE, 0, "volume '%s': a password has 1 to %d bytes", name,
                         AFP_VOLUME_PASSWORD_SIZE);
    }
    for (size_t i = 0; i < index; i++) {
        if (name_equals(span_from_string(config->volumes[i].name), span_from_string(name))) {
            return error_set(error, ERROR_USAGE, 0, "volume '%s' is given twice", name);
        }
    }
    return true;
}

static bool check_user(const struct server_config *config, size_t index, struct error *error)
{
    struct name_buffer encoded;
    const char *name = config->users[index].name;
    if (!name_encode(&encoded, name, NAME_OF_USER, AFP_3_4, error)) {
        return false;
    }
    if (name[0] == '\0') {
        return error_set(error, ERROR_USAGE, 0, "a user has no name");
    }
    for (size_t i = 0; i < index; i++) {
        if (name_equals(span_from_string(config->users[i].name), span_from_string(name))) {
            return error_set(error, ERROR_USAGE, 0, "user '%s' is given twice", name);
        }
    }
    return true;
}

/* Whether clients may use the method: its name is on the list, and it has somebody to let in. */
static bool is_offered(const struct server_config *config, const struct uam *uam)
{
    bool listed = config->uams == NULL;
    for (size_t i = 0; i < config->uam_count && !listed; i++) {
        listed = config->uams[i] == uam;
    }
    return listed && (uam->needs_password ? config->user_count > 0 : config->allow_guest);
}

/* Found out at the start: a server that nobody can use would only be noticed by its clients. */
static bool any_login_fits(const struct server_config *config)
{
    for (size_t i = 0; i < uam_count; i++) {
        if (is_offered(config, uam_table[i])) {
            return true;
        }
    }
    return false;
}

/* All of it before a volume is opened, so that a wrong word leaves nothing behind. */
static bool check_config(const struct server_config *config, struct error *error)
{
    if (config->volume_count == 0 || config->volume_count > SERVICE_VOLUME_LIMIT) {
        return error_set(error, ERROR_USAGE, 0, "a server has 1 to %d volumes",
                         SERVICE_VOLUME_LIMIT);
    }
    if (!any_login_fits(config)) {
        return error_set(error, ERROR_USAGE, 0,
                         "nobody can log in: of guests, users and login methods none fit together");
    }
    if (config->server_name[0] == '\0' || config->machine_type[0] == '\0') {
        return error_set(error, ERROR_USAGE, 0, "a server has a name and a machine type");
    }
    if (strlen(config->server_name) > 32 || strlen(config->machine_type) > 16) {
        return error_set(error, ERROR_USAGE, 0,
                         "a server's name has at most 32 bytes, a machine type 16");
    }
    struct name_buffer name;
    if (!name_decompose(&name, span_from_string(config->server_name))) {
        return error_set(error, ERROR_USAGE, 0, "the server's name is not UTF-8");
    }
    for (size_t i = 0; i < config->user_count; i++) {
        if (!check_user(config, i, error)) {
            return false;
        }
    }
    for (size_t i = 0; i < config->volume_count; i++) {
        if (!check_volume(config, i, error)) {
            return false;
        }
    }
    return true;
}

/* The signature only has to differ between servers (5.1): without random bytes a fixed one does. */
bool service_open(struct service *service, const struct server_config *config, struct error *error)
{
    *service = (struct service){
        .config = config,
        .tickle_ns = DSI_TICKLE_INTERVAL_S * NS_PER_S,
        .silence_ns = SERVICE_SILENCE_LIMIT_S * NS_PER_S,
    };
    if (!check_config(config, error)) {
        return false;
    }
    if (!random_fill(NULL, service->signature, sizeof service->signature)) {
        memcpy(service->signature, "afpbench server", sizeof service->signature);
    }
    service->volumes = memory_allocate(config->volume_count, sizeof *service->volumes);
    if (service->volumes == NULL) {
        return memory_error(error, "for the volumes");
    }
    for (size_t i = 0; i < config->volume_count; i++) {
        if (!volume_open(&service->volumes[i], (uint16_t)(i + 1), &config->volumes[i], error)) {
            while (i > 0) {
                volume_close(&service->volumes[--i]);
            }
            memory_release(service->volumes);
            return false;
        }
    }
    return true;
}

void service_close(struct service *service)
{
    for (size_t i = 0; i < service->config->volume_count; i++) {
        volume_close(&service->volumes[i]);
    }
    memory_release(service->volumes);
}

bool service_take_place(struct service *service)
{
    unsigned taken = atomic_load(&service->sessions);
    do {
        if (taken >= service->config->session_limit) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&service->sessions, &taken, taken + 1));
    return true;
}

void service_leave_place(struct service *service)
{
    atomic_fetch_sub(&service->sessions, 1);
}

bool service_offers(const struct service *service, const struct uam *uam)
{
    return is_offered(service->config, uam);
}

/* The tag and the bytes of a network address (2.1); an empty span for a socket without one. */
static struct span own_address(int socket, uint8_t bytes[19])
{
    struct sockaddr_storage address;
    struct wire wire = wire_encoder(bytes, 19);
    if (!stream_own_address(socket, &address)) {
        return (struct span){0};
    }
    if (address.ss_family == AF_INET) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
        uint8_t tag = 2;
        uint16_t port = ntohs(v4->sin_port);
        wire_u8(&wire, &tag);
        wire_array(&wire, (uint8_t *)&v4->sin_addr, 4);
        wire_u16(&wire, &port);
    } else if (address.ss_family == AF_INET6) {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
        uint8_t tag = 7;
        uint16_t port = ntohs(v6->sin6_port);
        wire_u8(&wire, &tag);
        wire_array(&wire, v6->sin6_addr.s6_addr, 16);
        wire_u16(&wire, &port);
    }
    return (struct span){bytes, wire.at};
}

static void add(struct afp_info_list *list, struct span item)
{
    if (item.size > 0 && list->count < AFP_INFO_LIST_LIMIT) {
        list->items[list->count++] = item;
    }
}

void service_info(const struct service *service, int socket, struct wire *reply)
{
    const struct server_config *config = service->config;
    uint8_t address[19];
    uint8_t mac[32];
    struct name_buffer name;
    (void)name_decompose(&name, span_from_string(config->server_name)); /* checked: it is UTF-8 */
    bool exact; /* where it is not, there is the UTF-8 name */
    size_t mac_size = name_to_mac(mac, sizeof mac, span_from_string(config->server_name), &exact);
    struct afp_server_info info = {
        .flags = AFP_SERVER_COPY_FILE | AFP_SERVER_SIGNATURE | AFP_SERVER_TCP |
                 AFP_SERVER_MESSAGES | AFP_SERVER_UTF8_NAME,
        .server_name = {mac, mac_size},
        .machine_type = span_from_string(config->machine_type),
        .signature = {service->signature, sizeof service->signature},
        .utf8_name = name_span(&name),
    };
    for (size_t i = 0; i < AFP_VERSION_COUNT; i++) {
        add(&info.versions, span_from_string(afp_versions[i].string));
    }
    for (size_t i = 0; i < uam_count; i++) {
        if (service_offers(service, uam_table[i])) {
            add(&info.uams, span_from_string(uam_table[i]->name));
        }
    }
    add(&info.addresses, own_address(socket, address));
    afp_server_info(reply, &info);
}
