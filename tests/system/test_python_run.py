"""What cambium_io shows of a run, and its tables and files as pandas and xarray have them. The run is written here."""
import os
import sys
import unittest

import h5py
import numpy

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium_io  # noqa: E402

try:
    import pandas
    import xarray
except ImportError:
    pandas = xarray = None


def make_run(name):
    folder = program.fresh(name)
    os.makedirs(os.path.join(folder, "simulate"))
    program.write(os.path.join(folder, "log.txt"), "a log\n")
    program.write(os.path.join(folder, "simulate", "thermo.csv"), "step,time [ps],temperature [K]\n0,0,300\n10,0.05,310\n")
    os.makedirs(os.path.join(folder, "pod"))
    with h5py.File(os.path.join(folder, "pod", "pod.h5"), "w") as file:
        file["mode"] = numpy.arange(2.0)
        file["energy_share"] = numpy.array([0.75, 0.25])
        file["mode"].make_scale("mode")
        file["energy_share"].dims[0].attach_scale(file["mode"])
    return folder


class PythonRun(unittest.TestCase):
    def test_what_is_printed(self):
        folder = make_run("python_run_printed")
        run = cambium_io.Run(folder)
        self.assertEqual(sorted(repr(run).splitlines()), sorted([f"<Run {folder}: log.txt>", "  simulate: thermo.csv", "  pod: pod.h5"]))
        self.assertEqual(repr(run.thermo), f"<Table {folder}/simulate/thermo.csv: 2 rows of step, time (ps), temperature (K)>")

    @unittest.skipUnless(pandas, "SKIPPED: pandas and xarray are not installed")
    def test_pandas_and_xarray(self):
        run = cambium_io.Run(make_run("python_run_read"))
        frame = run.thermo.to_pandas()
        self.assertEqual(list(frame["temperature"]), [300, 310])
        self.assertEqual(frame.attrs["units"]["time"], "ps")
        self.assertEqual(list(run.pod["energy_share"].values), [0.75, 0.25])
        self.assertIsInstance(run.dataset("pod.h5"), xarray.Dataset)
        with self.assertRaisesRegex(FileNotFoundError, "has no forecast.h5; the stage forecast writes it"):
            run.forecast


if __name__ == "__main__":
    unittest.main()
