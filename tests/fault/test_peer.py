#!/usr/bin/python3
"""The scripted peer itself, seen by the tests' own client: a wrong ruler measures nothing."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import afpwire
import tap
from peer import Peer, ScriptError

READ = {'fork': 1, 'offset': 0, 'count': 100}


def session_with_file(peer):
    session = afpclient.Session(peer.port, 'bench', 'bench')
    volume = session.open_volume('bench')
    session.put(volume, 'file', bytes(range(200)))
    session.open_fork(volume, 'file')
    return session, volume


def test_serves_files():
    with Peer() as peer:
        session, volume = session_with_file(peer)
        tap.equal(session.get(volume, 'file'), bytes(range(200)))
        tap.equal(list(session.list(volume)), ['file'])
        tap.equal(peer.server.left_behind(), ['bench/file'])
        session.logout()


def test_says_what_the_settings_say():
    with Peer('machine-type Netatalk4.5.1\nversions AFP2.2\nquantum 64k') as peer:
        info = afpclient.server_info(peer.port)
        tap.equal((info['machine'], info['versions']), ('Netatalk4.5.1', ['AFP2.2']))
        tap.equal(afpclient.Session(peer.port, version=2).quantum, 65536)


ONE_READ = {
    'code': ('serve code=-5000', (-5000, b'')),
    'flip': ('serve flip=3', (0, bytes([0, 1, 2, 252]) + bytes(range(4, 100)))),
    'truncate': ('serve truncate=90', (0, bytes(range(10)))),
    'unasked frames before': ('tickle; attention 2005; serve pieces=1', (0, bytes(range(100)))),
    'cut, close': ('serve cut=50; close', ConnectionError),
    'reset': ('reset', ConnectionError),
}


@tap.cases(ONE_READ)
def test_action(actions, wanted):
    with Peer(f'on FPReadExt #2: {actions}') as peer:
        session, _volume = session_with_file(peer)
        tap.equal(session.try_call('FPReadExt', **{**READ, 'fork': 2}), (0, bytes(range(100))))
        try:
            found = session.try_call('FPReadExt', **{**READ, 'fork': 2})
        except ConnectionError:
            found = ConnectionError
        tap.equal(found, wanted)


# the words of afp_refserver --fault
ONE_FAULTY_READ = {
    'code=-5000': (-5000, b''),
    'eof=90': (-5009, bytes(range(10))),
    'truncate=90': (0, bytes(range(10))),
    'extend=2': (0, bytes(range(100)) + bytes(2)),
    'payload=0102': (0, bytes([1, 2])),
    'payload=': (0, b''),
    'flip=0': (0, bytes([255]) + bytes(range(1, 100))),
    'pieces=1': (0, bytes(range(100))),
    'tickle': (0, bytes(range(100))),
    'unknown': (0, bytes(range(100))),
    'shutdown=5': (0, bytes(range(100))),
    'close': ConnectionError,
    'close=50': ConnectionError,
    'close=116': (0, bytes(range(100))),
    'reset=50': ConnectionError,
    'half-close': ConnectionError,
}


@tap.cases({name: (name, wanted) for name, wanted in ONE_FAULTY_READ.items()})
def test_fault(fault, wanted):
    with Peer(f'fault {fault}@FPReadExt#1') as peer:
        session, _volume = session_with_file(peer)
        try:
            found = session.try_call('FPReadExt', **{**READ, 'fork': 2})
        except ConnectionError:
            found = ConnectionError
        tap.equal(found, wanted)


def test_fault_twice():
    with Peer('fault twice@FPReadExt') as peer:
        session, _volume = session_with_file(peer)
        sent = session.connection.send('DSICommand', afpwire.encode_request(
            'FPReadExt', **{**READ, 'fork': 2}))
        tap.equal([session.connection.receive().request_id for _ in range(2)], [sent, sent])


def test_hold_answers_in_reverse():
    with Peer('on FPReadExt: hold 3 reverse') as peer:
        session, _volume = session_with_file(peer)
        payload = afpwire.encode_request('FPReadExt', **{**READ, 'fork': 2})
        sent = [session.connection.send('DSICommand', payload) for _ in range(3)]
        answered = [session.connection.receive().request_id for _ in range(3)]
        tap.equal(answered, sent[::-1])
        tap.equal(max(record.outstanding for record in peer.received('FPReadExt')), 3)


def test_expectations_are_kept_in_order():
    with Peer('expect DSIOpenSession: serve\nexpect FPLogin version=AFP3.3: serve') as peer:
        try:
            afpclient.Session(peer.port, version=7)
        except ConnectionError:
            pass
        tap.equal(len(peer.faults), 1)


@tap.cases({'action': 'on FPRead: dance', 'fault': 'fault dance', 'setting': 'colour red', 'colon': 'on FPRead close'})
def test_refuses_a_script_with_a_wrong(line):
    try:
        Peer(line)
    except ScriptError:
        return
    raise AssertionError('accepted')


tap.main()
