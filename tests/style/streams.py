#!/usr/bin/env python3
"""No two consumers of random numbers share a stream: streams.py ROOT.

A stream is a number of core's list, one that a plugin took before streams had names (static_cast<Stream>(61)), or a name (stream("graph.dropout")),
which stands for its hash. Each of the last two is declared once, and no number is another's.
"""

import collections
import re
import sys

import source_tree

LISTED = re.compile(r"enum class Stream[^{]*\{([^}]*)\}")
NUMBERED = re.compile(r"static_cast<Stream>\((\d+)\)")
NAMED = re.compile(r"(?<![\w:.])stream\(\"([^\"]+)\"\)")


def hashed(name):
    value = 2166136261
    for byte in name.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value | 0x80000000


def streams(root):
    """Number -> where it is declared."""
    found = collections.defaultdict(list)
    for path in source_tree.files(root, *source_tree.CPP):
        if path.split("/")[0] not in ("core", "plugins", "apps", "bench"):
            continue
        text = re.sub(r"//[^\n]*", "", source_tree.read(root, path))
        for block in LISTED.findall(text):
            for name, number in re.findall(r"(\w+)\s*=\s*(\d+)", block):
                found[int(number)].append(f"{path} ({name})")
        for number in NUMBERED.findall(text):
            if number != "0":  # of a self-check
                found[int(number)].append(f"{path} ({number})")
        for name in NAMED.findall(text):
            found[hashed(name)].append(f"{path} ({name})")
    return found


def check(root):
    return [f"stream {number} has {len(places)} consumers: {', '.join(places)}" for number, places in sorted(streams(root).items())
            if len(places) > 1]


if __name__ == "__main__":
    source_tree.report("streams", check(sys.argv[1]))
