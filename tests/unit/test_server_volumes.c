/* Names of volumes, files and users in each version's character set, and volume passwords:
 * doc/protocol.md 3.1, 4.1, 5.1, 5.2. */
#include "server_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* "Größe" and "日本", the second with a password; clients are guests of this version. */
static void start(const char *store, const char *version)
{
    fixture_prepare(store);
    fixture.volumes[0].name = "Gr\u00F6\u00DFe";
    fixture.volumes[1].name = "\u65E5\u672C";
    fixture.volumes[1].password = "sesam";
    fixture_open();
    peer_login(&client, version);
}

static void volumes_in_utf8(void **state)
{
    static const char *const versions[] = {"AFPX03", "AFP3.4"};
    for (size_t i = 0; i < 2; i++) {
        start(*state, versions[i]);
        expect("FPGetSrvrParms 00", AFP_OK,
               "???????? 02 00 08 'Gro' cc88 c39f 'e' 80 06 e697a5 e69cac");
        expect("FPOpenVol 00 0020 08 'Gro' cc88 c39f 'e'", AFP_OK, "0020 0001");
        expect("FPOpenVol 00 0020 07 'Gr' c3b6 c39f 'e'", AFP_OK, "0020 0001");
        /* 3.4: the name in the parameters is MacRoman in every version */
        expect("FPGetVolParms 00 0001 0100", AFP_OK, "0100 0002 05 'Gr' 9a a7 'e'");
        expect("FPOpenVol 00 0020 05 'Gr' 9a a7 'e'", AFP_OBJECT_NOT_FOUND, "");
        expect("FPOpenVol 00 0020 06 'Grosse'", AFP_OBJECT_NOT_FOUND, "");
        fixture_stop();
    }
}

static void volumes_in_macroman(void **state)
{
    static const char *const versions[] = {"AFPVersion 2.1", "AFP2.2"};
    for (size_t i = 0; i < 2; i++) {
        start(*state, versions[i]);
        expect("FPGetSrvrParms 00", AFP_OK, "???????? 02 00 05 'Gr' 9a a7 'e' 80 04 '__#2'");
        expect("FPOpenVol 00 0120 05 'Gr' 9a a7 'e'", AFP_OK, "0120 0001 0004 05 'Gr' 9a a7 'e'");
        expect("FPOpenVol 00 0020 04 '__#2' 00 'sesam' 000000", AFP_OK, "0020 0002");
        expect("FPOpenVol 00 0020 08 'Gro' cc88 c39f 'e'", AFP_OBJECT_NOT_FOUND, "");
        fixture_stop();
    }
}

static void passwords(void **state)
{
    start(*state, "AFP3.4");
    expect("FPOpenVol 00 0020 06 e697a5 e69cac", AFP_ACCESS_DENIED, "");
    expect("FPOpenVol 00 0020 06 e697a5 e69cac 00", AFP_ACCESS_DENIED, "");
    expect("FPOpenVol 00 0020 06 e697a5 e69cac 00 00000000 00000000", AFP_ACCESS_DENIED, "");
    expect("FPOpenVol 00 0020 06 e697a5 e69cac 00 'Sesam' 000000", AFP_ACCESS_DENIED, "");
    expect("FPOpenVol 00 0020 06 e697a5 e69cac 00 'sesam123'", AFP_ACCESS_DENIED, "");
    expect("FPOpenVol 00 0020 06 e697a5 e69cac 00 'sesa' 00000000", AFP_ACCESS_DENIED, "");
    expect("FPGetVolParms 00 0002 0001", AFP_PARAMETER_ERROR, ""); /* it is not open */
    expect("FPOpenVol 00 0021 06 e697a5 e69cac 00 'sesam' 000000", AFP_OK, "0021 10c2 0002");
    /* a volume without one does not mind */
    expect("FPOpenVol 00 0021 08 'Gro' cc88 c39f 'e' 00 'sesam' 000000", AFP_OK, "0021 10c0 0001");
    fixture_stop();
}

static void password_of_eight_bytes(void **state)
{
    fixture_prepare(*state);
    fixture.volumes[0].password = "12345678";
    fixture_open();
    peer_login(&client, "AFP3.4");
    expect("FPOpenVol 00 0020 03 'one' '1234567' 00", AFP_ACCESS_DENIED, "");
    expect("FPOpenVol 00 0020 03 'one' '12345679'", AFP_ACCESS_DENIED, "");
    expect("FPOpenVol 00 0020 03 'one' '12345678'", AFP_OK, "0020 0001");
    fixture_stop();
}

/* A file is found in either form, and listed in the one of the version. */
static void files(void **state)
{
    fixture_start(*state, "AFP3.4");
    expect("FPCreateFile 00 0001 root 03 08000103 0007 'Gr' c3b6 c39f 'e'", AFP_OK, "");
    expect("FPCreateFile 00 0001 root 03 08000103 0008 'Gro' cc88 c39f 'e'", AFP_OBJECT_EXISTS, "");
    expect("FPCreateFile 00 0001 root 02 05 'Gr' 9a a7 'e'", AFP_OBJECT_EXISTS, "");
    expect("FPGetFileDirParms 00 0001 root 2040 0000 03 08000103 0008 'Gro' cc88 c39f 'e'", AFP_OK,
           "2040 0000 00 00 0008 000e 00000000 05 'Gr' 9a a7 'e' 08000103 0008 'Gro' cc88 c39f "
           "'e'");
    expect("FPEnumerateExt2 00 0001 root 2000 0000 0005 00000001 00001000 02 00", AFP_OK,
           "2000 0000 0001 0018 00 00 0006 00000000 08000103 0008 'Gro' cc88 c39f 'e'");
    /* what Macs leave alone: U+2260 and "=" with U+0338 are two */
    expect("FPCreateFile 00 0001 root 03 08000103 0003 e289a0", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0100 0000 03 08000103 0003 '=' ccb8",
           AFP_OBJECT_NOT_FOUND, "");
    expect("FPGetFileDirParms 00 0001 root 0100 0000 02 01 ad", AFP_OK, "0100 0000 00 00 00000012");
    /* not UTF-8 */
    expect("FPCreateFile 00 0001 root 03 08000103 0001 ff", AFP_PARAMETER_ERROR, "");
    expect("FPRename 00 0001 root 03 08000103 0003 e289a0 03 08000103 0002 c328",
           AFP_PARAMETER_ERROR, "");
    /* renamed from one form to the other it is the same */
    expect("FPRename 00 0001 root 03 08000103 0008 'Gro' cc88 c39f 'e' 03 08000103 0002 c3a9",
           AFP_OK, "");
    expect("FPDelete 00 0001 root 03 08000103 0003 'e' cc81", AFP_OK, "");
    fixture_stop();
}

static void files_in_macroman(void **state)
{
    fixture_start(*state, "AFP3.4");
    peer_open(&other, "AFP2.2");
    expect_from(&other, "FPCreateFile 00 0001 root 02 05 'Gr' 9a a7 'e'", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0100 0000 03 08000103 0007 'Gr' c3b6 c39f 'e'", AFP_OK,
           "0100 0000 00 00 00000011");
    expect("FPCreateFile 00 0001 root 03 08000103 0008 e697a5 e69cac '.a'", AFP_OK, "");
    expect_from(&other, "FPEnumerate 00 0001 root 0040 0000 0005 0001 1000 02 00", AFP_OK,
                "0040 0000 0002 0a 00 0002 05 'Gr' 9a a7 'e' 0c 00 0002 07 '__.a#12'");
    expect_from(&other, "FPGetFileDirParms 00 0001 root 0100 0000 02 07 '__.a#12'", AFP_OK,
                "0100 0000 00 00 00000012");
    expect_from(&other, "FPGetFileDirParms 00 0001 root 0100 0000 02 07 '__.b#12'",
                AFP_OBJECT_NOT_FOUND, "");
    expect_from(&other, "FPDelete 00 0001 root 02 05 'Gr' 9a a7 'e'", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0100 0000 03 08000103 0007 'Gr' c3b6 c39f 'e'",
           AFP_OBJECT_NOT_FOUND, "");
    peer_close(&other);
    fixture_stop();
}

/* Composed on disk; what others put there in another form clients do not see. */
static void on_disk(void **state)
{
    char path[300];
    struct stat status;
    fixture_start("directory", "AFP3.4");
    expect("FPCreateFile 00 0001 root 03 08000103 0008 'Gro' cc88 c39f 'e'", AFP_OK, "");
    snprintf(path, sizeof path, "%s/Gr\u00F6\u00DFe", fixture.directories[0]);
    assert_int_equal(stat(path, &status), 0);
    snprintf(path, sizeof path, "%s/o\u0308", fixture.directories[0]);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    expect("FPEnumerateExt2 00 0001 root 2000 0000 0005 00000001 00001000 02 00", AFP_OK,
           "2000 0000 0001 0018 00 00 0006 00000000 08000103 0008 'Gro' cc88 c39f 'e'");
    expect("FPGetFileDirParms 00 0001 root 0100 0000 03 08000103 0002 c3b6", AFP_OBJECT_NOT_FOUND,
           "");
    fixture_stop();
}

/* FPLogin has MacRoman, FPLoginExt UTF-8 in either form. */
static void users(void **state)
{
    static const struct {
        const char *login;
        int32_t result;
    } rows[] = {
        {"FPLogin 06 'AFP2.2' 10 'Cleartxt Passwrd' 04 'J' 9a 'rg' 'pw' 000000000000", AFP_OK},
        {"FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 04 'J' 9a 'rg' 'pw' 000000000000", AFP_OK},
        {"FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 04 'J' 8a 'rg' 'pw' 000000000000",
         AFP_NOT_AUTHENTICATED},
        {"FPLoginExt 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0005 'J' c3b6 'rg' 03 0000 00 "
         "'pw' "
         "000000000000",
         AFP_OK},
        {"FPLoginExt 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0006 'Jo' cc88 'rg' 03 0000 'pw' "
         "000000000000",
         AFP_OK},
        {"FPLoginExt 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0004 'J' 9a 'rg' 03 0000 'pw' "
         "000000000000",
         AFP_PARAMETER_ERROR},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        fixture_prepare(*state);
        fixture.users[0].name = "J\u00F6rg";
        fixture_open();
        peer_open_session(&client);
        expect(rows[i].login, rows[i].result, "");
        if (rows[i].result == AFP_OK) {
            /* 5.1: the name of user 1000, in MacRoman and in UTF-8 */
            expect("FPMapID 01 000003e8", AFP_OK, "04 'J' 9a 'rg'");
        }
        if (rows[i].result == AFP_OK && i > 0) {
            expect("FPMapID 03 000003e8", AFP_OK, "0006 'Jo' cc88 'rg'");
        }
        fixture_stop();
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
