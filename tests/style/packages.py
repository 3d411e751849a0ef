#!/usr/bin/env python3
"""quickstart's list of Debian packages: packages.py ROOT. One requirement per line, its alternatives joined by |."""

import re
import sys

import source_tree

NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


def faults(script):
    """Lines of the list that apt-get would not understand, with what is wrong."""
    lists = re.findall(r"<<'LIST'\n(.*?)^LIST$", script, re.S | re.M)
    if not lists:
        return ["quickstart: no list of packages between <<'LIST' and LIST"]
    lines = [line for listed in lists for line in listed.splitlines()] + re.findall(r"echo '([^']*\|[^']*)'", script)
    return [
        f"quickstart: '{line}' is not one package name, or several joined by |: give each requirement a line of its own"
        for line in lines
        if not all(NAME.fullmatch(choice) for choice in line.split("|"))
    ]


if __name__ == "__main__":
    source_tree.report("packages", faults(source_tree.read(sys.argv[1], "quickstart")))
