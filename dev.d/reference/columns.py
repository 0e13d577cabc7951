"""Breaks lines of Markdown at 120 columns, except code, tables and headings."""

import re

COLUMNS = 120


def fit(text):
    lines, code = [], False
    for line in text.split("\n"):
        code = code != line.lstrip().startswith("```")
        if code or len(line) <= COLUMNS or line.lstrip().startswith(("|", "#", "<!--")):
            lines.append(line)
            continue
        # Code between backticks stays in one line.
        words = re.sub(r"`[^`]*`", lambda span: span.group().replace(" ", "\0"), line).split(" ")
        indent = "  " if line.startswith("- ") else ""
        row = words[0]
        for word in words[1:]:
            if len(row) + 1 + len(word) > COLUMNS:
                lines.append(row)
                row = indent + word
            else:
                row += " " + word
        lines.append(row)
    return "\n".join(lines).replace("\0", " ")
