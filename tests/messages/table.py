"""A table of refusals: decks that cannot work beside the words with which the program says so.

    table = Table("kinetic", DECK)
    table.says("'species' is empty; give at least one", STAGE + "species=[]")
    table.run()

Each case changes the deck by overrides (or names another deck, or a whole command) and must end with the given exit code and the
given message, word for word from its first letter to its last; place and key before it, and the count of problems or the file with
the state after it, are left open.
All cases of a table run in one process (many_commands.cpp). Called with -v the table prints what was said.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

FRAME = re.compile(r"(\n?[0-9]+ problems? in .*|; the state is in \S+)$")
MPI = os.environ.get("CAMBIUM_MPIEXEC", "mpiexec").split(";")


def matches(text, message):
    """Whether the text ends with the message; of a tuple, whether it holds its pieces one after the other (a path that varies)."""
    if isinstance(message, tuple):
        return bool(re.search(".*".join(map(re.escape, message)), text, re.S))
    return message is None or text == message or text.endswith((": " + message, "\n" + message))


def built_with(library):
    """Whether the program was built with an optional library: torch, netcdf."""
    return library in os.environ.get("CAMBIUM_BUILT_WITH", "").split(";")


class Table:
    def __init__(self, name, deck=""):
        self.folder = os.path.join(os.environ["CAMBIUM_SCRATCH"], "refusals_" + name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.name, self.cases = name, []
        self.file("deck.yaml", deck)

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content):
        """Writes a file beside the deck: text, bytes, or a dictionary of HDF5 arrays (name -> array or (array, attributes); no array:
        a group)."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        if isinstance(content, dict):
            import h5py

            with h5py.File(self.path(name), "w") as file:
                for key, value in content.items():
                    value, attributes = value if isinstance(value, tuple) else (value, {})
                    if value is None:
                        node = file.require_group(key)
                    else:
                        node = file if key == "/" else file.create_dataset(key, data=value)
                    node.attrs.update(attributes)
        else:
            with open(self.path(name), "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        return name

    def says(self, message, *overrides, deck="deck.yaml", command="check", code=2, ranks=1):
        """The deck with the overrides, or the words of `command` where it is a list, gives the message and the exit code. What an
        earlier case left in the run directory is nobody's."""
        words = list(command) if isinstance(command, list) else [command, deck, *overrides, *["--overwrite"] * (command == "run")]
        self.cases.append((message, words, code, ranks))

    def begins(self, *overrides, deck="deck.yaml", command="run"):
        """Runs a deck that works, at once: what it writes is there for the cases, and for changes of its files."""
        words = list(command) if isinstance(command, list) else [command, deck, *overrides, *["--overwrite"] * (command == "run")]
        text, code = self.said([os.environ["CAMBIUM_MANY_COMMANDS"], json.dumps(words)])[0]
        if code != 0:
            sys.exit(f"{self.name}: {' '.join(words)} should work, but ends with {code}: {text}")

    def interrupts(self, *overrides, deck="deck.yaml"):
        """A run whose stages are done, made to look like one that was killed after its last checkpoint. Its checkpoints forget their
        deck, so that what reads them meets the changed keys that a restart refuses before."""
        import h5py

        self.begins(*overrides, deck=deck)
        folder = self.path(next(o.split("=")[1] for o in overrides if o.startswith("run.directory=")))
        os.remove(os.path.join(folder, "stages_done.txt"))
        for path in glob.glob(os.path.join(folder, "*", "restart.*.h5")):
            with h5py.File(path, "r+") as file:
                file["cambium"].attrs["deck"] = ""

    def answers(self, program):
        """What each case said, with its exit code; all cases on one rank share a process."""
        lines = "".join(json.dumps(words) + "\n" for _, words, _, ranks in self.cases if ranks == 1)
        together = iter(self.said([program], lines))
        for _, words, _, ranks in self.cases:
            if ranks == 1:
                yield next(together, ("nothing: an earlier case ended the process", -1))
            else:
                yield self.said([*MPI, "-np", str(ranks), program, json.dumps(words)])[0]

    def said(self, command, lines=""):
        try:
            error = subprocess.run(command, cwd=self.folder, input=lines, text=True, capture_output=True, timeout=90).stderr
        except subprocess.TimeoutExpired as late:
            error = (late.stderr or b"").decode() + "\nno answer within 90 s"
        answers = [(text.strip(), int(code)) for text, code in re.findall(r"(.*?)\n\x1e(\d+)\n", error, re.S)]
        rest = error.rsplit("\x1e", 1)[-1].strip()
        return answers if answers and rest.isdigit() else [*answers, (rest, -1)]

    def run(self):
        """Ends the program: 1 where a case was not refused in its words."""
        wrong = 0
        for (message, words, code, _), (text, found) in zip(self.cases, self.answers(os.environ["CAMBIUM_MANY_COMMANDS"])):
            text = re.sub(r"^cambium: (numerical failure: )?", "", FRAME.sub("", text))
            good = found == code and matches(text, message)
            wrong += not good
            if not good:
                print(f"{self.name}: {' '.join(words)}\n  expected ({code}) {message}\n  found    ({found}) {text}")
            elif "-v" in sys.argv:
                print(f"{found} {text}")
        print(f"{self.name}: {len(self.cases)} cases, {wrong} wrong")
        sys.exit(1 if wrong else 0)
