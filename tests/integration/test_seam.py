#!/usr/bin/python3
"""What is done in one place is done there alone (the table in CONTRIBUTING.md): memory and sockets
are asked for in src/base, where tests can make every call fail, and so on for programs, files and
numbers; and options are named by programs alone."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import tap

OBJECTS = pathlib.Path(os.environ['AFPBENCH_BIN_DIR']).parent

MEMORY = set('''malloc calloc realloc reallocarray free strdup strndup aligned_alloc memalign
    posix_memalign asprintf vasprintf getline getdelim open_memstream'''.split())
SOCKETS = set('''socket socketpair bind listen accept accept4 connect shutdown send sendto sendmsg
    sendmmsg recv recvfrom recvmsg recvmmsg sendfile splice vmsplice tee setsockopt getsockopt
    getsockname getpeername poll ppoll select pselect epoll_create epoll_create1 epoll_ctl
    epoll_wait epoll_pwait getaddrinfo'''.split())

PROGRAMS_STARTED = set('''fork vfork clone clone3 execl execle execlp execv execve execveat execvp
    execvpe fexecve posix_spawn posix_spawnp system popen wait wait3 wait4 waitid waitpid'''.split())
FILES_RENAMED = set('rename renameat renameat2'.split())
RANDOM_BYTES = {'getrandom'}
# no place at all
NEVER = set('''mkstemp mkostemp mkstemps mkostemps mkdtemp mktemp tmpfile tmpnam tempnam
    atoi atol atoll atof strtol strtoul strtoll strtoull strtoimax strtoumax strtod strtof strtold
    rand rand_r random srand srandom drand48 lrand48 arc4random getentropy
    sprintf vsprintf gets gettimeofday sleep usleep clock_nanosleep'''.split())
SEAMS = MEMORY | SOCKETS | PROGRAMS_STARTED | FILES_RENAMED | RANDOM_BYTES | NEVER | {'nanosleep'}

# directory of src, or object -> what it may call all the same
EXCEPTIONS = {
    'base': MEMORY | SOCKETS | PROGRAMS_STARTED | FILES_RENAMED | RANDOM_BYTES,
    'netlab': SOCKETS,  # packet sockets and netlink; the seam is of TCP
    'supervisor.c.o': {'waitpid'},  # the first process of its namespaces is no program
    'cli_embedded_server.c.o': {'fork', 'waitpid'},  # nor is the server beside the client
    'server_store_directory.c.o': FILES_RENAMED,  # what a client asks for
    'server_server.c.o': {'nanosleep'},  # where poll() has no memory
    'uam_crypto.c.o': RANDOM_BYTES,
}


def calls(path):
    """The undefined symbols of an object, without the libc's decoration."""
    output = subprocess.run(['nm', '--undefined-only', '--format=just-symbols', path], check=True,
                            capture_output=True, text=True, timeout=30).stdout
    for symbol in output.split():
        name = symbol.partition('@')[0]
        # __asprintf_chk of -D_FORTIFY_SOURCE, sendfile64 of large files, __isoc23_…
        yield name.removeprefix('__isoc23_').removeprefix('__').removesuffix('_chk') \
            .removesuffix('64')


def objects():
    """(directory of src, path of the object) of everything that is built of src/."""
    found = sorted(OBJECTS.rglob('*.o'))
    for path in found:
        # src/base/wire.c becomes libafpbench.a.p/base_wire.c.o; src/tools, src/netlab and src/harness have their
        # own meson.build, so that their objects lie below the directory and have no prefix
        below = path.relative_to(OBJECTS).parts
        yield below[0] if len(below) > 2 else path.name.partition('_')[0], path


def test_all_objects_are_seen():
    names = {path.name for _, path in objects()}
    for name in ('base_memory.c.o', 'base_stream.c.o', 'dsi_session.c.o', 'server_session.c.o',
                 'afp_speedtest.c.o', 'link_emulator.c.o'):
        assert name in names, f'{name} is not among {len(names)} objects below {OBJECTS}'


def test_base_makes_the_calls():
    made = {name for directory, path in objects() if directory == 'base' for name in calls(path)}
    for name in ('calloc', 'reallocarray', 'free', 'sendmsg', 'recvmsg', 'sendfile', 'accept4', 'fork',
                 'execvpe', 'waitpid', 'rename', 'getrandom'):
        assert name in made, f'{name}() is not called from src/base: the test sees nothing'


def test_nothing_else_does():
    wrong = [f'{path.name}: {name}()' for directory, path in objects()
             for name in sorted(set(calls(path)) & SEAMS - EXCEPTIONS.get(directory, set())
                                - EXCEPTIONS.get(path.name, set()))]
    tap.equal(wrong, [], 'calls past the helpers of the table in CONTRIBUTING.md')


def test_exceptions_are_needed():
    """A place that no longer makes its call loses its exception."""
    made = {path.name: set(calls(path)) for _, path in objects()}
    needless = [f'{name}: {call}' for name, allowed in EXCEPTIONS.items() if name.endswith('.o')
                for call in allowed if not allowed & made[name]]
    tap.equal(needless, [], 'exceptions')


PROGRAMS = ('afp_speedtest', 'afp_refserver', 'afp_report', 'afp_perftest')
BELOW_PROGRAMS = 'base stats uam dsi result afp target workload report server netlab'.split()
COMMAND_LINES = re.compile(r'netlab/server_\w+\.c$')     # of servers under test
SYSCTL = re.compile(r'sysctl -w')
OPTION = re.compile(r'(?<![\w%*.-])--?[A-Za-z0-9][a-z0-9-]*')
SOURCES = pathlib.Path(__file__).resolve().parents[2] / 'src'


def options():
    """-x and --word of all programs, as their --help names them."""
    for program in PROGRAMS:
        text = subprocess.run([OBJECTS / 'tools' / program, '--help'], check=True,
                              capture_output=True, text=True, timeout=30).stdout
        yield from OPTION.findall(text)


def literals(path):
    """The string literals of a source file, those in a row as one."""
    code = re.sub(r'/\*.*?\*/|^#.*?$', '', path.read_text(encoding='utf-8'),
                  flags=re.DOTALL | re.MULTILINE)
    code = re.sub(r'"\s*\n\s*"', '', code)
    yield from re.findall(r'"((?:[^"\\\n]|\\.)*)"', code)


def test_options_are_seen():
    for option in ('-q', '--timeout', '--clean', '--fault', '--fail-if', '--link'):
        assert option in set(options()), f'{option} is in no --help'


def test_no_message_below_the_programs_names_an_option():
    known = set(options())
    wrong = [f'{path.name}: {option} in "{text}"' for folder in BELOW_PROGRAMS
             for path in sorted((SOURCES / folder).glob('*.[ch]'))
             if not COMMAND_LINES.search(str(path)) for text in literals(path)
             for option in OPTION.findall(SYSCTL.sub('', text)) if option in known]
    tap.equal(wrong, [], 'options named below the programs: they have enum error_remedy for it')


tap.main()
