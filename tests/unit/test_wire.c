/* base/wire: integers, strings, padding and offsets, and never a step past the end. */
#include "unit.h"

static void integers(void **state)
{
    static const uint8_t expected[] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0,
                                       0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd};
    uint8_t bytes[15];
    uint8_t small = 0x12;
    uint16_t medium = 0x3456;
    uint32_t large = 0x789abcde;
    uint64_t huge = 0xf00123456789abcd;
    struct wire out = wire_encoder(bytes, sizeof bytes);
    wire_u8(&out, &small);
    wire_u16(&out, &medium);
    wire_u32(&out, &large);
    wire_u64(&out, &huge);
    assert_true(wire_ok(&out));
    assert_int_equal(wire_left(&out), 0);
    assert_memory_equal(bytes, expected, sizeof expected);

    small = 0, medium = 0, large = 0, huge = 0;
    struct wire in = wire_decoder(bytes, sizeof bytes);
    wire_u8(&in, &small);
    wire_u16(&in, &medium);
    wire_u32(&in, &large);
    wire_u64(&in, &huge);
    assert_true(wire_ok(&in));
    assert_int_equal(small, 0x12);
    assert_int_equal(medium, 0x3456);
    assert_int_equal(large, 0x789abcde);
    assert_int_equal(huge, 0xf00123456789abcd);
}

/* ---- Every step at every size of the buffer ---- */

/* One step over fields that start as ones; `empty` tells whether decoding left nothing. */
struct step {
    const char *name;
    size_t size; /* bytes that it takes */
    void (*run)(struct wire *wire);
    bool (*empty)(void);
};

static uint8_t u8;
static uint16_t u16;
static uint32_t u32;
static uint64_t u64;
static uint8_t array[5];
static struct span text;

static void run_u8(struct wire *wire)
{
    wire_u8(wire, &u8);
}

static void run_u16(struct wire *wire)
{
    wire_u16(wire, &u16);
}

static void run_u32(struct wire *wire)
{
    wire_u32(wire, &u32);
}

static void run_u64(struct wire *wire)
{
    wire_u64(wire, &u64);
}

static void run_array(struct wire *wire)
{
    wire_array(wire, array, sizeof array);
}

static void run_bytes(struct wire *wire)
{
    wire_bytes(wire, &text, 3);
}

static void run_pstr(struct wire *wire)
{
    wire_pstr(wire, &text);
}

static void run_str16(struct wire *wire)
{
    wire_str16(wire, &text);
}

static void run_constant(struct wire *wire)
{
    wire_constant_u8(wire, 3);
}

static void run_reserved(struct wire *wire)
{
    wire_reserved(wire, 7);
}

static void run_offset(struct wire *wire)
{
    u16 = wire_offset(wire);
}

static bool empty_integers(void)
{
    return u8 == 0 || u16 == 0 || u32 == 0 || u64 == 0;
}

static bool empty_array(void)
{
    static const uint8_t zeros[sizeof array];
    return memcmp(array, zeros, sizeof array) == 0;
}

static bool empty_text(void)
{
    return text.size == 0 && text.data == NULL;
}

static const struct step steps[] = {
    {"u8", 1, run_u8, empty_integers},         {"u16", 2, run_u16, empty_integers},
    {"u32", 4, run_u32, empty_integers},       {"u64", 8, run_u64, empty_integers},
    {"array", 5, run_array, empty_array},      {"bytes", 3, run_bytes, empty_text},
    {"pstr", 4, run_pstr, empty_text},         {"str16", 5, run_str16, empty_text},
    {"constant", 1, run_constant, NULL},       {"reserved", 7, run_reserved, NULL},
    {"offset", 2, run_offset, empty_integers},
};

static void set_fields(void)
{
    u8 = 0xff, u16 = 0xffff, u32 = 0xffffffff, u64 = UINT64_MAX;
    memset(array, 0xff, sizeof array);
    text = span_from_string("abc");
}

/* Bytes with which every step succeeds if they are enough: a length of 3 in front where the step
 * reads one, and the constant. */
static uint8_t *input(const struct step *step, size_t size)
{
    uint8_t bytes[16] = {3, 3, 3, 3, 3, 3, 3, 3};
    bytes[0] = strcmp(step->name, "str16") == 0 ? 0 : 3;
    return exact_copy(bytes, size);
}

static void never_past_the_end(void **state)
{
    for (size_t s = 0; s < COUNT(steps); s++) {
        for (size_t size = 0; size <= steps[s].size; size++) {
            bool fits = size == steps[s].size;
            uint8_t *bytes = input(&steps[s], size);
            struct wire in = wire_decoder(bytes, size);
            set_fields();
            steps[s].run(&in);
            check(wire_ok(&in) == fits, "%s read from %zu bytes", steps[s].name, size);
            check(in.at <= size && (!fits || in.at == size), "%s at %zu", steps[s].name, in.at);
            check(fits || steps[s].empty == NULL || steps[s].empty(),
                  "%s: something is left after a failure", steps[s].name);

            struct wire out = wire_encoder(bytes, size);
            set_fields();
            steps[s].run(&out);
            check(wire_ok(&out) == fits, "%s written into %zu bytes", steps[s].name, size);
            free(bytes);
        }
    }
}

/* After a failure nothing moves, though it would fit. */
static void failures_stick(void **state)
{
    for (size_t s = 0; s < COUNT(steps); s++) {
        uint8_t bytes[16] = {3, 3, 3, 3};
        struct wire in = wire_decoder(bytes, sizeof bytes);
        wire_fail(&in);
        set_fields();
        steps[s].run(&in);
        assert_false(wire_ok(&in));
        assert_int_equal(in.at, 0);
        check(steps[s].empty == NULL || steps[s].empty(), "%s", steps[s].name);

        uint8_t untouched[16];
        memset(bytes, 0xee, sizeof bytes);
        memcpy(untouched, bytes, sizeof bytes);
        struct wire out = wire_encoder(bytes, sizeof bytes);
        wire_fail(&out);
        set_fields();
        steps[s].run(&out);
        assert_false(wire_ok(&out));
        assert_memory_equal(bytes, untouched, sizeof bytes);
    }
}

/* ---- Strings and spans ---- */

static void string_lengths(void **state)
{
    static uint8_t name[65536];
    static uint8_t bytes[65540];
    static const struct {
        size_t size;
        bool pstr, str16;
    } rows[] = {{0, true, true},
                {255, true, true},
                {256, false, true},
                {65535, false, true},
                {65536, false, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct span span = {name, rows[i].size};
        struct wire out = wire_encoder(bytes, sizeof bytes);
        wire_pstr(&out, &span);
        check(wire_ok(&out) == rows[i].pstr, "pstr of %zu", rows[i].size);
        out = wire_encoder(bytes, sizeof bytes);
        wire_str16(&out, &span);
        check(wire_ok(&out) == rows[i].str16, "str16 of %zu", rows[i].size);
    }
}

static void spans_point_into_the_buffer(void **state)
{
    static const uint8_t bytes[] = "\3abc\0\2derest";
    struct span pstr;
    struct span str16;
    struct span rest;
    struct wire in = wire_decoder(bytes, sizeof bytes - 1);
    wire_pstr(&in, &pstr);
    wire_str16(&in, &str16);
    wire_rest(&in, &rest);
    assert_true(wire_ok(&in));
    assert_ptr_equal(pstr.data, bytes + 1);
    assert_true(span_is(pstr, "abc"));
    assert_true(span_is(str16, "de"));
    assert_true(span_is(rest, "rest"));
    assert_int_equal(wire_left(&in), 0);
    wire_rest(&in, &rest);
    assert_true(wire_ok(&in));
    assert_int_equal(rest.size, 0);
}

static void a_span_must_hold_what_is_written(void **state)
{
    uint8_t bytes[8];
    struct span span = span_from_string("ab");
    struct wire out = wire_encoder(bytes, sizeof bytes);
    wire_bytes(&out, &span, 3);
    assert_false(wire_ok(&out));
}

static void comparing_spans(void **state)
{
    struct span nothing = {0};
    assert_true(span_equals(nothing, span_from_string("")));
    assert_true(span_is(span_from_string("abc"), "abc"));
    assert_false(span_is(span_from_string("abc"), "abd"));
    assert_false(span_is(span_from_string("abc"), "ab"));
    assert_false(span_is(nothing, "a"));
}

static void constants_are_required(void **state)
{
    uint8_t byte = 8;
    struct wire in = wire_decoder(&byte, 1);
    wire_constant_u8(&in, 8);
    assert_true(wire_ok(&in));
    in = wire_decoder(&byte, 1);
    wire_constant_u8(&in, 9);
    assert_false(wire_ok(&in));
}

/* ---- Padding and offsets ---- */

static void pads_to_even(void **state)
{
    for (size_t at = 0; at < 4; at++) {
        uint8_t bytes[5] = {1, 1, 1, 1, 1};
        struct wire out = wire_encoder(bytes, sizeof bytes);
        wire_reserved(&out, at);
        wire_pad_even(&out);
        assert_int_equal(out.at, at + at % 2);
        assert_int_equal(bytes[at], at % 2 != 0 ? 0 : 1);
        struct wire in = wire_decoder(bytes, at); /* the pad is missing */
        wire_reserved(&in, at);
        wire_pad_even(&in);
        assert_int_equal(wire_ok(&in), at % 2 == 0);
    }
}

static void offsets(void **state)
{
    uint8_t bytes[16];
    struct span name = span_from_string("name");
    struct wire out = wire_encoder(bytes, sizeof bytes);
    wire_reserved(&out, 3);
    size_t base = out.at;
    uint16_t place = wire_offset(&out);
    wire_reserved(&out, 4);
    wire_offset_resolve(&out, place, base);
    wire_pstr(&out, &name);
    assert_true(wire_ok(&out));
    assert_int_equal(bytes[3] << 8 | bytes[4], 6);

    struct wire in = wire_decoder(bytes, out.at);
    wire_reserved(&in, 3);
    uint16_t offset = wire_offset(&in);
    struct wire there = wire_seek(&in, 3, offset);
    wire_pstr(&there, &name);
    assert_true(wire_ok(&there));
    assert_true(span_is(name, "name"));
    assert_int_equal(in.at, 5); /* the cursor itself stays */
}

static void seeking(void **state)
{
    static const struct {
        size_t base;
        uint16_t offset;
        bool ok;
    } rows[] = {{0, 0, true},  {0, 8, true},       {0, 9, false},       {5, 3, true},
                {5, 4, false}, {0, 0xFFFF, false}, {SIZE_MAX, 1, false}};
    static const uint8_t bytes[8];
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wire in = wire_decoder(bytes, sizeof bytes);
        struct wire there = wire_seek(&in, rows[i].base, rows[i].offset);
        check(wire_ok(&there) == rows[i].ok, "row %zu", i);
        assert_true(there.at <= sizeof bytes);
        wire_fail(&in);
        there = wire_seek(&in, 0, 0);
        assert_false(wire_ok(&there));
    }
}

/* An offset has 16 bits; what lies further away cannot be named. */
static void offsets_too_far(void **state)
{
    static uint8_t bytes[70000];
    for (size_t gap = 65533; gap <= 65534; gap++) {
        struct wire out = wire_encoder(bytes, sizeof bytes);
        uint16_t place = wire_offset(&out);
        wire_reserved(&out, gap);
        wire_offset_resolve(&out, place, 0);
        assert_int_equal(wire_ok(&out), gap == 65533);
    }
    struct wire out = wire_encoder(bytes, sizeof bytes);
    wire_reserved(&out, 65536);
    wire_offset(&out);
    assert_false(wire_ok(&out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(never_past_the_end),
        cmocka_unit_test(failures_stick),
        cmocka_unit_test(string_lengths),
        cmocka_unit_test(spans_point_into_the_buffer),
        cmocka_unit_test(a_span_must_hold_what_is_written),
        cmocka_unit_test(comparing_spans),
        cmocka_unit_test(constants_are_required),
        cmocka_unit_test(pads_to_even),
        cmocka_unit_test(offsets),
        cmocka_unit_test(seeking),
        cmocka_unit_test(offsets_too_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
