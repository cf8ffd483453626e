"""The scripted peer: a server that does exactly what a script says, and records every frame.

Without a script it is a correct AFP server (memserver.py). Rules change what happens at chosen
requests. The language is described in tests/fault/README.md; in short, one line each:

    quantum 1M                                  a setting
    on FPReadExt #3: serve cut=half; close      a rule: which request, then what to do
    expect FPLogin version=AFP3.4: serve code=-5023

`Peer` runs it in threads of the calling program, on a free port of 127.0.0.1.
"""

import fnmatch
import select
import shlex
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field

import afpwire
from afpwire import Frame
from memserver import MemoryServer

# Held replies go out when the client has sent nothing for so long: it waits for one of them.
HOLD_IDLE_S = 0.3


class ScriptError(Exception):
    """A line of a script that says nothing."""


def parse_size(text):
    unit = {'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}.get(text[-1].lower())
    return int(text[:-1]) * unit if unit else int(text, 0)


@dataclass
class Settings:
    """What the peer says of itself; each is a line of a script (`machine-type NAME`)."""

    machine_type: str = 'scripted'
    server_name: str = 'peer'
    versions: list = field(default_factory=lambda: list(afpwire.VERSIONS.values()))
    uams: list = field(default_factory=lambda: [afpwire.GUEST, afpwire.CLEARTEXT])
    volumes: list = field(default_factory=lambda: ['bench', 'bench2'])
    users: dict = field(default_factory=lambda: {'bench': 'bench'})
    quantum: int = 1 << 20
    volume_size: int = 1 << 40

    READ = {
        'machine-type': lambda words: words[0],
        'server-name': lambda words: words[0],
        'versions': list,
        'uams': list,
        'volumes': list,
        'users': lambda words: dict(word.split(':', 1) for word in words),
        'quantum': lambda words: parse_size(words[0]),
        'volume-size': lambda words: parse_size(words[0]),
    }


# ------------------------------------------------------------------------------------------ scripts

@dataclass
class Rule:
    """`pattern` and `fields` choose requests, first..last of those; `actions` are done then."""

    text: str
    pattern: str
    fields: dict
    first: int
    last: float
    actions: list
    seen: int = 0

    def matches(self, frame):
        if not fnmatch.fnmatchcase(frame.name, self.pattern):
            return False
        if not self.fields:
            return True
        found = afpwire.decode_request(frame.payload) if frame.name.startswith('FP') else {}
        return all(str(getattr(found.get(name), 'text', found.get(name))) == value
                   for name, value in self.fields.items())

    def applies(self, frame):
        """True when the rule's actions are to be done; counts the requests that match."""
        if not self.matches(frame):
            return False
        self.seen += 1
        return self.first <= self.seen <= self.last


def _parse_range(text):
    """'3' the third, '3+' from the third on, '3-5'."""
    if text.endswith('+'):
        return int(text[:-1]), float('inf')
    first, _dash, last = text.partition('-')
    return int(first), int(last or first)


def _parse_rule(line):
    head, colon, tail = line.partition(':')
    if not colon:
        raise ScriptError(f'no ":" and actions in: {line}')
    words = shlex.split(head)[1:]
    rule = Rule(line, words[0], {}, 1, float('inf'), [])
    for word in words[1:]:
        if word.startswith('#'):
            rule.first, rule.last = _parse_range(word[1:])
        else:
            name, _equals, value = word.partition('=')
            rule.fields[name] = value
    for action in tail.split(';'):
        words = action.split()
        if words:
            if words[0] not in ACTIONS:
                raise ScriptError(f'unknown action "{words[0]}" in: {line}')
            rule.actions.append(words)
    return rule


def parse_script(text):
    """Settings, the rules that always hold, and the expectations in their order."""
    settings, rules, expected = Settings(), [], []
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith('#'):
            continue
        word = line.split()[0]
        if word == 'on':
            rules.append(_parse_rule(line))
        elif word == 'expect':
            expected.append(_parse_rule(line))
        elif word in Settings.READ:
            setattr(settings, word.replace('-', '_'),
                    Settings.READ[word](shlex.split(line)[1:]))
        else:
            raise ScriptError(f'unknown setting: {line}')
    return settings, rules, expected


# ---------------------------------------------------------------------------------------- recording

@dataclass
class Record:
    """One frame as it was on the wire."""

    time: float
    connection: int
    received: bool              # else sent
    name: str                   # of the request, also on its reply
    frame: Frame
    outstanding: int            # requests received and not answered, with this frame counted
    pieces: list                # received: sizes of the receive calls that this frame came in
    order: int = 0              # number among the frames of the peer

    @property
    def size(self):
        return afpwire.HEADER_SIZE + len(self.frame.payload)

    @property
    def fields(self):
        return afpwire.decode_request(self.frame.payload)

    def __str__(self):
        arrow = '<' if self.received else '>'
        kind = 'request' if self.frame.flags == 0 else f'reply {self.frame.word}'
        return (f'{self.time:10.6f} {self.connection} {arrow} {self.name} {kind} '
                f'id {self.frame.request_id} {self.size} bytes, {self.outstanding} outstanding')


class Ended(Exception):
    """The connection is over, by an action or by the client."""


class Connection:
    """One client connection: reads frames, does what the rules say, sends replies."""

    def __init__(self, peer, number, client):
        self.peer = peer
        self.number = number
        self.socket = client
        self.input = bytearray()
        self.pieces = []        # sizes of the receive calls not yet given to a frame
        self.waiting = {}       # requests that are not answered: ID to name
        self.held = []          # replies that wait for more requests
        self.mute = False
        self.server_id = 0      # IDs of frames that the server sends on its own

    def run(self):
        try:
            while True:
                self._handle(self._receive())
        except (Ended, ConnectionError):
            pass
        finally:
            self.socket.close()

    # --------------------------------------------------------------------------------------- input

    def _receive(self):
        while len(self.input) < afpwire.HEADER_SIZE:
            self._fill()
        frame, length = afpwire.read_header(self.input)
        total = afpwire.HEADER_SIZE + length
        while len(self.input) < total:
            self._fill()
        frame.payload = bytes(self.input[afpwire.HEADER_SIZE:total])
        del self.input[:total]
        pieces = self._take_pieces(total)
        if frame.name not in ('DSITickle', 'DSICloseSession'):
            self.waiting[frame.request_id] = frame.name
        self._record(frame, frame.name, True, pieces)
        return frame

    def _fill(self):
        if self.held and not select.select([self.socket], [], [], HOLD_IDLE_S)[0]:
            self._release(len(self.held))
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise Ended
        self.input += piece
        self.pieces.append(len(piece))

    def _take_pieces(self, total):
        """The parts of the receive calls that make up the next `total` bytes."""
        taken = []
        while total:
            part = min(self.pieces[0], total)
            taken.append(part)
            total -= part
            self.pieces[0] -= part
            if not self.pieces[0]:
                self.pieces.pop(0)
        return taken

    def _record(self, frame, name, received, pieces=()):
        self.peer.record(Record(time.monotonic() - self.peer.started, self.number, received, name,
                                frame, len(self.waiting), list(pieces)))

    # --------------------------------------------------------------------------------------- rules

    def _handle(self, frame):
        actions = self.peer.actions_for(frame)
        if self.mute:
            return
        for action, *arguments in actions:
            ACTIONS[action](self, frame, *arguments)
        if frame.name == 'DSICloseSession':
            raise Ended

    # --------------------------------------------------------------------------------------- output

    def _sending(self, frame, answered=None):
        """Notes that a frame goes out, perhaps as the answer to a request."""
        name = answered.name if answered else frame.name
        if answered:
            self.waiting.pop(answered.request_id, None)
        self._record(frame, name, False)

    def send_frame(self, frame, answered=None):
        self._sending(frame, answered)
        self.send_bytes(frame.encode())

    def send_bytes(self, data):
        if not self.mute:
            self.socket.sendall(data)

    def serve(self, frame, *options):
        """Answers as a correct server would, changed by the options."""
        reply, options = self._prepare(frame, options)
        if reply is not None:
            self._send_changed(frame, reply, options)

    def _prepare(self, frame, options):
        options = dict(option.partition('=')[::2] for option in options)
        if 'code' in options:
            answer = int(options['code']), bytes.fromhex(options.get('payload', ''))
        else:
            answer = self.peer.server.answer(frame)
            if answer is None:
                return None, options
            if 'payload' in options:
                answer = answer[0], bytes.fromhex(options['payload'])
        return Frame(1, frame.command, frame.request_id, *answer), options

    def _send_changed(self, frame, reply, options):
        if 'cut' not in options and 'pieces' not in options:
            self.send_frame(reply, frame)
            return
        data = reply.encode()
        if 'cut' in options:
            cut = options['cut']
            data = data[:len(data) // 2 if cut == 'half' else int(cut)]
        step = int(options.get('pieces', len(data) or 1))
        self._sending(reply, frame)
        for at in range(0, len(data), step):
            self.send_bytes(data[at:at + step])

    def hold(self, frame, count, order='forward'):
        """Answers once `count` requests are held, or the client sends no more."""
        reply, _options = self._prepare(frame, ())
        self.held.append((frame, reply))
        if len(self.held) < int(count):
            return
        if order == 'reverse':
            self.held.reverse()
        self._release(1 if order == 'one' else len(self.held))

    def _release(self, count):
        """Sends the first held replies, glued."""
        data = b''
        for _ in range(count):
            frame, reply = self.held.pop(0)
            self._sending(reply, frame)
            data += reply.encode()
        self.send_bytes(data)

    def send_own(self, name, payload=b''):
        """A frame that the server sends unasked."""
        self.send_frame(Frame.request(name, self.server_id, payload))
        self.server_id = (self.server_id + 1) % 65536

    def close(self):
        raise Ended

    def set_mute(self):
        self.mute = True


ACTIONS = {
    'serve': lambda connection, frame, *options: connection.serve(frame, *options),
    'hold': lambda connection, frame, *words: connection.hold(frame, *words),
    'ignore': lambda connection, frame: None,
    'send': lambda connection, frame, *hexes: connection.socket.sendall(
        bytes.fromhex(''.join(hexes))),
    'tickle': lambda connection, frame: connection.send_own('DSITickle'),
    'attention': lambda connection, frame, code: connection.send_own(
        'DSIAttention', struct.pack('>H', int(code, 16))),
    'delay': lambda connection, frame, seconds: time.sleep(float(seconds)),
    'wait': lambda connection, frame: connection.peer.gate.wait(),
    'close': lambda connection, frame: connection.close(),
    'mute': lambda connection, frame: connection.set_mute(),
}
SERVE = [['serve']]


class Peer:
    """A peer at work; as a context manager it ends with the block."""

    def __init__(self, script='', port=0, on_record=None):
        self.settings, self.rules, self.expected = parse_script(script)
        self.server = MemoryServer(self.settings)
        self.records = []
        self.faults = []        # what the script did not expect
        self.ended = threading.Event()
        self.gate = threading.Event()   # open: `wait` waits no more
        self.on_record = on_record
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.listener = socket.create_server(('127.0.0.1', port))
        self.port = self.listener.getsockname()[1]
        self.connections = 0
        self.threads = []       # one for each connection
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.stop()

    def go_on(self):
        """Ends every `wait`, also those to come."""
        self.gate.set()

    def stop(self):
        self.go_on()
        self.ended.set()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _address = self.listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            thread = threading.Thread(target=Connection(self, self.connections, client).run,
                                      daemon=True)
            thread.start()
            self.threads.append(thread)

    def actions_for(self, frame):
        """What to do with a request: the next expectation, else the first rule that applies."""
        with self.lock:
            if self.expected:
                rule = self.expected.pop(0)
                if rule.matches(frame):
                    return rule.actions
                self.faults.append(f'{frame.name} came, the script has: {rule.text}')
                return [['close']]
            for rule in self.rules:
                if rule.applies(frame):
                    return rule.actions
        return SERVE

    def record(self, record):
        with self.lock:
            record.order = len(self.records)
            self.records.append(record)
        if self.on_record:
            self.on_record(record)

    # ---------------------------------------------------------------------------------- assertions

    def received(self, pattern='*'):
        """Records of the requests whose names match."""
        return [record for record in list(self.records)
                if record.received and fnmatch.fnmatchcase(record.name, pattern)]

    def sent(self, pattern='*'):
        return [record for record in list(self.records)
                if not record.received and fnmatch.fnmatchcase(record.name, pattern)]

    def names(self, pattern='*'):
        return [record.name for record in self.received(pattern)]

    def finish(self, limit_s=10):
        """Waits until all connections have ended, so that all that came is recorded and done."""
        for thread in self.threads:
            thread.join(limit_s)
            if thread.is_alive():
                raise AssertionError(f'a connection is still open after {limit_s} s')

    def wait_for(self, pattern, count=1, limit_s=20):
        """Waits until that many matching requests have come."""
        deadline = time.monotonic() + limit_s
        while len(self.received(pattern)) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f'no {pattern} within {limit_s} s, but {self.names()}')
            time.sleep(0.01)


def main(arguments):
    """Runs a script file by hand: tests/fault/peer SCRIPT [PORT]."""
    if len(arguments) not in (1, 2):
        print('usage: peer SCRIPT [PORT]', file=sys.stderr)
        return 64
    with open(arguments[0], encoding='utf-8') as script:
        text = script.read()
    try:
        peer = Peer(text, int(arguments[1]) if len(arguments) == 2 else 0,
                    on_record=lambda record: print(record, flush=True))
    except ScriptError as error:
        print(f'peer: {arguments[0]}: {error}', file=sys.stderr)
        return 64
    print(f'listening on 127.0.0.1 port {peer.port}', flush=True)
    try:
        peer.ended.wait()
    except KeyboardInterrupt:
        print('\n'.join(peer.faults))
        return 1 if peer.faults else 0
