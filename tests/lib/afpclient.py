"""A small AFP client for the tests' own business: put a file on a server, see what is left there.

One request at a time, no tuning. It shares nothing with the program under test.
"""

import socket
import struct

import afpwire
from afpwire import Frame, Path


class AfpError(Exception):
    """A result code other than 0."""

    def __init__(self, name, code):
        super().__init__(f'{name}: {code}')
        self.code = code


class Connection:
    """DSI: frames out, frames in, unsolicited ones skipped."""

    def __init__(self, port, host='127.0.0.1', timeout=10):
        self.socket = socket.create_connection((host, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.next_id = 0

    def close(self):
        """Ends the TCP connection and nothing else, as a killed client would."""
        self.socket.close()

    def send(self, name, payload=b'', write_offset=0):
        self.next_id += 1
        self.socket.sendall(Frame.request(name, self.next_id, payload, write_offset).encode())
        return self.next_id

    def receive(self):
        frame, length = afpwire.read_header(self._exactly(afpwire.HEADER_SIZE))
        frame.payload = self._exactly(length)
        return frame

    def exchange(self, name, payload=b'', write_offset=0):
        request_id = self.send(name, payload, write_offset)
        while True:
            frame = self.receive()
            if frame.flags == 1 and frame.request_id == request_id:
                return frame

    def _exactly(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError('the server closed the connection')
            data += piece
        return bytes(data)


def server_info(port, host='127.0.0.1', timeout=10):
    """What the server says of itself, by DSIGetStatus."""
    connection = Connection(port, host, timeout)
    try:
        return afpwire.decode_server_info(connection.exchange('DSIGetStatus').payload)
    finally:
        connection.close()


class Session:
    """A logged-in session; as a context manager it logs out."""

    def __init__(self, port, user=None, password=None, version=7, host='127.0.0.1'):
        self.connection = Connection(port, host)
        options = afpwire.encode_options([(1, 2)])
        reply = self.connection.exchange('DSIOpenSession', options)
        if reply.word:
            raise AfpError('DSIOpenSession', reply.word)
        self.quantum = afpwire.decode_options(reply.payload).get(0, 65536)
        self.path_kind = 3 if version >= 3 else 2
        name = afpwire.VERSIONS[version]
        if user is None:
            self.call('FPLogin', version=name, uam=afpwire.GUEST, auth=b'')
        else:
            self.call('FPLogin', version=name, uam=afpwire.CLEARTEXT,
                      auth=afpwire.encode_cleartext_auth(name, user, password))

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.logout()

    def logout(self):
        self.call('FPLogout')
        self.connection.send('DSICloseSession')
        self.connection.close()

    def call(self, name, /, **fields):
        """The reply's payload; any result code but 0 is an AfpError."""
        code, payload = self.try_call(name, **fields)
        if code:
            raise AfpError(name, code)
        return payload

    def try_call(self, name, /, **fields):
        """Result code and payload."""
        payload = afpwire.encode_request(name, **fields)
        offset = afpwire.WRITE_OFFSET.get(name, 0)
        reply = self.connection.exchange('DSIWrite' if offset else 'DSICommand', payload, offset)
        return reply.word, reply.payload

    def path(self, text=''):
        return Path(text, self.path_kind)

    def open_volume(self, name):
        payload = self.call('FPOpenVol', bitmap=0x20, name=name)
        return struct.unpack('>HH', payload)[1]

    def open_fork(self, volume, path, mode=3, directory=2):
        payload = self.call('FPOpenFork', flag=0, volume=volume, dir=directory, bitmap=0,
                            mode=mode, path=self.path(path))
        return struct.unpack('>HH', payload[:4])[1]

    def put(self, volume, path, data):
        """Creates a file with this content."""
        self.call('FPCreateFile', flag=0x80, volume=volume, dir=2, path=self.path(path))
        fork = self.open_fork(volume, path)
        for at in range(0, len(data), 65536):
            piece = data[at:at + 65536]
            self.call('FPWriteExt', flag=0, fork=fork, offset=at, count=len(piece), data=piece)
        self.call('FPCloseFork', fork=fork)

    def get(self, volume, path, directory=2):
        """A file's content."""
        fork = self.open_fork(volume, path, mode=1, directory=directory)
        data = b''
        while True:
            code, piece = self.try_call('FPReadExt', fork=fork, offset=len(data), count=65536)
            data += piece
            if code == afpwire.EOF_ERROR:
                break
            if code:
                raise AfpError('FPReadExt', code)
        self.call('FPCloseFork', fork=fork)
        return data

    def delete(self, volume, path):
        self.call('FPDelete', volume=volume, dir=2, path=self.path(path))

    def list(self, volume, path=''):
        """Names in a directory: {name: (is directory, id, length)}."""
        found = {}
        while True:
            code, payload = self.try_call(
                'FPEnumerateExt2', volume=volume, dir=2, file_bitmap=0x2900, dir_bitmap=0x2100,
                count=100, start=len(found) + 1, max_reply=32768, path=self.path(path))
            if code == afpwire.OBJECT_NOT_FOUND:
                return found
            if code:
                raise AfpError('FPEnumerateExt2', code)
            found.update(_entries(payload))


def _entries(payload):
    file_bitmap, dir_bitmap, count = struct.unpack('>HHH', payload[:6])
    at = 6
    for _ in range(count):
        length, kind = struct.unpack('>HB', payload[at:at + 3])
        block = payload[at + 4:at + length]
        at += length
        if kind & 0x80:
            values = afpwire.decode_parameters(afpwire.DIR_PARAMETERS, dir_bitmap, block)
        else:
            values = afpwire.decode_parameters(afpwire.FILE_PARAMETERS, file_bitmap, block)
        yield values['name'], (bool(kind & 0x80), values['id'], values.get('length', 0))


def listing(server):
    """What lies on the volume `bench`."""
    with Session(server.port) as session:
        return session.list(session.open_volume('bench'))
