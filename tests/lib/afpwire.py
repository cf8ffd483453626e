"""The wire as doc/protocol.md describes it: DSI frames and the AFP messages the tests need.

Written from the protocol text alone and sharing nothing with the C code, so that a misreading on
one side shows up as a disagreement here. Every message is a row of a table; a layout is a string
of "name:type" words (see `TYPES`), used to encode and to decode alike.
"""

import struct
from dataclasses import dataclass

# ---------------------------------------------------------------------------------- DSI, section 1

HEADER = struct.Struct('>BBHiII')
HEADER_SIZE = HEADER.size

DSI = {
    'DSICloseSession': 1,
    'DSICommand': 2,
    'DSIGetStatus': 3,
    'DSIOpenSession': 4,
    'DSITickle': 5,
    'DSIWrite': 6,
    'DSIAttention': 8,
}
DSI_NAMES = {code: name for name, code in DSI.items()}


@dataclass
class Frame:
    """One DSI frame; `word` is the write offset of a request, the result code of a reply."""

    flags: int
    command: int
    request_id: int
    word: int = 0
    payload: bytes = b''

    @classmethod
    def request(cls, name, request_id, payload=b'', write_offset=0):
        return cls(0, DSI[name], request_id, write_offset, payload)

    def encode(self):
        return HEADER.pack(self.flags, self.command, self.request_id, self.word,
                           len(self.payload), 0) + self.payload

    @property
    def name(self):
        """DSIOpenSession, … or, for a frame that carries one, the AFP command's name."""
        if self.command in (DSI['DSICommand'], DSI['DSIWrite']) and self.payload:
            return AFP_NAMES.get(self.payload[0], f'AFP{self.payload[0]}')
        return DSI_NAMES.get(self.command, f'DSI{self.command}')


def read_header(data):
    """The frame without its payload, and the payload's length."""
    flags, command, request_id, word, length, _reserved = HEADER.unpack(data[:HEADER_SIZE])
    return Frame(flags, command, request_id, word), length


def encode_options(options):
    """DSIOpenSession's options: a list of (type, 32-bit value)."""
    return b''.join(struct.pack('>BBI', kind, 4, value) for kind, value in options)


def decode_options(data):
    options = {}
    while data:
        kind, length = data[0], data[1]
        if len(data) < 2 + length:
            raise ValueError('option longer than the frame')
        options[kind] = int.from_bytes(data[2:2 + length], 'big')
        data = data[2 + length:]
    return options


# ------------------------------------------------------------------- encodings, sections 3.1 to 3.3

UTF8_HINT = 0x08000103


@dataclass(frozen=True)
class Path:
    """A path object: its type on the wire (2 long, 3 UTF-8) and its components."""

    text: str = ''
    kind: int = 3

    def encode(self):
        raw = self.text.encode().replace(b'/', b'\0')
        if self.kind == 3:
            return struct.pack('>BIH', 3, UTF8_HINT, len(raw)) + raw
        return struct.pack('>BB', self.kind, len(raw)) + raw


class Reader:
    """A cursor over one AFP packet; every read past the end is an error."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError(f'{count} bytes wanted at {self.at} of {len(self.data)}')
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, fmt):
        return struct.unpack('>' + fmt, self.take(struct.calcsize(fmt)))[0]

    def pstr(self):
        return self.take(self.number('B')).decode('utf-8', 'replace')

    def path(self):
        kind = self.number('B')
        if kind == 3:
            self.number('I')
            length = self.number('H')
        else:
            length = self.number('B')
        return Path(self.take(length).replace(b'\0', b'/').decode(), kind)

    def even(self):
        if self.at % 2:
            self.take(1)

    def rest(self):
        return self.take(len(self.data) - self.at)


def _pstr(text):
    raw = text.encode()
    return bytes([len(raw)]) + raw


# type: (decode from a Reader, encode a value)
TYPES = {
    'pstr': (Reader.pstr, _pstr),
    'path': (Reader.path, Path.encode),
    'password': (lambda reader: reader.take(8).rstrip(b'\0').decode(),
                 lambda text: text.encode().ljust(8, b'\0')),
    'rest': (Reader.rest, bytes),
}
for _name, _fmt in dict(u8='B', u16='H', u32='I', u64='Q', i32='i', i64='q').items():
    TYPES[_name] = (lambda reader, fmt=_fmt: reader.number(fmt),
                    lambda value, fmt=_fmt: struct.pack('>' + fmt, value))


def decode_layout(layout, reader):
    """The named fields of a layout; 'even' in it is a pad to even packet offset, '.' a zero byte."""
    fields = {}
    for word in layout.split():
        if word == 'even':
            reader.even()
        elif word == '.':
            reader.take(1)
        else:
            name, kind = word.split(':')
            fields[name] = TYPES[kind][0](reader)
    return fields


def encode_layout(layout, fields, start=0):
    """The inverse; `start` is the packet offset of the first byte, for the padding."""
    out = b''
    for word in layout.split():
        if word == 'even':
            out += b'\0' * ((start + len(out)) % 2)
        elif word == '.':
            out += b'\0'
        else:
            name, kind = word.split(':')
            out += TYPES[kind][1](fields[name])
    return out


# ------------------------------------------------------------------------- AFP requests, section 5

# name: (command byte, layout after it)
REQUESTS = {
    'FPByteRangeLock': (1, 'flag:u8 fork:u16 offset:i32 length:i32'),
    'FPCloseVol': (2, '. volume:u16'),
    'FPCloseFork': (4, '. fork:u16'),
    'FPCopyFile': (5, '. volume:u16 dir:u32 dst_volume:u16 dst_dir:u32 path:path dst_path:path '
                      'new_name:path'),
    'FPCreateDir': (6, '. volume:u16 dir:u32 path:path'),
    'FPCreateFile': (7, 'flag:u8 volume:u16 dir:u32 path:path'),
    'FPDelete': (8, '. volume:u16 dir:u32 path:path'),
    'FPEnumerate': (9, '. volume:u16 dir:u32 file_bitmap:u16 dir_bitmap:u16 count:u16 '
                       'start:u16 max_reply:u16 path:path'),
    'FPFlush': (10, '. volume:u16'),
    'FPFlushFork': (11, '. fork:u16'),
    'FPGetForkParms': (14, '. fork:u16 bitmap:u16'),
    'FPGetSrvrInfo': (15, '.'),
    'FPGetSrvrParms': (16, '.'),
    'FPGetVolParms': (17, '. volume:u16 bitmap:u16'),
    'FPLogin': (18, 'version:pstr uam:pstr auth:rest'),
    'FPLogout': (20, '.'),
    'FPGetUserInfo': (37, 'flags:u8 user:u32 bitmap:u16'),
    'FPMoveAndRename': (23, '. volume:u16 src_dir:u32 dst_dir:u32 path:path dst_path:path '
                            'new_name:path'),
    'FPOpenVol': (24, '. bitmap:u16 name:pstr'),
    'FPOpenFork': (26, 'flag:u8 volume:u16 dir:u32 bitmap:u16 mode:u16 path:path'),
    'FPRead': (27, '. fork:u16 offset:i32 count:i32 newline_mask:u8 newline_char:u8'),
    'FPRename': (28, '. volume:u16 dir:u32 path:path new_name:path'),
    'FPSetDirParms': (29, '. volume:u16 dir:u32 bitmap:u16 path:path even parameters:rest'),
    'FPSetFileParms': (30, '. volume:u16 dir:u32 bitmap:u16 path:path even parameters:rest'),
    'FPSetForkParms': (31, '. fork:u16 bitmap:u16 length:rest'),
    'FPWrite': (33, 'flag:u8 fork:u16 offset:i32 count:i32 data:rest'),
    'FPGetFileDirParms': (34, '. volume:u16 dir:u32 file_bitmap:u16 dir_bitmap:u16 path:path'),
    'FPGetSrvrMsg': (38, '. kind:u16 bitmap:u16'),
    'FPByteRangeLockExt': (59, 'flag:u8 fork:u16 offset:i64 length:i64'),
    'FPReadExt': (60, '. fork:u16 offset:i64 count:i64'),
    'FPWriteExt': (61, 'flag:u8 fork:u16 offset:i64 count:i64 data:rest'),
    # the user name inside is a path object without a hint: `auth` starts after it
    'FPLoginExt': (63, '. flags:u16 version:pstr uam:pstr user_kind:u8 auth:rest'),
    'FPGetSessionToken': (64, '. kind:u16 id_length:u32 rest:rest'),
    'FPDisconnectOldSession': (65, '. kind:u16 token_length:u32 token:rest'),
    'FPEnumerateExt': (66, '. volume:u16 dir:u32 file_bitmap:u16 dir_bitmap:u16 count:u16 '
                           'start:u16 max_reply:u16 path:path'),
    'FPEnumerateExt2': (68, '. volume:u16 dir:u32 file_bitmap:u16 dir_bitmap:u16 count:u16 '
                            'start:u32 max_reply:u32 path:path'),
    'FPSyncDir': (78, '. volume:u16 dir:u32'),
    'FPSyncFork': (79, '. fork:u16'),
}
AFP_NAMES = {code: name for name, (code, _layout) in REQUESTS.items()}
WRITE_OFFSET = {'FPWrite': 12, 'FPWriteExt': 20}

OK = 0
AUTH_CONTINUE = -5001
BAD_UAM = -5002
BAD_VERSION = -5003
BITMAP_ERROR = -5004
CANT_MOVE = -5005
DENY_CONFLICT = -5006
DIR_NOT_EMPTY = -5007
DISK_FULL = -5008
EOF_ERROR = -5009
FILE_BUSY = -5010
LOCK_ERROR = -5013
OBJECT_EXISTS = -5017
OBJECT_NOT_FOUND = -5018
PARAM_ERROR = -5019
RANGE_NOT_LOCKED = -5020
RANGE_OVERLAP = -5021
USER_NOT_AUTH = -5023
CALL_NOT_SUPPORTED = -5024
OBJECT_TYPE_ERROR = -5025
DIRECTORY_NOT_FOUND = -5029
OBJECT_LOCKED = -5032


def encode_request(name, /, **fields):
    code, layout = REQUESTS[name]
    return bytes([code]) + encode_layout(layout, fields, start=1)


def decode_request(payload):
    """The request's named fields."""
    reader = Reader(payload)
    reader.take(1)
    return decode_layout(REQUESTS[AFP_NAMES[payload[0]]][1], reader)


# ------------------------------------------------------------------- parameter blocks, section 3.4

# bit: (name, struct format); names are offsets into the block (u16), 'U' the UTF-8 name's 6 bytes
VOLUME_PARAMETERS = {
    0x001: ('attributes', 'H'), 0x002: ('signature', 'H'), 0x004: ('created', 'i'),
    0x008: ('modified', 'i'), 0x010: ('backed_up', 'i'), 0x020: ('id', 'H'),
    0x040: ('free32', 'I'), 0x080: ('total32', 'I'), 0x100: ('name', 'P'),
    0x200: ('free', 'Q'), 0x400: ('total', 'Q'), 0x800: ('block', 'I'),
}
_COMMON = {
    0x0001: ('attributes', 'H'), 0x0002: ('parent', 'I'), 0x0004: ('created', 'i'),
    0x0008: ('modified', 'i'), 0x0010: ('backed_up', 'i'), 0x0020: ('finder', '32s'),
    0x0040: ('long_name', 'P'), 0x0080: ('short_name', 'H'), 0x0100: ('id', 'I'),
    0x2000: ('name', 'U'), 0x8000: ('unix', '16s'),
}
FILE_PARAMETERS = {
    **_COMMON,
    0x0200: ('length32', 'I'), 0x0400: ('resource32', 'I'),
    0x0800: ('length', 'Q'), 0x4000: ('resource', 'Q'),
}
DIR_PARAMETERS = {
    **_COMMON,
    0x0200: ('offspring', 'H'), 0x0400: ('owner', 'I'), 0x0800: ('group', 'I'),
    0x1000: ('access', 'I'),
}


def encode_parameters(table, bitmap, values):
    """A parameter block: fixed part in ascending bit order, then the names it points to."""
    bits = [bit for bit in sorted(table) if bitmap & bit]
    if bitmap != sum(bits):
        raise ValueError(f'bitmap {bitmap:#x}')
    size = {'P': 2, 'U': 6}
    fixed_size = sum(size.get(table[bit][1]) or struct.calcsize('>' + table[bit][1])
                     for bit in bits)
    fixed, tail = b'', b''
    for bit in bits:
        name, fmt = table[bit]
        value = values.get(name, b'' if fmt.endswith('s') else 0)
        if fmt == 'P':
            fixed += struct.pack('>H', fixed_size + len(tail))
            tail += _pstr(values['name'])
        elif fmt == 'U':
            raw = values['name'].encode()
            fixed += struct.pack('>HI', fixed_size + len(tail), 0)
            tail += struct.pack('>IH', 0, len(raw)) + raw
        elif fmt in ('I', 'H'):
            fixed += struct.pack('>' + fmt, min(value, 0xFFFFFFFF if fmt == 'I' else 0xFFFF))
        else:
            fixed += struct.pack('>' + fmt, value)
    return fixed + tail


def decode_parameters(table, bitmap, block):
    reader, values = Reader(block), {}
    for bit in sorted(table):
        if not bitmap & bit:
            continue
        name, fmt = table[bit]
        if fmt == 'P':
            values[name] = _at(block, reader.number('H')).pstr()
        elif fmt == 'U':
            target = _at(block, reader.number('H'))
            reader.take(4)
            target.take(4)
            values[name] = target.take(target.number('H')).decode()
        else:
            values[name] = reader.number(fmt)
    return values


def _at(block, offset):
    reader = Reader(block)
    reader.take(offset)
    return reader


# -------------------------------------------------------------------- server information, section 2

VERSIONS = {
    1: 'AFPVersion 2.1', 2: 'AFP2.2', 3: 'AFPX03', 4: 'AFP3.1', 5: 'AFP3.2', 6: 'AFP3.3',
    7: 'AFP3.4',
}
GUEST = 'No User Authent'
CLEARTEXT = 'Cleartxt Passwrd'


def encode_server_info(name, machine, versions, uams, flags=0x0239):
    def strings(items):
        return bytes([len(items)]) + b''.join(map(_pstr, items))

    head = _pstr(name)
    head += b'\0' * (len(head) % 2)
    sections = [_pstr(machine), strings(versions), strings(uams), bytes(16), b'\0', b'\0',
                struct.pack('>H', len(name)) + name.encode()]
    offsets, at = [], 10 + len(head) + 8
    for section in sections:
        offsets.append(at)
        at += len(section)
    machine_at, versions_at, uams_at, signature_at, addresses_at, dirs_at, utf8_at = offsets
    return (struct.pack('>HHHHH', machine_at, versions_at, uams_at, 0, flags) + head +
            struct.pack('>HHHH', signature_at, addresses_at, dirs_at, utf8_at) +
            b''.join(sections))


def decode_server_info(data):
    def strings(offset):
        reader = _at(data, offset)
        return [reader.pstr() for _ in range(reader.number('B'))]

    machine, versions, uams, _icon, flags = struct.unpack('>HHHHH', data[:10])
    return {'machine': _at(data, machine).pstr(), 'versions': strings(versions),
            'uams': strings(uams), 'flags': flags, 'name': _at(data, 10).pstr()}



def encode_cleartext_auth(version, user, password):
    """UserAuthInfo of FPLogin: user name, pad to even packet offset, 8 bytes of password."""
    before = 1 + len(_pstr(version)) + len(_pstr(CLEARTEXT))
    return encode_layout('user:pstr even password:password',
                         {'user': user, 'password': password}, start=before)


def decode_cleartext_auth(payload):
    """User and password of an FPLogin request with the clear text method."""
    reader = Reader(payload)
    reader.take(1)
    return decode_layout('version:pstr uam:pstr user:pstr even password:password', reader)
