"""The messages that C++ sources can give: what catalogue and test share. Standard library only.

A message is a string literal with at least two words in a statement that
  throws an InputError (KeyError, DeckError, ExpressionError) or a NumericalError, or
  hands a text to fail(), complain(), refuse() or problems.add(), or
  fills a variable named problem, refused or reason, or
  is returned by a condition of a deck (`d.check(...)`) or by a function of HELPERS, whose texts end up in such an error.
"""

import os
import re

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)'|[A-Za-z_]\w*|\d[\w.']*|->|::|\s+|.""", re.S
)
RAISED = re.compile(r"\b(InputError|KeyError|DeckError|ExpressionError|NumericalError) (\(|\{)")
GIVEN = re.compile(r"\b(fail|complain|refuse) \(|\bproblems_? (\.|->) add \(|\b(problem|refused|reason) (\+ )?= ")
HELPERS = re.compile(
    r"\b(problem_of\w*|unknown|unknown_type|mismatch|alternatives|abi_difference|not_found|rebuild|elsewhere"
    r"|describe_unsound|models_beside|refusal|suggestion|require_hdf5|\w+_problem|reason_\w+) \("
)
HOLE = re.compile(r"\{[^{}]*\}")
WORDS = re.compile(r"[A-Za-z]{2,}\W*\s\W*[A-Za-z]{2,}")


def unescaped(text):
    simple = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0"}
    return re.sub(r"\\(.)", lambda m: simple.get(m.group(1), m.group(0)), text)


def tokens(text):
    """(is a string, value, line) of each token; adjacent literals are one."""
    out, line = [], 1
    for m in TOKEN.finditer(text):
        whole = m.group(0)
        if m.group(2) is not None or m.group(3) is not None:
            value = m.group(2) if m.group(2) is not None else unescaped(m.group(3))
            if out and out[-1][0]:
                out[-1] = (True, out[-1][1] + value, out[-1][2])
            else:
                out.append((True, value, line))
        elif not whole.isspace() and not whole.startswith(("//", "/*")):
            out.append((False, whole, line))
        line += whole.count("\n")
    return out


def statements(text):
    """(tokens of the statement, heads of the blocks around it)."""
    heads, current = [], []
    for token in tokens(re.sub(r"^\s*#.*$", "", text, flags=re.M)):
        if token[:2] == (False, "{"):
            heads.append(" ".join("" if t[0] else t[1] for t in current) + " ")
            yield current, heads[:-1]
            current = []
        elif token[:2] in ((False, ";"), (False, "}")):
            yield current, heads
            current = []
            if token[1] == "}" and heads:
                heads.pop()
        else:
            current.append(token)


def fragments(template):
    """Fixed pieces between the holes of fmt::format that hold two words or more."""
    pieces = HOLE.split(template.replace("{{", "\1").replace("}}", "\2"))
    pieces = (piece.replace("\1", "{").replace("\2", "}") for piece in pieces)
    return [" ".join(piece.split()).strip(" :;,'\"") for piece in pieces if WORDS.search(piece) and "%llu" not in piece]


def is_message(words, heads):
    if RAISED.search(words) and ("throw" in words or "? " in words or ": " in words or "unwind" in words):
        return True
    if GIVEN.search(words):
        return True
    inside = [head for head in heads if "(" in head and not re.match(r"(if|for|while|switch|else|try|catch)\b", head)]
    return bool(inside) and "return" in words and bool(re.search(r"(\.|->) check \( \[", inside[-1]) or HELPERS.search(inside[-1]))


def of_file(text):
    """(line, template) of each message of a source."""
    for statement, heads in statements(text):
        words = " ".join("" if t[0] else t[1] for t in statement) + " "
        if is_message(words, heads):
            yield from ((line, value) for is_text, value, line in statement if is_text and fragments(value))


def of_tree(root, folders=("core", "plugins", "apps")):
    """(path, line, template) of each message below the folders; benches, build tools, templates and Python are left out."""
    for top in folders:
        for folder, inner, names in os.walk(os.path.join(root, top)):
            inner[:] = sorted(f for f in inner if f not in ("bench", "generate", "template", "tests", "__pycache__"))
            for name in sorted(names):
                if name.endswith((".cpp", ".hpp")) and not name.startswith("bench_"):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        for line, template in of_file(file.read()):
                            yield os.path.relpath(path, root).replace(os.sep, "/"), line, template
