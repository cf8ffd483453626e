/* Names of volumes, files and users in each version's character set, and volume passwords:
 * doc/protocol.md 3.1, 4.1, 5.1, 5.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct fixture fixture;
static struct peer peer;

/* "Größe" and "日本", the second with a password; clients are guests of this version. */
static void start(const char *store, const char *version)
{
    fixture_prepare(&fixture);
    fixture_use(&fixture, store);
    fixture.volumes[0].name = "Gr\u00F6\u00DFe";
    fixture.volumes[1].name = "\u65E5\u672C";
    fixture.volumes[1].password = "sesam";
    fixture_open(&fixture);
    peer_login(&peer, &fixture.service, version);
}

static int stop(void **state)
{
    fixture_stop(&fixture, &peer);
    return 0;
}

static void volumes_in_utf8(void **state)
{
    static const char *const versions[] = {"AFPX03", "AFP3.4"};
    for (size_t i = 0; i < 2; i++) {
        start(*state, versions[i]);
        expect(&peer, "10 00", AFP_OK, "???????? 02 00 08 'Gro' cc88 c39f 'e' 80 06 e697a5 e69cac");
        expect(&peer, "18 00 0020 08 'Gro' cc88 c39f 'e'", AFP_OK, "0020 0001");
        expect(&peer, "18 00 0020 07 'Gr' c3b6 c39f 'e'", AFP_OK, "0020 0001");
        /* 3.4: the name in the parameters is MacRoman in every version */
        expect(&peer, "11 00 0001 0100", AFP_OK, "0100 0002 05 'Gr' 9a a7 'e'");
        expect(&peer, "18 00 0020 05 'Gr' 9a a7 'e'", AFP_OBJECT_NOT_FOUND, "");
        expect(&peer, "18 00 0020 06 'Grosse'", AFP_OBJECT_NOT_FOUND, "");
        stop(state);
    }
}

static void volumes_in_macroman(void **state)
{
    static const char *const versions[] = {"AFPVersion 2.1", "AFP2.2"};
    for (size_t i = 0; i < 2; i++) {
        start(*state, versions[i]);
        expect(&peer, "10 00", AFP_OK, "???????? 02 00 05 'Gr' 9a a7 'e' 80 04 '__#2'");
        expect(&peer, "18 00 0120 05 'Gr' 9a a7 'e'", AFP_OK, "0120 0001 0004 05 'Gr' 9a a7 'e'");
        expect(&peer, "18 00 0020 04 '__#2' 00 'sesam' 000000", AFP_OK, "0020 0002");
        expect(&peer, "18 00 0020 08 'Gro' cc88 c39f 'e'", AFP_OBJECT_NOT_FOUND, "");
        stop(state);
    }
}

static void passwords(void **state)
{
    start(*state, "AFP3.4");
    expect(&peer, "18 00 0020 06 e697a5 e69cac", AFP_ACCESS_DENIED, "");
    expect(&peer, "18 00 0020 06 e697a5 e69cac 00", AFP_ACCESS_DENIED, "");
    expect(&peer, "18 00 0020 06 e697a5 e69cac 00 00000000 00000000", AFP_ACCESS_DENIED, "");
    expect(&peer, "18 00 0020 06 e697a5 e69cac 00 'Sesam' 000000", AFP_ACCESS_DENIED, "");
    expect(&peer, "18 00 0020 06 e697a5 e69cac 00 'sesam123'", AFP_ACCESS_DENIED, "");
    expect(&peer, "18 00 0020 06 e697a5 e69cac 00 'sesa' 00000000", AFP_ACCESS_DENIED, "");
    expect(&peer, "11 00 0002 0001", AFP_PARAMETER_ERROR, ""); /* it is not open */
    expect(&peer, "18 00 0021 06 e697a5 e69cac 00 'sesam' 000000", AFP_OK, "0021 10c2 0002");
    /* a volume without one does not mind */
    expect(&peer, "18 00 0021 08 'Gro' cc88 c39f 'e' 00 'sesam' 000000", AFP_OK, "0021 10c0 0001");
    stop(state);
}

static void password_of_eight_bytes(void **state)
{
    fixture_prepare(&fixture);
    fixture_use(&fixture, *state);
    fixture.volumes[0].password = "12345678";
    fixture_open(&fixture);
    peer_login(&peer, &fixture.service, "AFP3.4");
    expect(&peer, "18 00 0020 03 'one' '1234567' 00", AFP_ACCESS_DENIED, "");
    expect(&peer, "18 00 0020 03 'one' '12345679'", AFP_ACCESS_DENIED, "");
    expect(&peer, "18 00 0020 03 'one' '12345678'", AFP_OK, "0020 0001");
    stop(state);
}

/* A file is found in either form, and listed in the one of the version. */
static void files(void **state)
{
    fixture_start(&fixture, &peer, *state, "AFP3.4");
    expect(&peer, "07 00 0001 00000002 03 08000103 0007 'Gr' c3b6 c39f 'e'", AFP_OK, "");
    expect(&peer, "07 00 0001 00000002 03 08000103 0008 'Gro' cc88 c39f 'e'", AFP_OBJECT_EXISTS,
           "");
    expect(&peer, "07 00 0001 00000002 02 05 'Gr' 9a a7 'e'", AFP_OBJECT_EXISTS, "");
    expect(&peer, "22 00 0001 00000002 2040 0000 03 08000103 0008 'Gro' cc88 c39f 'e'", AFP_OK,
           "2040 0000 00 00 0008 000e 00000000 05 'Gr' 9a a7 'e' 08000103 0008 'Gro' cc88 c39f "
           "'e'");
    expect(&peer, "44 00 0001 00000002 2000 0000 0005 00000001 00001000 02 00", AFP_OK,
           "2000 0000 0001 0018 00 00 0006 00000000 08000103 0008 'Gro' cc88 c39f 'e'");
    /* what Macs leave alone: U+2260 and "=" with U+0338 are two */
    expect(&peer, "07 00 0001 00000002 03 08000103 0003 e289a0", AFP_OK, "");
    expect(&peer, "22 00 0001 00000002 0100 0000 03 08000103 0003 '=' ccb8", AFP_OBJECT_NOT_FOUND,
           "");
    expect(&peer, "22 00 0001 00000002 0100 0000 02 01 ad", AFP_OK, "0100 0000 00 00 00000012");
    /* not UTF-8 */
    expect(&peer, "07 00 0001 00000002 03 08000103 0001 ff", AFP_PARAMETER_ERROR, "");
    expect(&peer, "1c 00 0001 00000002 03 08000103 0003 e289a0 03 08000103 0002 c328",
           AFP_PARAMETER_ERROR, "");
    /* renamed from one form to the other it is the same */
    expect(&peer, "1c 00 0001 00000002 03 08000103 0008 'Gro' cc88 c39f 'e' 03 08000103 0002 c3a9",
           AFP_OK, "");
    expect(&peer, "08 00 0001 00000002 03 08000103 0003 'e' cc81", AFP_OK, "");
    stop(state);
}

static void files_in_macroman(void **state)
{
    struct peer *new = &peer;
    static struct peer old;
    fixture_start(&fixture, new, *state, "AFP3.4");
    peer_open(&old, &fixture.service, "AFP2.2");
    expect(&old, "07 00 0001 00000002 02 05 'Gr' 9a a7 'e'", AFP_OK, "");
    expect(new, "22 00 0001 00000002 0100 0000 03 08000103 0007 'Gr' c3b6 c39f 'e'", AFP_OK,
           "0100 0000 00 00 00000011");
    expect(new, "07 00 0001 00000002 03 08000103 0008 e697a5 e69cac '.a'", AFP_OK, "");
    expect(&old, "09 00 0001 00000002 0040 0000 0005 0001 1000 02 00", AFP_OK,
           "0040 0000 0002 0a 00 0002 05 'Gr' 9a a7 'e' 0c 00 0002 07 '__.a#12'");
    expect(&old, "22 00 0001 00000002 0100 0000 02 07 '__.a#12'", AFP_OK,
           "0100 0000 00 00 00000012");
    expect(&old, "22 00 0001 00000002 0100 0000 02 07 '__.b#12'", AFP_OBJECT_NOT_FOUND, "");
    expect(&old, "08 00 0001 00000002 02 05 'Gr' 9a a7 'e'", AFP_OK, "");
    expect(new, "22 00 0001 00000002 0100 0000 03 08000103 0007 'Gr' c3b6 c39f 'e'",
           AFP_OBJECT_NOT_FOUND, "");
    peer_close(&old);
    stop(state);
}

/* Composed on disk; what others put there in another form clients do not see. */
static void on_disk(void **state)
{
    char path[300];
    struct stat status;
    fixture_start(&fixture, &peer, "directory", "AFP3.4");
    expect(&peer, "07 00 0001 00000002 03 08000103 0008 'Gro' cc88 c39f 'e'", AFP_OK, "");
    snprintf(path, sizeof path, "%s/Gr\u00F6\u00DFe", fixture.directories[0]);
    assert_int_equal(stat(path, &status), 0);
    snprintf(path, sizeof path, "%s/o\u0308", fixture.directories[0]);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    expect(&peer, "44 00 0001 00000002 2000 0000 0005 00000001 00001000 02 00", AFP_OK,
           "2000 0000 0001 0018 00 00 0006 00000000 08000103 0008 'Gro' cc88 c39f 'e'");
    expect(&peer, "22 00 0001 00000002 0100 0000 03 08000103 0002 c3b6", AFP_OBJECT_NOT_FOUND, "");
    stop(&(void *){NULL});
}

/* FPLogin has MacRoman, FPLoginExt UTF-8 in either form. */
static void users(void **state)
{
    static const struct {
        const char *login;
        int32_t result;
    } rows[] = {
        {"12 06 'AFP2.2' 10 'Cleartxt Passwrd' 04 'J' 9a 'rg' 'pw' 000000000000", AFP_OK},
        {"12 06 'AFP3.4' 10 'Cleartxt Passwrd' 04 'J' 9a 'rg' 'pw' 000000000000", AFP_OK},
        {"12 06 'AFP3.4' 10 'Cleartxt Passwrd' 04 'J' 8a 'rg' 'pw' 000000000000",
         AFP_NOT_AUTHENTICATED},
        {"3f 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0005 'J' c3b6 'rg' 03 0000 00 'pw' "
         "000000000000",
         AFP_OK},
        {"3f 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0006 'Jo' cc88 'rg' 03 0000 'pw' "
         "000000000000",
         AFP_OK},
        {"3f 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0004 'J' 9a 'rg' 03 0000 'pw' "
         "000000000000",
         AFP_PARAMETER_ERROR},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture_prepare(&fixture);
        fixture_use(&fixture, *state);
        fixture.users[0].name = "J\u00F6rg";
        fixture_open(&fixture);
        peer_connect(&peer, &fixture.service);
        peer_send(&peer, DSI_OPEN_SESSION, 0, NULL, 0);
        assert_true(peer_receive(&peer));
        expect(&peer, rows[i].login, rows[i].result, "");
        if (rows[i].result == AFP_OK) {
            /* 5.1: the name of user 1000, in MacRoman and in UTF-8 */
            expect(&peer, "15 01 000003e8", AFP_OK, "04 'J' 9a 'rg'");
        }
        if (rows[i].result == AFP_OK && i > 0) {
            expect(&peer, "15 03 000003e8", AFP_OK, "0006 'Jo' cc88 'rg'");
        }
        stop(state);
    }
}

int main(void)
{
    umask(0);
    const struct CMUnitTest tests[] = {
        {"volumes in UTF-8", volumes_in_utf8, NULL, NULL, "memory"},
        {"volumes in MacRoman", volumes_in_macroman, NULL, NULL, "memory"},
        {"passwords", passwords, NULL, NULL, "memory"},
        {"password of eight bytes", password_of_eight_bytes, NULL, NULL, "memory"},
        ON_BOTH_STORES(NULL, NULL, files),
        ON_BOTH_STORES(NULL, NULL, files_in_macroman),
        cmocka_unit_test(on_disk),
        {"users", users, NULL, NULL, "memory"},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
