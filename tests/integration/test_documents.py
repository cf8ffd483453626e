#!/usr/bin/python3
"""Documents and comments name only what is there; tests/lib/documents.py reads them."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import documents
import programs
import tap

TREE = documents.tree()
MANUALS = ['afp_speedtest', 'afp_refserver', 'afp_report', 'afp_perftest']
HELP = {name: programs.run(programs.BIN_DIR / name, '--help').expect(programs.DONE).out
        for name in MANUALS}
OPTIONS = {name: documents.options(text) for name, text in HELP.items()}
EVERY_OPTION = set().union(*OPTIONS.values())
KEYS = {option.replace('-', '_').upper() for option in OPTIONS['afp_perftest']}
TEXTS = [name for name in TREE if re.fullmatch(r'(README|CONTRIBUTING|doc/\w+)\.(md|1)', name)]
SPEAKS_THE_PROTOCOL = re.compile(r'src/(dsi|afp|uam|server|target)/')


def nothing(faults):
    faults = list(faults)
    assert not faults, '\n'.join(faults)


# the texts of others that the protocol was learnt from, and the made texts below
CITE_WHAT_IS_ELSEWHERE = ('doc/protocol.md', 'tests/integration/test_documents.py')


def test_every_text_and_section_that_is_cited_is_there():
    for name, text in TREE.items():
        if name not in CITE_WHAT_IS_ELSEWHERE:
            nothing(documents.citations(name, text, TREE))


def test_every_section_in_parentheses_is_there():
    for name, text in TREE.items():
        if SPEAKS_THE_PROTOCOL.match(name):
            nothing(documents.protocol_sections(name, text, TREE))


@tap.cases({name: name for name in TEXTS})
def test_every_path_is_there(name):
    nothing(documents.paths(name, TREE[name], TREE))


@tap.cases({name: name for name in ('doc/architecture.md', 'CONTRIBUTING.md')})
def test_every_thing_is_where_it_is_said_to_be(name):
    nothing(documents.names(name, TREE[name], TREE))


@tap.cases({name: name for name in MANUALS})
def test_manual_and_help_have_the_same_options(name):
    nothing(documents.manual(f'doc/{name}.1', TREE[f'doc/{name}.1'], OPTIONS[name], EVERY_OPTION))


@tap.cases({name: name for name in MANUALS})
def test_the_synopsis_shows_every_option(name):
    rows = [row for row in documents.option_rows(HELP[name])
            if row[1] not in ('help', 'version', 'completions')
            and not (name == 'afp_perftest' and row[1] not in ('dry-run', 'force'))]
    nothing(documents.synopsis(f'doc/{name}.1', TREE[f'doc/{name}.1'], rows))


@tap.cases({name: name for name in MANUALS})
def test_every_manual_names_the_others(name):
    nothing(documents.siblings(f'doc/{name}.1', TREE[f'doc/{name}.1'], MANUALS))


def test_every_command_in_the_readme_can_be_given():
    nothing(documents.commands('README.md', TREE['README.md'], OPTIONS))


@tap.cases({name: name for name in ('README.md', 'doc/afp_perftest.1')})
def test_every_key_is_one(name):
    nothing(documents.keys(name, TREE[name], KEYS))


# ---------------------------------------------------------------------------- the check can fail

MADE = {
    'doc/protocol.md': '# 1. Wire\n## 1.2 Commands\n# Appendix A. Codes\n',
    'doc/formats.md': '## Marks (`--mark-fd N`)\n',
    'src/a/b.c': 'bool there(void);\nstatic const int table[] = {1};\nstruct thing;\n',
    'src/a/c.c': 'bool elsewhere(void);\n',
}
HELPED = {'one': {'n', 'iterations'}, 'two': {'key', 'o', 'output'}}

CAUGHT = {
    'a text that is not here': (documents.citations, 'see method2.md', MADE),
    'a section by number': (documents.citations, '/* doc/protocol.md 1.2 (f),\n * 1.3. */', MADE),
    'a section in a range': (documents.citations, 'doc/protocol.md 1 to 3 and appendix A', MADE),
    'an appendix': (documents.citations, 'doc/protocol.md appendix B', MADE),
    'a section by title': (documents.citations, '/* doc/formats.md,\n * "Mark". */', MADE),
    'a section in parentheses': (documents.protocol_sections, '/* x (1.2, 1.4). */', MADE),
    'a path': (documents.paths, 'in `src/a/d.c`', MADE),
    'a folder': (documents.paths, 'in `src/e/`', MADE),
    'a path with a name left open': (documents.paths, 'in `src/a/<name>.h`', MADE),
    'a file beside another': (documents.names, '| x | `src/a/b.c`, `d.c` |', MADE),
    'a function in another file': (documents.names, '| x | `elsewhere()` in `src/a/b.c` |', MADE),
    'a table': (documents.names, '* **x**: a row in `tables[]`.', MADE),
    'a struct': (documents.names, '* **x**: a `struct things` in `src/a/b.c`.', MADE),
    'an option of a command line': (documents.commands, '    $ build/one -n 3 --output x', HELPED),
    'an option in a text': (documents.commands, 'with `--nothing`', HELPED),
    'an option that the synopsis lacks': (
        documents.synopsis, '.Sh SYNOPSIS\n.Op Fl n\n.Sh DESCRIPTION\n.Fl -other',
        [('n', 'iterations'), ('', 'other')]),
    'a manual that is not named': (
        documents.siblings, '.Xr one 1\n.Sh SEE ALSO\n.Xr made 1\n', ['one', 'made']),
    'a key': (documents.keys, '    two KEYS=1', {'KEY'}),
    'a key with another name': (documents.keys, '.It Fl -key Ar N , Ev LOCK', {'KEY', 'LOCK'}),
    'an option that is not described': (documents.manual, '.It Fl n\n', {'n', 'iterations'}, {'n'}),
    'an option that went': (documents.manual, '.It Fl n , -old\n', {'n'}, {'n', 'old'}),
    'an option that never was': (documents.manual, '.It Fl n\n.Pq Fl x ,', {'n'}, {'n'}),
}


@tap.cases(CAUGHT)
def test_catches(check, text, *known):
    tap.equal(len(list(check('made', text, *known))), 1, list(check('made', text, *known)))


FINE = {
    'texts and sections': (documents.citations, '/* doc/protocol.md 1.2\n * (f) and appendix A;\n'
                           ' * doc/formats.md, "Marks". */', MADE),
    'parentheses': (documents.protocol_sections, 'f(1.5); /* (1.2) */', MADE),
    'paths': (documents.paths, '`src/a/`, `src/<folder>/b.c`, `src/a/*.c`, build/src/tools', MADE),
    'names': (documents.names,
              '| x | `there()`, `table[]`, `struct thing` in `src/a/b.c`, `c.c` |', MADE),
    'commands': (documents.commands,
                 '    one -n3   # --no-option\n    three -z\n`-o`, `--key`', HELPED),
    'keys': (documents.keys, '    two KEY=1\n.It Fl -a-key Ar N , Ev A_KEY', {'KEY', 'A_KEY'}),
    'synopsis': (documents.synopsis, '.Sh SYNOPSIS\n.Op Fl n\n.Sh DESCRIPTION\n',
                 [('n', 'iterations')]),
    'siblings': (documents.siblings, '.Sh SEE ALSO\n.Xr one 1 ,\n.Xr two 1', ['one', 'two']),
    'manual': (documents.manual, '.Op Fl no\n.It Fl n , -iterations Ar N\n.Fl n , o .',
               {'n', 'iterations'}, {'n', 'iterations', 'o'}),
}


@tap.cases(FINE)
def test_lets_pass(check, text, *known):
    nothing(check('made', text, *known))


tap.main()
