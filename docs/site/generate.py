"""Pages that the program and its sources write themselves: deck reference, commands, messages, measured figures, folders."""

import json
import os
import re
import subprocess
import sys

import interfaces

SCALAR = (str, int, float, bool)


def said(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def deck_reference(program):
    """{page: text}: one page of the deck itself, one for each kind of type, from `cambium doc`."""
    first, *kinds = re.split(r"^## (?=\w+$)", said(program, "doc"), flags=re.M)
    pages, rows = {}, []
    for kind in kinds:
        name, text = kind.split("\n", 1)
        text = re.sub(r"^### \w+ `(\w+)`$", r"## \1", text, flags=re.M)
        pages[f"reference/deck/{name}.md"] = f"# Deck: {name}\n{linked(text, '')}"
        types = re.findall(r"^## (\w+)$", text, re.M)
        rows.append(f"| [{name}]({name}.md) | " + ", ".join(f"[`{t}`]({name}.md#{t})" for t in types) + " |")
    top = linked(first.replace("# A deck", "# Deck reference"), "")
    told = "Written by `cambium doc` of this build, from the declarations that decks are read by.\n\n"
    kinds_table = "\n## Types by kind\n\n| kind | types |\n|---|---|\n" + "\n".join(rows) + "\n"
    pages["reference/deck/index.md"] = top.replace("\n\n", "\n\n" + told, 1) + kinds_table
    return pages


def linked(text, folder):
    """Links to kinds, which `cambium doc` writes as anchors, become links to their pages."""
    return re.sub(r"\]\(#(\w+)\)", rf"]({folder}\1.md)", text)


def command_reference(program):
    """The help of every command, as the program prints it."""
    def block(*words):
        text = said(program, *words, "--help").strip().replace(program, "cambium")
        return f"```text\n{text}\n```\n"

    def verbs(text):
        listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text + "\n", re.M)
        return re.findall(r"^  (\S+)", listed.group(1), re.M) if listed else []

    out = "# Commands\nWritten by `cambium COMMAND --help` of this build.\n\n" + block()
    for verb in verbs(said(program, "--help")):
        out += f"\n## {verb}\n" + block(verb)
        for inner in verbs(said(program, verb, "--help")):
            out += f"\n### {verb} {inner}\n" + block(verb, inner)
    return {"reference/commands.md": out}


def message_catalogue(root):
    """All messages of the sources by place; the test messages.tested holds them against the tests."""
    sys.path.insert(0, os.path.join(root, "tests", "messages"))
    import produced
    import templates

    by_place, seen = {}, set()
    for path, _, template in templates.of_tree(root):
        place = "/".join(path.split("/")[:2])
        text = " ".join(re.sub(r"\{[^{}]*\}", "…", template.replace("{{", "\1").replace("}}", "\2")).split())
        text = text.replace("\1", "{").replace("\2", "}")
        if (place, text) not in seen:
            seen.add((place, text))
            by_place.setdefault(place, []).append((path, text))
    total, without = len({t for _, _, t in templates.of_tree(root)}), len(list(produced.untested(root)))
    told = "Each of them stands" if without == 0 else f"All but {without}, listed with the reason in `tests/messages/untested.txt`, stand"
    out = (f"# Messages\nEvery message about an input that cannot be used, or a calculation that broke, found in the sources: {total} texts, … "
           f"where a value stands. {told} word for word in a test. The [story behind some](../errors.md); [exit codes](../using/restart.md#exit-codes).\n")
    for place in sorted(by_place, key=lambda p: (not p.startswith("plugins"), p)):
        out += f"\n## {place}\n"
        for path in sorted({p for p, _ in by_place[place]}):
            texts = [f"- {escaped(text)}\n" for p, text in by_place[place] if p == path]
            out += f"\n`{path}`\n\n" + "".join(texts)
    return {"reference/messages.md": out}


def escaped(text):
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")


def number(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def flat(data, prefix=""):
    """(key, scalar) of nested maps; lists of scalars as text."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        elif isinstance(value, SCALAR):
            yield prefix + key, number(value)
        elif isinstance(value, list) and all(isinstance(v, SCALAR) for v in value) and len(value) <= 12:
            yield prefix + key, ", ".join(map(number, value))


def benchmarks(root):
    """Everything in docs/measured as tables, with where it was measured."""
    folder = os.path.join(root, "docs", "measured")
    out = ("# Measured figures\nWritten from the files in `docs/measured`. Each says by which command, on which machine, with which "
           "libraries and from which commit; the figures in READMEs and pages are from here. What they mean stands in the page of the plugin.\n")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            data = json.load(file)
        rows = list(flat(data if isinstance(data, dict) else {"rows": data}))
        where = [row for row in rows if row[0].split(".")[0].startswith("measured")]
        rest = [row for row in rows if row not in where]
        out += f"\n## {name[:-5].replace('_', ' ')}\nThe file: [docs/measured/{name}](measured/{name})\n"
        for head, part in (("figure", rest), ("measured", where)):
            if part:
                out += f"\n| {head} | |\n|---|---|\n" + "".join(f"| `{k}` | {escaped(v)} |\n" for k, v in part)
    return {"benchmarks.md": out}


FOLDERS = "developing/folders.md"


def described_folders(root):
    """Folders of core and plugins that have a README, in the order of the tree."""
    for top in ("core", "plugins"):
        for place, _, names in sorted(os.walk(os.path.join(root, top))):
            path = os.path.relpath(place, root).replace(os.sep, "/")
            if "README.md" in names and not path.startswith("plugins/template"):
                yield path


def anchor_of(folder):
    """Of a folder's heading on the page of folders, as the site's Markdown makes it."""
    return "#" + re.sub(r"[^\w\s-]", "", folder).lower()


def folders(root, with_links):
    """The README of every folder of core and plugins; those of whole plugins are pages of their own. `with_links(text, source, page)`
    gives a text with its links, which are seen from the README, as they are on the page."""
    out = ("# Folders\nWhat lies where, from the README of every folder of `core` and `plugins`. "
           "How they stand on each other: [architecture](../architecture.md).\n")
    for path in described_folders(root):
        with open(os.path.join(root, path, "README.md"), encoding="utf-8") as file:
            title, _, text = file.read().partition("\n")
        if path.count("/") == 1 and path.startswith("plugins/"):
            text = f"A page of its own: [{path[8:]}](../{path}.md).\n"
        else:
            text = with_links(text, f"{path}/README.md", FOLDERS)
        out += f"\n## {path}\n*{title.lstrip('# ')}.* {text}"
    return {FOLDERS: out}


def pages(root, program, with_links):
    return {**deck_reference(program), **command_reference(program), **message_catalogue(root), **benchmarks(root),
            **folders(root, with_links), **interfaces.pages(root)}
