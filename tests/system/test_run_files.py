"""cambium.open: every file of a run comes as what it is. Tables keep integers, units and columns of one name, files of HDF5 without the layout of
netCDF come as arrays, and a file that is being written or is no text ends nothing."""
import json
import os
import sys
import unittest

import h5py
import numpy as np

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium  # noqa: E402


class RunFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("run_files")
        os.makedirs(os.path.join(cls.folder, "train"))

    def write(self, name, content):
        with open(os.path.join(self.folder, "train", name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def run_(self):
        return cambium.open(self.folder)

    def test_tables(self):
        self.write("a.csv", 'step,id,"loss [eV]",loss [K],name,gap\n' + "".join(f'{k},{2**60 + k},{k / 3!r},nan,"a, ""{k}""",{"" if k else 7}\n' for k in range(3)) +
                   "3,4,0.12")
        table = self.run_()["train/a.csv"]
        self.assertEqual(list(table), ["step", "id", "loss [eV]", "loss [K]", "name", "gap"])
        self.assertEqual(table["id"].tolist(), [2**60, 2**60 + 1, 2**60 + 2])
        self.assertEqual(table["loss [eV]"].tolist(), [0.0, 1 / 3, 2 / 3])
        self.assertEqual(table["name"].tolist(), ['a, "0"', 'a, "1"', 'a, "2"'])
        np.testing.assert_array_equal(table["gap"], [7, np.nan, np.nan])
        self.write("b.csv", "step,time [days since 2001-01-01 12:00:00],loss\n1,0.5,2\n2,1.5,1.2")
        table = self.run_()["train/b.csv"]
        self.assertEqual(table.units["time"], "days since 2001-01-01 12:00:00")
        self.assertEqual(table["step"].tolist(), [1])  # the last line is being written
        self.assertEqual(repr(table), f"<table {self.folder}/train/b.csv: 1 rows of step, time [days since 2001-01-01 12:00:00], loss>")
        self.write("c.csv", "")
        self.assertEqual(dict(self.run_()["train/c.csv"]), {})

    def test_hdf5_without_dimensions(self):
        with h5py.File(os.path.join(self.folder, "train", "model.h5"), "w") as file:
            file["weights/layers.0/w"] = np.arange(6.0).reshape(2, 3)
            file["text"] = "deck"
            file["pair"] = np.zeros(2, dtype=[("a", "f8"), ("b", "i4")])
        found = self.run_()["train/model.h5"]
        self.assertEqual(sorted(found), ["pair", "text", "weights/layers.0/w"])
        np.testing.assert_array_equal(found["weights/layers.0/w"], np.arange(6.0).reshape(2, 3))
        self.assertIn("weights/layers.0/w", repr(found))
        np.testing.assert_array_equal(self.run_()["train/model.h5/weights/layers.0/w"], np.arange(6.0).reshape(2, 3))
        self.assertEqual(list(self.run_()["train/model.h5/weights"]), ["layers.0/w"])
        with self.assertRaisesRegex(KeyError, "no group or array 'weight' in .*model.h5'; it has: pair, text, weights"):
            self.run_()["train/model.h5/weight"]

    def test_other_files(self):
        self.write("events", b"\x18\x00\x00\x00\xff\xfe")
        self.write("x.npy", b"")
        np.save(os.path.join(self.folder, "train", "x.npy"), np.arange(3))
        self.write("note.txt", "größer\n")
        self.write("results.json", json.dumps({"results": [{"key": "loss", "value": None, "unit": "K"}, {"key": "n", "value": 3, "unit": ""}]}))
        run = self.run_()
        self.assertEqual(run["train/events"], b"\x18\x00\x00\x00\xff\xfe")
        self.assertEqual(run["train/x.npy"].tolist(), [0, 1, 2])
        self.assertEqual(run["train/note.txt"], "größer\n")
        self.assertTrue(np.isnan(run.results["train"]["loss"][0]))
        self.assertEqual(run.results["train"]["n"], (3, ""))
        os.symlink("nowhere", os.path.join(self.folder, "train", "link"))
        self.assertIn("train/note.txt", repr(self.run_()))
        with self.assertRaisesRegex(KeyError, "no file 'train/nothing.csv'"):
            run["train/nothing.csv"]


if __name__ == "__main__":
    unittest.main()
