"""Runs a test script, or says why it is skipped."""
import runpy
import os
import sys

try:
    import h5py  # noqa: F401
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: {os.path.basename(sys.argv[1])}: python3 has no {missing.name} (Debian: python3-h5py python3-numpy)")
    sys.exit(77)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # where nobody says otherwise
os.environ.setdefault("KOKKOS_DISABLE_WARNINGS", "1")  # of two ranks with two threads on two cores: messages are compared word for word
os.makedirs(os.environ["CAMBIUM_SCRATCH"], exist_ok=True)
sys.path.insert(0, os.path.dirname(sys.argv[1]))
script = sys.argv.pop(1)
sys.argv[0] = script
runpy.run_path(script, run_name="__main__")
