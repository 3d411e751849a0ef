#!/usr/bin/env python3
"""What every folder and file must have, and what none may contain: tree.py ROOT."""

import os
import re
import subprocess
import sys

import source_tree

MACHINE_PATH = re.compile(r"(?<![\w.<>}])/(?:work|tmp|root|home)/[A-Za-z0-9_.]+")
LEFT_OVER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
OWN_OPTIONS = re.compile(r"set_(?:source_files_properties|property)\([^)]*\b(?:COMPILE_OPTIONS|COMPILE_FLAGS)\b")
PI = re.compile(r"\bM_PI|\b3\.14159|\bnumbers::pi")
TEXT_LIMIT = 1_000_000  # bytes; larger files are data
LARGEST = 2_000_000  # bytes; what is larger was left there by a run
TOP = ("CHANGELOG.md CITATION.cff CMakeLists.txt CMakePresets.json CONTRIBUTING.md LICENSE README.md apps bench core docs findings inputs machines "
       "packaging plugins quickstart studies tests tutorials").split()


def check_plugins(root):
    """Every plugin has the same shape: a README and a register.cpp; so has every template in plugins/template."""
    folder = os.path.join(root, "plugins")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    if "template" in names:
        names.remove("template")
        names += [os.path.join("template", kind) for kind in sorted(os.listdir(os.path.join(folder, "template")))]
    problems = []
    for name in names:
        if os.path.isdir(os.path.join(folder, name)):
            for needed in ("README.md", "register.cpp"):
                if not os.path.exists(os.path.join(folder, name, needed)):
                    problems.append(f"plugins/{name}: no {needed}")
    return problems


def under_version_control(root):
    """Paths; none where git or its folder is missing."""
    try:
        return subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def check_left_there(root, paths):
    """Files of a run among the sources: in folders that are no layer, or too large."""
    paths = [path for path in paths if os.path.exists(os.path.join(root, path))]
    return ([f"{path}: under version control in no folder of the tree" for path in paths if path.split("/")[0] not in TOP and path[0] != "."] +
            [f"{path}: larger than {LARGEST} bytes" for path in paths if os.path.getsize(os.path.join(root, path)) > LARGEST])


def check_text(root):
    problems = []
    for path in source_tree.files(root):
        if path.endswith(".svg") or os.path.getsize(os.path.join(root, path)) > TEXT_LIMIT:
            continue
        text = source_tree.read(root, path)
        if path.endswith(".hpp") and "#pragma once" not in text:
            problems.append(f"{path}: no #pragma once")
        if path.endswith(".hpp") and re.search(r"^\s*using namespace", text, re.M):
            problems.append(f"{path}: 'using namespace' in a header")
        for number, line in enumerate(text.split("\n"), 1):
            if MACHINE_PATH.search(line):
                problems.append(f"{path}:{number}: a path of one machine: {MACHINE_PATH.search(line).group(0)}")
            if path.endswith(source_tree.CPP + (".py",)) and LEFT_OVER.search(line):
                problems.append(f"{path}:{number}: left-over mark: {line.strip()[:80]}")
    return problems


def check_options(root):
    """Options of single sources are set where their precompiled headers are taken away: what such headers bring is compiled as they were.
    Templates of plugins have none."""
    cmake = [path for path in source_tree.files(root) if path.endswith(("CMakeLists.txt", ".cmake")) and not path.startswith("plugins/template/")]
    return [f"{path}: options of single sources; use cambium_uncontracted or a function beside it in core/cmake/CambiumKernels.cmake"
            for path in cmake if path != "core/cmake/CambiumKernels.cmake" and OWN_OPTIONS.search(source_tree.read(root, path))]


def check_pi(root):
    """One pi, that of the constants. Tests write theirs themselves, templates stand alone."""
    return [f"{path}: another pi; use constants::pi of core/base/constants.hpp"
            for path in source_tree.files(root, *source_tree.CPP) if path.startswith(("core/", "plugins/", "apps/"))
            and not path.startswith("plugins/template/") and path != "core/base/constants.hpp" and PI.search(source_tree.read(root, path))]


if __name__ == "__main__":
    source_tree.report("tree", check_plugins(sys.argv[1]) + check_left_there(sys.argv[1], under_version_control(sys.argv[1])) + check_text(sys.argv[1]) + check_options(sys.argv[1]) + check_pi(sys.argv[1]))
