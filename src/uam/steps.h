/*
 * steps.h - pieces of login methods that several of them share. For the files of methods only.
 *
 * Buffers are the caller's, and so is wiping them.
 */
#ifndef AFPBENCH_UAM_STEPS_H
#define AFPBENCH_UAM_STEPS_H

#include "uam/uam.h"

#define STEPS_NONCE_SIZE 16
#define STEPS_TOLERANCE  10         /* stray bytes after the last message (4.7) */
#define STEPS_IV_CLIENT  "LWallace" /* client to server (4.6, 4.7) */
#define STEPS_IV_SERVER  "CJalbert" /* server to client */

/* The state's data as the method's own struct, which has members of type uint8_t only. */
#define STEPS_DATA(type, state) ((type *)(void *)(state)->data)
#define STEPS_DATA_FITS(type)   _Static_assert(sizeof(type) <= UAM_STATE_LIMIT, "UAM_STATE_LIMIT")

/* A client's first message without bytes: the user's name alone. */
uam_client_step steps_say_nothing;

/* ERROR_SYSTEM: the library of ciphers, or the source of random bytes, fails. Returns false. */
bool steps_broken(struct error *error);

/* The password with zeros after it; ERROR_LIMIT if it is longer than `size`. */
MUST_CHECK bool steps_pad(const char *password, uint8_t *padded, size_t size, struct error *error);

/* The server's copy of the user's password, padded the same way; false for no such user, or where
 * it is longer than `size`: then the user cannot log in with this method. */
bool steps_password(const struct uam_directory *directory, struct span user, uint8_t *padded,
                    size_t size);

/* Whether the user's password, padded to `size`, is the one sent. */
bool steps_is_password(const struct uam_directory *directory, struct span user, const uint8_t *sent,
                       size_t size);

/* What the server makes of an answer when it could compute the one it expects, or could not. */
enum uam_verdict steps_judge(bool computed, const uint8_t *answer, const uint8_t *expected,
                             size_t size);

/* ---- DES: Randnum and 2-Way Randnum ---- */

/* The server's first step: a random challenge of DES_SIZE bytes, kept where the data begins. */
uam_server_step steps_des_challenge;

/* ---- Diffie-Hellman: DHX and DHX2 ---- */

/* 1 < value < prime - 1; the prime is odd. */
bool steps_public_value_fits(struct span value, struct span prime);

/* A 128-bit number plus one; the carry out of the last byte is dropped (4.7). */
void steps_increment(const uint8_t nonce[STEPS_NONCE_SIZE], uint8_t result[STEPS_NONCE_SIZE]);

/* The client's last message: the server's nonce + 1 and the password in `room` bytes, encrypted. */
MUST_CHECK bool steps_seal_password(const uint8_t key[CAST5_KEY_SIZE],
                                    const uint8_t nonce[STEPS_NONCE_SIZE], const char *password,
                                    size_t room, struct wire *out, struct error *error);

/* What the server has to keep until it comes. */
struct steps_secret {
    uint8_t key[CAST5_KEY_SIZE];
    uint8_t nonce[STEPS_NONCE_SIZE];
};

/* What the server makes of it. The secret is wiped. */
enum uam_verdict steps_open_password(struct steps_secret *secret,
                                     const struct uam_directory *directory, struct span user,
                                     struct span sealed, size_t room);

#endif
