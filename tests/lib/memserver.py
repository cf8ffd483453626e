"""The scripted peer's default behaviour: a small AFP server with files in memory.

It answers one request at a time, correctly and without cleverness; what a test wants done wrongly
is the peer's business (peer.py). `MemoryServer.answer` maps a request to (result code, payload).
"""

import struct

import afpwire
from afpwire import Reader


class Refused(Exception):
    """A request that is answered with a result code other than 0 and perhaps a payload."""

    def __init__(self, code, payload=b''):
        super().__init__(code)
        self.code = code
        self.payload = payload


class Node:
    """A file (children is None) or a directory of a volume."""

    def __init__(self, node_id, parent, name, directory):
        self.id = node_id
        self.parent = parent
        self.name = name
        self.data = bytearray()
        self.children = {} if directory else None

    def parameters(self):
        """Values for the tables in afpwire."""
        values = {'id': self.id, 'name': self.name, 'parent': self.parent.id if self.parent else 1}
        if self.children is None:
            size = len(self.data)
            return {**values, 'length': size, 'length32': size}
        return {**values, 'offspring': len(self.children), 'access': 0x87070707}


class Volume:
    def __init__(self, volume_id, name, size):
        self.id = volume_id
        self.name = name
        self.size = size
        self.root = Node(2, None, name, True)
        self.next_id = 17

    def nodes(self, node=None):
        node = node or self.root
        yield node
        for child in (node.children or {}).values():
            yield from self.nodes(child)

    def used(self):
        return sum(len(node.data) for node in self.nodes())

    def directory(self, node_id):
        for node in self.nodes():
            if node.id == node_id and node.children is not None:
                return node
        raise Refused(afpwire.OBJECT_NOT_FOUND)

    def parent_and_name(self, directory_id, path):
        """Where a path's last component is, or would be made."""
        node = self.directory(directory_id)
        parts = [part for part in path.text.split('/') if part]
        if not parts:
            return node.parent, node.name
        for part in parts[:-1]:
            node = (node.children or {}).get(part)
            if node is None:
                raise Refused(afpwire.OBJECT_NOT_FOUND)
        return node, parts[-1]

    def find(self, directory_id, path):
        parent, name = self.parent_and_name(directory_id, path)
        node = self.root if parent is None else parent.children.get(name)
        if node is None:
            raise Refused(afpwire.OBJECT_NOT_FOUND)
        return node

    def add(self, parent, name, directory):
        if name in parent.children:
            raise Refused(afpwire.OBJECT_EXISTS)
        node = Node(self.next_id, parent, name, directory)
        self.next_id += 1
        parent.children[name] = node
        return node


class MemoryServer:
    """Volumes, users and open forks, shared by all connections of a peer."""

    def __init__(self, settings):
        self.settings = settings
        self.volumes = [Volume(number, name, settings.volume_size)
                        for number, name in enumerate(settings.volumes, 1)]
        self.forks = {}
        self.next_fork = 1

    def answer(self, frame):
        """Result code and payload of the reply, None when the frame has none."""
        if frame.name == 'DSIOpenSession':
            return 0, afpwire.encode_options([(0, self.settings.quantum), (2, 128)])
        if frame.name == 'DSIGetStatus':
            return 0, self.info()
        if frame.name.startswith('DSI'):
            return None
        handler = HANDLERS.get(frame.name)
        if handler is None:
            return afpwire.CALL_NOT_SUPPORTED, b''
        try:
            return 0, handler(self, afpwire.decode_request(frame.payload), frame) or b''
        except Refused as refused:
            return refused.code, refused.payload
        except ValueError:
            return afpwire.PARAM_ERROR, b''

    def info(self):
        return afpwire.encode_server_info(self.settings.server_name, self.settings.machine_type,
                                          self.settings.versions, self.settings.uams)

    def left_behind(self):
        """Paths of all files and directories on the volumes."""
        return [f'{volume.name}/{node.name}' for volume in self.volumes
                for node in volume.nodes() if node is not volume.root]

    def in_root(self, name):
        """Names in the root of the volume with this name."""
        volume, = [volume for volume in self.volumes if volume.name == name]
        return sorted(volume.root.children)

    def volume(self, volume_id):
        if not 1 <= volume_id <= len(self.volumes):
            raise Refused(afpwire.PARAM_ERROR)
        return self.volumes[volume_id - 1]

    def fork(self, number):
        if number not in self.forks:
            raise Refused(afpwire.PARAM_ERROR)
        return self.forks[number]

    def in_use(self, node):
        return any(held is node for held, _volume in self.forks.values())

    # ------------------------------------------------------------------------ session and volumes

    def login(self, request, frame):
        settings = self.settings
        if request['version'] not in settings.versions:
            raise Refused(afpwire.BAD_VERSION)
        if request['uam'] not in settings.uams:
            raise Refused(afpwire.BAD_UAM)
        if request['uam'] == afpwire.GUEST:
            return
        if frame.name == 'FPLoginExt':
            reader = Reader(frame.payload)
            given = afpwire.decode_layout(
                '. . flags:u16 version:pstr uam:pstr user_kind:u8', reader)
            given['user'] = reader.take(reader.number('H')).decode()
            reader.path() if reader.data[reader.at] != 3 else reader.take(3)
            reader.even()
            given['password'] = reader.take(8).rstrip(b'\0').decode()
        else:
            given = afpwire.decode_cleartext_auth(frame.payload)
        if settings.users.get(given['user']) != given['password']:
            raise Refused(afpwire.USER_NOT_AUTH)

    def logout(self, _request, _frame):
        self.forks.clear()

    def open_volume(self, request, _frame):
        for volume in self.volumes:
            if volume.name == request['name']:
                return self._volume_parameters(volume, request['bitmap'])
        raise Refused(afpwire.OBJECT_NOT_FOUND)

    def volume_parameters(self, request, _frame):
        return self._volume_parameters(self.volume(request['volume']), request['bitmap'])

    def _volume_parameters(self, volume, bitmap):
        free = max(volume.size - volume.used(), 0)
        values = {'attributes': 0x40, 'signature': 2, 'id': volume.id, 'name': volume.name,
                  'free': free, 'free32': free, 'total': volume.size, 'total32': volume.size,
                  'block': 4096}
        return struct.pack('>H', bitmap) + afpwire.encode_parameters(
            afpwire.VOLUME_PARAMETERS, bitmap, values)

    def server_parameters(self, _request, _frame):
        names = b''.join(b'\0' + bytes([len(volume.name)]) + volume.name.encode()
                         for volume in self.volumes)
        return struct.pack('>IB', 0, len(self.volumes)) + names

    def token(self, _request, _frame):
        return struct.pack('>IQ', 8, 0x1122334455667788)

    def nothing(self, _request, _frame):
        """Accepted, with nothing to do or to say."""

    # ----------------------------------------------------------------------- files and directories

    def create_file(self, request, _frame):
        volume = self.volume(request['volume'])
        parent, name = volume.parent_and_name(request['dir'], request['path'])
        if request['flag'] & 0x80 and name in parent.children:
            parent.children[name].data = bytearray()
        else:
            volume.add(parent, name, False)

    def create_dir(self, request, _frame):
        volume = self.volume(request['volume'])
        parent, name = volume.parent_and_name(request['dir'], request['path'])
        return struct.pack('>I', volume.add(parent, name, True).id)

    def delete(self, request, _frame):
        node = self.volume(request['volume']).find(request['dir'], request['path'])
        if node.children:
            raise Refused(afpwire.DIR_NOT_EMPTY)
        if self.in_use(node):
            raise Refused(afpwire.FILE_BUSY)
        del node.parent.children[node.name]

    def parameters(self, request, _frame):
        node = self.volume(request['volume']).find(request['dir'], request['path'])
        is_dir = node.children is not None
        table = afpwire.DIR_PARAMETERS if is_dir else afpwire.FILE_PARAMETERS
        bitmap = request['dir_bitmap' if is_dir else 'file_bitmap']
        return (struct.pack('>HHBB', request['file_bitmap'], request['dir_bitmap'],
                            0x80 if is_dir else 0, 0) +
                afpwire.encode_parameters(table, bitmap, node.parameters()))

    def enumerate(self, request, frame):
        directory = self.volume(request['volume']).find(request['dir'], request['path'])
        if directory.children is None:
            raise Refused(afpwire.OBJECT_TYPE_ERROR)
        tables = {False: (afpwire.FILE_PARAMETERS, request['file_bitmap']),
                  True: (afpwire.DIR_PARAMETERS, request['dir_bitmap'])}
        nodes = [node for node in directory.children.values()
                 if tables[node.children is not None][1]]
        entries = b''
        chosen = nodes[request['start'] - 1:request['start'] - 1 + request['count']]
        if not chosen:
            raise Refused(afpwire.OBJECT_NOT_FOUND)
        for node in chosen:
            is_dir = node.children is not None
            table, bitmap = tables[is_dir]
            block = afpwire.encode_parameters(table, bitmap, node.parameters())
            head = '>BB' if frame.name == 'FPEnumerate' else '>HBx'
            size = struct.calcsize(head) + len(block)
            entries += struct.pack(head, size + size % 2, 0x80 if is_dir else 0)
            entries += block + b'\0' * (size % 2)
        return struct.pack('>HHH', request['file_bitmap'], request['dir_bitmap'],
                           len(chosen)) + entries

    def copy_file(self, request, _frame):
        source = self.volume(request['volume']).find(request['dir'], request['path'])
        target = self.volume(request['dst_volume'])
        directory = target.find(request['dst_dir'], request['dst_path'])
        copy = target.add(directory, request['new_name'].text or source.name, False)
        copy.data = bytearray(source.data)

    # --------------------------------------------------------------------------------------- forks

    def open_fork(self, request, _frame):
        volume = self.volume(request['volume'])
        node = volume.find(request['dir'], request['path'])
        if node.children is not None:
            raise Refused(afpwire.OBJECT_TYPE_ERROR)
        number = self.next_fork
        self.next_fork += 1
        self.forks[number] = (node, volume)
        return struct.pack('>HH', request['bitmap'], number) + afpwire.encode_parameters(
            afpwire.FILE_PARAMETERS, request['bitmap'], node.parameters())

    def close_fork(self, request, _frame):
        self.fork(request['fork'])
        del self.forks[request['fork']]

    def fork_parameters(self, request, _frame):
        node, _volume = self.fork(request['fork'])
        return struct.pack('>H', request['bitmap']) + afpwire.encode_parameters(
            afpwire.FILE_PARAMETERS, request['bitmap'], node.parameters())

    def set_fork_parameters(self, request, _frame):
        node, volume = self.fork(request['fork'])
        length = int.from_bytes(request['length'], 'big')
        self._check_room(volume, length - len(node.data))
        del node.data[length:]
        node.data.extend(bytes(length - len(node.data)))

    def read(self, request, _frame):
        node, _volume = self.fork(request['fork'])
        offset, count = request['offset'], request['count']
        data = bytes(node.data[offset:offset + count])
        if len(data) < count:
            raise Refused(afpwire.EOF_ERROR, data)
        return data

    def write(self, request, frame):
        node, volume = self.fork(request['fork'])
        offset, data = request['offset'], request['data']
        self._check_room(volume, offset + len(data) - len(node.data))
        if offset > len(node.data):
            node.data.extend(bytes(offset - len(node.data)))
        node.data[offset:offset + len(data)] = data
        return struct.pack('>I' if frame.name == 'FPWrite' else '>Q', offset + len(data))

    def _check_room(self, volume, more):
        if more > 0 and volume.used() + more > volume.size:
            raise Refused(afpwire.DISK_FULL)


HANDLERS = {
    'FPGetSrvrInfo': lambda server, _request, _frame: server.info(),
    'FPGetSrvrParms': MemoryServer.server_parameters,
    'FPLogin': MemoryServer.login,
    'FPLoginExt': MemoryServer.login,
    'FPLogout': MemoryServer.logout,
    'FPGetSessionToken': MemoryServer.token,
    'FPOpenVol': MemoryServer.open_volume,
    'FPGetVolParms': MemoryServer.volume_parameters,
    'FPCloseVol': MemoryServer.nothing,
    'FPFlush': MemoryServer.nothing,
    'FPFlushFork': MemoryServer.nothing,
    'FPSyncFork': MemoryServer.nothing,
    'FPSyncDir': MemoryServer.nothing,
    'FPCreateFile': MemoryServer.create_file,
    'FPCreateDir': MemoryServer.create_dir,
    'FPDelete': MemoryServer.delete,
    'FPGetFileDirParms': MemoryServer.parameters,
    'FPEnumerate': MemoryServer.enumerate,
    'FPEnumerateExt': MemoryServer.enumerate,
    'FPEnumerateExt2': MemoryServer.enumerate,
    'FPCopyFile': MemoryServer.copy_file,
    'FPOpenFork': MemoryServer.open_fork,
    'FPCloseFork': MemoryServer.close_fork,
    'FPGetForkParms': MemoryServer.fork_parameters,
    'FPSetForkParms': MemoryServer.set_fork_parameters,
    'FPRead': MemoryServer.read,
    'FPReadExt': MemoryServer.read,
    'FPWrite': MemoryServer.write,
    'FPWriteExt': MemoryServer.write,
}
assert not [name for name in HANDLERS if name not in afpwire.REQUESTS]
