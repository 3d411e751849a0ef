"""What every notebook begins with: the program, the sizes, a run from a deck, a comparison with a known number.

    CAMBIUM                    the program, when it is not ../build/bin/cambium or that of the installation
    CAMBIUM_TUTORIAL_QUICK=1   small sizes: seconds instead of minutes, and numbers that mean less
    CAMBIUM_TUTORIAL_RUNS      where runs are written; tutorials/runs of a source tree, else ./runs, when absent
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INPUTS = ROOT / "inputs"
QUICK = os.environ.get("CAMBIUM_TUTORIAL_QUICK", "0") not in ("", "0")
INSTALLED = not (ROOT / "apps").is_dir()  # share/cambium of an installation
RUNS = Path(os.environ.get("CAMBIUM_TUTORIAL_RUNS", Path("runs") if INSTALLED else HERE / "runs")).resolve()
PYTHON = ROOT / "python" if INSTALLED else ROOT / "apps" / "python"
PROGRAMS = ROOT.parent.parent / "bin" if INSTALLED else ROOT / "build" / "bin"
LAST_PAGE = ("Loop ", "band energy", "label: ", "RMSE of", "orthonormal to")

sys.path[:0] = [str(PYTHON), *map(str, sorted(ROOT.glob("plugins/*/python")))]
import cambium_io  # noqa: E402
import cambium_parity  # noqa: E402,F401  (for the notebooks)
from cambium_style import COLOURS, SEQUENCE, STYLE  # noqa: E402,F401  (for the notebooks)


def size(full, quick):
    """The size of a calculation: `full` for a reader, `quick` for a test."""
    return quick if QUICK else full


def style():
    """The look of all pictures."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({**STYLE, "figure.dpi": 110, "figure.constrained_layout.use": True})
    plt.rcParams["axes.prop_cycle"] = plt.cycler(color=COLOURS)


def program(name="cambium", variable="CAMBIUM"):
    """Path of an executable of the build; a FileNotFoundError proposes what to do when there is none."""
    given = os.environ.get(variable)
    path = Path(given) if given else PROGRAMS / name
    if path.is_file() and os.access(path, os.X_OK):
        return str(path.resolve())
    build = "install it again" if INSTALLED else f"build it with {ROOT}/quickstart"
    raise FileNotFoundError(f"there is no program '{path}'; {build}, or name one in the environment: "
                            f"export {variable}=/path/to/{name}")


def built(name, variable):
    """Whether an executable of the build is there."""
    try:
        return bool(program(name, variable))
    except FileNotFoundError:
        return False


def knows(kind, name):
    """Whether this build has a type: networks written with Torch, for instance, may be missing."""
    return subprocess.run([program(), "doc", kind, name], capture_output=True).returncode == 0


def launcher(ranks):
    """mpirun for several ranks; more ranks than cores are allowed, since these runs are small."""
    if ranks == 1:
        return []
    mpirun = os.environ.get("CAMBIUM_MPIEXEC", "mpirun --oversubscribe").replace(";", " ").split()
    if not shutil.which(mpirun[0]):
        raise FileNotFoundError(f"there is no '{mpirun[0]}'; install Open MPI (Debian: openmpi-bin) or set CAMBIUM_MPIEXEC")
    return [*mpirun, "-np", str(ranks)]


def call(command, where=None, environment=None):
    """Runs a command; returns what it printed. A failure shows the end of its output and ends the notebook there."""
    whole = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ, **(environment or {})}
    done = subprocess.run([str(c) for c in command], cwd=where, env=whole, capture_output=True, text=True)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
        raise RuntimeError(f"{' '.join(str(c) for c in command)}\nended with exit code {done.returncode}:\n{tail}")
    return done.stdout


def cambium(*arguments, ranks=1, where=None):
    """Runs `cambium ARGUMENTS`, on several ranks if asked; returns what it printed."""
    return call([*launcher(ranks), program(), *arguments], where)


def shorter(path):
    """A path as seen from the notebooks where that is shorter."""
    return min(os.path.relpath(path, HERE), str(path), key=len)


def last_page(text):
    """The summary of every stage: from the line that begins it to the next stage."""
    lines, inside = [], False
    for line in text.splitlines():
        inside = (inside or line.startswith(LAST_PAGE)) and not line.startswith("--- stage")
        if inside:
            lines.append(line)
    return "\n".join(lines)


def run(name, deck, *overrides, ranks=1, show=True):
    """Writes the deck beside its run (or takes one of inputs/ by its path), runs it, shows the summary.

    name: of the run's folder, which is made anew. deck: YAML text, or a Path. Returns a cambium_io.Run.
    """
    folder = RUNS / name
    shutil.rmtree(folder, ignore_errors=True)
    RUNS.mkdir(parents=True, exist_ok=True)
    path = deck
    if not isinstance(deck, Path):
        path = RUNS / f"{name}.yaml"
        path.write_text(deck)
    options = [f"run.directory={folder}", *overrides]
    shown = ["$", *launcher(ranks), "cambium run", shorter(path)] + [f'"{o}"' for o in overrides]
    print(" ".join(shown))
    text = cambium("run", path, *options, ranks=ranks)
    if show:
        print(last_page(text))
    return cambium_io.Run(folder)


def compare(what, found, known, unit, source, within, quick=None):
    """Prints a result beside a known number and raises when they differ by more than the share `within`.

    quick: the share at test size; None there only prints.
    """
    away = found / known - 1.0
    bound = quick if QUICK else within
    print(f"{what}: {found:.5g} {unit}   known: {known:.5g} {unit} ({source})   difference {100 * away:+.2f} %")
    if bound is not None and not abs(away) <= bound:
        raise AssertionError(f"{what} differs from {source} by {100 * away:+.2f} %, more than {100 * bound:g} %")


def skipped(what, why):
    """Says that a part of the notebook was left out."""
    print(f"SKIPPED: {what}: {why}")
