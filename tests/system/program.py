"""Runs the cambium program for the system tests. Needs python3 with numpy and h5py."""
import os
import shutil
import subprocess

PROGRAM = os.environ["CAMBIUM_PROGRAM"]
SOURCE = os.environ["CAMBIUM_SOURCE"]
SCRATCH = os.environ["CAMBIUM_SCRATCH"]
MPIEXEC = os.environ["CAMBIUM_MPIEXEC"].split(";")


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


def write(path, text):
    with open(path, "w") as out:
        out.write(text)
    return path
