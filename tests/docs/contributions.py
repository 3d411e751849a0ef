#!/usr/bin/env python3
"""The four tasks of a new contributor take the files that the page says, and work: contributions.py SOURCE BUILD SCRATCH MPIEXEC [--count].

Each section of docs/developing/first_contributions.md names its number of files in its title. Its patch is applied to a copy of the files that
it touches; they are counted, what is compiled of them is compiled, and the new test is linked with the libraries of the build and run.
With --count nothing is compiled.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import docblocks

PAGE = "docs/developing/first_contributions.md"
SECTION = re.compile(r"^## (?P<title>[^\n]*?): (?P<files>\d+) files?(?P<test> and its test)?\n(?P<text>.*?)(?=^## |\Z)", re.S | re.M)
TOUCHED = re.compile(r"^\+\+\+ b/(\S+)$", re.M)


def is_test(path):
    return path.startswith("tests/")


def own_files(folder):
    """Files of a new plugin that are no test, deck or page."""
    found = [os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names]
    return sorted(f for f in found if not f.startswith(("tests/", "decks/")) and not f.endswith(".md"))


class Patched:
    """Copies of the files that a patch touches, with the patch applied."""

    def __init__(self, source, patch, folder):
        self.source, self.folder, self.files = source, folder, TOUCHED.findall(patch)
        os.makedirs(folder)
        for path in self.files:
            if os.path.exists(os.path.join(source, path)):
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                shutil.copy(os.path.join(source, path), os.path.join(folder, path))
        # In a folder within a repository git would look for the files at its root.
        apart = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
        done = subprocess.run(["git", "apply", "-"], cwd=folder, input=patch, text=True, capture_output=True, env=apart)
        self.problem = done.stderr.strip()

    def target(self):
        """(name of the test program, its new source)"""
        for path in self.files:
            if path.endswith("CMakeLists.txt") and is_test(path):
                with open(os.path.join(self.folder, path), encoding="utf-8") as file:
                    text = file.read()
                for new in (f for f in self.files if is_test(f) and f.endswith(".cpp")):
                    found = re.search(r"cambium_add_test\(NAME (\w+)[^)]*\b" + re.escape(os.path.basename(new)), text)
                    if found:
                        return "test_" + found.group(1), new
        return "", ""

    def test(self, build):
        """What went wrong, or nothing."""
        name, new = self.target()
        if not name:
            return "no test of the patch stands in a CMakeLists.txt"
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            commands = [c for c in json.load(file) if f"/{name}.dir/" in c["command"]]
        if not commands:
            return f"there is no target {name}"
        flags = shlex.split(re.sub(r" -o .*", "", commands[0]["command"]))
        flags = [f"-I{self.folder}", *flags[next(k for k, f in enumerate(flags) if f.startswith("-")):], "-O0"]
        objects = []
        for path in (p for p in self.files if p.endswith(".cpp")):
            out = os.path.join(self.folder, path.replace("/", "_") + ".o")
            # What registers every type of a library is not linked twice.
            how = ["-fsyntax-only"] if os.path.basename(path) == "register.cpp" else ["-c", "-o", out]
            problem = self.run(["c++", *flags, *how, os.path.join(self.folder, path)], commands[0]["directory"])
            if problem:
                return problem
            objects += [out] if "-c" in how else []
        line = subprocess.run(["ninja", "-C", build, "-t", "commands", name], capture_output=True, text=True).stdout.splitlines()
        words = [w for w in shlex.split(line[-1]) if not w.endswith((".cpp.o", ".cxx.o")) and w not in (":", "&&")] if line else []
        if "-o" not in words:
            return f"ninja does not say how {name} is linked"
        program = os.path.join(self.folder, name)
        words[words.index("-o") + 1] = program
        at = words.index("-o")
        return (self.run([*words[:at], *objects, "-Wl,--allow-multiple-definition", *words[at:]], build)
                or self.run([program, "--warn", "NoTests"], self.folder))

    @staticmethod
    def run(command, folder):
        done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return f"{' '.join(command[:1])} ended with {done.returncode}:\n{done.stdout[-3000:]}" if done.returncode else ""


def check(section, source, build, folder, shell):
    """What is wrong with a section."""
    said, wants_test = int(section["files"]), bool(section["test"])
    blocks = [docblocks.Block(PAGE, m, section["text"]) for m in docblocks.BLOCK.finditer(section["text"])]
    patch = "".join(b.text for b in blocks if b.language == "diff")
    if not patch:
        if shell is None:
            return []
        made = [b.text for b in blocks if b.language == "sh"]
        code, output = shell.run("\n".join(made))
        name = re.search(r"new-plugin (\w+)", "\n".join(made))
        files = own_files(os.path.join(shell.folder, name.group(1))) if name and not code else []
        return [output] if code else [] if len(files) == said else [f"{said} files are said, but there are {', '.join(files)}"]
    change = Patched(source, patch, folder)
    if change.problem:
        return [f"the patch does not apply: {change.problem}"]
    files = [f for f in change.files if not is_test(f)]
    problems = [] if len(files) == said else [f"{said} files are said, but the patch touches {', '.join(files)}"]
    if wants_test != any(is_test(f) for f in change.files):
        problems.append("title and patch do not agree about a test")
    problem = change.test(build) if shell is not None and not problems else ""
    return problems + ([problem] if problem else [])


if __name__ == "__main__":
    source, build, scratch, mpiexec = (os.path.abspath(a) if k < 3 else a for k, a in enumerate(sys.argv[1:5]))
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    shell = None if "--count" in sys.argv else docblocks.Shell(os.path.join(scratch, "shell"), source, build, mpiexec.split(), sys.executable)
    with open(os.path.join(source, PAGE), encoding="utf-8") as file:
        sections = list(SECTION.finditer(file.read()))
    found = [] if len(sections) == 4 else [f"{PAGE}: {len(sections)} tasks with a number of files in their titles, not 4"]
    for k, section in enumerate(sections):
        found += [f"{PAGE}: {section['title']}: {p}" for p in check(section, source, build, os.path.join(scratch, str(k)), shell)]
        print(f"{section['title']}: {section['files']} files", flush=True)
    print("\n".join(found))
    sys.exit(bool(found))
