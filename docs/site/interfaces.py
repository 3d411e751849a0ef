"""Pages of the interfaces for programmers, written from their declarations: headers that plugins include (C++), the C headers and the Fortran
modules, the Python package. What a comment above a declaration says is its description."""

import ast
import collections
import os
import re

INCLUDE = re.compile(r'^#include "(core/[^"]+\.hpp)"', re.M)
TOP = "reference/interfaces"


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def plugin_headers(root):
    """Headers of core that at least two plugins include, by folder."""
    users = collections.defaultdict(set)
    for plugin in sorted(os.listdir(os.path.join(root, "plugins"))):
        for place, _, names in os.walk(os.path.join(root, "plugins", plugin)):
            for name in names:
                if name.endswith((".cpp", ".hpp")):
                    for header in INCLUDE.findall(read(root, os.path.join(place, name))):
                        users[header].add(plugin)
    folders = collections.defaultdict(list)
    for header in sorted(users):
        if len(users[header]) > 1 and os.path.exists(os.path.join(root, header)):
            folders[os.path.dirname(header)].append(header)
    return folders


def depth_after(line, depth):
    """Open brackets after a line of code; comments and literals of one letter do not count."""
    code = re.sub(r'//.*|"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', "", line)
    return depth + sum(code.count(c) for c in "{(") - sum(code.count(c) for c in "})")


def declarations(text):
    """[(comment lines, code lines)] of what stands in the namespaces of a header; detail namespaces are left out."""
    out, comment, code, depth, hidden = [], [], [], 0, 0
    for line in text.splitlines():
        if hidden:
            hidden = depth_after(line, hidden)
            continue
        if not code and re.match(r"\s*(inline )?namespace( [\w:]+)? \{", line):
            hidden = 1 if re.search(r"detail|namespace \{", line) and not line.rstrip().endswith("}") else 0
            comment = []
            continue
        if not code and (not line.strip() or line.startswith(("#", "}", "using namespace", "extern template"))):
            comment = [] if not line.strip() else comment
            continue
        if not code and line.lstrip().startswith("//"):
            comment.append(re.sub(r"^\s*///?\s?", "", line))
            continue
        code.append(line)
        depth = depth_after(line, depth)
        if depth == 0 and re.search(r"[;}]\s*(//.*)?$", line):
            out.append((comment, code))
            comment, code = [], []
    return out


def public_part(code):
    """The lines of a class without its private ones."""
    out, shown = [], True
    for line in code:
        if re.match(r" (public|protected|private):", line):
            shown = not line.startswith(" private")
        if shown or line.startswith("}"):
            out.append(line)
    return out


def without_bodies(code):
    """Functions that are defined in the header, without what they do."""
    text = "\n".join(code)
    head = re.match(r"(template[^{;]*?>\s*)?(?!.*\b(class|struct|enum|union|concept)\b)[^{;=]*\([^{;]*\)[^{;]*\{", text, re.S)
    return text[:head.end() - 1].rstrip().split("\n") + [";"] if head else code


def name_of(code):
    """Name of a class, struct, enumeration or concept; None of others."""
    found = re.search(r"^\s*(?:class|struct|enum class|enum|concept|union)\s+(\w+)", "\n".join(code), re.M)
    return found.group(1) if found else None


def prose(comment):
    """A comment as a paragraph of the page; what stands indented stays as it is."""
    if any(line.startswith("  ") for line in comment):
        return "```text\n" + "\n".join(comment) + "\n```\n"
    text = re.sub(r"([\\*_\[\]|<>])", lambda m: "&lt;" if m[0] == "<" else "&gt;" if m[0] == ">" else "\\" + m[0], " ".join(comment))
    return text + "\n"


def block(lines, language="cpp"):
    return f"\n```{language}\n" + "\n".join(lines) + "\n```\n"


def header_section(root, header):
    out = f"\n## {os.path.basename(header)}\n`#include \"{header}\"`\n"
    for comment, code in declarations(read(root, header)):
        if re.match(r"\s*(class|struct) \w+;|\s*using |\s*template.*extern", code[0]) and len(code) == 1 and not comment:
            continue
        name = name_of(code)
        if name:
            out += f"\n### {name}\n" + (prose(comment) if comment else "") + block(public_part(code))
        elif comment:
            shown = without_bodies(code)
            if shown[-1] == ";":
                shown = [*shown[:-2], shown[-2] + ";"]
            out += block([*("/// " + line for line in comment), *shown])
    return out


def cpp_pages(root):
    """{page: text}: one page for each folder of core whose headers plugins include, and a list of them."""
    pages, rows = {}, []
    for folder, headers in sorted(plugin_headers(root).items()):
        name = folder.replace("core/", "").replace("/", "_")
        page = f"{TOP}/{name}.md"
        pages[page] = (f"# C++: {folder}\nDeclarations of the headers in `{folder}` that plugins include, without private members. How a plugin "
                       "uses them: [plugins](../../developing/plugin.md).\n" + "".join(header_section(root, h) for h in headers))
        rows.append(f"| [{folder}]({name}.md) | " + ", ".join(f"`{os.path.basename(h)}`" for h in headers) + " |")
    told = ("# Interfaces\nFor programs and plugins: [C and Fortran](c.md), [Python](python.md), and the C++ headers below, of which each is "
            "included by at least two plugins.\n\n| folder | headers |\n|---|---|\n")
    pages[f"{TOP}/index.md"] = told + "\n".join(rows) + "\n"
    return pages


def c_page(root):
    """The C headers and the Fortran modules as they are installed."""
    out = ("# C and Fortran\nHeaders of `libcambium_train` (`pkg-config cambium-train`) and the Fortran modules beside them. Examples: "
           "[predictions](../../using/predict.md), [potentials](../../using/potentials.md).\n")
    folder = os.path.join(root, "apps", "c")
    for name in sorted(n for n in os.listdir(folder) if n.endswith((".h", ".f90"))):
        out += f"\n## {name}\n" + block(read(root, f"apps/c/{name}").rstrip().splitlines(), "c" if name.endswith(".h") else "fortran")
    return {f"{TOP}/c.md": out}


def signature(node):
    text = ast.unparse(node.args)
    return f"{node.name}({text.replace('self, ', '').replace('self', '')})"


def formatted(doc):
    """A docstring as Markdown: examples after >>> become code."""
    return re.sub(r"((?:^(?:>>>|\.\.\.) .*\n?)+)", lambda m: block([m[0].rstrip()], "python") + "\n", doc + "\n", flags=re.M)


def described(node, level):
    """Markdown of a function or class that has a docstring."""
    doc = ast.get_docstring(node)
    if not doc or node.name.startswith("_"):
        return ""
    if isinstance(node, ast.FunctionDef):
        return block([signature(node)], "python") + f"\n{doc}\n"
    inner = "".join(described(child, level + 1) for child in node.body if isinstance(child, (ast.FunctionDef, ast.ClassDef)))
    return f"\n{'#' * level} {node.name}\n{formatted(doc)}\n{inner}"


def members(tree, names):
    """Classes and functions of a module; `names`: those alone."""
    return "".join(described(node, 3) for node in tree.body
                   if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (names is None or node.name in names))


def python_page(root):
    """What the package `cambium` and its modules offer, by their docstrings."""
    folder = "apps/python/cambium"
    top = ast.parse(read(root, f"{folder}/__init__.py"))
    out = ("# Python\nThe package `cambium`, installed with the program. Notebooks: [tutorials](../../using/notebooks.md).\n\n## cambium\n" +
           formatted(ast.get_docstring(top)) + members(top, None))
    for node in top.body:
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")[-1]
            out += members(ast.parse(read(root, f"{folder}/{module}.py")), {alias.name for alias in node.names})
    for name in sorted(n for n in os.listdir(os.path.join(root, folder)) if n.endswith(".py") and not n.startswith("_")):
        tree = ast.parse(read(root, f"{folder}/{name}"))
        out += f"\n## cambium.{name[:-3]}\n{formatted(ast.get_docstring(tree) or '')}" + members(tree, None)
    return {f"{TOP}/python.md": out}


def pages(root):
    return {**cpp_pages(root), **c_page(root), **python_page(root)}
