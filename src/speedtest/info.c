#include "speedtest/info.h"

#include "afp/afp.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>

static void print_text(FILE *out, struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        fputc(c < 0x20 || c == 0x7F ? '?' : c, out);
    }
}

static void print_list(FILE *out, const char *key, const struct afp_info_list *list)
{
    fprintf(out, "%s: ", key);
    for (uint8_t i = 0; i < list->count; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_text(out, list->items[i]);
    }
    fputc('\n', out);
}

static void print_flags(FILE *out, uint16_t flags)
{
    static const struct {
        uint16_t flag;
        const char *name;
    } names[] = {
        {AFP_SERVER_COPY_FILE, "copies files"},
        {AFP_SERVER_CHANGE_PASSWORD, "password can be changed"},
        {AFP_SERVER_NO_SAVED_PASSWORD, "password must not be saved"},
        {AFP_SERVER_MESSAGES, "server messages"},
        {AFP_SERVER_SIGNATURE, "signature"},
        {AFP_SERVER_TCP, "TCP"},
        {AFP_SERVER_NOTIFICATIONS, "notifications"},
        {AFP_SERVER_RECONNECT, "reconnect"},
        {AFP_SERVER_DIRECTORY_SERVICES, "directory services"},
        {AFP_SERVER_UTF8_NAME, "UTF-8 name"},
        {AFP_SERVER_UUIDS, "UUIDs"},
        {AFP_SERVER_EXTENDED_SLEEP, "extended sleep"},
        {AFP_SERVER_SUPER_CLIENT, "super client"},
    };
    const char *separator = "";
    fprintf(out, "Flags: 0x%04x (", (unsigned)flags);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (flags & names[i].flag) {
            fprintf(out, "%s%s", separator, names[i].name);
            separator = ", ";
        }
    }
    fputs(")\n", out);
}

/* doc/protocol.md 2.1: tag, then the address in network order. */
static void print_address(FILE *out, struct span entry)
{
    char text[INET6_ADDRSTRLEN];
    uint8_t tag = entry.size > 0 ? entry.data[0] : 0;
    bool v6 = tag == 6 || tag == 7;
    bool has_port = tag == 2 || tag == 5 || tag == 7;
    size_t address_size = v6 ? 16 : 4;
    if (tag == 4) {
        print_text(out, (struct span){entry.data + 1, entry.size - 1});
    } else if ((tag == 1 || v6 || has_port) &&
               entry.size == 1 + address_size + (has_port ? 2 : 0) &&
               inet_ntop(v6 ? AF_INET6 : AF_INET, entry.data + 1, text, sizeof text) != NULL) {
        fprintf(out, v6 && has_port ? "[%s]" : "%s", text);
        if (has_port) {
            const uint8_t *port = entry.data + 1 + address_size;
            fprintf(out, ":%u", (unsigned)(port[0] << 8 | port[1]));
        }
    } else {
        fprintf(out, "(address of kind %u)", (unsigned)tag);
    }
}

void info_print(FILE *out, const struct afp_server_info *info)
{
    fputs("Server name: ", out);
    print_text(out, info->utf8_name.size > 0 ? info->utf8_name : info->server_name);
    fputs("\nMachine type: ", out);
    print_text(out, info->machine_type);
    fputc('\n', out);
    print_list(out, "AFP versions", &info->versions);
    print_list(out, "Login methods", &info->uams);
    print_flags(out, info->flags);
    fputs("Signature: ", out);
    for (size_t i = 0; i < info->signature.size; i++) {
        fprintf(out, "%02x", info->signature.data[i]);
    }
    fputs("\nAddresses: ", out);
    for (uint8_t i = 0; i < info->addresses.count; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_address(out, info->addresses.items[i]);
    }
    fputc('\n', out);
}

/* Names in other charsets than UTF-8 keep their ASCII part. */
static json_t *json_text(struct span text)
{
    char ascii[256];
    json_t *string = json_stringn((const char *)text.data, text.size);
    if (string != NULL || text.size >= sizeof ascii) {
        return string != NULL ? string : json_null();
    }
    for (size_t i = 0; i < text.size; i++) {
        ascii[i] = text.data[i] < 0x80 ? (char)text.data[i] : '?';
    }
    return json_stringn(ascii, text.size);
}

static json_t *json_list(const struct afp_info_list *list)
{
    json_t *array = json_array();
    for (uint8_t i = 0; i < list->count; i++) {
        json_array_append_new(array, json_text(list->items[i]));
    }
    return array;
}

void info_print_json(FILE *out, const struct afp_server_info *info)
{
    char signature[33] = "";
    for (size_t i = 0; i < info->signature.size && i < 16; i++) {
        snprintf(signature + 2 * i, 3, "%02x", info->signature.data[i]);
    }
    json_t *object = json_object();
    json_object_set_new(object, "server_name",
                        json_text(info->utf8_name.size > 0 ? info->utf8_name : info->server_name));
    json_object_set_new(object, "machine_type", json_text(info->machine_type));
    json_object_set_new(object, "versions", json_list(&info->versions));
    json_object_set_new(object, "login_methods", json_list(&info->uams));
    json_object_set_new(object, "flags", json_integer(info->flags));
    json_object_set_new(object, "signature", json_string(signature));
    json_dumpf(object, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(object);
}
