"""`cambium plot` of files that others made (packed netCDF, longitudes across Greenwich, other calendars), of parity files, into a disk that is
full, and into a pipe that nobody reads to its end."""
import os
import subprocess
import sys
import unittest

import numpy as np

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
try:
    import h5py
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as missing:
    print(f"SKIPPED: pictures of other programs' files: {missing} (Debian: python3-matplotlib python3-h5py)")
    sys.exit(77)
import cambium_cf  # noqa: E402
import cambium_io  # noqa: E402
import cambium_views  # noqa: E402

os.environ["CAMBIUM_PYTHON"] = sys.executable
FOLDER = program.fresh("foreign_pictures")


def netcdf(name, axes, arrays):
    """A file as netCDF-4 lays it out: axes {name: (values, attributes)}, arrays {name: (dimensions, values, attributes)}."""
    path = os.path.join(FOLDER, name)
    with h5py.File(path, "w") as file:
        for axis, (values, attributes) in axes.items():
            file[axis] = values
            file[axis].make_scale(axis)
            file[axis].attrs.update(attributes)
        for array, (dimensions, values, attributes) in arrays.items():
            file[array] = values
            file[array].attrs.update(attributes)
            for k, dimension in enumerate(dimensions):
                file[array].dims[k].attach_scale(file[dimension])
    return path


def write_classic(path, version, dimensions, records, variables, stream=False):
    """netCDF as Unidata's specification of the classic formats lays it out; a dimension of None has `records` records."""
    wide, kinds = version == 5, {"S": 2, ">i2": 3, ">i4": 4, ">f4": 5, ">f8": 6}

    def number(value, size=None):
        return int(value).to_bytes(size or (8 if wide else 4), "big")

    def words(data):
        return number(len(data)) + data + bytes(-len(data) % 4)

    def listed(tag, items):
        return (number(tag, 4) + number(len(items)) if items else bytes(4) + number(0)) + b"".join(items)

    def attribute(name, value):
        if isinstance(value, str):
            return words(name.encode()) + number(2, 4) + words(value.encode())
        value = np.asarray(value)
        value = value.astype(value.dtype.newbyteorder(">"))
        data = value.tobytes()
        return words(name.encode()) + number(kinds[value.dtype.str], 4) + number(value.size) + data + bytes(-len(data) % 4)

    names = list(dimensions)
    moving = [name for name, (dims, *_) in variables.items() if dimensions[dims[0]] is None]
    arrays = {name: np.asarray(values).astype(np.asarray(values).dtype.newbyteorder(">")) for name, (_, values, _) in variables.items()}
    each = {name: arrays[name][0].nbytes if name in moving else arrays[name].nbytes for name in variables}
    room = {name: size if len(moving) == 1 and name in moving else size + -size % 4 for name, size in each.items()}

    def header(begins):
        return (b"CDF" + bytes([version]) + (b"\xff" * (8 if wide else 4) if stream else number(records))
                + listed(10, [words(name.encode()) + number(length or 0) for name, length in dimensions.items()]) + listed(12, [])
                + listed(11, [words(name.encode()) + number(len(dims)) + b"".join(number(names.index(d)) for d in dims)
                              + listed(12, [attribute(*one) for one in attrs.items()]) + number(kinds[arrays[name].dtype.str], 4)
                              + number(room[name]) + number(begins[name], 4 if version == 1 else 8) for name, (dims, _, attrs) in variables.items()]))

    place, begins = len(header(dict.fromkeys(variables, 0))), {}
    for name in [n for n in variables if n not in moving] + moving:
        begins[name] = place
        place += room[name]
    with open(path, "wb") as file:
        file.write(header(begins))
        for name in (n for n in variables if n not in moving):
            file.write(arrays[name].tobytes() + bytes(room[name] - each[name]))
        for record in range(records):
            for name in moving:
                file.write(arrays[name][record:record + 1].tobytes() + bytes(room[name] - each[name]))


NORTH, EAST = {"units": "degrees_north"}, {"units": "degrees_east"}
LAT, LON = np.arange(80.0, -81.0, -20.0), np.arange(0.0, 360.0, 30.0)


def packed(name="packed.nc", **more):
    """Monthly means from 10 to 30 degrees, as 16-bit numbers with land; and the values."""
    raw = np.round(1000 * np.cos(np.radians(LAT))[None, :, None] + 10 * np.arange(3)[:, None, None] + 0 * LON).astype("i2")
    raw[:, :2, 3:5] = -32768
    attributes = {"scale_factor": 0.02, "add_offset": 10.0, "_FillValue": np.int16(-32768), "units": "degC", **more}
    path = netcdf(name, {"time": ([0.0, 31.0, 59.0], {"units": "days since 2001-01-01 12:00:00"}), "lat": (LAT, NORTH), "lon": (LON, EAST)},
                  {"sst": (("time", "lat", "lon"), raw, attributes)})
    return path, np.where(raw == -32768, np.nan, raw * 0.02 + 10.0)


def drawn(path, names=None, frame=None):
    """The first map of a file: (x of the faces, y of the faces, values [y][x])."""
    figure = cambium_io.plot(path, names, frame=frame) if frame is not None else cambium_io.plot(path, names)
    mesh = figure.axes[0].collections[0]
    corners = mesh.get_coordinates()
    values = np.ma.filled(np.ma.masked_invalid(mesh.get_array()).reshape(corners.shape[0] - 1, -1), np.nan)
    title = figure._suptitle.get_text() if figure._suptitle else ""
    plt.close(figure)
    return corners[0, :, 0], corners[:, 0, 1], values, title


class OfOthers(unittest.TestCase):
    def test_packed_numbers_are_unpacked_and_land_is_a_hole(self):
        path, values = packed()
        code, out, error = program.run("plot", path, "-o", os.path.join(FOLDER, "packed.png"))
        self.assertEqual((code, error), (0, ""), out)
        x, y, shown, title = drawn(path)
        np.testing.assert_allclose(shown, values[2])
        self.assertEqual((title, x[0], y[0]), ("2001-03-01", -15.0, 90.0))
        self.assertLess(y[-1], y[0])  # the first row is the northernmost

    def test_marks_of_no_value(self):
        values = np.array([[1.0, -999.0, 3.0], [4.0, 5.0, 600.0]])
        axes = {"y": ([0.0, 1.0], {}), "x": ([0.0, 1.0, 2.0], {})}
        for number, (attributes, right) in enumerate((({"missing_value": np.float32(-999)}, [[1, np.nan, 3], [4, 5, 600]]),
                                                      ({"valid_range": np.array([0.0, 10.0])}, [[1, np.nan, 3], [4, 5, np.nan]]),
                                                      ({"valid_max": 10.0}, [[1, -999, 3], [4, 5, np.nan]]),
                                                      ({"missing_value": np.array([-999.0, 600.0])}, [[1, np.nan, 3], [4, 5, np.nan]]),
                                                      ({"_FillValue": "none"}, values))):
            path = netcdf(f"marks_{number}.nc", axes, {"a": (("y", "x"), values, attributes)})
            np.testing.assert_array_equal(cambium_cf.open(path)["a"][:], right)
        path = netcdf("unsigned.nc", axes, {"a": (("y", "x"), np.array([[0, 1, 2], [127, -128, -1]], "i1"),
                                                  {"_Unsigned": "true", "_FillValue": np.int8(-1), "scale_factor": 2.0})})
        np.testing.assert_array_equal(cambium_cf.open(path)["a"][:], [[0, 2, 4], [254, 256, np.nan]])

    def test_a_region_across_greenwich_stays_in_one_piece(self):
        for number, (longitudes, first, last) in enumerate(((np.r_[345:360, 0:16], -15, 15), (np.r_[170:181, -179:-169], 170, 190),
                                                            (np.r_[180:360, 0:180], -180, 179), (np.arange(360), 0, 359), (np.arange(-180, 180), -180, 179))):
            for kind in ("f8", "i4"):
                path = netcdf(f"wrapped_{number}_{kind}.nc", {"lat": ([-10.0, 0.0, 10.0], NORTH), "lon": (longitudes.astype(kind), EAST)},
                              {"t": (("lat", "lon"), np.add.outer([0.0, 1.0, 2.0], np.arange(len(longitudes))), {"units": "K"})})
                x, _, shown, _ = drawn(path)
                np.testing.assert_allclose(x, np.arange(first, last + 2) - 0.5)
                np.testing.assert_array_equal(shown[0], np.arange(len(longitudes)))

    def test_calendars_without_dates_of_ours_keep_their_days(self):
        axes = {"lat": (LAT, NORTH), "lon": (LON, EAST), "time": ([0.0, 30.0, 60.0], {"units": "days since 2001-01-01", "calendar": "360_day"})}
        path = netcdf("noleap.nc", axes, {"t": (("time", "lat", "lon"), np.arange(3)[:, None, None] + np.add.outer(LAT, LON), {"units": "K"})})
        self.assertEqual(cambium_cf.open(path).label("time"), "time (days since 2001-01-01)")
        self.assertEqual(drawn(path)[3], "time = 60 days since 2001-01-01")

    def test_classic_netcdf_is_read_as_the_same_file_in_netcdf_4(self):
        """By hand, from the specification of the format: one record variable (not padded), several of them, none, and an array of shorts."""
        times, axes = np.array([0.0, 31.0, 59.0]), {"lat": (LAT, NORTH), "lon": (LON, EAST)}
        sst = np.round(100 * np.cos(np.radians(LAT))[None, :, None] + 10 * np.arange(3)[:, None, None] + LON).astype(">i2")
        sst[:, :2, 3:5] = -32768
        marks = {"scale_factor": np.array([0.5]), "add_offset": np.array([10.0]), "_FillValue": np.array([-32768], ">i2"), "units": "degC"}
        for version in (1, 2, 5):
            for kind, of_records in (("fixed", False), ("records", True)):
                path = os.path.join(FOLDER, f"{kind}_{version}.nc")
                write_classic(path, version, {"time": None if of_records else 3, "lat": len(LAT), "lon": len(LON)}, 3,
                              {"time": (("time",), times, {"units": "days since 2001-01-01 12:00:00"}), **{k: ((k,), *v) for k, v in axes.items()},
                               "sst": (("time", "lat", "lon"), sst, marks)})
                x, y, shown, title = drawn(path)
                np.testing.assert_allclose(shown, np.where(sst[2] == -32768, np.nan, 0.5 * sst[2].astype(float) + 10.0))
                self.assertEqual((title, x[0], y[0]), ("2001-03-01", -15.0, 90.0))
        path = os.path.join(FOLDER, "alone.nc")  # a single record variable: records of 6 bytes, without padding
        write_classic(path, 1, {"n": None, "x": 3}, 4, {"a": (("n", "x"), np.arange(12).reshape(4, 3).astype(">i2"), {})}, stream=True)
        np.testing.assert_array_equal(cambium_cf.open(path)["a"][:], np.arange(12).reshape(4, 3))

    def test_classic_netcdf_of_another_library(self):
        try:
            from scipy.io import netcdf_file
        except ImportError as missing:
            self.skipTest(str(missing))
        path = os.path.join(FOLDER, "scipy.nc")
        values = np.add.outer(np.arange(5.0), np.add.outer(LAT, LON))
        with netcdf_file(path, "w", version=2) as file:
            for name, axis, unit in (("time", None, "days since 2001-01-01"), ("lat", LAT, "degrees_north"), ("lon", LON, "degrees_east")):
                file.createDimension(name, None if axis is None else len(axis))
                one = file.createVariable(name, "f8", (name,))
                one[:] = np.arange(5.0) if axis is None else axis
                one.units = unit
            file.createVariable("t", "f4", ("time", "lat", "lon"))[:] = values
            file.createVariable("n", "i2", ("time",))[:] = np.arange(5)
        found = cambium_cf.open(path)
        np.testing.assert_allclose(found["t"][:], values)
        np.testing.assert_array_equal(found["n"][:], np.arange(5))
        self.assertEqual(str(found.coordinate("time")[4])[:10], "2001-01-05")

    def test_tables_of_others(self):
        """Blanks in the header, a column of texts, cells without a value; more rows than bars can be told apart."""
        path = os.path.join(FOLDER, "table.csv")
        with open(path, "w") as file:
            file.write("x, y [mm], site\n" + "".join(f"{(7 * k) % 100}, {'' if k == 5 else k / 2}, {'ab'[k % 2]}\n" for k in range(100)))
        figure = cambium_io.plot(path)
        line, = figure.axes[0].lines
        np.testing.assert_array_equal(line.get_xdata(), [(7 * k) % 100 for k in range(100)])
        np.testing.assert_array_equal(line.get_ydata(), [np.nan if k == 5 else k / 2 for k in range(100)])
        self.assertEqual((line.get_linestyle(), figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()), ("None", "x", "y (mm)"))
        plt.close(figure)
        with open(path, "w") as file:
            file.write("depth,salt\n" + "".join(f"{k},{'NA' if k == 5 else k / 2}\n" for k in range(100)))
        figure = cambium_io.plot(path)
        line, = figure.axes[0].lines  # the first column increases: a curve
        self.assertEqual((line.get_linestyle(), len(line.get_xdata())), ("-", 100))
        plt.close(figure)

    def test_spellings_of_tables(self):
        """Semicolons with decimal commas, tabs, comments in front, a mark of the byte order; and numbers without names."""
        path = os.path.join(FOLDER, "spelt.csv")
        for text in ("a;b [m]\n1;2,5\n2,5e1;-,5\n", "a\tb [m]\n1\t2.5\n25\t-.5\n", "# taken in May\n# twice\na, b [m]\n1, 2.5\n25, -.5\n",
                     "\ufeffa,b [m]\r\n1,2.5\r\n25,-.5\r\n"):
            with open(path, "w", newline="", encoding="utf-8") as file:
                file.write(text)
            table = cambium_io.Table(path)
            self.assertEqual((table.names, table.units), (["a", "b"], {"a": "", "b": "m"}))
            np.testing.assert_array_equal(table["a"], [1.0, 25.0])
            np.testing.assert_array_equal(table["b"], [2.5, -0.5])
        with open(path, "w") as file:
            file.write("1,2\n3,4\n5,6\n")
        code, _, error = program.run("plot", path)
        self.assertEqual((code, error), (2, f"cambium: '{path}' has numbers in its first line, where names of its columns were expected; "
                                            "write them there: x,y,value\n"))

    def test_what_is_not_drawn_says_why(self):
        classic = os.path.join(FOLDER, "classic.nc")
        with open(classic, "wb") as file:
            file.write(b"CDF\x01" + bytes(8))
        code, _, error = program.run("plot", classic)
        self.assertEqual((code, error), (2, f"cambium: '{classic}' ends within its header\n"))
        grouped = os.path.join(FOLDER, "grouped.h5")
        with h5py.File(grouped, "w") as file:
            file["model/weights"] = np.ones(3)
        code, _, error = program.run("plot", grouped)
        self.assertEqual((code, error), (2, f"cambium: '{grouped}' holds no array but in groups (model), which are not drawn; in Python: "
                                            "xarray.open_dataset('grouped.h5', group='model')\n"))


class Parity(unittest.TestCase):
    def test_every_quantity_of_the_file_is_a_plot(self):
        path = os.path.join(FOLDER, "parity.h5")
        with h5py.File(path, "w") as file:
            for name, unit, numbers in (("energy", "eV/atom", [1.0, 2.0]), ("force", "eV/angstrom", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])):
                group = file.create_group(name)
                group.attrs["unit"] = unit
                group["reference"], group["predicted"] = np.array(numbers), np.array(numbers) + 0.5
        self.assertEqual(program.run("plot", path, "-o", os.path.join(FOLDER, "parity.png"))[::2], (0, ""))
        figure = cambium_io.plot(path)
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes], ["Energy: RMSE 500 meV/atom", "Force: RMSE 500 meV/Å"])
        np.testing.assert_array_equal(figure.axes[1].lines[1].get_xdata(), np.arange(6.0))
        plt.close(figure)
        with self.assertRaisesRegex(cambium_views.NothingToDraw, "has no 'virial' to show; it has: energy, force"):
            cambium_views.open_view(path, ["virial"])


class Disk(unittest.TestCase):
    def test_a_full_disk_ends_with_a_sentence(self):
        path, _ = packed("to_full.nc")
        target = os.path.join(FOLDER, "full.png")
        os.symlink("/dev/full", target)
        code, out, error = program.run("plot", path, "-o", target)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(error, f"cambium: cannot write '{target}': No space left on device; make room or name another location by -o\n")

    def test_a_page_that_finds_no_room(self):
        import report

        with self.assertRaisesRegex(SystemExit, r"report: cannot write pictures into '.*': No space left on device; make room or set TMPDIR"):
            with report.room_for_pictures("report"):
                raise OSError(28, os.strerror(28))
        with self.assertRaisesRegex(OSError, "Permission denied"):
            with report.room_for_pictures("report"):
                raise OSError(13, os.strerror(13))

    def test_a_page_into_a_full_disk(self):
        import report
        from pathlib import Path

        target = Path(FOLDER) / "full.html"
        target.symlink_to("/dev/full")
        with self.assertRaisesRegex(SystemExit, r"report: cannot write '.*full\.html': No space left on device; make room or name another location by -o"):
            report.write_page(target, "<html>" + 10000 * "x")
        self.assertTrue(target.is_char_device(), "a device is not replaced by a file")

    def test_long_lines_of_a_page_are_wrapped(self):
        import report

        self.assertIn("pre { background: #f6f7f9; padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere;", report.document("a", []))

    def test_a_reader_that_leaves_stops_no_picture(self):
        run = os.path.join(FOLDER, "run")
        os.makedirs(run)
        for name in "abc":
            os.rename(packed(name + ".h5")[0], os.path.join(run, name + ".h5"))
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(program.command("plot", run), stdout=writing, stderr=subprocess.PIPE, text=True)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(run)), sorted(f"{name}.h5{suffix}" for name in "abc" for suffix in ("", ".png")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
