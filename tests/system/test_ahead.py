"""Forecasts beyond the last date: the file in xarray and netCDF4, its dates in the series' calendar, its maps put together again by
numpy, drawn with north above, and how often the test years were looked at."""
# needs: podlstm
import json
import os
import sys
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: ahead, directory: RUN, seed: 3}
plugins: [podlstm]
stages:
  - synthetic_field: {weeks: 260, latitudes: 10, longitudes: 20}
  - pod:
      field: {files: ["{run}/synthetic_field/field.h5"], array: sst, missing: land}
      modes: 3
      training: 200
      weights: cos_latitude
      anomalies: {harmonics: 2, standardise: true}
  - forecast:
      data: {series: {file: "{run}/pod/pod.h5"}, window: 4, horizon: 6, folds: 2}
      ahead: 5
      members: 40
      index: [{name: nino34, lat: [-10, 10], lon: [190, 240]}]
"""


class Ahead(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("ahead")
        cls.run_folder = os.path.join(cls.folder, "run")
        deck = os.path.join(cls.folder, "ahead.yaml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK.replace("RUN", cls.run_folder))
        for more in ([], ["--overwrite"]):
            code, _, said = program.run("run", deck, *more)
            assert code == 0, said
        cls.file = os.path.join(cls.run_folder, "forecast", "ahead.nc")

    def test_maps_are_those_of_the_members(self):
        with h5py.File(self.file) as file, h5py.File(os.path.join(self.run_folder, "pod", "pod.h5")) as pod:
            members, valid, issued = file["coefficients"][()], file["valid_time"][()], file["issued"][()]
            self.assertEqual(members.shape, (40, 5, 3))
            np.testing.assert_allclose(valid, issued + 7.0 * np.arange(1, 6))
            self.assertEqual(issued, pod["time"][-1])
            angle = 2.0 * np.pi * valid[:, None] / pod["climatology"].attrs["period"] * np.array([1.0, 2.0])
            waves = np.stack([np.cos(angle[:, 0]), np.sin(angle[:, 0]), np.cos(angle[:, 1]), np.sin(angle[:, 1])], 1)
            background = pod["mean"][()] + np.einsum("hj,jyx->hyx", waves, pod["climatology"][()])
            fields = background + pod["norm"][()] * np.einsum("ehk,kyx->ehyx", members, pod["modes"][()])
            spread = np.sqrt(fields.var(0, ddof=1) + pod["residual_rms"][()] ** 2)
            np.testing.assert_allclose(file["sst_spread"][()], spread, rtol=1e-8)
            error = np.nanmax(np.abs(file["sst"][()] - fields.mean(0)) / np.nanmax(fields.std(0)))
            self.assertLess(error, 0.7)  # the forecast is the mean that the members scatter about: 1 / sqrt(40) and what is left
            lat, lon = file["lat"][()], file["lon"][()]
            box = (np.abs(lat)[:, None] <= 10) & (lon >= 190) & (lon <= 240)
            weight = np.where(box, np.cos(np.radians(lat))[:, None], 0.0)
            np.testing.assert_allclose(file["nino34"][()], (np.nan_to_num(fields) * weight).sum((2, 3)) / weight.sum(), rtol=1e-8)

    def test_looks_at_the_test_years_are_counted(self):
        with open(os.path.join(self.run_folder, "forecast", "selection.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["test_evaluations"], 2)

    def test_opens_in_xarray(self):
        try:
            import xarray
        except ImportError:
            self.skipTest("python3 has no xarray (Debian: python3-xarray)")
        data = xarray.open_dataset(self.file)
        self.assertEqual(data["sst"].dims, ("valid_time", "lat", "lon"))
        self.assertEqual(str(data["valid_time"].values[0])[:10], "2004-12-25")
        self.assertEqual(str(data["issued"].values)[:10], "2004-12-18")
        self.assertEqual(data["sst"].attrs["units"], "degC")
        self.assertEqual(data["nino34"].attrs["units"], "degC")
        self.assertEqual(data["coefficients"].attrs["units"], "1")  # of standardised cells

    def test_is_drawn_with_north_above(self):
        sys.path[:0] = [os.path.join(os.environ["CAMBIUM_SOURCE"], "plugins", "podlstm", "python"), os.path.join(os.environ["CAMBIUM_SOURCE"], "apps", "python")]
        try:
            import plot_podlstm
        except ImportError as missing:
            self.skipTest(f"python3 has no {missing.name}")
        axes = [axis for axis in plot_podlstm.ahead_figure(self.file).axes if axis.get_xlabel()]
        maps = [axis for axis in axes if axis.collections]
        self.assertEqual(len(maps), 4)
        for axis in maps:
            low, high = axis.get_ylim()
            self.assertLess(low, high)
        self.assertIn("2004-12-25", maps[0].get_title(loc="left"))


unittest.main()
