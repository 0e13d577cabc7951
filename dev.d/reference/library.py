"""Prints docs/reference/library.md: what the public headers declare, with the comments that stand there."""
import os
import re

import columns

HEADERS = [
    ("tally/tally.hpp", "C++: counters and regions"),
    ("tally/count/region.hpp", "C++: what regions hold"),
    ("tally/count/event_name.hpp", "C++: names of events"),
    ("tally/count/count.hpp", "C++: counts and their arithmetic"),
    ("tally/count/source.hpp", "C++: who counted"),
    ("tally/count/trust.hpp", "C++: how far a count can be believed"),
    ("tally/base/expected.hpp", "C++: a value or an error"),
    ("tally/base/error.hpp", "C++: errors"),
    ("tally/base/units.hpp", "C++: units"),
    ("tally/tally.h", "C"),
]
# Where the source tree has what is installed as tally/….
SOURCES = ("tally/core/", "tally/library/")
MARKS = re.compile(r"\b(TALLY_API|TALLY_CALL|TALLY_C_API|\[\[nodiscard\]\]) *")


def source_of(header):
    places = [header.replace("tally/", source, 1) for source in SOURCES]
    return next(place for place in places if os.path.exists(place))


def without_private(text):
    """The header without what is not the user's: details, private parts, bodies of a line."""
    text = re.sub(r"namespace detail \{.*?\}  // namespace detail\n", "", text, flags=re.S)
    return re.sub(r"\n private:\n.*?(?=\n\};)", "", text, flags=re.S)


def comment_of_c(text):
    """/** … */ as /// lines."""
    lines = lambda match: "".join("/// " + line.strip(" *") + "\n" for line in match.group(1).strip().split("\n"))
    return re.sub(r"/\*\*(.*?)\*/\n", lines, text, flags=re.S)


def declaration(lines, at):
    """The declaration that begins in line `at`, on one line, and the comment behind it; and where it ends."""
    words, notes = [], []
    while at < len(lines):
        line, _, note = lines[at].partition("///<")
        words.append(line.strip())
        if note:
            notes.append(note.strip())
        at += 1
        joined = " ".join(words)
        is_template_alone = re.fullmatch(r"(template <.*>|requires.*)( requires.*)?", joined)
        if not is_template_alone and re.search(r"[;{,]$|\}$|;\s*//.*$|\{.*\}$", joined):
            break
        # The last of an enum has no comma.
        if note and at < len(lines) and re.match(r"\s+///<|\s*\};", lines[at]):
            break
    # A comment that goes on stands alone in the lines behind.
    while at < len(lines) and re.match(r"^\s+///<", lines[at]):
        notes.append(lines[at].partition("///<")[2].strip())
        at += 1
    text = re.sub(r"\s*//.*$", "", MARKS.sub("", joined))
    text = re.sub(r" = \{\}(?=[,;) ]|$)", " = {\0", text)
    text = re.sub(r"( noexcept)?( : \w+\(.*)? \{.*$|[;,]$", "", text.replace("{\0", "\0")).strip()
    return text.replace("\0", "{}"), " ".join(notes), at


def macros_as_functions(text):
    """What C's comment stands above, where that are macros: those of the first branch, each as a declaration."""
    def declared(match):
        return match.group(1) + "".join(f"{name};\n" for name in re.findall(r"#define (\w+\([^)]*\))", match.group(2)))

    return re.sub(r"(/\*\*(?:(?!\*/).)*\*/\n)#ifdef \w+\n((?:#define .*\n)+)#else\n(?:#define .*\n)+#endif\n", declared, text,
                  flags=re.S)


def entries(text):
    """(indent, declaration, comment) of everything that has a comment, or stands in a type that has one."""
    lines = comment_of_c(macros_as_functions(without_private(text))).split("\n")
    at, comment = 0, []
    while at < len(lines):
        line = lines[at]
        if re.match(r"^\s*///(?!<)", line):
            comment.append(line.strip()[3:].strip())
            at += 1
        elif not line.strip() or line.startswith("#"):
            comment = []
            at += 1
        elif comment or "///<" in line or re.match(r"^  [\w:<>]+ \w+( = [^;]*)?;", line):
            inside = line.startswith(" ")
            said, note, at = declaration(lines, at)
            # What stands directly below a function, without a comment, has the same one.
            while not inside and said.endswith(")") and at < len(lines) and lines[at].endswith(");"):
                another, _, at = declaration(lines, at)
                said += f"`, `{another}"
            yield inside, said, " ".join(comment + [note]).strip()
            comment = []
        else:
            at += 1


def page():
    yield "# The library, header by header\n"
    yield "Made of the comments in the headers by `./dev reference`; [the guide](../guides/regions.md) says how it is used.\n"
    for header, title in HEADERS:
        yield f"## {title}: `{header}`\n"
        with open(source_of(header), encoding="utf-8") as file:
            text = file.read()
        for inside, said, comment in entries(text):
            if inside:
                yield f"- `{said}`" + (f": {comment}" if comment else "")
            else:
                yield f"\n### `{said}`\n\n{comment}\n"
        yield ""


print(columns.fit(re.sub(r"\n{3,}", "\n\n", "\n".join(page())).rstrip()))
