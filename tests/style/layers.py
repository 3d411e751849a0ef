#!/usr/bin/env python3
"""Who may include whom: layers.py ROOT [BUILD].

A layer of core includes only itself and layers before it. Core knows no plugin, a plugin knows no other plugin, neither
knows the applications or the tests. Kokkos is included in one header. With BUILD (a Ninja build folder) it is also
checked, on what the compiler really read, that no object file saw both Kokkos and Torch; headers that were read once for many sources
count as what they hold.
"""

import json
import os
import re
import subprocess
import sys

import source_tree

LAYERS = ["base", "parallel", "deck", "numerics", "lowp", "sparse", "particles", "pair", "codec", "io", "plugin", "run", "train"]
KOKKOS_HEADER = "core/parallel/kokkos.hpp"
TORCH = re.compile(r"(^|/)(?<!/train/)(?<!/networks/)(torch|ATen|c10)/|/cambium_torch_headers\.dir/")
KOKKOS = re.compile(r"Kokkos_Core\.hpp|/cambium_(core|test)_headers\.dir/")
READ_ONCE = re.compile(r" -include (\S+/cmake_pch\.hxx) -o (\S+)")


def area(path):
    """('core', layer), ('plugins', name), ('apps', name), ('tests', name); a file right in plugins/ has no name."""
    parts = path.split("/")
    return parts[0], parts[1] if len(parts) > 2 else ""


def allowed(path, included):
    """Reason why `path` may not include `included` (a path of the tree), or None."""
    top, part = area(path)
    other_top, other_part = area(included)
    if top == "core":
        if other_top != "core":
            return f"core may not include {other_top}/"
        if LAYERS.index(other_part) > LAYERS.index(part):
            return f"layer {part} comes before layer {other_part}"
    if top == "plugins":
        if other_top in ("apps", "bench", "tests"):
            return f"a plugin may not include {other_top}/"
        if other_top == "plugins" and other_part != part:
            return f"plugin {part} may not include plugin {other_part}"
    if top == "bench" and other_top == "apps":
        return "a bench may not include apps/"
    if top in ("apps", "bench") and other_top == "tests":
        return "an application or bench may not include tests/"
    return None


def check_sources(root):
    problems = []
    for path in source_tree.files(root, *source_tree.CPP):
        if path.split("/")[0] not in ("core", "plugins", "apps", "bench", "tests", "studies"):
            problems.append(f"{path}: C++ lives in core, plugins, apps, bench, tests or studies")
            continue
        if area(path)[0] == "core" and area(path)[1] not in LAYERS:
            problems.append(f"{path}: unknown layer (known: {', '.join(LAYERS)})")
            continue
        for line, name in source_tree.includes(source_tree.read(root, path)):
            target = name[1:-1]
            if name.startswith("<Kokkos_") and path != KOKKOS_HEADER:
                problems.append(f"{path}:{line}: include {KOKKOS_HEADER} instead of <{target}>")
            if name.startswith('"') and target.split("/")[0] in ("core", "plugins", "apps", "bench", "tests"):
                reason = allowed(path, target)
                if reason:
                    problems.append(f"{path}:{line}: {reason} ({target})")
    return problems


def check_objects(build):
    """Object files that depend on headers of both Kokkos and Torch, from Ninja's dependency log."""
    answer = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = [entry["command"] for entry in json.load(file)]
    return list(both_seen(answer.stdout, commands))


def both_seen(told, commands):
    """Problems in what `ninja -t deps` told, which leaves out headers that were read once: commands name those."""
    once = {m.group(2): m.group(1) for m in map(READ_ONCE.search, commands) if m}
    for block in told.split("\n\n"):
        head, _, body = block.partition("\n")
        name = head.split(":")[0]
        headers = [line.strip() for line in body.split("\n")] + [once.get(name, "")]
        if any(map(KOKKOS.search, headers)) and any(map(TORCH.search, headers)):
            yield (f"{name}: sees both Kokkos and Torch; let TensorRef cross between two files "
                   "(a test that includes Torch says so: cambium_add_test(... TORCH))")


if __name__ == "__main__":
    found = check_sources(sys.argv[1])
    if len(sys.argv) > 2 and os.path.exists(os.path.join(sys.argv[2], "build.ninja")):
        found += check_objects(sys.argv[2])
    source_tree.report("layers", found)
