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
    'payload': ('serve payload=0102', (0, bytes([1, 2]))),
    'unasked frames before': ('tickle; attention 2005; serve pieces=1', (0, bytes(range(100)))),
    'cut, close': ('serve cut=50; close', ConnectionError),
    'close': ('close', ConnectionError),
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


@tap.cases({'action': 'on FPRead: dance', 'setting': 'colour red', 'colon': 'on FPRead close'})
def test_refuses_a_script_with_a_wrong(line):
    try:
        Peer(line)
    except ScriptError:
        return
    raise AssertionError('accepted')


tap.main()
