#!/usr/bin/python3
"""What `meson install` puts where, and that it works from there: programs, manuals, completion."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import documents
import programs
import tap
from programs import DONE, USAGE, run

BUILD = programs.BIN_DIR.parents[1]
NAMES = sorted(path.stem for path in (documents.ROOT / 'doc').glob('afp_*.1'))
PLACE = tempfile.TemporaryDirectory()
HOME = pathlib.Path(PLACE.name) / 'home'      # where the shells are
PREFIX = pathlib.Path(PLACE.name) / 'there/usr/local'
BIN = PREFIX / 'bin'
SHARE = PREFIX / 'share'

subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet'], check=True,
               stdout=subprocess.DEVNULL, env={**os.environ, 'DESTDIR': f'{PLACE.name}/there'})
(HOME / 'directory').mkdir(parents=True)
(HOME / 'half hidden.json').write_text('')

# ----------------------------------------------------------------------------------------- the files


@tap.cases({name: name for name in NAMES})
def test_a_program_has_its_manual_and_completion(name):
    for path in (BIN / name, SHARE / f'man/man1/{name}.1',
                 SHARE / f'bash-completion/completions/{name}.bash',
                 SHARE / f'zsh/site-functions/_{name}',
                 SHARE / f'fish/vendor_completions.d/{name}.fish'):
        assert path.is_file() and path.stat().st_size, path
    for shell, path in (('bash', f'bash-completion/completions/{name}.bash'),
                        ('zsh', f'zsh/site-functions/_{name}'),
                        ('fish', f'fish/vendor_completions.d/{name}.fish')):
        tap.equal((SHARE / path).read_text(), completions(name, shell), shell)


def completions(name, shell):
    return run(BIN / name, '--completions', shell).expect(DONE).out


def test_no_program_lacks_a_manual():
    tap.equal(sorted(path.name for path in BIN.iterdir()), NAMES)


def test_schema_licence_and_texts():
    for name, place in (('doc/result.schema.json', 'afpbench'), ('LICENSE', 'doc/afpbench')):
        source = documents.ROOT / name
        tap.equal((SHARE / place / source.name).read_text(), source.read_text())
    for name in NAMES:
        text = (documents.ROOT / f'doc/{name}.1').read_text()
        for cited in re.findall(r'doc/(\w+\.md)', text):
            assert (SHARE / 'doc/afpbench' / cited).is_file(), f'{name} cites {cited}'


@tap.cases({name: name for name in NAMES})
def test_man_shows_it(name):
    page = subprocess.run(['man', '-M', SHARE / 'man', '-P', 'cat', name], check=True, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', 'MANWIDTH': '80'})
    tap.equal(page.stderr, '')
    tap.equal([line for line in page.stdout.split('\n') if len(line) > 80], [])
    assert re.search(rf'^SYNOPSIS\n +{name}', page.stdout, re.MULTILINE), page.stdout[:500]
    for heading in ('NAME', 'DESCRIPTION', 'EXIT STATUS', 'SEE ALSO'):
        assert re.search(rf'^{heading}$', page.stdout, re.MULTILINE), heading


# -------------------------------------------------------------------------------------- the programs

def test_speedtest_runs_from_there():
    result = run(BIN / 'afp_speedtest', '--refserver', '-d', '64k', '-f', 'Read,Copy').expect(DONE)
    tap.equal([test.name for test in result.tests()], ['Read', 'Copy'])


def test_perftest_finds_the_others_beside_it():
    nowhere = {'PATH': '/nowhere'}
    with tempfile.TemporaryDirectory() as directory:
        result = run(BIN / 'afp_perftest', 'SERVER=refserver', 'LINK=none', 'SWEEP=4k', 'ITER=1',
                     f'OUTDIR={directory}/results', env=nowhere).expect(DONE)
        assert 'refserver' in result.out, result


def test_the_library_is_where_perftest_looks():
    """Beside its directory: what makes up for an afpd that wants more users than there are."""
    found = list(PREFIX.rglob('afpbench_setid_shim.so'))
    tap.equal(len(found), 1)
    place = str(found[0].parent.relative_to(PREFIX))
    assert f'/{place}/'.encode() in (BIN / 'afp_perftest').read_bytes(), place


# ----------------------------------------------------------------------------------------- --version

def revision(tree):
    return subprocess.run([tree / 'scripts/revision', '1.2'], capture_output=True, text=True,
                          check=False)


def test_the_version_has_the_revision():
    with tempfile.TemporaryDirectory() as directory:
        tree = pathlib.Path(directory)
        (tree / 'scripts').mkdir()
        shutil.copy(documents.ROOT / 'scripts/revision', tree / 'scripts')
        without_git = revision(tree)
        assert without_git.returncode and not without_git.stdout, 'meson takes the version then'
        for words in ('init -q', 'add .', '-c user.name=a -c user.email=b commit -qm c'):
            subprocess.run(['git', '-C', tree, *words.split()], check=True)
        assert re.fullmatch(r'1\.2 \([0-9a-f]{7,}\)\n', revision(tree).stdout), revision(tree)
        (tree / 'scripts/revision').open('a').write('\n')
        assert re.fullmatch(r'1\.2 \([0-9a-f]{7,}-dirty\)\n', revision(tree).stdout), revision(tree)


@tap.cases({name: name for name in NAMES})
def test_every_program_says_it(name):
    version = run(BIN / name, '--version').expect(DONE).out
    assert re.fullmatch(rf'{name} \(afpbench\) \d+\.\d+\.\d+( \([0-9a-f]+(-dirty)?\))?\n', version), \
        version


# ---------------------------------------------------------------------------------------- completion

def test_other_shells_are_a_usage_error():
    run(BIN / 'afp_report', '--completions', 'csh').expect_one_message(USAGE, 'csh')


class Shell:
    """An interactive shell on a terminal, in which each program prints its words as <a><b>."""

    def __init__(self, *command, setup):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(HOME)
            os.environ.update(TERM='vt100', HOME=str(HOME), LC_ALL='C.UTF-8', HISTFILE='')
            os.execvp(command[0], command)
        for line in (*setup, *(f"{name}() {{ printf '<%s>' \"$@\"; echo; }}" for name in NAMES)):
            os.write(self.terminal, f'{line}\n'.encode())
        self.typed('afp_report ready', r'<ready>')

    def typed(self, keys, wanted=r'<[^\r\n]*>'):
        """The words of a program, after the keys and Enter."""
        os.write(self.terminal, f'{keys}\n'.encode())
        seen, deadline = '', time.monotonic() + 20
        while not (found := re.search(rf'\n({wanted})\r*\n', seen)):
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self.terminal], [], [], left)[0], f'{keys}: {seen!r}'
            seen += os.read(self.terminal, 65536).decode(errors='replace')
        return re.findall('<(.*?)>', found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        os.close(self.terminal)     # it hangs up
        os.waitpid(self.pid, 0)


def bash():
    return Shell('bash', '--norc', '--noprofile', '-i', setup=[
        "PS1='$ '", "bind 'set enable-bracketed-paste off'",
        *(f'. {SHARE}/bash-completion/completions/{name}.bash' for name in NAMES)])


def zsh():
    return Shell('zsh', '-f', '-i', setup=[
        "PS1='$ '", 'unset zle_bracketed_paste', 'setopt no_auto_remove_slash',
        f'fpath=({SHARE}/zsh/site-functions $fpath)',
        'autoload -Uz compinit', 'compinit -u -D'])


def fish(line):
    """What fish offers for a line: no terminal is needed."""
    there = {'XDG_DATA_DIRS': f'{SHARE}:/usr/share', 'HOME': str(HOME), 'LC_ALL': 'C.UTF-8',
             'PATH': f'{BIN}:{os.environ["PATH"]}'}
    offered = subprocess.run(['fish', '-c', 'complete -C $argv[1]', line], check=True, text=True,
                             capture_output=True, cwd=HOME, env={**os.environ, **there}).stdout
    return [entry.split('\t')[0] for entry in offered.splitlines()]


# what is typed, and the last word after TAB
TYPED = {
    'afp_speedtest -f Re': 'Read',
    'afp_speedtest -f Read,ServerC': 'Read,ServerCopy',
    'afp_speedtest --tests Wr': 'Write',
    'afp_speedtest --tests=Read,Wr': '--tests=Read,Write',
    'afp_speedtest -c -A sr': 'srp',
    'afp_speedtest --uam=clear': '--uam=cleartxt',
    'afp_speedtest --sink ver': 'verify',
    'afp_speedtest --refserver=nu': '--refserver=null',
    'afp_speedtest --password-file half': 'half hidden.json',
    'afp_speedtest -P dire': 'directory/',
    'afp_speedtest --very': '--very-verbose',
    'afp_speedtest --completions zs': 'zsh',
    'afp_perftest REA': 'READAHEAD=',
    'afp_perftest RATE=1gbit SERVER=ne': 'SERVER=netatalk',
    'afp_perftest OPS=Read,Wr': 'OPS=Read,Write',
    'afp_perftest --ops Read,Wr': 'Read,Write',
    'afp_perftest --server ref': 'refserver',
    'afp_perftest --netatalk-root dire': 'directory/',
    'afp_perftest --dry': '--dry-run',
    'afp_refserver --uams srp,clear': 'srp,cleartxt',
    'afp_report --format mark': 'markdown',
    'afp_report half': 'half hidden.json',
}


@tap.cases({'bash': bash, 'zsh': zsh})
def test_tab_completes_in(shell):
    with shell() as opened:
        found = {line: opened.typed(f'{line}\t')[-1] for line in TYPED}
    tap.equal({line: word for line, word in found.items() if word != TYPED[line]}, {})


def test_tab_completes_in_fish():
    found = {line: fish(line) for line in TYPED}
    tap.equal({line: words for line, words in found.items() if words != [TYPED[line]]}, {})


def choices(name):
    """{"--sink ": ["copy", …]} of what --help lists."""
    text = re.sub(r'\n {20,}', ' ', run(BIN / name, '--help').out)
    found = re.findall(r'^ .*--([\w-]+) .*\((?:one )?of ([\w, ]*)[;)]', text, re.MULTILINE)
    return {f'--{option} ': re.split(', ?', words) for option, words in found}


@tap.cases({name: name for name in NAMES})
def test_all_choices_are_offered(name):
    table = choices(name)
    assert table['--completions '] == ['bash', 'zsh', 'fish'], table
    if name == 'afp_perftest':
        table |= {option[2:].upper()[:-1] + '=': words for option, words in table.items()
                  if option != '--completions '}
    with bash() as opened:
        for option, words in table.items():
            before = option if option.endswith('=') else ''
            offered = opened.typed(f'{name} {option}\x1b*')     # M-*: insert all
            offered = [word.removeprefix(before) for word in offered if not word.startswith('--')]
            tap.equal(sorted(offered), sorted(words), f'bash, {option}')
            tap.equal(sorted(fish(f'{name} {option}')), sorted(before + word for word in words),
                      f'fish, {option}')


def test_an_option_with_a_free_value_offers_nothing():
    with bash() as opened:
        for line in ('afp_speedtest -n ', 'afp_perftest RATE=', 'afp_refserver '):
            tap.equal(opened.typed(f'{line}\x1b*'), [line.split()[-1]][line.count('afp_ref'):] or [''])
    tap.equal(fish('afp_speedtest -n '), [])


tap.main()
