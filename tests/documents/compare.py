"""Compares what was printed with what the document shows.

Columns of spaces and empty lines do not count. A number of its own (no part of a name, and not hexadecimal) matches any
number, and the unit after it any unit of its kind, unless the block says `numbers: exactly`. A count in a line that
ends with `exact` is similar for everybody whose programs are like those of the document: it must be between half and
twice the shown one.
"""

import re

NUMBER = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?![\w.]*\w)")
UNITS = (("ns", "µs", "ms", "s"), ("bytes", "KiB", "MiB", "GiB"), ("K", "M", "G"))
ANY_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"


def plain(line):
    return " ".join(line.split())


def unit_pattern(text):
    """The pattern for the unit at the beginning of `text`, and its length; nothing if there is none."""
    for units in UNITS:
        for unit in units:
            if re.match(re.escape(unit) + r"(?!\w)", text):
                return "(?:" + "|".join(map(re.escape, units)) + ")", len(unit)
    return None


def words_pattern(text, exactly):
    """The pattern of a part of a line without an omission."""
    if exactly:
        return re.escape(text)
    pattern, at = "", 0
    for number in NUMBER.finditer(text):
        pattern += re.escape(text[at:number.start()]) + ANY_NUMBER
        at = number.end()
        unit = unit_pattern(text[at + 1:]) if text[at:at + 1] == " " else None
        if unit:
            pattern += " " + unit[0]
            at += 1 + unit[1]
    return pattern + re.escape(text[at:])


def line_pattern(line, marks):
    parts = [plain(line)]  # None where any text may be
    for given in ["…"] + marks["may differ"]:
        given = plain(given)
        parts = [text for part in parts for text in
                 (re.split("(" + re.escape(given) + ")", part) if part is not None else [None])]
        parts = [None if part == given else part for part in parts]
    exactly = marks.get("numbers") == "exactly"
    pattern = "".join(r"[^\n]*" if part is None else words_pattern(part, exactly) for part in parts)
    # If only spaces around an omission are left of a line, these may be missing too.
    return re.sub(r"(\\ )?\[\^\\n\]\*(\\ )?", lambda m: r"[^\n]*", pattern)


def patterns(shown, marks):
    """(pattern, line) for each line that is shown; the pattern has one group, and takes the end of the line with it."""
    found = []
    for line in map(plain, shown):
        if line == "…":
            found.append((r"((?:[^\n]*\n)*?)", line))
        elif line:
            lacking = any(plain(text) in line for text in marks["may lack"])
            found.append((f"({line_pattern(line, marks)}\n)" + ("?" if lacking else ""), line))
    return found


def first_number(line):
    number = NUMBER.search(line)
    return float(number[0].replace(",", "")) if number else 0


def far_apart(shown, printed):
    """Whether a count that is marked exact differs in size from the shown one."""
    if not shown.endswith(" exact"):
        return False
    a, b = first_number(shown), first_number(printed or shown)
    return max(a, b) >= 1000 and not a / 2 <= b <= a * 2


def said(shown, printed):
    return f"shown is   {shown}\nprinted is {printed}"


def from_the_line(text, lines):
    return lines[next((at for at, line in enumerate(lines) if text in line), 0):]


def difference(shown, printed, marks):
    """What differs in the output; nothing if it is as shown."""
    if "from" in marks:
        shown, printed = from_the_line(marks["from"], shown), from_the_line(marks["from"], printed)
    text = "".join(plain(line) + "\n" for line in printed if line.strip())
    parts = patterns(shown, marks)
    match = re.fullmatch("".join(pattern for pattern, _ in parts), text)
    if match:
        pairs = [(line, (found or "").strip()) for (_, line), found in zip(parts, match.groups())]
        return "\n".join(said(*pair) for pair in pairs if far_apart(*pair))
    # The line that differs: the first that no longer fits after all those before it.
    good, end = 0, 0
    for count in range(len(parts) + 1):
        match = re.match("".join(pattern for pattern, _ in parts[:count]), text)
        if not match:
            break
        good, end = count, match.end()
    return said(parts[good][1] if good < len(parts) else "(nothing more)", text[end:].partition("\n")[0] or "(nothing more)")
