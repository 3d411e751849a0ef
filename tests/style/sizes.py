#!/usr/bin/env python3
"""Files of at most 500 lines, functions of at most 60: sizes.py ROOT.

Functions of C++ are found by their braces, those of Python by its own parser. A TEST_CASE may be longer: it is often a
table. waivers.txt, beside this file, lists what
may be longer and why ("path[:function] reason"); it may hold ten lines, and a line that is not needed is a problem too.
"""

import ast
import os
import re
import sys

import source_tree

FILE_LIMIT, FUNCTION_LIMIT, WAIVER_LIMIT = 500, 60, 10
NOT_A_FUNCTION = re.compile(r"^(inline\s+)?(namespace|class|struct|enum|union|extern|typedef|using)\b|^#")


def without_comments_and_strings(text):
    """The same text with comments and literals blanked, line breaks kept."""
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'", re.S)
    # Digit separators (10'000) are no literals.
    text = re.sub(r"(?<=\d)'(?=\d)", "_", text)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def cpp_functions(text):
    """(name, first line, number of lines) of the outermost functions."""
    text = without_comments_and_strings(text)
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)
    found, start, depth, function = [], 0, 0, None
    for k, character in enumerate(text):
        if character == "{":
            head = text[start:k].strip()
            if function is None and "(" in head and not is_declaration(head):
                first = text.count("\n", 0, start + len(text[start:k]) - len(text[start:k].lstrip())) + 1
                function = (name_of(head), first, depth)
            depth += 1
        elif character == "}":
            depth -= 1
            if function and depth == function[2]:
                found.append((function[0], function[1], text.count("\n", 0, k) + 2 - function[1]))
                function = None
        if character in "{};":
            start = k + 1
    return found


def is_declaration(head):
    """True for the head of a class, a namespace or an initialiser, which has no statements inside."""
    head = re.sub(r"^(template\s*<[^{]*?>\s*)+", "", head) if head.startswith("template") else head
    before = head.split("(")[0]
    return bool(NOT_A_FUNCTION.match(head)) or bool(re.search(r"(?<![=!<>])=(?!=)", before.replace("operator=", "")))


def name_of(head):
    match = re.search(r"([~\w:]+|operator\s*\S+?)\s*\(", head)
    return match.group(1) if match else head[:40]


def python_functions(text):
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [(n.name, n.lineno, n.end_lineno - n.lineno + 1) for n in nodes]


def read_waivers(path):
    waivers = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.strip().partition(" ")
                waivers[name] = reason.strip()
    return waivers


def too_long(root):
    """name ('path' or 'path:function') -> text, of everything over its limit."""
    found = {}
    for path in source_tree.files(root, ".py", ".cmake", "CMakeLists.txt", "quickstart", *source_tree.CPP):
        text = source_tree.read(root, path)
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines > FILE_LIMIT:
            found[path] = f"{path}: {lines} lines (at most {FILE_LIMIT}); split it by idea"
        functions = python_functions(text) if path.endswith(".py") else []
        if path.endswith(source_tree.CPP):
            functions = cpp_functions(text)
        for name, line, length in functions:
            if length > FUNCTION_LIMIT and name != "TEST_CASE":
                found[f"{path}:{name}"] = f"{path}:{line}: {name} has {length} lines (at most {FUNCTION_LIMIT})"
    return found


if __name__ == "__main__":
    waivers = read_waivers(os.path.join(os.path.dirname(os.path.abspath(__file__)), "waivers.txt"))
    found = too_long(sys.argv[1])
    problems = [text for name, text in found.items() if name not in waivers]
    problems += [f"waivers.txt: {name} needs no waiver (any more)" for name in waivers if name not in found]
    problems += [f"waivers.txt: {name} gives no reason" for name, reason in waivers.items() if not reason]
    if len(waivers) > WAIVER_LIMIT:
        problems.append(f"waivers.txt: {len(waivers)} waivers (at most {WAIVER_LIMIT})")
    source_tree.report("sizes", problems)
