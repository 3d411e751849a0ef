"""No kernel calls what only the host has: growth of vectors, strings, exceptions, streams. Looks in the bodies of KOKKOS_LAMBDA.

usage: lambdas.py SOURCE. What a kernel calls in turn is for the compilers to find (compile.py).
"""
import os
import re
import sys

HOST_ONLY = re.compile(r"\bstd::(string|vector|map|set|cout|cerr|function|make_unique|make_shared)\b|\bthrow\b|\bfmt::|"
                       r"\.push_back\(|\.emplace_back\(|\bnew\s|\bmalloc\(|\bprintf\(|\bMPI_")
KERNEL = re.compile(r"\b(KOKKOS_LAMBDA|KOKKOS_CLASS_LAMBDA|CAMBIUM_LAMBDA)\b")


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)


def bodies(text):
    """(first character, body) of every kernel lambda."""
    for match in KERNEL.finditer(text):
        start = text.find("{", match.end())
        depth = 0
        for at in range(start, len(text)):
            depth += (text[at] == "{") - (text[at] == "}")
            if depth == 0:
                yield start, text[start : at + 1]
                break


def findings(path, text):
    text = without_comments(text)
    for start, body in bodies(text):
        for word in HOST_ONLY.finditer(body):
            line = text.count("\n", 0, start + word.start()) + 1
            yield f"{path}:{line}: '{word.group().strip()}' in a kernel: a device cannot run it; compute it before the kernel"


def check_itself():
    bad = "void f() {\n  parallel_for(n, KOKKOS_LAMBDA(int i) {\n    if (i) { throw 1; }  // std::string\n  });\n  std::string after;\n}"
    assert list(findings("x", bad)) == ["x:3: 'throw' in a kernel: a device cannot run it; compute it before the kernel"]


def main():
    check_itself()
    source, found, kernels = sys.argv[1], [], 0
    for part in ("core", "plugins"):
        for folder, _, files in os.walk(os.path.join(source, part)):
            for name in sorted(files):
                if name.endswith((".cpp", ".hpp")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                    kernels += len(KERNEL.findall(without_comments(text)))
                    found += findings(os.path.relpath(path, source), text)
    print("\n".join(found) or f"{kernels} kernels, none with a host-only word")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
