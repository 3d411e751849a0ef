"""What plugins draw of their runs. A plugin may have a file python/pictures.py, which defines any of:

    pictures(folder, scratch)   PNG files drawn into the empty folder `scratch`, as a list of paths, of the folder of a stage; an
                                empty list where the stage's files are not the plugin's (both arguments are of pathlib.Path)
    panels(run)                 functions that draw on a matplotlib axes each, for plot_run.py, of a cambium_io.Run
    view(path, names)           how `cambium plot` and `cambium movie` draw one file, of a pathlib.Path: an object with `count` moments
                                and figure(frame), as those of cambium_views; None for files that are not the plugin's. `names`: the
                                quantities that --show asks for, or nothing
    tables(folder)              tables for the page of `cambium report`: a list of (title, headings, rows), a row being its name
                                followed by numbers, and `headings` those of the numbers
    SUMMARIES                   names of CSV files of a stage whose columns that page sums up, besides those of every simulation
                                and training

It may import the modules beside it and those of this folder (cambium_io, cambium_style, cambium_curves). Names of modules are shared
by all plugins, so they tell the plugin. A picture or table that fails costs its own place in the page only.

Found are the plugins of the source tree, or of an installation those in share/cambium/plugins; and in each folder of
CAMBIUM_PLUGIN_PATH the file python/pictures.py beside the library.
"""

import functools
import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1] if HERE.parent.name == "apps" else HERE.parent  # the source tree, or share/cambium


def files():
    """{name of a plugin: its pictures.py}; one outside the tree has the name of the library that it lies beside."""
    found = {path.parts[-3]: path for path in sorted(ROOT.glob("plugins/*/python/pictures.py"))}
    for folder in (Path(name) for name in os.environ.get("CAMBIUM_PLUGIN_PATH", "").split(":") if name):
        path = folder / "python" / "pictures.py"
        if path.is_file():
            library = next(iter(sorted(folder.glob("*.cambium.so"))), folder.resolve())
            found[library.name.split(".")[0]] = path.resolve()
    return found


def load(name, path):
    """The module of a plugin; None, and a warning, where it cannot be imported."""
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"pictures_of_{name}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        print(f"warning: the pictures of plugin '{name}' are left out: {error} ({path})", file=sys.stderr)
        return None
    return module


@functools.lru_cache(maxsize=None)
def modules():
    """{name of a plugin: its module}, each loaded once."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    loaded = {name: load(name, path) for name, path in files().items()}
    return {name: module for name, module in loaded.items() if module}


def asked(what, arguments):
    """([everything that the plugins' functions `what` return], [problems in words]); arguments(name) are those for one plugin."""
    found, problems = [], []
    for name, module in modules().items():
        if hasattr(module, what):
            try:
                found += getattr(module, what)(*arguments(name))
            except (Exception, SystemExit) as error:
                problems.append(f"the plugin '{name}' could not draw this stage: {error or type(error).__name__}")
    return found, problems


def pictures(folder, scratch):
    """(PNG files of the folder of a stage, problems); each plugin draws into a folder of its own below `scratch`."""
    def arguments(name):
        (scratch / name).mkdir()
        return folder, scratch / name

    return asked("pictures", arguments)


def panels(run):
    """Functions that draw on axes. Here an error is the caller's: there is one picture, which would lack something unseen."""
    return [panel for module in modules().values() if hasattr(module, "panels") for panel in module.panels(run)]


def view(path, names):
    """A plugin's own view of a file (cambium_views says what that is), or None where no plugin knows it better than its names and
    units tell. Errors are the caller's."""
    for module in modules().values():
        found = module.view(path, names) if hasattr(module, "view") else None
        if found:
            return found
    return None


def tables(folder):
    """([(title, headings, rows)], problems) of the folder of a stage."""
    return asked("tables", lambda name: (folder,))


def summaries():
    """Names of CSV files that a page sums up for plugins."""
    return {name for module in modules().values() for name in getattr(module, "SUMMARIES", ())}
