/*
 * name.h - names of volumes, files and users in the character sets of AFP: decomposed UTF-8 from
 * 3.0 on, MacRoman below (doc/protocol.md 3.1). Pure functions over caller's memory.
 *
 * Decomposed is Unicode's canonical decomposition as Macs do it: what stands in U+2000 to U+2FFF,
 * U+F900 to U+FAFF and U+2F800 to U+2FAFF is left alone, so that U+2260 and "=" with U+0338 are two
 * names. Composed is the way back. Whatever form a name comes in, its decomposed form is what is
 * compared.
 */
#ifndef AFPBENCH_AFP_NAME_H
#define AFPBENCH_AFP_NAME_H

#include "afp/afp.h"
#include "base/wire.h"

struct name_buffer {
    uint8_t bytes[AFP_NAME_LIMIT_UTF8];
    size_t size;
};

static inline struct span name_span(const struct name_buffer *name)
{
    return (struct span){name->bytes, name->size};
}

/* One of the two forms of a name; false if it is not UTF-8 (overlong forms and surrogates are not)
 * or has more than AFP_NAME_LIMIT_UTF8 bytes before or after. */
bool name_decompose(struct name_buffer *name, struct span utf8);
bool name_compose(struct name_buffer *name, struct span utf8);

/* True if both are UTF-8 and the same name, whatever their forms. */
bool name_equals(struct span a, struct span b);

/* MacRoman into decomposed UTF-8; false if that is longer than a name may be. */
bool name_from_mac(struct name_buffer *name, struct span mac);

/* UTF-8 of any form into at most `room` bytes of MacRoman; returns how many. *exact is false when
 * not all of it is there: it had no room, '_' stands for a character that MacRoman lacks, or the
 * name is none that name_compose() takes. */
size_t name_to_mac(uint8_t *mac, size_t room, struct span utf8, bool *exact);

enum name_use { NAME_OF_VOLUME, NAME_OF_FILE, NAME_OF_USER };

/* A name as people type it into the bytes that a session of this version sends; AFP_HIGHEST is
 * taken for 3.0 or later. ERROR_USAGE says what it is too long for, or has no character for. */
MUST_CHECK bool name_encode(struct name_buffer *name, const char *text, enum name_use use,
                            enum afp_version version, struct error *error);

#endif
