"""The link's back ends, carrying real connections: what is counted, lost, dropped and delayed.

No rate and no upper bound of a time is asserted, so that a busy machine fails nothing.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
import tap  # noqa: E402

PROBE = pathlib.Path(os.environ['AFPBENCH_NETLAB_DIR']) / 'link_probe'
ROOM_S = 100
KINDS = ('pure_ack', 'full', 'short', 'retransmit', 'control', 'other')
PLAIN = dict(backend='emulator', rate='1gbit', delay='2ms', mtu='1500', bytes='1448000')


def probe(*before, program=PROBE, **words):
    """Runs the probe; the values of each key, in order."""
    command = [*before, str(program), *(f'{key}={value}' for key, value in words.items())]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=ROOM_S, check=False)
    if 'user namespace' in done.stderr:
        tap.require(False, done.stderr.strip())
    tap.equal((done.returncode, done.stderr), (0, ''), ' '.join(command))
    values = {}
    for line in done.stdout.splitlines():
        key, value = line.split(' ', 1)
        values.setdefault(key, []).append(int(value) if value.isdigit() else value)
    return values


def one(**words):
    return {key: values[-1] for key, values in probe(**words).items()}


def check_sums(found, way):
    """Each packet has one kind and one size."""
    tap.equal(sum(found[f'{way}_{kind}'] for kind in KINDS), found[f'{way}_packets'], 'kinds')
    tap.equal(found[f'{way}_sizes'], found[f'{way}_packets'], 'sizes')


def check_data(found, way, payload, segment):
    """All of the data in full segments but the last of each piece; ours is a multiple of them."""
    check_sums(found, way)
    again = found[f'{way}_retransmit']
    sent = found[f'{way}_payload']
    assert sent == payload if again == 0 else sent > payload, found
    assert found[f'{way}_full'] + found[f'{way}_short'] >= payload / segment, found
    assert found[f'{way}_control'] >= 2, found  # SYN and FIN, unless the FIN came with data
    tap.equal((found[f'{way}_lost'], found[f'{way}_dropped'], found[f'{way}_other']), (0, 0, 0))


@tap.cases({'MTU 1500': ('1500', 1448), 'MTU 9000': ('9000', 8948), 'MTU 576': ('576', 524)})
def test_counts(mtu, segment):
    found = one(**dict(PLAIN, mtu=mtu, bytes=segment * 1000))
    check_data(found, 'tx', segment * 1000, segment)
    check_data(found, 'rx', segment * 500, segment)
    # headers of 66 bytes; SYNs have more
    for way in ('tx', 'rx'):
        headers = found[f'{way}_bytes'] - found[f'{way}_payload']
        assert 66 * found[f'{way}_packets'] <= headers <= 66 * found[f'{way}_packets'] + 200, found
    assert found['tx_full'] > 990 and found['rx_full'] > 490, found


def test_a_link_left_alone_is_still():
    found = one(**PLAIN, idle=3000)
    tap.equal(found['idle_packets'], 0)
    # the emulator sleeps: it does not ask the clock all the time
    assert found['idle_processor_ns'] < 300_000_000, found


def test_delay_is_never_undercut():
    found = one(**dict(PLAIN, delay='400ms', bytes=1))
    assert found['connect_ns'] >= 800_000_000, found


def test_jitter_shortens_the_delay_no_further():
    found = one(**dict(PLAIN, delay='100ms', jitter='20ms', bytes=100000))
    assert found['connect_ns'] >= 160_000_000, found


def test_delay_can_be_skipped():
    found = one(**dict(PLAIN, delay='2s', skip=1, bytes=1))
    assert found['connect_ns'] < 4_000_000_000, found


def test_loss_takes_single_packets_and_tcp_mends_it():
    found = one(**dict(PLAIN, rate='100mbit', loss='5%'))
    assert found['tx_lost'] > 0 and found['rx_lost'] > 0, found
    assert found['tx_retransmit'] > 0 and found['rx_retransmit'] > 0, found
    tap.equal((found['tx_dropped'], found['rx_dropped']), (0, 0))
    # what was offered and not lost was sent on, one by one
    tap.equal(found['sent'], found['tx_packets'] + found['rx_packets']
              - found['tx_lost'] - found['rx_lost'])
    assert 'one by one' in found['conditions'], found


def test_drops_of_a_short_queue_are_counted():
    found = one(**dict(PLAIN, rate='10mbit', queue=10000))
    assert found['tx_dropped'] > 0, found
    tap.equal((found['tx_lost'], found['rx_lost']), (0, 0))
    check_sums(found, 'tx')


def test_a_link_can_follow_another_in_the_same_lab():
    found = probe(**dict(PLAIN, bytes=100000), times=3)
    tap.equal(found['backend'], ['emulator'] * 3)
    for way, payload in (('tx', 100000), ('rx', 50000)):
        for sent, again in zip(found[f'{way}_payload'], found[f'{way}_retransmit']):
            assert sent == payload or again > 0, found


def test_without_a_shape():
    found = one(backend='none', rate='1gbit', delay='2ms', mtu='1500', bytes=1448000, idle=1000)
    tap.equal(found['backend'], 'none')
    assert found['tx_bytes'] > 1448000 and found['rx_bytes'] > 724000, found
    tap.equal(found['idle_packets'], 0)


def test_as_an_ordinary_user():
    tap.require(os.getuid() == 0 and shutil.which('setpriv'), 'only root can be another user')
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        program = pathlib.Path(directory) / 'link_probe'
        shutil.copy(PROBE, program)
        found = probe('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                      program=program, **PLAIN)
    check_data({key: values[0] for key, values in found.items()}, 'tx', 1448000, 1448)


tap.main()
