"""The part of test_opens.py about programs that rest on netCDF: both engines of xarray, ncdump, CDO."""
import glob
import os
import re
import shutil
import subprocess
import unittest

import h5py
import numpy as np

from opened_runs import LINES, RUNS, package, run


class Netcdf(unittest.TestCase):
    """Every HDF5 file that the page opens by xarray is one for all programs that rest on netCDF."""

    @staticmethod
    def files():
        """{path: group or None}, a file of each kind."""
        found = {}
        for name in RUNS:
            try:
                folder = run(name)
            except unittest.SkipTest:
                continue
            for path in sorted(glob.glob(os.path.join(folder, "*", "*.h5"))):
                line = LINES.get(os.path.basename(path), LINES.get(re.sub(r"\d+", "0", os.path.basename(path)), [""]))[0]
                if line.startswith("xarray."):
                    group = re.search(r'group="(\w+)"', line)
                    found.setdefault((name, os.path.basename(path)), (path, group and group[1]))
        return dict(found.values())

    def test_both_engines_of_xarray_give_the_same(self):
        xarray = package("xarray")
        engines = []
        for engine, needs in (("h5netcdf", "h5netcdf"), ("netcdf4", "netCDF4")):
            try:
                package(needs)
                engines.append(engine)
            except unittest.SkipTest:
                pass
        if not engines:
            self.skipTest("no engine")
        for path, group in self.files().items():
            with self.subTest(path):
                seen = []
                for engine in engines:
                    with xarray.open_dataset(path, engine=engine, group=group) as data:
                        seen.append(data.load())
                for other in seen[1:]:
                    xarray.testing.assert_equal(seen[0], other)
                    for name, variable in seen[0].variables.items():
                        self.assertEqual(variable.dims, other[name].dims)
                        self.assertEqual(set(variable.attrs), set(other[name].attrs))

    def test_ncdump_shows_every_array(self):
        if not shutil.which("ncdump"):
            print("SKIPPED: files opened by ncdump: it is not here (Debian: netcdf-bin)")
            self.skipTest("ncdump")
        for path, group in self.files().items():
            with self.subTest(path):
                done = subprocess.run(["ncdump", "-h", path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                with h5py.File(path) as file:
                    place = file[group] if group else file
                    arrays = [n for n in place if isinstance(place[n], h5py.Dataset)]
                    for name in (n for n in arrays if b"not a netCDF variable" not in place[n].attrs.get("NAME", b"")):
                        self.assertRegex(done.stdout, rf"(?m)^\s+\w+ {re.escape(name).replace('-', '.')}(\(.*\))? ;$")

    def test_cdo_reads_fields_over_latitude_and_longitude(self):
        if not shutil.which("cdo"):
            print("SKIPPED: fields opened by CDO: it is not here (Debian: cdo)")
            self.skipTest("cdo")
        folder = run("search")
        for path, name in ((os.path.join(folder, "synthetic_field", "field.h5"), "sst"), (os.path.join(folder, "pod", "pod.h5"), "modes")):
            with h5py.File(path) as file:
                values, lat, lon = np.asarray(file[name][1], dtype=float), file["lat"][:], file["lon"][:]
            which = "-seltimestep,2" if name == "sst" else "-sellevidx,2"
            done = subprocess.run(["cdo", "-s", "outputtab,lat,lon,value", which, f"-selname,{name}", path], capture_output=True, text=True)
            said = [line for line in done.stderr.splitlines() if "groups not supported" not in line]  # provenance and the like
            self.assertEqual((done.returncode, said), (0, []), path)
            rows = np.array([line.split() for line in done.stdout.splitlines() if not line.startswith("#")], dtype=float)
            y, x = np.meshgrid(lat, lon, indexing="ij")
            np.testing.assert_allclose(rows[:, 0], y.ravel(), rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(rows[:, 1], x.ravel(), rtol=1e-4, atol=1e-4)
            there = np.isfinite(values.ravel())
            self.assertTrue(there.any())
            if name == "sst":  # land is missing there, too
                done = subprocess.run(["cdo", "-s", "outputf,%.9g", "-fldmean,weights=FALSE", which, f"-selname,{name}", path],
                                      capture_output=True, text=True)
                np.testing.assert_allclose(float(done.stdout), np.nanmean(values), rtol=1e-5)
            np.testing.assert_allclose(rows[there, 2], values.ravel()[there], rtol=1e-4, atol=1e-6)
