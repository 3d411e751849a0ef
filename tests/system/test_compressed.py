"""Fields written with `compress` are read by h5py through the filter in lib/hdf5, and lie within their bound of those
of the same run without it; `cambium compress` and `decompress` do the same to files that exist."""
# needs: superres
import os
import shutil
import subprocess
import sys
import unittest

import program

DECK = os.path.join(program.SOURCE, "inputs", "superres", "compressed_output.yaml")


class Compressed(unittest.TestCase):
    def fields(self, name, *options):
        folder = program.fresh(name)
        code, out, error = program.run("run", DECK, "--test-size", f"run.directory={folder}", *options)
        self.assertEqual(code, 0, error)
        import h5py
        self.folder = os.path.join(folder, "simulate")
        with h5py.File(os.path.join(self.folder, "fields.h5")) as file:
            return out, {field: file["tasks"][field][:].astype(float) for field in "pbuw"}

    def test_bound_and_reading(self):
        import h5py
        # The build folder may lie anywhere; beside the sources or an installation cambium_io finds the filter itself.
        h5py.h5pl.prepend(os.fsencode(os.path.join(os.path.dirname(program.PROGRAM), "..", "lib", "hdf5")))
        out, stored = self.fields("compressed")
        self.assertIn("times smaller", out)
        with h5py.File(os.path.join(self.folder, "learned.h5")) as file:
            learned = {field: file["tasks"][field][:].astype(float) for field in "pbuw"}
        _, plain = self.fields("not_compressed", "stages[0].simulate.output=[{type: fields, interval: 0.25}]")
        for field, exact in plain.items():
            for frame, kept, corrected in zip(exact, stored[field], learned[field]):
                self.assertLessEqual(abs(frame - kept).max(), 1e-4 * (frame.max() - frame.min()))
                self.assertLessEqual(abs(frame - corrected).max(), 1e-3 * (frame.max() - frame.min()))
        self.assertGreater(max(abs(plain[f] - stored[f]).max() for f in plain), 0.0)

    def fronts(self, folder):
        """A file of another program: a series that can grow, a single field, numbers that are none, text and scales."""
        import h5py
        import numpy as np
        i, j, k = np.indices((32, 40, 40)).astype(float)
        frames = np.array([np.tanh(0.8 * (i - 14 - t + 5 * np.sin(0.25 * j) * np.cos(0.2 * k))) for t in range(3)], dtype="f4")
        frames[1, 3, 4, 5] = np.nan
        path = os.path.join(folder, "plain.h5")
        with h5py.File(path, "w") as file:
            series = file.create_dataset("run/series", data=frames, maxshape=(None, 32, 40, 40), chunks=(1, 32, 40, 40))
            series.attrs["units"] = "m/s"
            file["run/x"] = np.arange(40.0)
            file["run/x"].make_scale("x")
            series.dims[3].attach_scale(file["run/x"])
            file["single"] = frames[0].astype("f8")
            file["counts"] = np.arange(5000)
            file["words"] = ["one", "two"]
            file["again"] = file["single"]
            file.attrs["title"] = "fronts"
        return path, frames

    def test_files_that_exist(self):
        import h5py
        import numpy as np
        h5py.h5pl.prepend(os.fsencode(os.path.join(os.path.dirname(program.PROGRAM), "..", "lib", "hdf5")))
        folder = program.fresh("compress_files")
        os.makedirs(folder, exist_ok=True)
        path, frames = self.fronts(folder)
        sizes = {}
        for fit in ("every_frame", "first_frame"):
            packed, back = (os.path.join(folder, f"{name}_{fit}.h5") for name in ("packed", "back"))
            code, out, error = program.run("compress", path, packed, "relative=1e-3", "type=learned", f"fit={fit}")
            self.assertEqual(code, 0, error)
            self.assertRegex(out, "HDF5_PLUGIN_PATH=.*lib/hdf5, or after `cambium decompress")
            code, out, error = program.run("decompress", packed, back)
            self.assertEqual(code, 0, error)
            for name in (packed, back):
                with h5py.File(name) as file:
                    series = file["run/series"]
                    self.assertEqual(series.attrs["units"], "m/s")
                    self.assertEqual(file.attrs["title"], "fronts")
                    self.assertEqual(series.maxshape[0], None)
                    self.assertEqual(series.dims[3][0].name, "/run/x")
                    self.assertTrue(np.isnan(series[1, 3, 4, 5]))
                    for frame, kept in zip(frames.astype(float), series[:].astype(float)):
                        self.assertLessEqual(np.nanmax(abs(frame - kept)), 1e-3 * (np.nanmax(frame) - np.nanmin(frame)))
                    self.assertLessEqual(abs(file["single"][:] - frames[0]).max(), 1e-3 * (frames[0].max() - frames[0].min()))
                    self.assertTrue((file["counts"][:] == np.arange(5000)).all())
                    self.assertEqual([word.decode() for word in file["words"][:]], ["one", "two"])
                    self.assertEqual(file["again"], file["single"])
            sizes[fit] = os.path.getsize(packed)
            self.assertLess(sizes[fit] * 5, os.path.getsize(path))
            with h5py.File(back) as file:
                for name in ("run/series", "single"):
                    self.assertEqual(file[name].id.get_create_plist().get_nfilters(), 0)

    def strange(self, path):
        """A file with everything that HDF5 has and a simple copy loses."""
        import h5py
        import numpy as np
        smooth = np.cumsum(np.random.default_rng(1).standard_normal((40, 60)), axis=1)
        with h5py.File(path, "w", track_order=True) as file:
            for name in ("z", "a", "m"):
                file.create_dataset(name, data=smooth.astype("f4"), track_order=True)
                for key in ("units", "about", "long"):
                    file[name].attrs[key] = key
            ordered = file.create_group("ordered", track_order=True)
            ordered["z"], ordered["a"] = 1, 2
            file["g/inner"] = smooth
            file["soft"], file["nowhere"], file["up"] = h5py.SoftLink("/g/inner"), h5py.SoftLink("/not/there"), h5py.SoftLink("/")
            file["outside"], file["gone"] = h5py.ExternalLink("other.h5", "/x"), h5py.ExternalLink("gone.h5", "/x")
            file["g/root"] = file["/"]
            file.attrs["first"], file["g"].attrs["inner"] = file["z"].ref, file["g/inner"].ref
            file.create_dataset("references", data=np.array([file["a"].ref, file["g"].ref], dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)
            file.create_dataset("part", data=file["z"].regionref[2:5, 3:7], dtype=h5py.regionref_dtype)
            file["axis"] = np.linspace(0.0, 1.0, 2400)
            file["axis"].make_scale("axis")
            file["long"] = smooth.reshape(1, 2400)
            file["long"].dims[1].attach_scale(file["axis"])
            file["type"] = np.dtype("f8")
            file.create_dataset("typed", data=smooth, dtype=file["type"])
            file.create_dataset("line", data=smooth.ravel(), maxshape=(None,), chunks=(100,), fillvalue=-9.0)
            file.create_dataset("columns", data=smooth, maxshape=(40, None), chunks=(8, 8))
            file.create_dataset("packed", data=smooth, compression="gzip", shuffle=True, fletcher32=True)
            file["eight"] = smooth.reshape(1, 40, 1, 3, 1, 5, 1, 4)
            file["other_order"], file["half"] = smooth.astype(">f8"), smooth.astype("f2")
            file["scalar"], file["empty"], file["null"] = 3.5, np.zeros((0, 5)), h5py.Empty("f8")
        with h5py.File(os.path.join(os.path.dirname(path), "other.h5"), "w") as file:
            file["x"] = np.arange(5.0)
        return smooth

    def test_all_else_survives(self):
        import h5py
        import numpy as np
        h5py.h5pl.prepend(os.fsencode(os.path.join(os.path.dirname(program.PROGRAM), "..", "lib", "hdf5")))
        folder = program.fresh("compress_strange")
        path, packed, back = (os.path.join(folder, name) for name in ("plain.h5", "packed.h5", "back.h5"))
        smooth = self.strange(path)
        code, out, error = program.run("compress", path, packed, "absolute=0.01", "--fewest", "1")
        self.assertEqual(code, 0, error)
        for line in ("/axis +is copied as it is: it is the scale of a dimension",
                     "/other_order +is copied as it is: its values have the byte order of other machines",
                     "/half +is copied as it is: its values have 16 bits, not 32 or 64", r"packed.h5: 10 arrays of "):
            self.assertRegex(out, line)
        code, out, error = program.run("compress", os.path.join(folder, "other.h5"), os.path.join(folder, "small.h5"), "absolute=0.01")
        self.assertEqual(code, 0, error)
        self.assertIn("other.h5' holds no real array of 1024 values or more: the copy is not compressed; --fewest sets that number", out)
        self.assertNotIn("decompress", out)
        code, out, error = program.run("compress", packed, os.path.join(folder, "twice.h5"), "absolute=0.01")
        self.assertEqual(code, 0, error)
        self.assertRegex(out, "/z +is copied as it is: it is compressed already, and errors would add up")
        code, _, error = program.run("decompress", packed, back)
        self.assertEqual(code, 0, error)
        for name in (packed, back):
            with self.subTest(file=name), h5py.File(path) as old, h5py.File(name) as new:
                self.assertEqual((list(new), list(new["ordered"])), (list(old), ["z", "a"]))
                self.assertEqual(list(new["z"].attrs), ["units", "about", "long"])
                for link in ("soft", "nowhere", "up", "outside", "gone"):
                    mine, theirs = new.get(link, getlink=True), old.get(link, getlink=True)
                    self.assertEqual((type(mine), vars(mine)), (type(theirs), vars(theirs)))
                self.assertEqual(new["g/root"], new["/"])
                self.assertEqual(new["outside"][:].tolist(), [0, 1, 2, 3, 4])
                self.assertEqual([new[r].name for r in (new.attrs["first"], new["g"].attrs["inner"], *new["references"][:])], ["/z", "/g/inner", "/a", "/g"])
                self.assertEqual(new["z"][new["part"][()]].shape, old["z"][old["part"][()]].shape)
                self.assertEqual(new["axis"][:].tobytes(), old["axis"][:].tobytes())
                self.assertEqual(new["long"].dims[1][0].name, "/axis")
                self.assertEqual(new[new["axis"].attrs["REFERENCE_LIST"][0][0]].name, "/long")
                for key in ("z", "g/inner", "typed", "line", "columns", "packed", "eight", "other_order", "half", "long"):
                    self.assertEqual((new[key].dtype, new[key].maxshape, new[key].fillvalue), (old[key].dtype, old[key].maxshape, old[key].fillvalue))
                    bound = 0.0 if key in ("other_order", "half") else 0.01
                    self.assertLessEqual(abs(new[key][()].astype(float) - old[key][()].astype(float)).max(), bound, key)
                self.assertEqual((new["scalar"][()], new["empty"].shape, new["null"].shape), (3.5, (0, 5), None))
        self.assertLess(abs(smooth).max(), 1e3)

    def test_missing_values(self):
        """Numbers that stand for missing ones come back as they are, and are no part of a range: 9.97e36 would allow any error."""
        import h5py
        import numpy as np
        h5py.h5pl.prepend(os.fsencode(os.path.join(os.path.dirname(program.PROGRAM), "..", "lib", "hdf5")))
        folder = program.fresh("compress_missing")
        smooth = np.cumsum(np.random.default_rng(2).standard_normal((3, 40, 60)), axis=2).astype("f4")
        gap = np.zeros(smooth.shape, bool)
        gap[:, 10:20, 5:25] = True
        sets = {"fill": (-999.0, {"_FillValue": np.float32(-999.0)}), "missing": (1e20, {"missing_value": np.array([1e20], "f4")}),
                "library": (9.96921e36, {})}
        path = os.path.join(folder, "plain.h5")
        with h5py.File(path, "w") as file:
            for name, (fill, attributes) in sets.items():
                values = np.where(gap, np.float32(fill), smooth)
                more = {"fillvalue": fill} if name == "library" else {}
                file.create_dataset(name, data=values, maxshape=(None, 40, 60), chunks=(1, 40, 60), **more).attrs.update(attributes)
        for number, keys in enumerate((["relative=1e-3"], ["relative=1e-3", "type=learned"], ["relative=1e-3", "type=learned", "fit=first_frame"], ["psnr=60"])):
            with self.subTest(keys=keys):
                packed, back = (os.path.join(folder, f"{name}_{number}.h5") for name in ("packed", "back"))
                for call in (["compress", path, packed, *keys], ["decompress", packed, back]):
                    code, _, error = program.run(*call)
                    self.assertEqual(code, 0, error)
                for place in (packed, back):
                    with h5py.File(place) as file:
                        for name, (fill, _) in sets.items():
                            found = file[name][:]
                            self.assertEqual(found[gap].tobytes(), np.full(gap.sum(), fill, "f4").tobytes())
                            for frame, kept, hole in zip(smooth.astype(float), found.astype(float), gap):
                                seen = frame[~hole]
                                error = abs(seen - kept[~hole])
                                spread = seen.max() - seen.min()
                                if "psnr=60" in keys:
                                    self.assertGreaterEqual(20 * np.log10(spread / np.sqrt((error**2).mean())), 60)
                                else:
                                    self.assertLessEqual(error.max(), 1e-3 * spread)

    def test_a_filter_that_is_not_there(self):
        """Away from a build the reader finds no filter, and says how to go on."""
        folder = program.fresh("compress_no_filter")
        os.makedirs(folder, exist_ok=True)
        import h5py
        import numpy as np
        plain, packed = os.path.join(folder, "fields.h5"), os.path.join(folder, "packed.h5")
        with h5py.File(plain, "w") as file:
            file["tasks/b"] = np.sin(0.01 * np.arange(4096)).reshape(4, 32, 32)
            file["scales/sim_time"], file["scales/x"], file["scales/z"] = np.arange(4.0), np.arange(32.0), np.arange(32.0)
        code, _, error = program.run("compress", plain, packed, "relative=1e-3")
        self.assertEqual(code, 0, error)
        alone = os.path.join(folder, "a", "b", "c", "d", "e")
        os.makedirs(alone)
        for name in ("cambium_io.py", "cambium_results.py"):
            shutil.copy(os.path.join(program.SOURCE, "apps", "python", name), alone)
        environment = {key: value for key, value in os.environ.items() if key not in ("HDF5_PLUGIN_PATH", "PYTHONPATH")}
        said = subprocess.run([sys.executable, "-c", f"import cambium_io; cambium_io.open_fields({packed!r})"], cwd=alone, env=environment,
                              capture_output=True, text=True)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn(f"'{packed}' holds compressed fields, and Cambium's filter for HDF5 was not found: name its folder in HDF5_PLUGIN_PATH "
                      "(lib/hdf5 of a build, lib/cambium/hdf5 of an installation), or make a plain file with `cambium decompress "
                      f"{packed} OUT`", said.stderr)

    def test_h5dump_reads_through_the_filter(self):
        if not shutil.which("h5dump"):
            self.skipTest("h5dump is not installed")
        folder = program.fresh("compress_dump")
        os.makedirs(folder, exist_ok=True)
        path, _ = self.fronts(folder)
        packed = os.path.join(folder, "packed.h5")
        code, _, error = program.run("compress", path, packed, "relative=1e-2", "type=learned")
        self.assertEqual(code, 0, error)
        plugins = os.path.join(os.path.dirname(program.PROGRAM), "..", "lib", "hdf5")
        dump = subprocess.run(["h5dump", "-d", "/single", "-s", "0,0,0", "-c", "1,1,3", packed], capture_output=True, text=True,
                              env={**os.environ, "HDF5_PLUGIN_PATH": plugins})
        self.assertEqual(dump.returncode, 0, dump.stderr)
        self.assertRegex(dump.stdout, r"\(0,0,0\): -")


if __name__ == "__main__":
    unittest.main(verbosity=2)
