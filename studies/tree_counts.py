#!/usr/bin/env python3
"""Counts of the source tree: tree_counts.py [ROOT] [--commit REF] [--interfaces]

Files, folders, casts and the like, as a reader of the tree meets them; numbers to look at, not limits. With --commit the tree of that
commit is counted. --interfaces lists abstract classes that one class implements; a class template counts as several.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

PRODUCT = ("core/", "plugins/", "apps/", "bench/")
CLASS = re.compile(r"(template\s*<[^;{}]*?>\s*)?\b(?:class|struct)\s+((?:\w+::)*\w+)(?:<[^<>{};]*>)?\s*(?:final\s*)?"
                   r"(?::(?!:)\s*([^{};()]*))?\{")
STRIPPED = re.compile(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]")
PART = r"(?:\+\+|--)?[\w.>-]+(?:\s*[-+*/|&]?=[^=,;][^,;]*|\+\+|--)?"
JOINED = re.compile(rf"^(?:else )?(?:(?:if|for|while) )?{PART}(?:, {PART})+;$")


def is_code(path):
    return path.endswith((".cpp", ".hpp", ".c", ".h", ".cu"))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def joined_statements(text):
    """Lines on which a comma joins two statements."""
    count = 0
    for line in text.split("\n"):
        line = re.sub(r"//.*", "", re.sub(r'"(?:\\.|[^"\\])*"', '""', line)).strip()
        before = None
        while before != line:
            before, line = line, STRIPPED.sub("", line)
        count += JOINED.match(re.sub(r"\s+", " ", line)) is not None
    return count


def body_at(text, start):
    """What stands between the brace that ends at `start` and its partner."""
    depth, k = 1, start
    while k < len(text) and depth:
        depth += (text[k] == "{") - (text[k] == "}")
        k += 1
    return text[start:k - 1]


def outermost(body):
    """The body without what lies in further braces."""
    out, depth = [], 0
    for character in body:
        depth -= character == "}"
        if depth == 0:
            out.append(character)
        depth += character == "{"
    return "".join(out)


def classes(root, files):
    """{abstract class: file}, {class: [(derived class, file, is a template)]}."""
    abstract, derived = {}, collections.defaultdict(list)
    for path in files:
        text = re.sub(r"//[^\n]*", "", read(root, path))
        for found in CLASS.finditer(text):
            name = found[2].split("::")[-1]
            if re.search(r"\bvirtual\b[^;]*=\s*0\s*;", outermost(body_at(text, found.end()))):
                abstract[name] = path
            bases, before = found[3] or "", None
            while before != bases:
                before, bases = bases, re.sub(r"<[^<>]*>", "", bases)
            for base in filter(None, re.sub(r"\b(?:public|private|protected|virtual)\b|\s", "", bases).split(",")):
                derived[base.split("::")[-1]].append((name, path, found[1] is not None))
    return abstract, derived


def implementations(base, abstract, derived, seen):
    out = []
    for one in derived[base]:
        if one not in seen:
            seen.add(one)
            out += ([] if one[0] in abstract else [one]) + implementations(one[0], abstract, derived, seen)
    return out


def single_interfaces(root, files):
    """(number of abstract classes of the product, [(class, file, implementation)] of those with one and no double in a test)."""
    abstract, derived = classes(root, files)
    own = {name: path for name, path in abstract.items() if path.startswith(PRODUCT)}
    single = []
    for name, path in sorted(own.items()):
        found = implementations(name, abstract, derived, set())
        if len(found) == 1 and not found[0][2]:
            single.append((name, path, found[0][0]))
    return len(own), single


def single_user_headers(root, product):
    """Headers that one file outside of their own pair includes."""
    users = collections.defaultdict(set)
    for path in product:
        for name in re.findall(r'#include "([^"]+)"', read(root, path)):
            if os.path.splitext(path)[0] != os.path.splitext(name)[0]:
                users[name].add(path)
    headers = [path for path in product if path.endswith(".hpp")]
    return sum(len(users[h]) == 1 for h in headers), len(headers)


def counts(root, files):
    code = [f for f in files if is_code(f)]
    product = [f for f in code if f.startswith(PRODUCT)]
    text = {f: read(root, f) for f in product}
    lines = {f: t.count("\n") for f, t in text.items()}
    total = sum(lines.values())
    of = lambda prefix: sum(n for f, n in lines.items() if f.startswith(prefix))  # noqa: E731
    one, headers = single_user_headers(root, product)
    abstract, single = single_interfaces(root, code)
    cmake = [f for f in files if os.path.basename(f) == "CMakeLists.txt"]
    return [("C++ files", len(product)), ("lines", total), ("median lines of a file", sorted(lines.values())[len(lines) // 2]),
            ("folders with code", len({os.path.dirname(f) for f in product})),
            ("CMakeLists", f"{len(cmake)}, {sum(not f.startswith('tests/') for f in cmake)} of them outside tests"),
            ("headers with one outside user", f"{one} of {headers}, {100 * one / headers:.1f} %"),
            ("static_cast per 1,000 lines", f"{1000 * sum(t.count('static_cast<') for t in text.values()) / total:.1f}"),
            ("joined statements per 1,000 lines", f"{1000 * sum(map(joined_statements, text.values())) / total:.2f}"),
            ("dynamic_cast", sum(t.count("dynamic_cast<") for t in text.values())),
            ("lines of core without train", of("core/") - of("core/train/")), ("lines of core/train", of("core/train/")),
            ("abstract classes with one implementation", f"{len(single)} of {abstract}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--commit")
    parser.add_argument("--interfaces", action="store_true")
    options = parser.parse_args()
    root = options.root
    with tempfile.TemporaryDirectory() as scratch:
        names = ["git", "-C", root, "ls-tree", "-r", "--name-only", options.commit] if options.commit else ["git", "-C", root, "ls-files"]
        files = [f for f in subprocess.run(names, capture_output=True, text=True, check=True).stdout.split("\n") if f]
        if options.commit:
            archive = subprocess.Popen(["git", "-C", root, "archive", options.commit], stdout=subprocess.PIPE)
            subprocess.run(["tar", "-x", "-C", scratch], stdin=archive.stdout, check=True)
            root = scratch
        files = [f for f in files if os.path.isfile(os.path.join(root, f))]
        if options.interfaces:
            for row in single_interfaces(root, [f for f in files if is_code(f)])[1]:
                print(*row)
            sys.exit(0)
        for label, value in counts(root, files):
            print(f"{label:42} {value}")


if __name__ == "__main__":
    main()
