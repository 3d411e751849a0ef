#!/usr/bin/env python3
"""Files that are compiled together do not say the same name twice: joined.py ROOT.

CAMBIUM_UNITY joins the files of a library in groups, and which ones meet depends on the packages that were found: two files of core, or of
one plugin, that have the same function, type or number in an unnamed namespace compile here and fail on somebody's machine. Functions
that differ in the types of their parameters are two names. Tests are programs of their own and are not looked at.

Nor do two files define a type of one full name: libraries end up in one process, where the linker keeps one of two destructors.
"""

import collections
import re
import sys

import sizes
import source_tree

NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\s*([\w:]*)$")
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|enum(?:\s+class)?|union)\s+(\w+)\s*(?:final\s*)?(?::[^:].*)?$", re.S)
USING = re.compile(r"^(?:template\s*<.*>\s*)?using\s+(\w+)\s*=", re.S)
VALUE = re.compile(r"^(?:(?:static|inline|constexpr|const|thread_local)\s+)+[\w:<>,\s*&]*?[\s*&](\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", re.S)
FUNCTION = re.compile(r"(?<![\w:])(\w+)\s*\($")


def without_angles(text):
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;{}()]*>", "", text)
    return text


def parameter_types(text):
    """The parameters without their names and defaults, as one word."""
    out, depth, start = [], 0, 0
    for k, character in enumerate(text + ","):
        depth += (character in "<({[") - (character in ">)}]")
        if character == "," and depth == 0:
            one = re.sub(r"\s*=.*$", "", text[start:k], flags=re.S).strip()
            out.append(re.sub(r"\s+", "", re.sub(r"(?<=[\s&*>])\w+$", "", one) if re.search(r"[\s&*>]\w+$", one) else one))
            start = k + 1
    return ",".join(out)


def name_of(head):
    """What a declaration in front of '{' or ';' adds to its namespace; None where it adds nothing, or a member defined outside its class."""
    if USING.match(head):  # the same words twice are no second definition
        return None
    for pattern in (TYPE, VALUE):
        found = pattern.match(head)
        if found and "(" not in head.split("=")[0]:
            return found.group(1)
    opening = head.find("(")
    if opening < 0 or re.match(r"^(?:template\s*<[^>]*>\s*)?(?:struct|class|using|typedef|static_assert|extern|friend)\b", head):
        return None
    function = FUNCTION.search(head[:opening + 1])
    if not function or "::~" in head[:opening] or re.search(r"\boperator\b", head):
        return None
    depth = 0
    for k in range(opening, len(head)):
        depth += (head[k] == "(") - (head[k] == ")")
        if depth == 0:
            return f"{function.group(1)}({parameter_types(head[opening + 1:k])})"
    return None


def unnamed_names(text):
    """(namespace around, name, line) of everything that a file's unnamed namespaces define."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", "", sizes.without_comments_and_strings(text), flags=re.M)
    found, scopes, start, round_brackets = [], [], 0, 0
    for k, character in enumerate(text):
        round_brackets += (character == "(") - (character == ")")
        if character not in "{};" or round_brackets:
            continue
        head = text[start:k].strip()
        ours = scopes and (scopes[-1] == "" or scopes[-1] and head.startswith("static "))
        if ours and character != "}" and (name := name_of(head)):
            found.append(("::".join(s for s in scopes if s), name, text.count("\n", 0, k) + 1))
        if character == "{":
            space = NAMESPACE.match(head)
            scopes.append(space.group(1) if space else None)
        elif character == "}" and scopes:
            scopes.pop()
        start = k + 1
    return found


def named_types(text):
    """(full name, line) of every class, struct or union that a file defines in a named namespace, outside of other types."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", "", sizes.without_comments_and_strings(text), flags=re.M)
    found, scopes, start, round_brackets = [], [], 0, 0
    for k, character in enumerate(text):
        round_brackets += (character == "(") - (character == ")")
        if character not in "{};" or round_brackets:
            continue
        head = text[start:k].strip()
        kind = TYPE.match(head)
        if character == "{" and kind and not head.startswith("enum") and "<" not in head and scopes and all(scopes):
            found.append(("::".join(scopes + [kind.group(1)]), text.count("\n", 0, k) + 1))
        if character == "{":
            space = NAMESPACE.match(head)
            scopes.append(space.group(1) if space else None)
        elif character == "}" and scopes:
            scopes.pop()
        start = k + 1
    return found


def defined_twice(root):
    places = collections.defaultdict(dict)
    for path in source_tree.files(root, ".hpp", ".cpp"):
        parts = path.split("/")
        if parts[0] in ("core", "plugins", "apps", "bench") and "tests" not in parts and "template" not in parts:
            for name, line in named_types(source_tree.read(root, path)):
                places[name].setdefault(path, line)
    return [f"{path}:{files[path]}: {name} is defined in {min(files)}, too: rename one" for name, files in sorted(places.items())
            for path in sorted(files)[1:]]


def library_of(path):
    """core, or plugins/NAME; None for what is not joined."""
    parts = path.split("/")
    if "tests" in parts or "template" in parts:
        return None
    return {"core": "core", "plugins": "/".join(parts[:2])}.get(parts[0])


def said_twice(root):
    places = collections.defaultdict(dict)
    for path in source_tree.files(root, ".cpp"):
        if library_of(path):
            for namespace, name, line in unnamed_names(source_tree.read(root, path)):
                places[library_of(path), namespace, name].setdefault(path, line)
    problems = []
    for (library, namespace, name), files in sorted(places.items()):
        if len(files) > 1:
            first, *others = sorted(files)
            problems += [f"{path}:{files[path]}: {name} of {namespace} stands in {first}, too; both may be compiled as one file: "
                         "rename one, or let a header have it" for path in others]
    return problems


if __name__ == "__main__":
    problems = said_twice(sys.argv[1]) + defined_twice(sys.argv[1])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
