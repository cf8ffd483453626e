/* afp/message: every message is encoded, decoded, cut short and broken (doc/protocol.md 3 to 5 and
 * appendix C). A new message needs one row in message_rows.c. */
#include "unit.h"

#include "message_rows.h"

/* ---- What holds for every message ---- */

union message {
    uint8_t bytes[MESSAGE_LIMIT];
    max_align_t align;
};

static size_t encode(const struct message_row *row, const void *message, uint8_t *bytes,
                     size_t capacity, bool *ok)
{
    union message copy = {.bytes = {0}};
    assert_true(row->size <= sizeof copy);
    memcpy(&copy, message, row->size);
    struct wire out = wire_encoder(bytes, capacity);
    row->run(&out, &copy);
    *ok = wire_ok(&out);
    check(out.at <= capacity, "%s: written past the end", row->name);
    return out.at;
}

/* Decodes from a block of exactly `size` bytes, and encodes again what was found: that looks at
 * every byte of every span. */
static bool decode(const struct message_row *row, const uint8_t *bytes, size_t size, uint8_t *again,
                   size_t *again_size, size_t *at)
{
    union message message = {.bytes = {0}};
    uint8_t *block = exact_copy(bytes, size);
    struct wire in = wire_decoder(block, size);
    row->run(&in, &message);
    bool ok = wire_ok(&in);
    check(in.at <= size, "%s: read past the end", row->name);
    bool fits;
    *again_size = encode(row, &message, again, 1 << 17, &fits);
    *at = in.at;
    free(block);
    return ok;
}

static void has_the_right_bytes(void **state)
{
    for (size_t i = 0; i < message_row_count; i++) {
        uint8_t expected[MESSAGE_LIMIT];
        uint8_t bytes[MESSAGE_LIMIT];
        bool ok;
        size_t expected_size = bytes_from_text(message_rows[i].bytes, expected, sizeof expected);
        size_t size = encode(&message_rows[i], message_rows[i].message, bytes, sizeof bytes, &ok);
        check(ok, "%s: not encoded", message_rows[i].name);
        check(size == expected_size, "%s: %zu bytes, not %zu", message_rows[i].name, size,
              expected_size);
        for (size_t at = 0; at < size; at++) {
            check(bytes[at] == expected[at], "%s: byte %zu is %02x", message_rows[i].name, at,
                  bytes[at]);
        }
    }
}

static void decodes_what_it_encoded(void **state)
{
    uint8_t *again = malloc(1 << 17);
    for (size_t i = 0; i < message_row_count; i++) {
        uint8_t bytes[MESSAGE_LIMIT];
        size_t again_size;
        size_t at;
        size_t size = bytes_from_text(message_rows[i].bytes, bytes, sizeof bytes);
        check(decode(&message_rows[i], bytes, size, again, &again_size, &at), "%s",
              message_rows[i].name);
        check(again_size == size && memcmp(again, bytes, size) == 0, "%s: not the same again",
              message_rows[i].name);
    }
    free(again);
}

/* A message that ends early fails, or is a shorter message that is whole. */
static void never_reads_past_a_cut(void **state)
{
    uint8_t *again = malloc(1 << 17);
    for (size_t i = 0; i < message_row_count; i++) {
        uint8_t bytes[MESSAGE_LIMIT];
        size_t size = bytes_from_text(message_rows[i].bytes, bytes, sizeof bytes);
        for (size_t cut = 0; cut < size; cut++) {
            size_t again_size;
            size_t at;
            if (decode(&message_rows[i], bytes, cut, again, &again_size, &at)) {
                check(again_size <= cut && memcmp(again, bytes, again_size) == 0,
                      "%s: something else when cut to %zu bytes", message_rows[i].name, cut);
            }
        }
    }
    free(again);
}

/* Only messages with an open end have whole prefixes. */
static void notices_a_missing_byte(void **state)
{
    static const char *const open_ended[] = {"FPLogin,",   "FPLoginExt",   "FPLoginCont",
                                             "AuthContin", "FPOpenVol, p", NULL};
    uint8_t *again = malloc(1 << 17);
    for (size_t i = 0; i < message_row_count; i++) {
        bool open = false;
        for (size_t k = 0; open_ended[k] != NULL; k++) {
            open |= strncmp(message_rows[i].name, open_ended[k], strlen(open_ended[k])) == 0;
        }
        uint8_t bytes[MESSAGE_LIMIT];
        size_t again_size;
        size_t at;
        size_t size = bytes_from_text(message_rows[i].bytes, bytes, sizeof bytes);
        for (size_t cut = 0; cut < size && !open; cut++) {
            check(!decode(&message_rows[i], bytes, cut, again, &again_size, &at),
                  "%s: %zu bytes are taken for all %zu", message_rows[i].name, cut, size);
        }
    }
    free(again);
}

static void survives_broken_bytes(void **state)
{
    uint32_t random = 1;
    uint8_t *again = malloc(1 << 17);
    for (size_t i = 0; i < message_row_count * 500; i++) {
        const struct message_row *row = &message_rows[i % message_row_count];
        uint8_t bytes[MESSAGE_LIMIT];
        size_t again_size;
        size_t at;
        size_t size = bytes_from_text(row->bytes, bytes, sizeof bytes);
        for (uint32_t k = next_random(&random) % 3 + 1; k > 0; k--) {
            bytes[next_random(&random) % size] = (uint8_t)next_random(&random);
        }
        if (decode(row, bytes, size, again, &again_size, &at)) {
            check(at <= size, "%s", row->name);
        }
    }
    free(again);
}

static void never_writes_past_the_end(void **state)
{
    for (size_t i = 0; i < message_row_count; i++) {
        uint8_t bytes[MESSAGE_LIMIT];
        size_t size = bytes_from_text(message_rows[i].bytes, bytes, sizeof bytes);
        for (size_t room = 0; room < size; room++) {
            uint8_t *block = malloc(room);
            bool ok;
            encode(&message_rows[i], message_rows[i].message, block, room, &ok);
            check(!ok, "%s: fits into %zu of %zu bytes", message_rows[i].name, room, size);
            free(block);
        }
    }
}

/* ---- Names ---- */

static void path_types(void **state)
{
    for (unsigned type = 0; type < 256; type++) {
        uint8_t bytes[16] = {(uint8_t)type};
        struct afp_path path = {0};
        struct wire in = wire_decoder(bytes, sizeof bytes);
        afp_path(&in, &path);
        assert_int_equal(wire_ok(&in), type >= 1 && type <= 3);
        assert_int_equal(path.name.size, 0);
    }
}

/* Every offset that a name field can hold, in a block of 16 bytes full of short lengths. */
static void hostile_name_offsets(void **state)
{
    static const uint16_t bitmaps[] = {AFP_NODE_LONG_NAME, AFP_NODE_SHORT_NAME, AFP_NODE_UTF8_NAME};
    for (size_t b = 0; b < COUNT(bitmaps); b++) {
        for (uint32_t offset = 0; offset <= UINT16_MAX; offset++) {
            uint8_t bytes[16];
            memset(bytes, 1, sizeof bytes);
            bytes[0] = (uint8_t)(offset >> 8);
            bytes[1] = (uint8_t)offset;
            uint8_t *block = exact_copy(bytes, sizeof bytes);
            struct wire in = wire_decoder(block, sizeof bytes);
            struct afp_node_parms parms = {0};
            afp_node_parms(&in, AFP_FILE, bitmaps[b], &parms);
            const struct span names[] = {parms.long_name, parms.short_name, parms.utf8_name};
            struct span name = names[b];
            check(name.size == 0 || (name.data > block && name.data + name.size <= block + 16),
                  "offset %u leads out of the block", offset);
            /* A UTF-8 name says 0x0101 bytes; a pstr has one, so it starts at 14 at the latest. */
            bool fits = offset == 0 || (bitmaps[b] != AFP_NODE_UTF8_NAME && offset <= 14 &&
                                        (offset > 1 || bytes[offset] <= 14));
            check(wire_ok(&in) == fits, "offset %u", offset);
            free(block);
        }
    }
}

static void unknown_bits_fail(void **state)
{
    uint8_t bytes[256] = {0};
    for (unsigned bit = 0; bit < 16; bit++) {
        uint16_t bitmap = (uint16_t)(1U << bit);
        struct afp_node_parms node = {0};
        struct afp_volume_parms volume = {0};
        struct wire file = wire_decoder(bytes, sizeof bytes);
        struct wire directory = file;
        struct wire disk = file;
        afp_node_parms(&file, AFP_FILE, bitmap, &node);
        afp_node_parms(&directory, AFP_DIRECTORY, bitmap, &node);
        afp_volume_parms(&disk, bitmap, &volume);
        assert_int_equal(wire_ok(&file), bitmap != 0x1000);
        assert_int_equal(wire_ok(&directory), bitmap != 0x4000);
        assert_int_equal(wire_ok(&disk), bitmap < 0x1000);
    }
}

/* 3.4: with the mask 0x03FF the fixed part of a directory has 60 bytes. */
static void fixed_part_of_a_directory(void **state)
{
    uint8_t bytes[128];
    struct afp_node_parms parms = {0};
    struct wire out = wire_encoder(bytes, sizeof bytes);
    afp_node_parms(&out, AFP_DIRECTORY, 0x03FF, &parms);
    assert_int_equal(out.at, 60 + 2); /* and two empty names */
}

/* ---- What Netatalk 4.5.1 sent (appendix C, 5.3): short name 0, no text hint ---- */

static void live_file(void **state)
{
    uint8_t bytes[MESSAGE_LIMIT];
    size_t size = bytes_from_text(
        "efff bfff 00 00 | 0000 | 00000002 | 32a043d7 | 32a043d7 | 80000000 | " ZEROS_32
        " | 0068 | 0000 | 00000011 | 00000000 | 00000000 | 0000000000000000 | 006e 00000000 "
        "| 0000000000000000 | 000003e9 000003e9 000081b6 86060606 | 05\"a.bin\" "
        "| 00000000 0005 \"a.bin\"",
        bytes, sizeof bytes);
    struct afp_get_node_parms_reply reply = {0};
    struct wire in = wire_decoder(bytes, size);
    afp_get_node_parms_reply(&in, &reply);
    assert_true(wire_ok(&in));
    assert_int_equal(reply.kind, AFP_FILE);
    assert_int_equal(reply.parms.parent_id, 2);
    assert_int_equal(reply.parms.modified, 0x32a043d7);
    assert_int_equal(reply.parms.backed_up, AFP_DATE_NEVER);
    assert_true(span_is(reply.parms.long_name, "a.bin"));
    assert_int_equal(reply.parms.short_name.size, 0);
    assert_true(span_is(reply.parms.utf8_name, "a.bin"));
    assert_int_equal(reply.parms.id, 17);
    assert_int_equal(reply.parms.unix_privileges.mode, 0x81b6);
    assert_int_equal(reply.parms.unix_privileges.access, 0x86060606);
}

static void live_listing(void **state)
{
    uint8_t bytes[MESSAGE_LIMIT];
    size_t size = bytes_from_text("2100 2100 0001 | 001a 00 00 00000017 000a00000000 "
                                  "00000000 0006 \"bc.bin\"",
                                  bytes, sizeof bytes);
    struct listing listing = {0};
    struct wire in = wire_decoder(bytes, size);
    run_listing_ext2(&in, &listing);
    assert_true(wire_ok(&in));
    assert_int_equal(in.at, size);
    assert_int_equal(listing.entries[0].kind, AFP_FILE);
    assert_int_equal(listing.entries[0].parms.id, 23);
    assert_true(span_is(listing.entries[0].parms.utf8_name, "bc.bin"));
}

/* ---- Entries of a listing ---- */

/* Every length that an entry can claim: only the true one is taken, whatever follows. */
static void hostile_entry_lengths(void **state)
{
    static const struct {
        enum afp_command command;
        const char *bytes;
        size_t head, whole, last; /* `last`: largest number that the field holds */
    } forms[] = {
        {AFP_ENUMERATE, "00 00 0006 00000011 05\"a.bin\"", 2, 14, 0xFF},
        {AFP_ENUMERATE_EXT, "0000 00 00 0006 00000011 05\"a.bin\"", 4, 16, 0xFFFF},
    };
    const struct afp_enumerate_reply head = {0x140, 0x140, 1};
    for (size_t f = 0; f < COUNT(forms); f++) {
        for (size_t claim = 0; claim <= forms[f].last; claim++) {
            uint8_t bytes[32];
            size_t size = bytes_from_text(forms[f].bytes, bytes, sizeof bytes);
            size_t at = 0;
            if (forms[f].last > 0xFF) {
                bytes[at++] = (uint8_t)(claim >> 8);
            }
            bytes[at] = (uint8_t)claim;
            uint8_t *block = exact_copy(bytes, size);
            struct afp_enumerate_entry entry = {0};
            struct wire in = wire_decoder(block, size);
            afp_enumerate_entry(&in, forms[f].command, &head, &entry);
            check(wire_ok(&in) == (claim == forms[f].whole), "form %zu, length %zu", f, claim);
            check(in.at <= size, "form %zu, length %zu: past the end", f, claim);
            free(block);
        }
    }
}

/* A length that does not hold the entry must fail, not wrap. */
static void entries_too_long_to_encode(void **state)
{
    static uint8_t name[UINT16_MAX];
    static uint8_t bytes[2 * UINT16_MAX];
    static const struct {
        enum afp_command command;
        size_t name_size;
        bool ok;
    } forms[] = {
        {AFP_ENUMERATE, 239, true},        /* 2 + 6 + 6 + 239, padded to 254 */
        {AFP_ENUMERATE, 241, false},       /* 256 */
        {AFP_ENUMERATE, 65535, false},     /* 65550: wraps to 14 */
        {AFP_ENUMERATE_EXT, 65518, true},  /* 4 + 6 + 6 + 65518 = 65534 */
        {AFP_ENUMERATE_EXT, 65519, false}, /* 65536: wraps to 0 */
        {AFP_ENUMERATE_EXT, 65535, false}, /* 65552: wraps to 16 */
    };
    const struct afp_enumerate_reply head = {AFP_NODE_UTF8_NAME, 0, 1};
    for (size_t f = 0; f < COUNT(forms); f++) {
        struct afp_enumerate_entry entry = {.parms.utf8_name = {name, forms[f].name_size}};
        struct wire out = wire_encoder(bytes, sizeof bytes);
        afp_enumerate_entry(&out, forms[f].command, &head, &entry);
        check(wire_ok(&out) == forms[f].ok, "row %zu", f);
    }
}

/* ---- Numbers ---- */

static void narrow_numbers(void **state)
{
    static const struct {
        int64_t offset, count;
        bool ok;
    } numbers[] = {
        {0, INT32_MAX, true},         {INT32_MAX, 1, true},
        {INT32_MIN, 1, true},         {INT64_C(1) << 31, 1, false},
        {0, INT64_C(1) << 32, false}, {(int64_t)INT32_MIN - 1, 1, false},
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint8_t bytes[32];
        struct afp_write_request message = {.offset = numbers[i].offset, .count = numbers[i].count};
        struct wire out = wire_encoder(bytes, sizeof bytes);
        afp_write_request(&out, AFP_WRITE, &message);
        check(wire_ok(&out) == numbers[i].ok, "row %zu", i);
        out = wire_encoder(bytes, sizeof bytes);
        afp_write_request(&out, AFP_WRITE_EXT, &message);
        check(wire_ok(&out), "row %zu, 64 bits", i);
    }
}

static void request_blocks_have_their_size(void **state)
{
    uint8_t bytes[32];
    struct afp_write_request message = {0};
    struct wire out = wire_encoder(bytes, sizeof bytes);
    afp_write_request(&out, AFP_WRITE, &message);
    assert_int_equal(out.at, AFP_WRITE_BLOCK_SIZE);
    out = wire_encoder(bytes, sizeof bytes);
    afp_write_request(&out, AFP_WRITE_EXT, &message);
    assert_int_equal(out.at, AFP_WRITE_EXT_BLOCK_SIZE);
}

static void saturating_numbers(void **state)
{
    uint8_t bytes[4];
    uint64_t offset = UINT64_C(1) << 32;
    struct wire out = wire_encoder(bytes, sizeof bytes);
    afp_offset_reply(&out, AFP_WRITE, &offset);
    assert_true(wire_ok(&out));
    assert_memory_equal(bytes, "\xff\xff\xff\xff", 4);
}

/* ---- The wrong message ---- */

static void another_command_fails(void **state)
{
    for (unsigned code = 0; code < 256; code++) {
        uint8_t bytes[64] = {(uint8_t)code};
        struct afp_read_request read = {0};
        struct wire in = wire_decoder(bytes, sizeof bytes);
        afp_read_request(&in, AFP_READ_EXT, &read);
        assert_int_equal(wire_ok(&in), code == AFP_READ_EXT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_right_bytes),
        cmocka_unit_test(decodes_what_it_encoded),
        cmocka_unit_test(never_reads_past_a_cut),
        cmocka_unit_test(notices_a_missing_byte),
        cmocka_unit_test(survives_broken_bytes),
        cmocka_unit_test(never_writes_past_the_end),
        cmocka_unit_test(path_types),
        cmocka_unit_test(hostile_name_offsets),
        cmocka_unit_test(unknown_bits_fail),
        cmocka_unit_test(fixed_part_of_a_directory),
        cmocka_unit_test(live_file),
        cmocka_unit_test(live_listing),
        cmocka_unit_test(hostile_entry_lengths),
        cmocka_unit_test(entries_too_long_to_encode),
        cmocka_unit_test(narrow_numbers),
        cmocka_unit_test(request_blocks_have_their_size),
        cmocka_unit_test(saturating_numbers),
        cmocka_unit_test(another_command_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
