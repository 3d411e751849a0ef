"""Which translation units hold kernels, and with which flags they are compiled: from compile_commands.json and the sources."""
import json
import os
import re
import shlex

KERNEL = re.compile(r"Kokkos::parallel_(for|reduce|scan)|KOKKOS_LAMBDA|KOKKOS_CLASS_LAMBDA|CAMBIUM_LAMBDA")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def text_of(path, cache={}):
    if path not in cache:
        try:
            with open(path, encoding="utf-8") as file:
                cache[path] = file.read()
        except OSError:
            cache[path] = ""
    return cache[path]


def included(path, roots):
    """Headers of the project that a file reaches, itself first."""
    seen, todo = [], [path]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.append(at)
        for name in INCLUDE.findall(text_of(at)):
            for root in [os.path.dirname(at)] + roots:
                candidate = os.path.normpath(os.path.join(root, name))
                if os.path.isfile(candidate):
                    todo.append(candidate)
                    break
    return seen


def members(path):
    """The sources behind a unity file, or the file itself."""
    if "/Unity/" not in path:
        return [path]
    return re.findall(r'#include "([^"]+)"', text_of(path))


def kept_flags(command, drop):
    """Definitions and include folders, without those of the Kokkos of this build."""
    words, out, k = shlex.split(command), [], 0
    while k < len(words):
        word = words[k]
        if word in ("-isystem", "-I"):
            if not drop(words[k + 1]):
                out += [word, words[k + 1]]
            k += 1
        elif word.startswith("-I") and not drop(word[2:]) or word.startswith("-D"):
            out.append(word)
        k += 1
    return out


def is_kokkos(folder):
    return any(os.path.isfile(os.path.join(folder, name)) for name in ("Kokkos_Core.hpp", "KokkosCore_config.h"))


def kernel_units(source, build):
    """(path, flags) of each unit of core and plugins, and of what is generated for them, that reaches a kernel."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        command = entry.get("command") or shlex.join(entry["arguments"])
        for path in members(os.path.normpath(os.path.join(entry["directory"], entry["file"]))):
            if path in found or not path.endswith(".cpp"):
                continue
            own = os.path.relpath(path, source)
            generated = os.path.relpath(path, build)
            if not own.startswith(("core/", "plugins/")) and not generated.startswith(("core/", "plugins/")):
                continue
            flags = kept_flags(command, is_kokkos)
            roots = [flag[2:] for flag in flags if flag.startswith("-I") and len(flag) > 2]
            if any(KERNEL.search(text_of(header)) for header in included(path, roots)):
                found[path] = flags
    return sorted(found.items())
