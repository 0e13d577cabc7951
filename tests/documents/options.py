"""Checks that the commands which a document names without their output, and their options, exist.

It searches `code` in the text and the lines of blocks. Words after `--`, or after the end of the command, are the
measured program's; words in capitals are placeholders. Commands that are quick and change nothing are also run:
`tally event`, `events` and `register` unchanged, and `tally stat` with `true` as the program.
"""

import os
import re
import shlex
import subprocess
import tempfile

import blocks as documents

COMMAND = re.compile(r"(?:^|(?<=[\s;(`\"]))(?:\./dev|(?:build/release/)?tally)(?= [a-z])")
IN_A_LINE = re.compile(r"^\s*(?:\./dev|(?:build/release/)?tally)(?= [a-z])")
END = re.compile(r" -- | \|{1,2} | && | >| #|;| 2>|`|\s{3,}|$")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
ENTRY = r"^  (\w+) "  # of a list of commands or topics
STANDS_FOR_SOMETHING = re.compile(r"…|\b[A-Z]{2,}\b(?![.:=_])")
OF_OTHERS = {"--asm", "-p", "-t", "-a", "-C", "--cgroup", "--function", "--from", "--to", "--trap", "--model",
             "--from-script"}  # not of `true`


def texts(root, document):
    """(text, pattern of a command's beginning in it): the parts of a document that may contain commands."""
    in_blocks = set()
    for block in documents.read(root, document):
        in_blocks.update(range(block.line - 1, block.line + len(block.lines) + 1))
        if block.is_example():
            yield from ((command.replace("\\\n", " "), COMMAND) for command, _ in block.steps())
        else:
            yield from ((line, IN_A_LINE) for line in block.lines)
    with open(os.path.join(root, document), encoding="utf-8") as file:
        lines = file.read().split("\n")
    prose = "\n".join("" if at in in_blocks else line for at, line in enumerate(lines))
    yield from ((span.replace("\n", " "), COMMAND) for span in re.findall(r"`([^`]+)`", prose))


def commands(root, document):
    """Every command with its own arguments."""
    found = []
    for text, pattern in texts(root, document):
        for start in pattern.finditer(text):
            rest = text[start.end():]
            command = start[0].strip().rpartition("/")[2] + rest[:END.search(rest).start()].rstrip()
            if command not in found:
                found.append(command)
    return found


def words_of(command):
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed, because it contains `…`
        return command.split()


class HelpTexts:
    """The help of each command: for tally, with the text of every option."""

    def __init__(self, root, tally):
        self.programs = {"tally": tally, "dev": os.path.join(root, "dev")}
        self.known = {}

    def of(self, program, *command):
        key = (program, *command)
        if key not in self.known:
            words = ["help", *command] if program == "tally" else [*command, "--help"]
            self.known[key] = run([self.programs[program], *words])[1]
        return self.known[key]


def run(words, place=None):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, cwd=place)
    return done.returncode, done.stdout


def misnamed(command, words, helps):
    """The words of a command that do not exist."""
    program, name = words[0], words[1]
    listed, _, topics = helps.of(program).partition("\nTopics of ")
    commands_of_program = re.findall(ENTRY, listed, re.MULTILINE)
    if program == "tally" and name == "help":
        known = {*commands_of_program, *re.findall(ENTRY, topics, re.MULTILINE)}
        wrong = {word for word in words[2:] if not STANDS_FOR_SOMETHING.search(word)} - known
        return f"{command}: there is no topic {wrong.pop()!r}" if wrong else None
    if name not in commands_of_program:
        return f"{command}: there is no command {name!r}"
    known = set(OPTION.findall(helps.of(program, name))) | {"--help", "--help-all", "-h"}
    for word in words[2:]:
        if (option := OPTION.match(word)) and option[0] not in known:
            return f"{command}: {name} has no option {option[0]!r}"
    if name in ("memory", "rdpmc") and words[2:] and re.fullmatch(r"[a-z0-9-]+", words[2]) and words[2][0] != "-":
        if not re.search(rf"\b{words[2]}\b", helps.of(program, name)):
            return f"{command}: {name} has no task {words[2]!r}"
    return None


def can_be_run(command, words, helps):
    """Whether a command is quick, changes nothing and is complete."""
    if words[0] != "tally" or len(words) < 3 or {"--help", "--help-all"} & set(words) or STANDS_FOR_SOMETHING.search(command):
        return False
    wants_more = rf"^ *(-\w, )?{re.escape(words[-1])}(, --[\w-]+)? [A-Z]"
    if re.search(wants_more, helps.of(*words[:2]), re.MULTILINE):
        return False
    return words[1] in ("event", "events", "register") or words[1] == "stat" and not OF_OTHERS & set(words)


def refused(command, words, tally, place):
    """What is wrong with a command that can be run."""
    a_program = ["--", "true"] if words[1] == "stat" else []
    code, said = run([tally, *words[1:], *a_program], place)
    # 125 is a valid answer of a machine that cannot count it.
    return f"{command}: ended with {code}:\n{said}" if code not in (0, 125) else None


def unknown(root, document, tally):
    """What is wrong with the commands of a document, one text each."""
    helps, found = HelpTexts(root, tally), []
    with tempfile.TemporaryDirectory(prefix="tally-documents-") as place:
        for command in commands(root, document):
            words = words_of(command)
            run_it = can_be_run(command, words, helps)
            if wrong := refused(command, words, tally, place) if run_it else misnamed(command, words, helps):
                found.append(wrong)
    return found
