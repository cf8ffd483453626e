"""What texts promise: files, sections, functions, options and keys that they name.

Each function takes a text and yields what is wrong with it.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANYTHING = re.compile(r'<\w+>|\*')


def tree():
    """{path: text} of everything that is written by hand."""
    places = ['README.md', 'CONTRIBUTING.md', 'check', 'quickstart', 'meson.build']
    found = {}
    for place in places + ['src', 'tests', 'benchmarks', 'scripts', 'doc', 'data']:
        top = ROOT / place
        for path in sorted(top.rglob('*')) if top.is_dir() else [top]:
            name = str(path.relative_to(ROOT))
            if path.is_file() and '__pycache__' not in name:
                text = '' if '/corpus/' in name else path.read_bytes().decode('utf-8', 'replace')
                found[name] = text
    return found


def _flowing(text):
    """Without what begins the lines of a comment, so that a sentence is one line."""
    return re.sub(r'\s*\n[ \t]*(\*(?!/)|#+)?[ \t]*', ' ', text)


def _comments(text):
    return ' '.join(_flowing(comment) for comment in re.findall(r'/\*.*?\*/', text, re.DOTALL))


# ---------------------------------------------------------------------------------------- citations

SECTION = r'(?:appendix [A-Z]|\d+(?:\.\d+)?)'
BETWEEN = r'(?: \([^()]*\))?(?:, (?:and )?| and | to )'
CITED = re.compile(rf'\b((?:[\w<>-]+/)*)([\w-]+\.(?:md|schema\.json)|afp_\w+\.1)\b'
                   rf'(?:,? ({SECTION}(?:{BETWEEN}{SECTION})*)|,? "([A-Z][^"]+)")?')
IN_PARENTHESES = re.compile(r'\((\d\.\d+(?:, \d\.\d+)*)[),;]')


def sections(text):
    """Numbers ("4.1", "appendix A") and titles of a document's headings."""
    found = set()
    for title in re.findall(r'^#+ (.*)', text, re.MULTILINE):
        numbered = re.match(rf'{SECTION}\b', title, re.IGNORECASE)
        found.add(numbered[0].lower() if numbered else re.sub(r' \(.*', '', title))
    return found


def _numbers(text):
    return [number.lower() for number in re.findall(SECTION, re.sub(r'\([^()]*\)', '', text))]


def citations(name, text, documents):
    """Texts that are not here or lack the section; `documents` is {path: text}."""
    for folder, file, numbers, title in CITED.findall(_flowing(text)):
        if ANYTHING.search(folder + file):
            continue
        path = folder + file
        beside = str(pathlib.PurePath(name).parent / path)
        known = path if path in documents else beside
        if known not in documents:
            yield f'{name} cites {path}, which is not here'
            continue
        if not file.endswith('.md'):
            continue
        for section in _numbers(numbers) + ([title] if title else []):
            if section not in sections(documents[known]):
                yield f'{name} cites {path} {section}, which has no such section'


def protocol_sections(name, text, documents):
    """(4.1) in a comment of code that speaks the protocol."""
    known = sections(documents['doc/protocol.md'])
    for numbers in IN_PARENTHESES.findall(_comments(text)):
        for number in numbers.split(', '):
            if number not in known:
                yield f'{name} cites ({number}), a section that doc/protocol.md does not have'


# -------------------------------------------------------------------------------------------- paths

PATH = re.compile(r'(?<![\w./<>-])((?:src|tests|benchmarks|scripts|data|doc)/[\w./<>*-]*[\w/*>])')


def matches(pattern, files):
    """The files of a path with <name> and * in it; those of a folder; a built program's source."""
    form = ''.join(r'[\w.-]+' if ANYTHING.fullmatch(part) else re.escape(part)
                   for part in re.split(r'(<\w+>|\*)', pattern.rstrip('/')))
    return [file for file in files if re.fullmatch(rf'{form}(\.c|/.*)?', file)]


def paths(name, text, files):
    for path in sorted(set(PATH.findall(text))):
        if not matches(path, files):
            yield f'{name} names {path}, which is not here'


NAMED = re.compile(r'`((?:struct |enum )?\w\w+(?:\(\)|\[\])?)`')
FILE = re.compile(r'`([\w./<>*-]+(?:\.(?:[ch]|py)|/)|(?:src|tests)/\w+)`')


def rows(text):
    """Rows of tables, items of lists and paragraphs of a Markdown text."""
    return re.split(r'\n(?=\||\* |\n)', text)


def names(name, text, files):
    """In each row: files named without their folder, and what is said to be in the files."""
    for row in rows(text):
        inside, folders = [], set()
        for path in FILE.findall(row):
            whole = ANYTHING.sub('<x>', path)
            found = matches(whole, files) or [
                file for folder in sorted(folders) for file in matches(f'{folder}/{whole}', files)]
            if not found and '/' in whole:
                found = matches(f'src/{whole}', files)
            if not found:
                yield f'{name} names {path}, which is not here: {row.strip()[:60]}'
            inside += found
            folders |= {str(pathlib.PurePath(file).parent) for file in found} | {path.rstrip('/')}
        # where a row names no file, somewhere in the code is enough
        code = ''.join(files[file] for file in inside or files
                       if file.endswith(('.c', '.h', '.py')))
        for thing in NAMED.findall(row):
            word = thing.rstrip('()[]')
            if thing != word or ' ' in word:
                if not re.search(rf'\b{re.escape(word)}\b', code):
                    yield f'{name}: {thing} is not where this says: {row.strip()[:60]}'


# ------------------------------------------------------------------------------------------ options

def option_rows(help_text):
    """[('n', 'iterations'), …] of what --help prints; '' for no letter."""
    return re.findall(r'^ +(?:-(\w), +)?--([\w.-]+)', help_text, re.MULTILINE)


def options(help_text):
    """{'n', 'iterations', …} of what --help prints."""
    return {name for row in option_rows(help_text) for name in row} - {''}


def _flags(words):
    """The options of one line of mdoc."""
    inside = False
    for word in words:
        if word == 'Fl':
            inside = True
        elif inside and re.fullmatch(r'-?(?![A-Z][a-z]$)\w[\w.-]*', word):
            yield from [word[1:]] if word[0] == '-' else word
        elif word != ',':
            inside = False


def manual_flags(text, described=False):
    """Options that a manual names, or those that it has an item of."""
    lines = re.findall(r'^\.It Fl.*' if described else r'^\..*', text, re.MULTILINE)
    return {option for line in lines for option in _flags(line[1:].split())}


def manual(name, text, own, known):
    """`own`: the program's options; `known`: also those of the others, which it may speak of."""
    for option in sorted(own - manual_flags(text, described=True)):
        if option.startswith('afp'):
            continue        # the long forms of -1 to -7
        yield f'{name} does not describe {option}'
    for option in sorted(manual_flags(text, described=True) - own):
        yield f'{name} describes {option}, which --help does not know'
    for option in sorted(manual_flags(text) - known):
        yield f'{name} names {option}, which no --help knows'


def synopsis(name, text, rows):
    """`rows` is [(letter, long name)] of the options that the manual's first lines must show."""
    shown = manual_flags(text[text.index('.Sh SYNOPSIS'):text.index('.Sh DESCRIPTION')])
    for letter, option in rows:
        if not {letter, option} & shown:
            yield f'{name}: the synopsis lacks --{option}'


def siblings(name, text, known):
    """Manuals that one does not name where it ends; `known`: the programs."""
    for other in known:
        named = re.search(rf'^\.Xr {other} 1', text.partition('.Sh SEE ALSO')[2], re.MULTILINE)
        if f'/{other}.1' not in f'/{name}' and not named:
            yield f'{name} does not name {other}'


def keys(name, text, known):
    """KEY=value and Ev KEY of afp_perftest; `known`: its keys."""
    for key in sorted(set(re.findall(r'(?<![\w$])([A-Z]{2,}(?:_[A-Z]+)*)=[\w$]', text))):
        if key not in known:
            yield f'{name} names the key {key}, which afp_perftest does not have'
    for option, key in re.findall(r'^\.It Fl -([\w-]+).* , Ev (\w+)$', text, re.MULTILINE):
        if key != option.replace('-', '_').upper():
            yield f'{name} calls --{option} {key}'


def commands(name, text, programs):
    """Command lines and options in a Markdown text; `programs` is {name: options}."""
    everything = set().union(*programs.values())
    for line in re.findall(r'^ {4}(?:\$ )?(.*)', text, re.MULTILINE):
        words = re.sub(r'\s#.*', '', line).split()
        program = words[0].split('/')[-1] if words else ''
        for word in words[1:] if program in programs else []:
            yield from _unknown(name, word, programs[program], program)
    for span in re.findall(r'`(-[^`]*)`', text):
        yield from _unknown(name, span.split()[0], everything, 'no program')


def _unknown(name, word, known, program):
    long = re.match(r'--([\w.-]+)', word)
    short = re.match(r'-(\w)', word)
    option = long[1] if long else short[1] if short else None
    if option and option not in known:
        yield f'{name}: {program} knows {word}' if program == 'no program' else \
              f'{name}: {program} does not know {word}'
