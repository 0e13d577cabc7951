#!/usr/bin/env python3
"""Checks every #include below tally/, programs/ and bindings/compat/ against layers.txt; also inline assembly, and code
that opens files, reads the environment or calls a restricted member function; that file names are unique; that sources
have headers of their names; and the number of lines. Prints one line for each violation: FILE:LINE: what and why.

usage: check_layers.py [ROOT]

ROOT is the tree with the directories to check (default: this one). Exit code: 0 without violations, else 1.
"""

import fnmatch
import os
import posixpath
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOPS = ("tally", "programs", "bindings/compat")
SOURCES = (".hpp", ".cpp", ".h", ".c", ".S", ".inc")

INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*(?:[<"](?:tally/)?(?P<ours>(?<=tally/)[^>"]+|(?:programs|bindings)/[^>"]+)[>"]|"(?P<near>[^"]+)"|<(?P<other>[^>]+)>)')
TEST = re.compile(r"_test(ing)?\.[ch]pp$")
# Comments and strings, which are not code.
NOT_CODE = re.compile(r'//.*|"(\\.|[^"\\])*"')
OPENS = re.compile(r"\b(O_RDONLY|O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|O_PATH|[io]?fstream|f(?:re)?open|mko?stemp|tmpfile)\b", re.ASCII)
GETENV = re.compile(r"\bgetenv[ \t]*\(", re.ASCII)
ASSEMBLY = re.compile(r"\b(asm|__asm|__asm__)[ \t]*(volatile|__volatile__|goto|inline)?[ \t]*[({]", re.ASCII)


class Directory:
    """A row `directory` or `program` of layers.txt. The layer of a program is None."""

    def __init__(self, path, layer, words):
        self.path, self.layer = path, layer
        self.top = path.split("/")[0]
        self.lists = {"also": [], "libraries": []}
        self.kernel = self.freestanding = False
        for word in words:
            name, _, values = word.partition("=")
            if values and name in ("only", "also", "libraries"):
                self.lists[name] = values.split(",")
            elif word in ("kernel", "freestanding"):
                setattr(self, word, True)
            else:
                raise ValueError(f"layers.txt: the row of {path} has an unknown word '{word}'")


class Table:
    """The rows of layers.txt."""

    def __init__(self, rows):
        self.directories, self.hidden, self.callers, self.libraries = [], {}, {}, {}
        self.order, self.openers, self.headers = [], [], {"kernel": [], "freestanding": []}
        self.lines, self.data, self.headerless = {}, [], []
        for row in rows:
            kind, *words = row.split("#")[0].split() or [""]
            if kind == "directory":
                self.directories.append(Directory(words[0], int(words[1]), words[2:]))
            elif kind == "program":
                self.directories.append(Directory(words[0], None, words[1:]))
            elif kind == "hidden":
                self.hidden[words[0]] = words[1].removeprefix("from=").split(",")
            elif kind == "call":
                self.callers[words[0]] = words[1].removeprefix("in=")
            elif kind == "library":
                self.libraries[words[0]] = words[1:]
            elif kind == "lines":
                self.lines[words[0]] = int(words[1].replace(",", ""))
            elif kind == "data":
                self.data += words
            elif kind == "headerless":
                self.headerless += words
            elif kind == "order":
                self.order = words
            elif kind == "opens":
                self.openers += words[:1]
            elif kind in self.headers:
                self.headers[kind] += words
            elif kind:
                raise ValueError(f"layers.txt: unknown kind of row '{kind}'")
        missing = {each.top for each in self.directories} - set(self.order)
        if missing:
            raise ValueError(f"layers.txt: the row `order` lacks {', '.join(sorted(missing))}")
        calls = "|".join(map(re.escape, self.callers)) or "(?!)"
        self.call = re.compile(rf"[.>]({calls})\(")
        # The few lines with something to check; the others are not split off.
        self.line = re.compile(rf"^.*?(?:#[ \t]*include|O_|stream|open|temp|tmpfile|getenv|asm|[.>](?:{calls})\().*", re.MULTILINE)

    def directory_of(self, path):
        """The directory of a path below tally/: the longest of the table that is the file, its folder or a prefix of it."""
        path += "/"
        found = [each for each in self.directories if path.startswith(each.path)
                 and (each.path.endswith("/") or path[len(each.path) : len(each.path) + 1] in tuple("/._"))]
        return max(found, key=lambda each: len(each.path), default=None)

    def may_open_files(self, path):
        return any(path.startswith(opener) and path[len(opener) : len(opener) + 1] in ("/", ".") for opener in self.openers)

    def against_include(self, source, target, is_test):
        """Why a file of `source` may not include one of `target`; None if it may."""
        lists = source.lists
        if source is target or target.path in lists["also"]:
            pass
        elif "only" in lists and not (is_test and source.layer is not None):
            if target.path not in lists["only"]:
                only = "no other directory" if lists["only"] == ["-"] else ", ".join(lists["only"])
                return f"{source.path} may include {only}"
        elif target.layer is None:
            return f"{target.path} is a program of its own: no directory includes it"
        elif source.layer is None:
            return f"{source.path} is a program of its own: it includes only the directories named in the table"
        elif target.layer >= source.layer:
            return f"{source.path} is at layer {source.layer}, {target.path} at layer {target.layer}: an include points down"
        if self.order.index(target.top) > self.order.index(source.top):
            return f"{source.top} comes before {target.top}, and an include points back"
        allowed = self.hidden.get(target.path)
        if allowed and source is not target and source.path not in allowed:
            return f"only {', '.join(allowed)} may include {target.path}"
        return None

    def against_header(self, source, header, is_test):
        """The same for <header>, which is not tally's."""

        def is_among(names):
            return any(header == name or (name.endswith("/") and header.startswith(name)) for name in names)

        for library, names in self.libraries.items():
            if is_among(names):
                allowed = library in source.lists["libraries"] or (is_test and library == "test")
                return None if allowed else f"the table names no library {library} for {source.path}"
        if is_test:
            return None
        if is_among(self.headers["kernel"]):
            return None if source.kernel else f"a header of the kernel interface: {source.path} must use the directory linux"
        if source.freestanding and header not in self.headers["freestanding"]:
            return f"{source.path} is freestanding: layers.txt lists what it may include"
        return None

    def against_line(self, path, source, is_test, line):
        """The violations of one line of tally/PATH."""
        include = INCLUDE.match(line)
        if include and include["other"]:
            reason = self.against_header(source, include["other"], is_test)
            if reason:
                yield f"includes <{include['other']}>: {reason}"
        elif include:
            # A name without tally/ is next to the including file.
            included = include["ours"] or posixpath.normpath(posixpath.join(posixpath.dirname(path), include["near"]))
            shown = included if included.startswith(TOPS[1:]) else f"tally/{included}"
            target = self.directory_of(included)
            reason = self.against_include(source, target, is_test) if target else f"layers.txt names no directory for {shown}"
            if reason:
                yield f"includes {shown}: {reason}"
        if is_test:
            return
        code = NOT_CODE.sub("", line)
        opens = None if self.may_open_files(path) else OPENS.search(code)
        if opens:
            yield f"opens files by itself ({opens[1]}): use tally/linux/files (state_folder, input, output)"
        elif GETENV.search(code):
            yield "getenv: use secure_getenv, which ignores the environment in a setuid program"
        if not source.kernel and ASSEMBLY.search(code):
            yield f"inline assembly: the table allows none in {source.path}"
        for call in dict.fromkeys(self.call.findall(line)):
            if path != self.callers[call]:
                yield f"calls {call}(): only {self.callers[call]} does"


def violations(table, root, file):
    """(line, text) of each violation in one file, whose name begins with one of TOPS."""
    path = file.removeprefix("tally/")
    source = table.directory_of(path)
    if source is None:
        yield 1, "layers.txt names no directory for it"
        return
    if file.endswith(".S") and not source.kernel:
        yield 1, f"assembly: the table allows none in {source.path}"
    with open(os.path.join(root, file), encoding="utf-8", errors="replace") as opened:
        text = opened.read()
    number, at = 1, 0
    for line in table.line.finditer(text):
        number, at = number + text.count("\n", at, line.start()), line.start()
        for violation in table.against_line(path, source, bool(TEST.search(file)), line.group()):
            yield number, violation


# Directories whose files are the same concepts for several architectures.
ARCHITECTURES = ("x86_64", "aarch64")
STEM = re.compile(r"(_test|_testing|_fuzz)?\.[^.]+$")


def repeated_names(files):
    """(file, text) of each file whose concept has the name of another directory's: `#include` alone must say which is meant."""
    first = {}
    for file in files:
        folder, name = os.path.split(file)
        if os.path.basename(folder) in ARCHITECTURES or file.endswith(".inc"):
            continue
        other = first.setdefault(STEM.sub("", name), file)
        if os.path.dirname(other) != folder:
            yield file, f"has the name of {other}: a concept has one name, and a name is in one directory"


def without_header(table, files):
    """(file, text) of each source below tally/ without a header of its name that no row `headerless` names; and of each
    that a row names in vain."""
    headers = {os.path.splitext(file)[0] for file in files if file.endswith((".hpp", ".h"))}
    for file in files:
        if not file.startswith("tally/") or not file.endswith(".cpp") or TEST.search(file) or "_fuzz." in file:
            continue
        path = file.removeprefix("tally/")
        if os.path.splitext(file)[0] in headers:
            if path in table.headerless:
                yield file, "has a header of its name: remove it from the rows `headerless` of layers.txt"
        elif not any(fnmatch.fnmatchcase(path, pattern) for pattern in table.headerless):
            yield file, "has no header of its name: move the declarations of what it defines to one"


def lines_over_budget(table, root, files):
    """(directory, text) of each row `lines` that is exceeded. Tests and data do not count."""
    for directory, most in table.lines.items():
        lines = 0
        for file in files:
            if not file.startswith(directory + "/") or TEST.search(file) or "_fuzz." in file or file.startswith(tuple(table.data)):
                continue
            with open(os.path.join(root, file), "rb") as opened:
                lines += opened.read().count(b"\n")
        if lines > most:
            yield directory, f"has {lines:,} lines, layers.txt allows {most:,}: remove some, or raise the number and say why"


def read_table():
    with open(os.path.join(HERE, "layers.txt"), encoding="utf-8") as file:
        return Table(file)


def check(table, root):
    """Prints the violations of a tree to standard error; returns the exit code."""
    files = sorted(os.path.relpath(os.path.join(folder, name), root)
                   for top in TOPS for folder, _, names in os.walk(os.path.join(root, top))
                   for name in names if name.endswith(SOURCES))
    found = [f"{file}:{line}: {text}" for file in files for line, text in violations(table, root, file)]
    found += [f"{file}:1: {text}" for file, text in repeated_names(files)]
    found += [f"{file}:1: {text}" for file, text in without_header(table, files)]
    found += [f"{directory}: {text}" for directory, text in lines_over_budget(table, root, files)]
    for text in found:
        print(text, file=sys.stderr)
    if found:
        print(f"layers: {len(found)} violations in {len(files)} files (docs/design/layers.md gives the reasons)", file=sys.stderr)
    elif not files:
        print(f"layers: no files below {root}/tally", file=sys.stderr)
    else:
        print(f"layers: {len(files)} files, every include points down")
    return 1 if found or not files else 0


def main():
    try:
        table = read_table()
    except ValueError as error:
        sys.exit(str(error))
    return check(table, sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(HERE)))


if __name__ == "__main__":
    sys.exit(main())
