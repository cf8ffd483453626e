#include "cli/location.h"

#include "base/units.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool malformed(const char *text, const char *why, struct error *error)
{
    return error_set(error, ERROR_USAGE, 0, "-h '%s': %s", text, why);
}

/* Without the text: it must not show up in logs. */
static bool refuse_password(struct error *error)
{
    return malformed("…",
                     "a password does not belong here: use "
                     "--password-file or AFP_PASSWORD",
                     error);
}

/* True for "user:password@host" and all that looks like it, be there a '/' in the password. */
static bool may_hold_password(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon != NULL && strchr(colon, '@') != NULL;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* Copies `length` characters; with `decode`, %XX becomes one byte. */
static bool copy_part(const char *from, size_t length, bool decode, char *to, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char c = from[i];
        if (decode && c == '%') {
            if (length - i < 3 || hex_digit(from[i + 1]) < 0 || hex_digit(from[i + 2]) < 0) {
                return false;
            }
            c = (char)(hex_digit(from[i + 1]) << 4 | hex_digit(from[i + 2]));
            i += 2;
        }
        if (c == '\0' || used + 1 >= size) {
            return false;
        }
        to[used++] = c;
    }
    to[used] = '\0';
    return true;
}

/* A host's name or address; the '%' before the zone of one may be written %25, as in URLs. */
static bool copy_host(const char *from, size_t length, char *to, size_t size)
{
    const char *zone = memmem(from, length, "%25", 3);
    size_t before = zone != NULL ? (size_t)(zone - from) : length;
    bool encoded = zone != NULL && before + 3 < length;
    return encoded ? copy_part(from, before, false, to, size) &&
                         copy_part(zone, length - before, true, to + before, size - before)
                   : copy_part(from, length, false, to, size);
}

/* "host", "[::1]", "host:port", "[::1]:port": the URL's authority without the user. */
static bool parse_authority(const char *text, const char *from, size_t length,
                            struct location *location, struct error *error)
{
    const char *end = from + length;
    const char *host = from;
    const char *host_end = memchr(from, ':', length);
    if (length > 0 && from[0] == '[') {
        host = from + 1;
        host_end = memchr(from, ']', length);
        if (host_end == NULL) {
            return malformed(text, "a bracket is not closed", error);
        }
    }
    if (host_end == NULL) {
        host_end = end;
    }
    if (host_end == host ||
        !copy_host(host, (size_t)(host_end - host), location->host, sizeof location->host)) {
        return malformed(text, "there is no host in it", error);
    }
    const char *rest = host_end < end && *host_end == ']' ? host_end + 1 : host_end;
    if (rest == end) {
        return true;
    }
    char digits[8];
    uint64_t port;
    if (*rest != ':' ||
        !copy_part(rest + 1, (size_t)(end - rest - 1), false, digits, sizeof digits)) {
        return malformed(text, "what follows the host is no port", error);
    }
    if (!parse_unsigned(digits, "port", 1, UINT16_MAX, &port, error)) {
        return false;
    }
    location->port = (uint16_t)port;
    return true;
}

/* "user", "user;AUTH=method": what stands before the '@'. */
static bool parse_user(const char *text, const char *from, size_t length, struct location *location,
                       struct error *error)
{
    static const char auth[] = ";AUTH=";
    const char *end = from + length;
    const char *semicolon = memchr(from, ';', length);
    const char *user_end = semicolon != NULL ? semicolon : end;
    if (!copy_part(from, (size_t)(user_end - from), true, location->user, sizeof location->user)) {
        return malformed(text, "the user name is malformed", error);
    }
    if (semicolon == NULL) {
        return true;
    }
    const char *method = semicolon + sizeof auth - 1;
    return (strncasecmp(semicolon, auth, sizeof auth - 1) == 0 && method < end &&
            copy_part(method, (size_t)(end - method), true, location->login,
                      sizeof location->login)) ||
           malformed(text, "after the user comes ;AUTH= and a login method, or nothing", error);
}

static bool parse_url(const char *text, const char *from, struct location *location,
                      struct error *error)
{
    size_t length = strcspn(from, "/");
    const char *volume = from + length;
    const char *at = memchr(from, '@', length);
    if (at != NULL) {
        if (memchr(from, ':', (size_t)(at - from)) != NULL) {
            return refuse_password(error);
        }
        if (!parse_user(text, from, (size_t)(at - from), location, error)) {
            return false;
        }
        length -= (size_t)(at + 1 - from);
        from = at + 1;
    }
    if (*volume == '/') {
        size_t size = strcspn(++volume, "/");
        const char *rest = volume + size;
        if ((*rest == '/' && rest[1] != '\0') ||
            !copy_part(volume, size, true, location->volume, sizeof location->volume)) {
            return malformed(text, "what follows the host is no volume name", error);
        }
    }
    return parse_authority(text, from, length, location, error);
}

/* "host:10548", "[::1]:10548": says how the two are given; otherwise what it is not. */
static bool refuse_port(const char *text, const char *colon, const char *otherwise,
                        struct error *error)
{
    uint64_t port;
    if (colon == NULL || !parse_unsigned(colon + 1, "port", 1, UINT16_MAX, &port, error)) {
        return malformed(text, otherwise, error);
    }
    return error_set(error, ERROR_USAGE, 0, "-h '%s': the port goes to -p: -h '%.*s' -p %s", text,
                     (int)(colon - text), text, colon + 1);
}

/* Before anything is complained of: a message shows the text, and must not show a password. */
bool location_parse(const char *text, struct location *location, struct error *error)
{
    static const char scheme[] = "afp://";
    *location = (struct location){0};
    if (strncasecmp(text, scheme, sizeof scheme - 1) == 0) {
        const char *rest = text + sizeof scheme - 1;
        return parse_url(text, rest, location, error) ||
               (may_hold_password(rest) && refuse_password(error));
    }
    if (may_hold_password(text)) {
        return refuse_password(error);
    }
    if (text[0] == '[') {
        size_t length = strlen(text);
        if (text[length - 1] != ']') {
            const char *end = strchr(text, ']');
            const char *colon = end != NULL && end[1] == ':' ? end + 1 : NULL;
            return refuse_port(text, colon,
                               end != NULL ? "what follows the bracket is no part of an address"
                                           : "a bracket is not closed",
                               error);
        }
        return parse_authority(text, text, length, location, error);
    }
    const char *colon = strchr(text, ':');
    if (colon != NULL && strpbrk(colon + 1, ":/") == NULL) {
        return refuse_port(text, colon, "not an address (the port goes to -p)", error);
    }
    if (text[0] == '\0' || strchr(text, '/') != NULL ||
        !copy_part(text, strlen(text), false, location->host, sizeof location->host)) {
        return malformed(text, "not a host name, an address or an afp:// URL", error);
    }
    return true;
}
