#!/usr/bin/env python3
"""One idea per class: no class in the headers of core and plugins declares more than MOST member functions: classes.py ROOT.

Public, protected and private ones count, with constructors and operators; those that are defaulted or deleted do not, nor do friends and
the functions of nested classes, which are classes of their own.
"""

import os
import re
import sys

import sizes
import source_tree

MOST = 25
TOP = ("core/", "plugins/")
CLASS = re.compile(r"^(?:template\s*<.*>\s*)?(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::[^:].*)?$", re.S)
NO_FUNCTION = re.compile(r"^(?:friend|using|typedef|static_assert|enum|union|class|struct|extern)\b")


def without_angles(text):
    """The same without template arguments: std::function<void(int)> declares no function."""
    text = re.sub(r"operator\s*(<=>|<<|>>|<=|>=|<|>|->)", "operator", text)
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;{}]*>", "", text)
    return text


def is_function(head):
    """True for the text in front of a member's '{' or ';' when it declares a function."""
    head = re.sub(r"^(?:\s*(?:public|protected|private)\s*:)+", "", head).strip()
    head = without_angles(re.sub(r"^template\s*<", "<", head)).strip()
    if NO_FUNCTION.match(head) or head.startswith(",") or re.search(r"\)[^()]*=\s*(?:default|delete)$", head):
        return False
    opening = head.find("(")
    if opening < 0:
        return False
    return "operator" in head or not re.search(r"[={]", head[:opening])


def member_functions(text):
    """(name, line, member functions) of every class in a header's text."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", "", sizes.without_comments_and_strings(text), flags=re.M)
    found, scopes, start = [], [], 0  # scopes: None for what is no class, else an entry of found
    for k, character in enumerate(text):
        if character not in "{};":
            continue
        head = text[start:k].strip()
        inside = scopes[-1] if scopes else None
        if inside and character != "}" and is_function(head):
            inside[2] += 1
        if character == "{":
            name = CLASS.match(re.sub(r"^(?:(?:public|protected|private)\s*:\s*)+", "", head))
            scopes.append([name.group(1), text.count("\n", 0, k) + 1, 0] if name else None)
            if name:
                found.append(scopes[-1])
        elif character == "}" and scopes:
            scopes.pop()
        start = k + 1
    return [tuple(entry) for entry in found]


def too_many(root):
    """name ('path:class') -> text, of every class over the limit."""
    found = {}
    for path in source_tree.files(root, ".hpp"):
        if not path.startswith(TOP):
            continue
        for name, line, count in member_functions(source_tree.read(root, path)):
            if count > MOST:
                found[f"{path}:{name}"] = f"{path}:{line}: {name} declares {count} member functions (at most {MOST}); split it by idea"
    return found


if __name__ == "__main__":
    waivers = sizes.read_waivers(os.path.join(os.path.dirname(os.path.abspath(__file__)), "class_waivers.txt"))
    found = too_many(sys.argv[1])
    problems = [text for name, text in found.items() if name not in waivers]
    problems += [f"class_waivers.txt: {name} needs no waiver (any more)" for name in waivers if name not in found]
    problems += [f"class_waivers.txt: {name} gives no reason" for name, reason in waivers.items() if not reason]
    source_tree.report("classes", problems)
