"""Finds the avoided words and names that words.txt lists in sources, scripts and documents, and compares their number
with uses.txt. A directory or document may have at most as many as are recorded there, and none if it is not recorded.

usage: language.py ROOT             check; exit code 1 with every use of a directory that has too many
       language.py ROOT --list PATH print the uses in a file or directory, one line each
       language.py ROOT --record    lower the numbers of uses.txt to the current ones (it never raises one)
"""

import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DIRECTORIES = ("tally/", "programs/", "tests/", "bench/", "examples/", "bindings/")  # of sources; other files: everywhere
PRODUCT = ("tally/", "programs/", "bindings/compat/")
SOURCES = (".cpp", ".hpp", ".h", ".c", ".inc", ".js")
SCRIPTS = (".py", ".sh", ".cmake", "CMakeLists.txt")
UNCHECKED = (
    "tests/language/self_test.py",  # has avoided words on purpose
    # Any change of these two makes ./dev guest fetch its packages again: correct their words with the next change.
    "dev.d/guest/fetch",
    "dev.d/guest/packages",
)

Rule = collections.namedtuple("Rule", "pattern instead")
Use = collections.namedtuple("Use", "kind path line word instead")


def read_rules():
    """The rows of words.txt: {"prose": [Rule], "any": one pattern for all of them, and for "name", "type" and "variable"
    {word: instead}}."""
    rules = {"prose": [], "name": {}, "type": {}, "variable": {}}
    with open(os.path.join(HERE, "words.txt"), encoding="utf-8") as file:
        for line in file:
            if not line.strip() or line.startswith("#"):
                continue
            where, rest = line.split("|", 1)
            pattern, instead = rest.rsplit("|", 1)
            where, pattern, instead = where.strip(), pattern.strip(), instead.strip()
            if where == "prose":
                rules["prose"].append(Rule(re.compile(pattern, re.IGNORECASE), instead))
            else:
                rules[where][pattern] = instead
    rules["any"] = re.compile("|".join(rule.pattern.pattern for rule in rules["prose"]), re.IGNORECASE)
    return rules


# A comment, a string or a character of C, C++ and JavaScript; the rest is code.
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<character>'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL,
)
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
TYPE = re.compile(r"\b(?:struct|class|enum|using)\s+(?:class\s+)?([A-Z][A-Za-z0-9]*)\b(?!\s*;)")
# A variable, parameter or member after its type: `Count& one :`, `auto found =`, `int part;`.
DECLARED = re.compile(r"(?:(\w+)|[>\]])[&*]{0,2} ([a-z_]+)(?= ?[=;,:){\[])")
NO_TYPES = {"return", "case", "else", "goto", "delete", "throw", "new", "and", "or", "not", "co_return", "typename"}
WORD_IN_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def parts_of_source(text):
    """(kind, offset, text) of the comments, strings and code of a source."""
    at = 0
    for token in TOKEN.finditer(text):
        # A digit separator (1'000) begins no character.
        if token.group("character") and token.start() > 0 and text[token.start() - 1].isalnum():
            continue
        yield "code", at, text[at : token.start()]
        yield "comments" if token.group("comment") else "texts", token.start(), token.group()
        at = token.end()
    yield "code", at, text[at:]


def parts_of_document(text):
    """(kind, offset, text) of a Markdown document's prose: neither code blocks nor what is between backticks."""
    at, in_code = 0, False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield "documents", at, re.sub(r"`[^`]*`|\]\([^)]*\)", lambda code: " " * len(code.group()), line)
        at += len(line)


def is_script(path):
    return path.endswith(SCRIPTS) or path == "dev" or path.startswith(("dev.d/", "ci/", ".ci/"))


def parts_of(path, text):
    """(kind, offset, text) of the parts of a file. A script is one part: its words are comments, messages or names."""
    if path.endswith(".md"):
        return parts_of_document(text)
    return [("scripts", 0, text)] if is_script(path) else parts_of_source(text)


def vague_names(path, part, words):
    """(offset, name, what to write instead) of the vague names that a product's source declares."""
    if path.startswith(PRODUCT) and not path.endswith(("_test.cpp", "_testing.hpp")):
        for declared in DECLARED.finditer(part):
            if declared.group(2) in words and declared.group(1) not in NO_TYPES:
                yield declared.start(2), declared.group(2), words[declared.group(2)]


def uses_in(path, text, rules):
    """Every use of an avoided word or name in one file."""
    for kind, offset, part in parts_of(path, text):
        if kind == "code":
            for at, name, instead in vague_names(path, part, rules["variable"]):
                yield Use("variables", path, text.count("\n", 0, offset + at) + 1, name, instead)
        found = []
        if kind == "code":
            for name in NAME.finditer(part):
                for word in WORD_IN_NAME.findall(name.group()):
                    if word.lower() in rules["name"]:
                        found.append((name.start(), name.group(), rules["name"][word.lower()]))
            for name in TYPE.finditer(part):
                if name.group(1) in rules["type"]:
                    found.append((name.start(1), name.group(1), rules["type"][name.group(1)]))
            kind = "names"
        elif not part.startswith(("//", "/*")) and kind == "texts" and part.endswith(('.hpp"', '.h"')):
            continue  # a file's name
        elif rules["any"].search(part):
            for rule in rules["prose"]:
                found += [(use.start(), use.group(), rule.instead) for use in rule.pattern.finditer(part)]
        for at, word, instead in sorted(found):
            yield Use(kind, path, text.count("\n", 0, offset + at) + 1, " ".join(word.split()), instead)


def area_of(use):
    """The key by which uses are counted: the document, or the kind and the directory, at most three levels deep."""
    if use.kind == "documents":
        return f"documents {use.path}"
    return f"{use.kind} {'/'.join(os.path.dirname(use.path).split('/')[:3]) or '.'}"


def files(root):
    """The names of the files that are searched; none outside of a checkout."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        is_source = name.startswith(DIRECTORIES) and name.endswith(SOURCES)
        is_read = (is_source or name.endswith(".md") or is_script(name)) and name not in UNCHECKED
        if is_read and os.path.isfile(os.path.join(root, name)):
            yield name


def all_uses(root, rules, below=""):
    for name in files(root):
        if not name.startswith(below):
            continue
        with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
            yield from uses_in(name, file.read(), rules)


def read_record(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rsplit(" ", 1) for line in file.read().splitlines() if line and not line.startswith("#")]
    return {area: int(number) for area, number in rows}


HEAD = """# How many avoided words and names (words.txt) a document or directory has. A number may only fall:
# `python3 tests/language/language.py . --record` lowers it; `--list PATH` shows where they are.
"""


def write_record(path, counts):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"{area} {number}\n" for area, number in sorted(counts.items()) if number))


def text_of(use):
    return f"{use.path}:{use.line}: '{use.word}': write {use.instead}"


def check(counts, recorded, uses):
    """The exit code: 1 where an area has more uses than are recorded."""
    too_many = [area for area, number in sorted(counts.items()) if number > recorded.get(area, 0)]
    for area in too_many:
        print(f"{area}: {counts[area]} avoided words, {recorded.get(area, 0)} recorded (tests/language/words.txt has the words)")
        for use in uses:
            if area_of(use) == area:
                print("  " + text_of(use))
    if not too_many:
        by_kind = collections.Counter()
        for area, number in counts.items():
            by_kind[area.split(" ")[0]] += number
        print("avoided words: " + (", ".join(f"{number} in {kind}" for kind, number in sorted(by_kind.items())) or "none"))
    return 1 if too_many else 0


def main():
    root, options = sys.argv[1], sys.argv[2:]
    rules, record = read_rules(), os.path.join(HERE, "uses.txt")
    if options[:1] == ["--list"]:
        for use in all_uses(root, rules, options[1]):
            print(text_of(use))
        return 0
    uses = list(all_uses(root, rules))
    if not any(files(root)):
        print("not a checkout: there is no list of the files")
        return 77
    counts = collections.Counter(area_of(use) for use in uses)
    recorded = read_record(record) if os.path.exists(record) else None
    if options == ["--record"]:
        write_record(record, {area: number if recorded is None else min(number, recorded.get(area, 0)) for area, number in counts.items()})
        return 0
    return check(counts, recorded, uses)


if __name__ == "__main__":
    sys.exit(main())
