"""Which source file defines a function, by its demangled name. The release build has no debug information: with -g1
it takes 5 % more processor time, and its object files are five times as large. So this scans the sources."""

import collections
import os
import re

COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^()\s\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])+'|^\#(?:\\\n|[^\n])*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
NAMESPACE = re.compile(r"\bnamespace(?:\s+(\w[\w:]*))?\s*$")
TYPE = re.compile(r"\b(?:struct|class|union|enum)\s+(?:class\s+|\[\[\w+\]\]\s+|alignas\s*\([^)]*\)\s*|\w+\s+(?=\w+\s+final\b))*(\w[\w:]*)")
FUNCTION = re.compile(r"((?:[\w~]+::)*(?:operator\s*(?:\(\)|\[\]|[^\s\w(]+|[\w: ]+?)|~?\w+))\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|$)")

Definition = collections.namedtuple("Definition", "path parameters is_type")


def without_angles(text):
    """The text without what is between balanced < and >."""
    out, depth = [], 0
    for at, c in enumerate(text):
        if c == "<" and text[:at].rstrip("<=").endswith("operator"):
            out.append(c)
        elif c == "<":
            depth += 1
        elif c == ">" and depth > 0 and text[at - 1] != "-":
            depth -= 1
        elif depth == 0:
            out.append(c)
    return "".join(out)


def in_parentheses(text, at):
    """What is between the parenthesis at `at` and its partner."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[at + 1 : end]
    return text[at + 1 :]


def definitions_in(path, text):
    """(qualified name, Definition) of each function, type and initialized variable of a source."""
    text = COMMENT_OR_TEXT.sub(lambda token: '""' if '"' in token.group() and token.group()[0] != "/" else " ", text)
    scopes, head, depth, body = [], "", 0, 0  # body: braces that are open within a function or an initializer
    for at, c in enumerate(text):
        if body:
            body += (c == "{") - (c == "}")
            continue
        depth += (c == "(") - (c == ")")
        if depth > 0 or c not in "{};":
            head += c
            continue
        if c == "{":
            plain = without_angles(head).strip()
            inside = "::".join(scope for scope in scopes if scope)
            namespace, function, kind = NAMESPACE.search(plain), FUNCTION.search(plain), TYPE.search(plain)
            if namespace:
                scopes.append(namespace.group(1) or "")
            elif kind and not function:
                yield f"{inside}::{kind.group(1)}", Definition(path, "", True)
                scopes.append(kind.group(1))
            elif plain == 'extern ""':
                scopes.append("")
            else:
                before = plain.split("(")[0]
                is_function = function and ("=" not in before or "operator" in before)
                variable = VARIABLE.search(before)
                if is_function:
                    if not head[-1].isspace():  # b_{1} of a constructor's initializers
                        body = 1
                        continue
                    name = function.group(1).replace(" ", "")
                    yield f"{inside}::{name}", Definition(path, in_parentheses(plain, function.end() - 1), False)
                elif variable:
                    yield f"{inside}::{variable.group(1)}", Definition(path, "", False)
                body = 1
        elif c == "}" and scopes:
            scopes.pop()
        head = ""


class Sources:
    """The definitions of the product's sources."""

    def __init__(self, root="", paths=()):
        self.by_name = collections.defaultdict(list)
        for path in paths:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                for name, definition in definitions_in(path, file.read()):
                    self.by_name[name.removeprefix("::")].append(definition)

    def file_of(self, function):
        """The path of the source that defines a function; of several, the one whose parameters have the same words."""
        name, parameters = parse(function)
        parts = name.split("::")
        candidates = [d for d in self.by_name.get(name, []) if not d.is_type]
        if not candidates:  # what the compiler writes: in the file of the type
            candidates = [d for d in self.by_name.get("::".join(parts[:-1]), []) if d.is_type]
        words = set(re.findall(r"\w+", parameters))
        commas = parameters.count(",")
        best = sorted({(-len(words & set(re.findall(r"\w+", d.parameters))), abs(commas - d.parameters.count(",")), d.path) for d in candidates})
        return best[0][2] if best else None


def parse(function):
    """(qualified name, parameters) of a demangled function; a lambda is its function."""
    text = re.sub(r" \[clone [^\]]*\]|\[abi:\w+\]", "", function)
    text = without_angles(text.replace("(anonymous namespace)::", "")).replace("operator()", "operator@")
    end = text.find("(")
    name = text if end < 0 else text[:end]
    name = name.split("::{lambda")[0]
    operator = name.find("operator")
    start = name.rfind(" ", 0, operator if operator >= 0 else len(name)) + 1
    return name[start:].replace("operator@", "operator()").replace(" ", ""), in_parentheses(text, end) if end >= 0 else ""
