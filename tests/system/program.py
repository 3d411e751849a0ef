"""Runs the cambium program for the system tests. Needs python3 with numpy and h5py."""
import ctypes
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

PROGRAM = os.environ["CAMBIUM_PROGRAM"]
SOURCE = os.environ["CAMBIUM_SOURCE"]
SCRATCH = os.environ["CAMBIUM_SCRATCH"]
MPIEXEC = os.environ["CAMBIUM_MPIEXEC"].split(";")


def better_blas():
    """Kernels that OpenBLAS should be told to take, where it does not know this processor and would take those of an old one; else empty. The
    program tells it itself, starting once more; commands that share a process with a test (many_commands) cannot."""
    try:
        chosen = ctypes.CDLL("libopenblas.so.0").openblas_get_corename
    except (OSError, AttributeError):
        return ""
    chosen.restype = ctypes.c_char_p
    with open("/proc/cpuinfo") as file:
        flags = set(re.search(r"^flags\s*:(.*)$", file.read() + "\nflags:\n", re.M)[1].split())
    if chosen().decode().upper() in ("SKYLAKEX", "COOPERLAKE", "SAPPHIRERAPIDS", "HASWELL", "ZEN"):
        return ""
    return "SKYLAKEX" if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags else "HASWELL" if {"avx2", "fma"} <= flags else ""


#: What the environment did not say: then all processes of a test compute with the same kernels.
TOLD_BLAS = "" if "OPENBLAS_CORETYPE" in os.environ else better_blas()
if TOLD_BLAS:
    os.environ["OPENBLAS_CORETYPE"] = TOLD_BLAS


def fresh(name):
    """An empty folder for one test."""
    path = os.path.join(SCRATCH, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def command(*arguments, ranks=1):
    launcher = MPIEXEC + ["-np", str(ranks)] if ranks > 1 else []
    return launcher + [PROGRAM, *arguments]


def run(*arguments, ranks=1, cwd=None, limit=900):
    """(exit code, standard output, standard error)"""
    done = subprocess.run(command(*arguments, ranks=ranks), cwd=cwd or SCRATCH, capture_output=True, text=True,
                          timeout=limit)
    return done.returncode, done.stdout, done.stderr


def draw_nothing(case):
    """setUpClass of tests that look at no page: drawing one takes longer than small runs do, and without a Python there is none."""
    python = os.environ.get("CAMBIUM_PYTHON", sys.executable)
    os.environ["CAMBIUM_PYTHON"] = "/usr/bin/false"
    case.addClassCleanup(os.environ.__setitem__, "CAMBIUM_PYTHON", python)


def processes_of(folder):
    """Numbers of the running processes of this program whose command line names the folder, ended ones left out."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words and words[0] == PROGRAM.encode() and any(folder.encode() in w for w in words):
            found.append(int(path.split("/")[2]))
    return sorted(found)


def kill_ranks(launched, folder):
    """Ends the ranks of a run with SIGKILL, then what launched them: a launcher that is killed alone may leave them behind."""
    while True:
        ranks = processes_of(folder)
        for number in ranks:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if launched.poll() is None:
            launched.kill()
        if not ranks and launched.poll() is not None:
            return
        time.sleep(0.01)


def write(path, text):
    with open(path, "w") as out:
        out.write(text)
    return path
