"""A real afpd: in a root directory of its own (scripts/netatalk-root), in private namespaces.

Everything the server writes lies on tmpfs mounts inside its mount namespace, which the tests reach
through /proc/PID/root; all of it, and every process, is gone when this program ends, however it
ends. So any number of instances run side by side.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import time

import afpclient
import tap

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / 'scripts'
VOLUMES = ('vol1', 'vol2')
USER = 'bench'
PASSWORD = 'bench'

# Runs as process 1 of the new namespaces: $1 is the root directory, $2 the configuration, $3 further
# names of the user `bench`, $4 the password, which SRP and the two Randnums have in files of their own,
# $5 yet more names, which stand in none of those files.
INIT = '''
set -e
PATH=$PATH:/usr/sbin:/sbin
root=$1
mount --bind "$root" "$root"
for directory in etc/netatalk var/lib/netatalk run tmp srv; do
    mount -t tmpfs -o size=100%,mode=755 tmpfs "$root/$directory"
done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mkdir -p "$root/run/lock" "$root/srv/vol1" "$root/srv/vol2" "$root/var/lib/netatalk/CNID"
chmod 1777 "$root/tmp" "$root/srv/vol1" "$root/srv/vol2"
printf '%s' "$2" >"$root/etc/netatalk/afp.conf"
for file in passwd shadow; do
    cp -p "$root/etc/$file" "$root/run/$file"
    for name in $3 $5; do
        sed -n "s/^bench:/$name:/p" "$root/etc/$file" >>"$root/run/$file"
    done
    mount --bind "$root/run/$file" "$root/etc/$file"
done
touch "$root/tmp/afpd.log"
for kind in "" -r; do
    chroot "$root" afppasswd $kind -c
    for name in bench $3; do
        chroot "$root" afppasswd $kind -n -a "$name" -w "$4"
    done
done >"$root/tmp/afppasswd.log" 2>&1
chroot "$root" afpd -d -F /etc/netatalk/afp.conf
'''


def _configuration(port, options, names, settings):
    lines = {
        'afp port': port,
        'afp listen': '127.0.0.1',
        'uam list': 'uams_clrtxt.so uams_dhx.so uams_dhx2.so uams_guest.so uams_randnum.so '
                    'uams_srp.so',
        'cnid scheme': 'sqlite',
        'zeroconf': 'no',
        'log file': '/tmp/afpd.log',
        **options,
    }
    text = '[Global]\n' + ''.join(f'{key} = {value}\n' for key, value in lines.items())
    for volume in VOLUMES:
        text += f'[{volume}]\npath = /srv/{volume}\n'
        if volume in names:
            text += f'volume name = {names[volume]}\n'
        text += ''.join(f'{key} = {value}\n' for key, value in settings.get(volume, {}).items())
    return text


def find_root():
    """The root directory, made when missing; skips where that cannot be."""
    if os.geteuid() != 0:
        tap.skip('a real afpd needs root')
    tap.require(shutil.which('unshare') and shutil.which('setpriv'), 'needs util-linux')
    made = subprocess.run([SCRIPTS / 'netatalk-root'], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    tap.require(made.returncode == 0, f'no root with Netatalk: {made.stderr.strip()}')
    return made.stdout.strip()


class Netatalk:
    """One running afpd with the volumes `VOLUMES`; `options` go to [Global] of afp.conf.

    `names` are what clients see of volumes whose names are not those of the sections, `users` more
    names of the user, with the same password, `without_records` those that have no record for SRP and
    the two Randnums, `settings` lines for the sections of volumes.
    """

    def __init__(self, options=None, names=None, users=(), settings=None, without_records=()):
        self.root = find_root()
        for _ in range(3):      # the free port may be taken before afpd binds it
            self.port = free_port()
            self._start(_configuration(self.port, options or {}, names or {}, settings or {}),
                        users, without_records)
            if self._await_ready():
                return
        raise AssertionError(f'afpd does not start:\n{self.log()}')

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.stop()

    def _start(self, configuration, users, without_records):
        # setpriv becomes unshare, which is killed with this program and takes all others along
        self.process = subprocess.Popen(
            ['setpriv', '--pdeathsig', 'KILL',
             'unshare', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc',
             'sh', '-c', INIT, 'init', self.root, configuration, ' '.join(users), PASSWORD,
             ' '.join(without_records)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def _await_ready(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.info = afpclient.server_info(self.port, timeout=5)
                return True
            except OSError:
                time.sleep(0.05)
        self.last_log = self.log()
        self.stop()
        return False

    def _inside(self, path):
        return pathlib.Path(f'/proc/{self.process.pid}/root{self.root}/{path}')

    def volume(self, name):
        """The volume's directory on the server's disk."""
        return self._inside(f'srv/{name}')

    def run_inside(self, *command):
        """Runs a program with the server's mounts; the volume `NAME` is at self.root/srv/NAME."""
        subprocess.run(['nsenter', '--target', str(self.process.pid), '--mount', *command], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def log(self):
        """What afpd logged and printed; kept when it is dead."""
        if self.process.poll() is not None:
            printed = self.process.stdout.read().decode(errors='replace')
            return getattr(self, 'last_log', '') + printed
        return self._inside('tmp/afpd.log').read_text(errors='replace')

    def their_speedtest(self, *arguments):
        """What Netatalk's own afp_speedtest, from the same root, prints for the first volume."""
        done = self._theirs('afp_speedtest', self.port, arguments)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f'their afp_speedtest: exit {done.returncode}, {done.stderr}')
        return done.stdout.decode()

    def their_lantest(self, port, *arguments):
        """The same of afp_lantest, for a server with our user and first volume at this port."""
        done = self._theirs('afp_lantest', port, arguments)
        if done.returncode != 0:
            raise AssertionError(f'their afp_lantest: exit {done.returncode}, {done.stderr}')
        return done.stdout.decode()

    def _theirs(self, program, port, arguments):
        return subprocess.run(
            ['chroot', self.root, program, '-h', '127.0.0.1', '-p', str(port),
             '-u', USER, '-w', PASSWORD, '-s', VOLUMES[0], *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
