#!/usr/bin/env python3
"""Builds the documentation as a site: build.py SOURCE PROGRAM FOLDER. Needs mkdocs (Debian: mkdocs).

FOLDER/pages gets the pages of docs/, those of plugins (README.md, method.md, measured.md), and what the program and the sources write
themselves (generate.py); FOLDER/site the HTML. A link that leads nowhere ends the build.
"""

import datetime
import os
import re
import shutil
import subprocess
import sys

import ages
import generate
import search_index

FENCE = re.compile(r"^(```.*?^```$)", re.S | re.M)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
TEXT_FILES = (".yaml", ".cpp", ".hpp", ".py", ".cmake", ".txt", ".copper", ".cff", ".sh", ".ipynb")


def sources(root):
    """{path in the tree: page of the site} of all pages that people wrote."""
    found = {"CONTRIBUTING.md": "developing/contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "readme.md",
             "tutorials/README.md": "using/notebooks.md"}
    for folder, inner, names in os.walk(os.path.join(root, "docs")):
        inner[:] = [f for f in inner if f not in ("measured", "site", "pictures")]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if name.endswith(".md"):
                found[path] = path[len("docs/"):]
    for name in sorted(os.listdir(os.path.join(root, "plugins"))):
        if name != "template":
            found[f"plugins/{name}/README.md"] = f"plugins/{name}.md"
            found.update({f"plugins/{name}/{kind}.md": f"plugins/{name}/{kind}.md" for kind in ("method", "measured")})
    return {path: page for path, page in found.items() if os.path.exists(os.path.join(root, path))}


def spaced(text):
    """Lists and tables may follow a paragraph at once on the pages; the site's Markdown wants a blank line between."""
    out = []
    for line in text.split("\n"):
        begins = re.match(r"\s{0,3}([-*] |\d+\. |\|)", line)
        before = out[-1] if out else ""
        if begins and before.strip() and not re.match(r"\s*([-*] |\d+\. |\||#)", before) and not before.startswith(" "):
            out.append("")
        out.append(line)
    return "\n".join(out)


class Site:
    def __init__(self, root, folder, version):
        self.root, self.pages_folder, self.problems = root, os.path.join(folder, "pages"), []
        self.pages, self.version = sources(root), version
        self.sections = {f"{path}/README.md": generate.anchor_of(path) for path in generate.described_folders(root)}
        shutil.rmtree(folder, ignore_errors=True)

    def write(self, page, text):
        path = os.path.join(self.pages_folder, page)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def file(self, path):
        """Copies a file of the tree that a page links to; its place in the site."""
        target = path[len("docs/"):] if path.startswith("docs/") else "files/" + path
        target += ".txt" if path.endswith(TEXT_FILES) and not path.endswith(".txt") else ""
        os.makedirs(os.path.dirname(os.path.join(self.pages_folder, target)), exist_ok=True)
        shutil.copy(os.path.join(self.root, path), os.path.join(self.pages_folder, target))
        return target

    def link(self, match, source, page):
        picture, text, target, anchor = match.group(1), match.group(2), match.group(3), match.group(4) or ""
        if re.match(r"[a-z]+:", target) or not target:
            return match.group(0)
        path = os.path.normpath(os.path.join(os.path.dirname(source), target)).replace(os.sep, "/")
        if os.path.isdir(os.path.join(self.root, path)):
            readme = path + "/README.md"
            path = readme if readme in self.pages or readme in self.sections else path
        if path in self.pages:
            place = self.pages[path]
        elif path in self.sections:
            place, anchor = generate.FOLDERS, self.sections[path]
        elif os.path.isfile(os.path.join(self.root, path)):
            place, anchor = self.file(path), ""
        elif os.path.isdir(os.path.join(self.root, path)):
            return f"{text} (`{path}/`)" if text.strip("`/") not in path else f"`{path}/`"
        else:
            self.problems.append(f"{source}: the link to '{target}' leads nowhere")
            return text
        return f"{picture}[{text}]({os.path.relpath(place, os.path.dirname(page) or '.')}{anchor})"

    def with_links(self, text, source, page):
        """A text of a file of the tree with its links as they are on a page of the site."""
        return LINK.sub(lambda match: self.link(match, source, page), text)

    def convert(self, source, page):
        with open(os.path.join(self.root, source), encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"^<!-- .*? -->\n", "", text, flags=re.S | re.M)
        parts = FENCE.split(text)
        for k, part in enumerate(parts):
            parts[k] = f"\n{part}\n" if k % 2 else spaced(self.with_links(part, source, page))  # code, text
        self.write(page, "".join(parts) + ages.note(text, self.root))

    def listed(self, folder, first=(), apart=()):
        """Lines of the navigation: `first`, then the other pages that lie in a folder, without those that stand elsewhere."""
        there = sorted(self.pages.values())
        rest = [p for p in there if folder and os.path.dirname(p) == folder and p not in first and p not in apart]
        return "".join(f"    - {page}\n" for page in [p for p in first if p in there] + rest)

    def of_plugins(self, kind):
        """Lines of the navigation: the page of one kind of every plugin that has it."""
        pages = sorted(p for p in self.pages.values() if re.fullmatch(rf"plugins/\w+/{kind}\.md", p))
        return "".join(f"      - {page.split('/')[1]}: {page}\n" for page in pages)

    def settings(self):
        """The navigation has the four kinds of pages: to learn by, to do a thing, to look up, to understand; plugins and their code beside."""
        tutorials = [f"using/{n}.md" for n in ("tutorials", "notebooks")] + [f"developing/{n}.md" for n in ("first_contributions", "plugin")]
        reference = ["using/environment.md", "using/performance.md", "using/what_pays.md"]
        using = [f"using/{n}.md" for n in ("install", "decks", "parallel", "clusters", "restart", "output", "profile", "training", "data", "lammps", "upgrade")]
        developing = [f"developing/{n}.md" for n in ("rules", "network", "torch_networks", "tests", "contributing")]
        methods, measured = self.of_plugins("method"), self.of_plugins("measured")
        theme = os.path.join(os.path.dirname(os.path.abspath(__file__)), "theme")
        return f"""site_name: Cambium
site_url: ''
use_directory_urls: false
docs_dir: pages
site_dir: site
theme:
  name: mkdocs
  custom_dir: {theme}
  highlightjs: false
  nav_style: light
extra_css: [css/cambium.css]
extra_javascript: [js/rank.js, js/search.js, js/tables.js]
plugins: []
copyright: {self.version}
markdown_extensions: [fenced_code, tables, attr_list, sane_lists, toc]
nav:
  - Start here: index.md
  - Tutorials:
{self.listed("", tutorials)}    - Gallery: gallery.md
  - How-to:
{self.listed("using", using, tutorials + reference)}  - Plugins:
{self.listed("plugins")}  - Reference:
    - Deck: reference/deck/index.md
    - Commands: reference/commands.md
    - Interfaces: reference/interfaces/index.md
    - C and Fortran: reference/interfaces/c.md
    - Python: reference/interfaces/python.md
    - using/environment.md
    - Messages: reference/messages.md
    - errors.md
    - Measured:
      - using/performance.md
      - using/what_pays.md
      - All figures: benchmarks.md
{measured}    - Changelog: changelog.md
  - Explanation:
    - architecture.md
    - Methods:
{methods}  - Developing:
{self.listed("developing", developing, tutorials)}    - developing/folders.md
"""


def build(root, program, folder):
    """Problems, none when the site stands in FOLDER/site."""
    version = generate.said(program, "--version").strip()
    site = Site(root, folder, f"{version[0].upper()}{version[1:]}. Written on {datetime.date.today()}.")
    generated = generate.pages(root, program, site.with_links)
    for page, text in generated.items():
        site.write(page, text)
    for name in os.listdir(os.path.join(root, "docs", "measured")):
        site.file(f"docs/measured/{name}")
    for source, page in site.pages.items():
        site.convert(source, page)
    with open(os.path.join(folder, "mkdocs.yml"), "w", encoding="utf-8") as file:
        file.write(site.settings())
    refused = html_of(folder)
    if not refused:
        search_index.write(os.path.join(folder, "site"))
    return site.problems + refused


def html_of(folder):
    """Runs mkdocs over FOLDER/pages; what it warned of or refused, none when all is well."""
    done = subprocess.run(["mkdocs", "build", "--strict", "-f", os.path.join(folder, "mkdocs.yml")], capture_output=True, text=True)
    if done.returncode == 0:
        return []
    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr).splitlines()  # without colours
    said = [line for line in lines if line.strip() and not line.startswith("INFO")]
    return [f"mkdocs ended with code {done.returncode}:", *said]


if __name__ == "__main__":
    if not shutil.which("mkdocs"):
        print("SKIPPED: the documentation as a site: there is no mkdocs (Debian: apt-get install mkdocs)")
        sys.exit(77)
    problems = build(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]))
    print("\n".join(problems) or f"the site stands in {sys.argv[3]}/site; open index.html")
    sys.exit(1 if problems else 0)
