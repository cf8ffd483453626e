#!/usr/bin/python3
"""Every login method against a server, with the right password and with wrong ones.

`test_login.py refserver|netatalk [WORD...]`
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import netatalk
import programs
import tap
import targets
from peer import Peer
from programs import CANNOT_RUN, DONE
from targets import PASSWORD, USER, VOLUMES, only

# -A: (name on the wire, FPLoginCont messages, result of a wrong password)
METHODS = {
    'srp': ('SRP', 1, 'SRP proof rejected (-6754)'),
    'dhx2': ('DHX2', 2, 'UserNotAuth (-5023)'),
    'dhx': ('DHCAST128', 1, 'UserNotAuth (-5023)'),
    '2way': ('2-Way Randnum exchange', 1, 'UserNotAuth (-5023)'),
    'randnum': ('Randnum exchange', 1, 'UserNotAuth (-5023)'),
    'cleartxt': ('Cleartxt Passwrd', 0, 'UserNotAuth (-5023)'),
    'guest': ('No User Authent', 0, None),
}
WITH_PASSWORD = [method for method in METHODS if method != 'guest']
# FPLoginExt belongs to 3.0 and later (doc/protocol.md 2.3)
VERSIONS = {'2.2': ('-2', 'FPLogin'), '3.0': ('-3', 'FPLoginExt'), '3.4': ('-7', 'FPLoginExt')}

target = None       # the running server


def log_in(*arguments, port=None, user=USER, password=PASSWORD, volume=VOLUMES[0]):
    """A short run with a trace."""
    return programs.speedtest('-h', '127.0.0.1', '-p', port or target.port, '-s', volume,
                              '-u', user, '-d', '4k', '-W', 0, *arguments,
                              env={'AFP_PASSWORD': password})


def login_calls(result):
    """The login's requests in the trace, in order."""
    return re.findall(r'^> (FPLogin\w*) ', result.err, re.MULTILINE)


def expect_login(result, call, method):
    name, turns, _refusal = METHODS[method]
    result.expect(DONE)
    tap.equal(login_calls(result), [call] + ['FPLoginCont'] * turns, name)
    assert len(result.tests()) == 1, result


@tap.cases({f'{version}, {method}': (version, method) for version in VERSIONS
            for method in METHODS})
def test_logs_in(version, method):
    option, call = VERSIONS[version]
    expect_login(log_in(option, '-A', method, '-v'), call, method)


@tap.cases({f'{version}, {method}, {password!r}': (version, method, password)
            for version in ('2.2', '3.4') for method in WITH_PASSWORD
            for password in ('', 'bfnch', 'benchbch')})
def test_wrong_password(version, method, password):
    name, _turns, refusal = METHODS[method]
    log_in(VERSIONS[version][0], '-A', method, password=password).expect_one_message(
        CANNOT_RUN, re.escape(f"login of user '{USER}'"), re.escape(f'({name}): {refusal}'))


@tap.cases({method: (method,) for method in WITH_PASSWORD})
def test_unknown_user(method):
    # "some UAM modules -5019" (doc/protocol.md 4.1)
    log_in('-A', method, user='nosuchuser').expect_one_message(
        CANNOT_RUN, "login of user 'nosuchuser'", r'UserNotAuth \(-5023\)|ParamErr \(-5019\)')


def test_auto_takes_the_strongest():
    expect_login(log_in('-v'), 'FPLoginExt', 'srp')
    expect_login(log_in('-v', '-2', '-A', 'auto'), 'FPLogin', 'srp')


@tap.cases({method: (method, limit) for method, limit in
            {'cleartxt': 8, 'randnum': 8, '2way': 8, 'dhx': 64, 'dhx2': 256}.items()})
def test_a_long_password_is_refused_before_anything_is_sent(method, limit):
    password = 'p' * (limit + 1)
    result = log_in('-A', method, '-V', password=password)
    result.expect_one_message(CANNOT_RUN, f'has {limit + 1} bytes', f'at most {limit}$')


def test_highest_version():
    result = log_in('--afp', 'auto', '-v').expect(DONE)
    tap.equal(login_calls(result)[0], 'FPLoginExt')


# ------------------------------------------------------------------------ users without a record

@only('netatalk')
def test_auto_passes_over_methods_whose_record_the_user_lacks():
    with netatalk.Netatalk(without_records=['plain']) as server:
        result = log_in('-v', port=server.port, user='plain')
        result.expect(DONE)
        # SRP is refused, then DHX2 in two more messages
        tap.equal(login_calls(result), ['FPLoginExt', 'FPLoginExt', 'FPLoginCont', 'FPLoginCont'])
        log_in(port=server.port, user='plain', password='wrong').expect_one_message(
            CANNOT_RUN, r'\(DHX2\): UserNotAuth \(-5023\).*; before that SRP: \w+ \(-\d+\)$')
        log_in('-A', 'srp', port=server.port, user='plain').expect_one_message(
            CANNOT_RUN, r'\(SRP\): ', r'\(-\d+\)[^;]*$')


@only('refserver')
@tap.cases({'down to one that needs no record': ('srp 2way dhx2 dhx', 'srp dhx2'),
            'never to clear text': ('cleartxt randnum srp 2way', 'srp 2way randnum'),
            'none from DHX2 on': ('dhx2 dhx', 'dhx2'),
            'none below clear text': ('cleartxt guest', 'cleartxt')})
def test_which_methods_follow_a_refusal(offered, tried):
    wire_names = [METHODS[method][0] for method in offered.split()]
    script = 'uams ' + ' '.join(f'"{name}"' for name in wire_names) + \
        '\non FPLoginExt: serve code=-5023; close'
    with Peer(script) as peer:
        result = log_in(port=peer.port, volume='bench')
        wanted = [METHODS[method][0] for method in tried.split()]
        tap.equal([frame.fields['uam'] for frame in peer.received('FPLoginExt')], wanted)
        # asked once what it is, then a connection for each try
        tap.equal(len(peer.received('DSIGetStatus')), 1)
        before = ', '.join(f'{name}: UserNotAuth (-5023)' for name in wanted[:-1])
        result.expect_one_message(
            CANNOT_RUN, re.escape(f'({wanted[-1]}): UserNotAuth (-5023)'),
            re.escape(f'; before that {before}') + '$' if before else r'[^;]*$')


@only('refserver')
def test_a_wrong_proof_is_final():
    result = log_in('-v', password='wrong').expect(CANNOT_RUN)
    tap.equal(login_calls(result), ['FPLoginExt', 'FPLoginCont'])


# ------------------------------------------------------------------------ servers of one's own making

@only('refserver')
def test_auto_goes_down_the_list():
    offered = list(METHODS)
    while len(offered) > 1:
        with programs.Refserver('--user', f'{USER}:{PASSWORD}', '--uams',
                                ','.join(reversed(offered))) as server:
            call = log_in('-v', port=server.port, volume='bench')
            expect_login(call, 'FPLoginExt', offered[0])
        offered.pop(0)
    with programs.Refserver('--uams', 'guest') as server:
        log_in(port=server.port, volume='bench').expect_one_message(
            CANNOT_RUN, 'the server takes No User Authent;', 'this program has SRP, DHX2', '-A guest')


@only('refserver')
def test_a_method_that_the_server_lacks():
    with programs.Refserver('--user', f'{USER}:{PASSWORD}', '--uams', 'cleartxt') as server:
        for method, wanted in {'dhx': 'DHCAST128', 'guest': 'guests'}.items():
            log_in('-A', method, port=server.port, volume='bench').expect_one_message(
                CANNOT_RUN, f'does not take {wanted}: BadUAM', r'-5002\); it offers Cleartxt Passwrd$')


@only('refserver')
def test_auto_takes_no_weaker_method_for_a_long_password():
    with programs.Refserver('--user', f'{USER}:{"p" * 8}', '--uams', 'cleartxt,dhx') as server:
        log_in(port=server.port, volume='bench', password='p' * 65).expect_one_message(
            CANNOT_RUN, "has 65 bytes, but the login method 'DHCAST128' carries at most 64")


@only('refserver')
@tap.cases({method: (method,) for method in WITH_PASSWORD})
def test_names_and_passwords_beyond_ASCII(method):
    user, password = 'zoë größer', 'pä55wö'      # 8 bytes
    with programs.Refserver('--user', f'{user}:{password}') as server:
        result = log_in('-v', '-A', method, port=server.port, volume='bench', user=user,
                        password=password)
        expect_login(result, 'FPLoginExt', method)
        log_in('-A', method, port=server.port, volume='bench', user=user,
               password='pä55wä').expect_one_message(CANNOT_RUN, '-5023|-6754')


@only('refserver')
def test_embedded_refserver_with_a_user():
    for method in WITH_PASSWORD:
        programs.speedtest('--refserver', '-u', 'me', '-w', 'pw', '-A', method, '-d',
                           '4k').expect(DONE)


@only('refserver')
def test_names_go_out_as_the_server_lists_them():
    with Peer('uams "cleartxt passwrd"') as peer:
        log_in(port=peer.port, volume='bench')
        tap.equal(peer.received('FPLoginExt')[0].fields['uam'], 'cleartxt passwrd')


@only('refserver')
def test_a_server_without_FPLoginExt():
    with Peer('on FPLoginExt: serve code=-5024; close') as peer:
        log_in(port=peer.port, volume='bench').expect(DONE)
        tap.equal(peer.names('FPLogin*'), ['FPLoginExt', 'FPLogin'])


@only('refserver')
@tap.cases({'from 2.2 and 3.1': ('AFP2.2 AFP3.1', 'FPLoginExt', 'AFP3.1'),
            'in any order': ('AFP3.3 AFP2.2', 'FPLoginExt', 'AFP3.3'),
            'below 3.0': ('"AFPVersion 2.1" AFP2.2', 'FPLogin', 'AFP2.2'),
            'beside unknown ones': ('AFP9.9 AFP2.2 AFP3.4b', 'FPLogin', 'AFP2.2')})
def test_highest_version_of_a_list(versions, call, wanted):
    with Peer(f'versions {versions}') as peer:
        log_in('--afp', 'auto', port=peer.port, volume='bench').expect(DONE)
        tap.equal(peer.received(call)[0].fields['version'], wanted)


@only('refserver')
def test_no_version_in_common():
    with Peer('versions AFP9.9') as peer:
        log_in('--afp', 'auto', port=peer.port, volume='bench').expect_one_message(
            CANNOT_RUN, 'the server offers AFP9.9', r'AFPVersion 2\.1 to AFP3\.4')


targets.run_suite()
