#!/usr/bin/env python3
"""The guide to plugins, done: guide.py SOURCE BUILD SCRATCH MPIEXEC.

Every block of docs/developing/plugin.md is carried out in its order, as a reader would: commands run, files are written and edited,
what should fail fails, in the words that the page gives.
"""

import os
import shutil
import sys

import docblocks

PAGE = "docs/developing/plugin.md"


def carry_out(shell, block):
    """What went wrong, or nothing."""
    if block.how == "edit":
        path, what = block.what.split(" ", 1)
        with open(os.path.join(shell.folder, path), encoding="utf-8") as file:
            text = file.read()
        shell.write(path, docblocks.replaced(text, what, block.text))
    elif block.how == "write":
        shell.write(block.what, block.text)
    elif block.language == "sh" and block.how != "not run":
        code, output = shell.run(block.text)
        bad = block.how in ("fails", "refuses")
        if (code != 0) != bad or (bad and block.what not in output):
            return f"{block.place()}: ended with {code}:\n{output[-3000:]}"
    elif block.how != "not run":
        return f"{block.place()}: nothing says what this block is for"
    return ""


if __name__ == "__main__":
    source, build, scratch, mpiexec = sys.argv[1:]
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    shell = docblocks.Shell(scratch, source, build, mpiexec.split(), sys.executable)
    blocks = docblocks.blocks_of(source, PAGE)
    for block in blocks:
        print(f"{block.place()} {block.how or block.language}", flush=True)
        problem = carry_out(shell, block)
        if problem:
            sys.exit(problem)
    print(f"{len(blocks)} blocks of {PAGE} carried out")
