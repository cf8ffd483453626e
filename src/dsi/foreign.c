#include "dsi/foreign.h"

#include "dsi/frame.h"

#include <stdio.h>
#include <string.h>

/* Bytes shown of what came. */
#define SHOWN_LINE    60
#define SHOWN_GARBAGE 16

/* No frame that a server starts is longer: an attention holds a code. */
#define OWN_FRAME_LIMIT 65536

struct signature {
    const char *protocol;
    uint8_t offset, size; /* where in the stream the bytes are */
    const char *bytes;
    bool has_text; /* its first line says more */
};

#define BANNER(protocol, bytes)                                                                    \
    {                                                                                              \
        protocol, 0, sizeof(bytes) - 1, bytes, true                                                \
    }
#define BINARY(protocol, offset, bytes)                                                            \
    {                                                                                              \
        protocol, offset, sizeof(bytes) - 1, bytes, false                                          \
    }

static const struct signature signatures[] = {
    BANNER("SSH", "SSH-"),           BANNER("HTTP", "HTTP/"),
    BANNER("HTTP", "<!DOCTYPE"),     BANNER("HTTP", "<html"),
    BANNER("FTP or SMTP", "220"), /* 220 and " " or "-" */
    BANNER("FTP or SMTP", "421"),    BANNER("FTP or SMTP", "500"),
    BANNER("FTP or SMTP", "554"),    BANNER("POP3", "+OK"),
    BANNER("IMAP", "* OK"),          BANNER("IMAP", "* BYE"),
    BANNER("rsync", "@RSYNCD:"),     BANNER("VNC", "RFB "),
    BANNER("Redis", "-ERR"),         BINARY("SMB", 4, "\xffSMB"),
    BINARY("SMB", 4, "\xfeSMB"),     BINARY("SMB (NetBIOS)", 0, "\x83\x00\x00\x01"),
    BINARY("TLS", 0, "\x15\x03"), /* an alert: our bytes were no handshake */
    BINARY("TLS", 0, "\x16\x03"),    BINARY("RDP", 0, "\x03\x00\x00"),
    BINARY("Telnet", 0, "\xff\xfd"), BINARY("Telnet", 0, "\xff\xfb"),
    BINARY("MySQL", 3, "\x00\x0a"),  BINARY("NFS or another RPC service", 0, "\x80\x00\x00"),
};

static const struct signature *find_signature(struct span first)
{
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        const struct signature *row = &signatures[i];
        if (first.size >= (size_t)row->offset + row->size &&
            memcmp(first.data + row->offset, row->bytes, row->size) == 0) {
            return row;
        }
    }
    return NULL;
}

bool foreign_bytes(struct span first)
{
    if (first.size == 0) {
        return false;
    }
    if (first.data[0] > DSI_REPLY) {
        return true;
    }
    if (first.size < DSI_HEADER_SIZE) {
        return find_signature(first) != NULL;
    }
    struct dsi_header header = dsi_header_decode(first.data);
    return header.flags == DSI_REQUEST && (header.command == 0 || header.length > OWN_FRAME_LIMIT);
}

/* The bytes up to the end of the line, at most `limit`, with what is not printable as "\x0a". */
static void printable(struct span bytes, size_t limit, bool line, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < bytes.size && i < limit; i++) {
        uint8_t byte = bytes.data[i];
        if (line && (byte == '\r' || byte == '\n' || byte == 0)) {
            return;
        }
        bool plain = byte >= 0x20 && byte < 0x7f && byte != '\\';
        int length = snprintf(text + used, size - used, plain ? "%c" : "\\x%02x", byte);
        used += (size_t)length;
        if (used + sizeof "\\x00" > size) {
            return;
        }
    }
}

const char *foreign_text(struct span first, char text[FOREIGN_TEXT_LENGTH])
{
    char shown[SHOWN_LINE * 2];
    const struct signature *row = find_signature(first);
    if (row == NULL) {
        printable(first, SHOWN_GARBAGE, false, shown, sizeof shown);
        snprintf(text, FOREIGN_TEXT_LENGTH, "is no AFP server: it answers \"%s\"", shown);
        return text;
    }
    printable(first, row->has_text ? SHOWN_LINE : 0, true, shown, sizeof shown);
    bool more = shown[0] != '\0';
    snprintf(text, FOREIGN_TEXT_LENGTH, "answers as %s%s%s%s, not AFP: is the port right?",
             row->protocol, more ? " (" : "", shown, more ? ")" : "");
    return text;
}
