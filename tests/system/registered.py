"""What tests go through: the types of this build, by kind, and the decks that ship. New ones are found without being named here."""
import functools
import glob
import os
import re
import subprocess

import program

INPUTS = os.path.join(program.SOURCE, "inputs")


def types_in(listing):
    """{type: plugin} of what `cambium list KIND` prints."""
    return {name: plugin for name, plugin in re.findall(r"^  (\S+) +(\S+) ", listing, re.M)}


@functools.lru_cache(maxsize=None)
def types(kind):
    """{type: plugin} of the types of a kind, such as physics or writer; the plugin of those of the library is core."""
    return types_in(subprocess.run([program.PROGRAM, "list", kind], capture_output=True, text=True, check=True).stdout)


def plugins_of(deck):
    """Names on the list `plugins:` of a deck, given by its path or its text."""
    if "\n" not in deck:
        with open(deck, encoding="utf-8") as file:
            deck = file.read()
    named = re.search(r"^plugins: \[(.*)\]", deck, re.M)
    return [name.strip() for name in named[1].split(",")] if named else []


def built(plugins):
    """True if this build has all of these plugins."""
    return set(plugins) <= set(os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split())


def decks(inputs=INPUTS):
    """{name such as md/argon_melt: path} of all decks below a folder."""
    paths = sorted(glob.glob(os.path.join(inputs, "**", "*.yaml"), recursive=True))
    return {os.path.relpath(path, inputs)[:-len(".yaml")].replace(os.sep, "/"): path for path in paths}


def is_table_of_runs(deck):
    """True if the deck at this path has a block `sweep`."""
    with open(deck, encoding="utf-8") as file:
        return re.search(r"^sweep:", file.read(), re.M) is not None
