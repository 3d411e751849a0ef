#!/usr/bin/env python3
"""Every code block of the documentation that can run is run: blocks.py SOURCE BUILD SCRATCH MPIEXEC [PAGE...].

Shell: the commands, in a folder that looks like this tree with a build, at small size. YAML: a deck, or a part of one, is given to
`cambium check`. Blocks of other languages are compiled elsewhere, or say in a comment why they are not (docblocks.py). A block without
a language is text; one that looks like commands is a shell's.
"""

import os
import re
import shutil
import sys

import docblocks

# A part of a deck names files and earlier stages that only its user has: what is wrong but for them counts.
MISSING_HERE = re.compile(r"^cambium: .*: (no file matches '|cannot open '.*': (No|there is no) such file|no stage before this one writes in '|augment: the samples have no field 'image')", re.M)
FORMER_NAME = re.compile(r"^.*'\w+' is called '\w+' now.*$", re.M)
CARRIED_OUT_ELSEWHERE = ("docs/developing/plugin.md", "docs/developing/first_contributions.md")  # guide.py, contributions.py
FRAME = """run: {name: part}
plugins: [md, deepmd, kinetic, podlstm, submatrix, superres, relate, sequence, assimilate]
stages:
"""
TRAIN = """  - train:
      network: {type: mlp, layers: [8], input: input, target: target}
      dataset: {type: expression, samples: 8, box: {x: [0, 1]}, target: {y: x}}
      batch: 4
      steps: 2
      optimizer: {type: adam}
      learning_rate: {type: constant, start: 1e-3}
"""


def pages(root):
    """All pages but the generated and the measured ones."""
    found = ["README.md", "CONTRIBUTING.md"]
    for top in ("docs", "plugins", "inputs", "tutorials"):
        for folder, inner, names in os.walk(os.path.join(root, top)):
            inner[:] = [f for f in inner if f not in ("template", "measured", "build", ".ipynb_checkpoints")]
            found += [os.path.relpath(os.path.join(folder, n), root) for n in sorted(names) if n.endswith(".md")]
    return [page for page in found if os.path.exists(os.path.join(root, page)) and page not in CARRIED_OUT_ELSEWHERE]


def indented(text, by):
    return "".join(" " * by + line if line.strip() else line for line in text.splitlines(True))


def deck_of(block):
    """A complete deck, or nothing for YAML that is none."""
    if re.search(r"^stages:", block.text, re.M):
        return block.text
    if block.how == "part of" and block.what == "stages":
        return FRAME + block.text
    if block.how == "part of":
        given = re.findall(r"^(\w+):", block.text, re.M)
        kept = "".join(line for line in TRAIN.splitlines(True) if line.split(":")[0].strip() not in given)
        return FRAME + kept + indented(block.text, 6)
    return ""


def check_yaml(shell, block):
    deck = deck_of(block)
    if not deck:
        return f"{block.place()}: YAML that is no deck: say what it is part of, or why it cannot run"
    name = re.search(r"^run: *\{[^}\n]*name: *(\w+)", deck, re.M)
    for path in {(name.group(1) if name else "deck") + ".yaml", "deck.yaml"}:
        shell.write(path, deck)
    code, output = shell.run("cambium check deck.yaml")
    problems = re.findall(r"^cambium: .*$", output, re.M)
    if code and block.how == "part of" and problems and all(MISSING_HERE.match(line) for line in problems):
        return ""
    former = FORMER_NAME.search(output)
    return f"{block.place()}: {output.strip()[-1500:]}" if code else f"{block.place()}: {former.group()}" if former else ""


def check(shell, block):
    """What is wrong with a block, or nothing; and whether it was run."""
    commands = block.language == "sh" or (not block.language and docblocks.COMMANDS.search(block.text))
    if block.how == "not run":
        return ("" if block.what else f"{block.place()}: give the reason why it is not run"), False
    if block.language == "yaml":
        return check_yaml(shell, block), True
    if commands:
        before = block.what.replace(";", "\n") if block.how == "before" else ""
        code, output = shell.run(before + "\n" + block.text, block.what if block.how == "small" else "")
        return (f"{block.place()}: ended with {code}:\n{output[-1500:]}" if code else ""), True
    if block.language in ("", "text"):
        return "", False
    return f"{block.place()}: a block of {block.language} that nothing runs: say why", False


if __name__ == "__main__":
    source, build, scratch, mpiexec = sys.argv[1:5]
    problems, run, all_blocks = [], 0, 0
    shutil.rmtree(scratch, ignore_errors=True)
    for page in sys.argv[5:] or pages(source):
        shell = docblocks.Shell(os.path.join(scratch, page.replace("/", "_")), source, build, mpiexec.split(), sys.executable)
        for block in docblocks.blocks_of(source, page):
            problem, was_run = check(shell, block)
            all_blocks, run = all_blocks + 1, run + was_run
            problems += [problem] if problem else []
    print("\n".join(problems))
    print(f"{run} of {all_blocks} blocks run, the others are text or say why not; {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
