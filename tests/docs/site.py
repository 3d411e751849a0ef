#!/usr/bin/env python3
"""The documentation becomes a site without a broken link, and holds what it must: site.py SOURCE PROGRAM FOLDER."""

import os
import shutil
import subprocess
import sys

PAGES = {  # page: what must be read on it
    "index.html": "Start here",
    "plugins/kinetic.html": "∂f/∂t",
    "reference/deck/index.html": "run.walltime",
    "reference/deck/potential.html": "cut-off radius",
    "reference/commands.html": "run every stage of a deck",
    "reference/messages.html": "give at least one",
    "benchmarks.html": "cambium bench kinetic",
    "reference/interfaces/plugin.html": "needs_periodic_cell",
    "reference/interfaces/c.html": "cambium_train_open",
    "reference/interfaces/python.html": "cambium.Training",
    "developing/folders.html": 'href="#coreiohdf5"',
    "developing/plugin.html": "cambium new-plugin exp_six",
    "using/clusters.html": "#SBATCH",
    "architecture.html": "Where it is weak",
    "gallery.html": "cambium run md/copper_melting",
    "js/search_index.js": "lennard_jones",
    "using/environment.html": "CAMBIUM_PLUGIN_PATH",
    "plugins/md.html": "Figures on this page were measured on",
    "plugins/md/measured.html": "Figures on this page were measured on",
    "plugins/kinetic/method.html": "∂f/∂t",
    "using/performance.html": "eager PyTorch",
}


def a_broken_page_says_why(source, folder):
    """What mkdocs refuses is printed."""
    sys.path.insert(0, os.path.join(source, "docs", "site"))
    import build

    pages = os.path.join(folder, "pages")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(pages)
    for name, text in (("pages/index.md", "# Start\n[there](gone.md)\n"), ("mkdocs.yml", "site_name: broken\ndocs_dir: pages\nsite_dir: site\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    said = "\n".join(build.html_of(folder))
    if "gone.md" not in said or "mkdocs ended with code" not in said:
        yield f"a link that leads nowhere ends the site without the reason: {said}"


def private_members(site):
    """The pages of C++ show what others may call, and no member that a class keeps to itself."""
    with open(os.path.join(site, "reference", "interfaces", "plugin.html"), encoding="utf-8") as file:
        text = file.read()
    for member in ("types_;", "stages_;"):
        if member in text:
            yield f"reference/interfaces/plugin.html shows the private member {member}"


def missing(site):
    for page, words in PAGES.items():
        path = os.path.join(site, page)
        if not os.path.exists(path):
            yield f"there is no page {page}"
            continue
        with open(path, encoding="utf-8") as file:
            if words not in file.read():
                yield f"{page} does not say '{words}'"


if __name__ == "__main__":
    source, program, folder = sys.argv[1:]
    if not shutil.which("mkdocs"):
        print("SKIPPED: the documentation as a site: there is no mkdocs (Debian: apt-get install mkdocs)")
        sys.exit(77)
    done = subprocess.run([sys.executable, os.path.join(source, "docs", "site", "build.py"), source, program, folder])
    problems = list(missing(os.path.join(folder, "site"))) if done.returncode == 0 else ["the site could not be built"]
    problems += private_members(os.path.join(folder, "site")) if done.returncode == 0 else []
    problems += a_broken_page_says_why(source, folder + "_broken")
    print("\n".join(problems) or f"{len(PAGES)} pages looked at")
    sys.exit(1 if problems else 0)
