"""Lists that are both in the code and in a document: the document's must be complete.

usage: lists.py ROOT TALLY
"""

import os
import re
import subprocess
import sys

SUITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../engine/suite")
sys.path.insert(0, SUITE)
import cases as suite_cases


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def formats(tally, *words):
    """The formats of a command, from its message about one that does not exist."""
    said = subprocess.run([tally, *words], capture_output=True, text=True, check=False).stderr
    found = re.search(r"the formats are: (.*)", said)
    if not found:
        sys.exit(f"{' '.join(words)} lists no formats: {said}")
    return found.group(1).split(", ")


def names_in(text, word):
    """Whether the text has the word as code, by itself or after an option."""
    return re.search(rf"`{re.escape(word)}`|--format[ =]{re.escape(word)}\b", text) is not None


def main():
    root, tally = sys.argv[1:3]
    missing = []

    def need(document, words, as_code=True):
        text = read(root, document)
        for word in words:
            if not (names_in(text, word) if as_code else re.search(rf"\b{re.escape(word)}\b", text)):
                missing.append(f"{document} does not name {word}")

    commands = re.findall(r"TALLY_(?:COMMAND\(|PROGRAM\(|PROGRAM_OF\(\w+, )(\w+),", read(root, "tally/cli/commands.inc"))
    text = read(root, "docs/guides/costs-and-limits.md")
    missing += [f"docs/guides/costs-and-limits.md does not name tally {c}" for c in commands if f"`tally {c}" not in text]

    trust = re.search(r"names\{(.*?)\}", read(root, "tally/core/count/trust.cpp"), re.DOTALL)
    trust_words = re.findall(r'"(\w+)"', trust.group(1))
    # README.md shows a modelled count as the table does: with its model.
    need("README.md", [word if word != "modelled" else "model …" for word in trust_words])
    need("docs/reference/glossary.md", trust_words, as_code=False)

    need("docs/guides/costs-and-limits.md", [case.name for case in suite_cases.read_all(os.path.join(SUITE, "cases"))])

    program = ["--", "true"]
    need("docs/guides/profiling.md", formats(tally, "profile", "--format", "none", *program))
    need("docs/guides/sampling.md", formats(tally, "sample", "--every", "1000", "--format", "none", *program))
    need("docs/guides/memory.md", formats(tally, "memory", "--format", "none"))
    need("docs/guides/costs-and-limits.md", formats(tally, "stat", "--format", "none", *program))

    # The errors of modelled cycles that the command prints are those of the tables.
    text = read(root, "docs/reference/modelled-cycles.md")
    rows = re.findall(r'^\{"([^"]*)", Precision::(\w+), (\d+), (\d+), ([\d.]+), ([\d.]+), "([^"]*)", "([^"]*)"\},$',
                      read(root, "tally/counting/backend/measured_errors.inc"), re.MULTILINE)
    for model, precision, programs, percent, least, most, processor, date in rows:
        section = text.partition(f"\n## {model}\n")[2].split("\n## ")[0]
        lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
        lines = [[cell.strip() for cell in line] for line in lines]
        table = {line[0]: line[column] for head in lines if f"host {precision}" in head
                 for column in [head.index(f"host {precision}")] for line in lines[lines.index(head):]
                 if column < len(line)}
        if (f"{processor}, {date}," not in section or table.get("mean error") != f"{percent} %" or
                table.get("least to greatest") != f"{least} to {most}"):
            missing.append(f"docs/reference/modelled-cycles.md has not the errors of {model}, {precision}")
    if not rows:
        missing.append("tally/counting/backend/measured_errors.inc has no rows")

    print("\n".join(missing) if missing else "every list is complete")
    return 1 if missing else 0


sys.exit(main())
