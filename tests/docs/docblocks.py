"""The code blocks of the documentation, and a shell in which they run.

A comment on the line before a block says how it is taken:
  <!-- not run: REASON -->               it cannot run here
  <!-- small: KEY=VALUE ... -->          overrides that make the runs of this block tiny
  <!-- before: COMMAND -->               runs before the block, unseen (several, joined by ;)
  <!-- part of: stages -->               YAML: these are stages; part of: stages[0].train, keys of that stage
  <!-- write: FILE -->                   the text of a file
  <!-- edit: FILE block TEXT -->         replaces the braces (or one statement) that begin in the line with TEXT
  <!-- edit: FILE line TEXT -->          replaces the line with TEXT;  lines TEXT..TEXT: from the one to the other
  <!-- fails: TEXT --> <!-- refuses: TEXT -->   the commands end in an error, and say TEXT
"""

import os
import re
import shlex
import signal
import stat
import subprocess

BLOCK = re.compile(r"(?:^<!-- (?P<how>[a-z ]+): ?(?P<what>.*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.S | re.M)
COMMANDS = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(cambium|build/bin/cambium|mpirun|srun|sbatch|python3|cmake|ctest|ninja|make|\./\S+|apt-get|module) ", re.M)


class Block:
    def __init__(self, page, match, text):
        self.page, self.line = page, text.count("\n", 0, match.start("language")) + 1
        self.how, self.what = match.group("how") or "", (match.group("what") or "").strip()
        self.language, self.text = match.group("language"), match.group("text")

    def place(self):
        return f"{self.page}:{self.line}"


def blocks_of(root, page):
    with open(os.path.join(root, page), encoding="utf-8") as file:
        text = file.read()
    return [Block(page, m, text) for m in BLOCK.finditer(text)]


class Shell:
    """Runs the commands of a page in a folder of its own that looks like the root of a source tree with a build."""

    def __init__(self, folder, root, build, mpiexec, python):
        root, build = os.path.abspath(root), os.path.abspath(build)  # the starters below run in other folders
        self.folder, self.small = os.path.abspath(folder), ""
        folder = self.folder
        self.environment = dict(os.environ, CAMBIUM=build, PATH=f"{folder}/.bin:{os.environ['PATH']}", OMP_NUM_THREADS="1")
        os.makedirs(f"{folder}/.bin")
        os.makedirs(f"{folder}/build/bin")
        for name in ("inputs", "machines", "apps", "tests", "docs"):
            os.symlink(os.path.join(root, name), f"{folder}/{name}")
        program = f"""#!/bin/sh
verb=$1
case "$verb" in
  run|sweep) shift; exec "{build}/bin/cambium" "$verb" "$@" --test-size $CAMBIUM_SMALL ;;
  *) exec "{build}/bin/cambium" "$@" ;;
esac
"""
        for path, text in ((".bin/cambium", program), ("build/bin/cambium", program),
                           (".bin/mpirun", f'#!/bin/sh\nexec {" ".join(map(shlex.quote, mpiexec))} "$@"\n'),
                           (".bin/python3", f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n')):
            self.write(path, text)
            os.chmod(os.path.join(folder, path), stat.S_IRWXU)

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, commands, small="", limit=240):
        """(exit code, all output). Variables that a block exports stay for the next one."""
        script = f"set -e\n{commands}\nenv -0 > .environment\n"
        environment = dict(self.environment, CAMBIUM_SMALL=small)
        process = subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what the shell had started, too
            return 124, f"still running after {limit} s"
        path = os.path.join(self.folder, ".environment")
        if process.returncode == 0 and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.environment = dict(e.split("=", 1) for e in file.read().split("\0") if "=" in e)
        return process.returncode, output


def replaced(text, what, new):
    """`text` with the place that an edit names replaced by `new`."""
    kind, key = what.split(" ", 1)
    first, _, last = key.partition("..")
    begin = text.find(first)
    if begin < 0:
        raise LookupError(f"'{first}' is not there")
    begin = text.rfind("\n", 0, begin) + 1
    if kind == "block":
        end = closing_brace(text, begin)
    else:
        end = text.index(last, begin) if last else begin
    end = text.find("\n", end) + 1
    return text[:begin] + new + text[end:]


def closing_brace(text, begin):
    depth = 0
    for k in range(text.index("{", begin), len(text)):
        depth += (text[k] == "{") - (text[k] == "}")
        if depth == 0:
            return k
    raise LookupError("a brace is not closed")
