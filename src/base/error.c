#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names from the wire may hold anything; a message stays one line that no terminal obeys. */
static bool filled(struct error *error)
{
    for (char *at = error->message; *at != '\0'; at++) {
        bool control = (unsigned char)*at < 0x20 || *at == 0x7F;
        *at = control ? '?' : *at;
    }
    return false;
}

bool error_set(struct error *error, enum error_domain domain, int code, const char *format, ...)
{
    error->domain = domain;
    error->remedy = REMEDY_NONE;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return filled(error);
}

bool error_remedy(struct error *error, enum error_remedy remedy)
{
    error->remedy = remedy;
    return false;
}

bool error_set_errno(struct error *error, int errno_value, const char *format, ...)
{
    error->domain = ERROR_SYSTEM;
    error->remedy = REMEDY_NONE;
    error->code = errno_value;
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (used >= 0 && (size_t)used < sizeof error->message) {
        snprintf(error->message + used, sizeof error->message - (size_t)used, ": %s",
                 strerror(errno_value));
    }
    return filled(error);
}

bool error_prefix(struct error *error, const char *format, ...)
{
    char before[sizeof error->message];
    memcpy(before, error->message, sizeof before);
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (used >= 0 && (size_t)used < sizeof error->message) {
        snprintf(error->message + used, sizeof error->message - (size_t)used, ": %s", before);
    }
    return filled(error);
}

bool error_append(struct error *error, const char *format, ...)
{
    size_t used = strlen(error->message);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, sizeof error->message - used, format, arguments);
    va_end(arguments);
    return filled(error);
}

int error_exit_status(const struct error *error, enum exit_status otherwise)
{
    switch (error->domain) {
    case ERROR_USAGE:
        return EXIT_USAGE;
    case ERROR_INTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return (int)otherwise;
    }
}
