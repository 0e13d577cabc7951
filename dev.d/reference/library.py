"""Prints docs/reference/library.md: what the public headers declare, with their comments."""
import os
import re

import columns

HEADERS = [
    ("tally/tally.hpp", "C++: counters and regions"),
    ("tally/count/region.hpp", "C++: results of regions"),
    ("tally/count/event_name.hpp", "C++: event names"),
    ("tally/count/count.hpp", "C++: counts and their arithmetic"),
    ("tally/count/source.hpp", "C++: sources of counts"),
    ("tally/count/trust.hpp", "C++: trust in counts"),
    ("tally/base/expected.hpp", "C++: a value or an error"),
    ("tally/base/error.hpp", "C++: errors"),
    ("tally/base/units.hpp", "C++: units"),
    ("tally/testing.hpp", "C++: limits for tests"),
    ("tally/benchmark.hpp", "C++: google-benchmark"),
    ("tally/tally.h", "C"),
]
# Where the source tree has the headers that are installed as tally/….
SOURCES = ("tally/core/", "tally/library/")
MARKS = re.compile(r"\b(TALLY_API|TALLY_CALL|TALLY_C_API|\[\[nodiscard\]\]) *")


def source_of(header):
    places = [header.replace("tally/", source, 1) for source in SOURCES]
    return next(place for place in places if os.path.exists(place))


def without_private(text):
    """Returns the header without internal parts: namespace detail and private members."""
    text = re.sub(r"namespace detail \{.*?\}  // namespace detail\n", "", text, flags=re.S)
    return re.sub(r"\n private:\n.*?(?=\n\};)", "", text, flags=re.S)


def without_bodies(text):
    """Returns the header without the bodies of functions outside of types: their variables are no members."""
    return re.sub(r"(\) (?:noexcept )?\{)\n(?:(?: .*)?\n)*\}\n", r"\1}\n", text)


def comment_of_c(text):
    """Converts /** … */ to /// lines."""
    lines = lambda match: "".join("/// " + line.strip(" *") + "\n" for line in match.group(1).strip().split("\n"))
    return re.sub(r"/\*\*(.*?)\*/\n", lines, text, flags=re.S)


def declaration(lines, at):
    """Returns the declaration that begins in line `at`, on one line; the comment after it; and the line where it ends."""
    words, notes = [], []
    while at < len(lines):
        line, _, note = lines[at].partition("///<")
        words.append(line.strip())
        if note:
            notes.append(note.strip())
        at += 1
        joined = " ".join(words)
        is_template_alone = re.fullmatch(r"(template <.*>|requires.*)( requires.*)?", joined)
        is_complete = re.search(r"[;{,]$|\}$|;\s*//.*$|\{.*\}$", joined) and joined.count("(") == joined.count(")")
        if not is_template_alone and is_complete:
            break
        # The last enumerator has no comma.
        if note and at < len(lines) and re.match(r"\s+///<|\s*\};", lines[at]):
            break
    # A comment may continue alone on the lines after it.
    while at < len(lines) and re.match(r"^\s+///<", lines[at]):
        notes.append(lines[at].partition("///<")[2].strip())
        at += 1
    text = re.sub(r"\s*//.*$", "", MARKS.sub("", joined))
    text = re.sub(r" = \{\}(?=[,;) ]|$)", " = {\0", text)
    text = re.sub(r"( noexcept)?( : \w+\(.*)? \{.*$|[;,]$", "", text.replace("{\0", "\0")).strip()
    return text.replace("\0", "{}"), " ".join(notes), at


def macros_as_functions(text):
    """Turns macros under a C comment into declarations: those of the first branch."""
    def declared(match):
        return match.group(1) + "".join(f"{name};\n" for name in re.findall(r"#define (\w+\([^)]*\))", match.group(2)))

    return re.sub(r"(/\*\*(?:(?!\*/).)*\*/\n)#ifdef \w+\n((?:#define .*\n)+)#else\n(?:#define .*\n)+#endif\n", declared, text,
                  flags=re.S)


def entries(text):
    """Yields (indent, declaration, comment) of everything with a comment, or in a type with one."""
    lines = comment_of_c(macros_as_functions(without_bodies(without_private(text)))).split("\n")
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
            # A declaration directly below a function, without a comment, shares the function's comment.
            while not inside and said.endswith(")") and at < len(lines) and lines[at].endswith(");"):
                another, _, at = declaration(lines, at)
                said += f"`, `{another}"
            yield inside, said, " ".join(comment + [note]).strip()
            comment = []
        else:
            at += 1


def page():
    yield "# The library, header by header\n"
    yield "`./dev reference` generates this page from the comments in the headers."
    yield "[The guide](../guides/regions.md) shows how to use the library.\n"
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
