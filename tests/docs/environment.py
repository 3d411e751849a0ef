#!/usr/bin/env python3
"""Every variable of the environment that the program reads is explained: environment.py SOURCE.

What the sources ask for stands in the table that the manual page prints (apps/cambium/command_line/environment.cpp), and what that
holds stands on docs/using/environment.md. Variables of MPI and of the shell are not ours to explain.
"""

import re
import sys
from pathlib import Path

OTHERS = {"PATH", "HOME", "USER", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}


def read_by_sources(root):
    for top in ("core", "plugins", "apps"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                pattern = r'getenv\("(\w+)"'
            elif path.suffix == ".py":
                pattern = r'os\.environ(?:\.get\(|\[)"(\w+)"|"(\w+)" in os\.environ'
            else:
                continue
            for match in re.finditer(pattern, path.read_text()):
                yield next(filter(None, match.groups())), path.relative_to(root)


def problems(root):
    table = set(re.findall(r'EnvironmentVariable\{\s*"(\w+)"', (root / "apps/cambium/command_line/environment.cpp").read_text()))
    page = set(re.findall(r"^\| `(\w+)` \|", (root / "docs/using/environment.md").read_text(), re.M))
    for name, path in read_by_sources(root):
        if name not in OTHERS | table:
            yield f"{path} reads {name}, which apps/cambium/command_line/environment.cpp does not name"
    for name in sorted(table ^ page):
        yield f"{name} stands {'in the table, not on the page' if name in table else 'on the page, not in the table'}"


if __name__ == "__main__":
    found = sorted(set(problems(Path(sys.argv[1]))))
    print("\n".join(found) or "every variable is explained")
    sys.exit(1 if found else 0)
