"""The servers that the integration suites run against: one interface for all."""

import pathlib
import sys
import tempfile

import afpclient
import netatalk
import programs
import tap

USER = 'bench'
PASSWORD = 'bench'
VOLUMES = ('vol1', 'vol2')


class Target:
    """A server with the volumes `VOLUMES` and the user `USER`."""

    port = None
    strict_frames = False       # whether a write's request block counts against the quantum

    def arguments(self):
        return ['-h', '127.0.0.1', '-p', self.port, '-s', VOLUMES[0], '-u', USER]

    def start(self, *arguments, **options):
        """afp_speedtest at work against the first volume."""
        return programs.Program(programs.SPEEDTEST, *self.arguments(), *arguments,
                                env={'AFP_PASSWORD': PASSWORD}, **options)

    def start_marked(self, *arguments):
        """The same, stopping at its marks."""
        return programs.Marked(*self.arguments(), *arguments, env={'AFP_PASSWORD': PASSWORD})

    def run(self, *arguments, **options):
        """Runs afp_speedtest to its end."""
        return programs.speedtest(*self.arguments(), *arguments,
                                  env={'AFP_PASSWORD': PASSWORD}, **options)

    def session(self):
        return afpclient.Session(self.port, USER, PASSWORD)

    def listing(self):
        """What is on the volumes, as a client sees it: names with the volume before them."""
        with afpclient.Session(self.port) as session:
            return sorted(f'{name}/{entry}' for name in VOLUMES
                          for entry in session.list(session.open_volume(name)))

    def write_chunk(self, version=7, quantum=1 << 20):
        """Data in one write request when -q does not say."""
        request = 20 if version >= 3 else 12
        return quantum - request if self.strict_frames else quantum


class Reference(Target):
    """afp_refserver."""

    def __init__(self):
        volumes = [word for name in VOLUMES for word in ('--volume', self.volume(name))]
        self.server = programs.Refserver(*volumes, '--user', f'{USER}:{PASSWORD}')
        self.port = self.server.port

    def volume(self, name):
        """The value of --volume."""
        return name

    def stop(self):
        self.server.stop()


class Directory(Reference):
    """afp_refserver with volumes on disk, which `directory` shows."""

    def __init__(self):
        self.root = tempfile.TemporaryDirectory(prefix='afpbench-')
        super().__init__()

    def directory(self, name):
        return pathlib.Path(self.root.name, name)

    def volume(self, name):
        self.directory(name).mkdir()
        return f'{name},path={self.directory(name)}'

    def stop(self):
        super().stop()
        self.root.cleanup()


class Netatalk(Target):
    """A real afpd; `directory` shows the server's own disk."""

    def __init__(self):
        self.server = netatalk.Netatalk()
        self.port = self.server.port
        # 4.4.0 to 4.5.1 count the request block too (doc/protocol.md 1.11)
        self.strict_frames = self.server.info['machine'] in ('Netatalk4.5.0', 'Netatalk4.5.1')
        self.directory = self.server.volume

    def stop(self):
        self.server.stop()


TARGETS = {'refserver': Reference, 'directory': Directory, 'netatalk': Netatalk}


# ----------------------------------------------------------- suites that run against any of them

def chosen_kind():
    """The kind of server, which is the first word of the suite's command line."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f'usage: {sys.argv[0]} {"|".join(TARGETS)} [WORD...]')
    return sys.argv[1]


def only(*kinds):
    """Leaves a test out that says nothing about the other kinds of server."""
    return lambda function: function if chosen_kind() in kinds else None


def run_suite():
    """Runs the calling suite, whose `target` is then the running server."""
    suite = sys.modules['__main__']

    def set_up():
        suite.target = TARGETS[chosen_kind()]()

    def tear_down():
        if suite.target:
            suite.target.stop()

    tap.main(set_up, tear_down, sys.argv[2:])
