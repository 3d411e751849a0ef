#!/usr/bin/env bash
# Open MPI 4.1.4 and mpi4py 3.1.4 (Debian 4.1.4-3+b1, 3.1.4-2+b2): a launcher that a Python program starts after it has imported MPI.
# Most would expect `subprocess.run(["mpirun", ...])` from a program that was itself started without mpirun to run, since os.environ names no
# variable of a launcher, or to say why not.
# Seen: MPI_Init of a lone process puts variables of Open MPI and PMIx into the environment of the process behind os.environ's back. Children
# inherit them; mpirun then ends with 1 and prints nothing. With env=dict(os.environ), which looks like the default, it runs.
# What it means: give env=dict(os.environ) to launchers that a notebook or a script with mpi4py starts.
. "$(dirname "$0")/debian.sh"
packages python3-mpi4py=3.1.4-2+b2 openmpi-bin=4.1.4-3+b1
cat >launch.py <<'PYTHON'
import os
import subprocess

from mpi4py import MPI

assert MPI.COMM_WORLD.size == 1
inherited = {line.split("=")[0] for line in subprocess.run(["env"], capture_output=True, text=True).stdout.splitlines()}
hidden = inherited - set(os.environ)
print("variables that children have and os.environ lacks:", "some, PMIX_RANK among them" if "PMIX_RANK" in hidden else sorted(hidden))
for words, options in (("as it is", {}), ("env=dict(os.environ)", {"env": dict(os.environ)})):
    done = subprocess.run(["mpirun", "--oversubscribe", "-np", "2", "echo", "here"], capture_output=True, text=True, **options)
    print(f"mpirun, {words}: ends with {done.returncode}, prints {done.stdout.split()}, says {len(done.stderr.split())} words")
PYTHON
libraries=$root/usr/lib/x86_64-linux-gnu
export OPAL_PREFIX=$root/usr PATH=$root/usr/bin:$PATH LD_LIBRARY_PATH=$libraries:$libraries/openmpi/lib OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ln -sf orterun "$root/usr/bin/mpirun"
seen "variables that children have and os.environ lacks: some, PMIX_RANK among them
mpirun, as it is: ends with 1, prints [], says 0 words
mpirun, env=dict(os.environ): ends with 0, prints ['here', 'here'], says 0 words" "$(python launch.py 2>&1)"
