"""Tables in text as a data set: whatever way a table is spelt, the same samples as arrays of HDF5; training has the same bits, on any number of
ranks."""
import os
import random
import unittest

import h5py
import numpy as np

import program

TRAIN = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [6], input: x, target: y, precision: float64}
      dataset: DATA
      hold_out: 0.2
      batch: 16
      steps: 30
      optimizer: adam
      learning_rate: {type: constant, start: 0.01}
"""
PREDICT = """
run: {name: p, directory: DIR}
stages:
  - predict: {model: MODEL, dataset: DATA}
"""
LINES = 40


class Csv(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("csv")
        rng = np.random.default_rng(4)
        cls.x = rng.uniform(-1, 1, (LINES, 2))
        cls.y = np.sin(2 * cls.x[:, 0]) + cls.x[:, 1]
        cls.id = np.arange(LINES) * 3 + 2**60
        with h5py.File(cls.path("plain.h5"), "w") as file:
            file["x"], file["y"], file["id"] = cls.x, cls.y, cls.id
            file["y"].attrs["unit"] = "kW"
        cls.write("plain.csv", cls.spelt(None))
        cls.trained("h5", f"{{type: hdf5, files: [{cls.path('plain.h5')}], fields: [{{name: x}}, {{name: y}}]}}")
        cls.model = cls.path("h5", "train", "model.h5")

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    @classmethod
    def trained(cls, name, data, ranks=1):
        deck = program.write(cls.path(name + ".yaml"), TRAIN.replace("DIR", cls.path(name)).replace("DATA", data))
        code, out, error = program.run("run", deck, ranks=ranks)
        assert code == 0, out + error

    def same_weights(self, name, other):
        with h5py.File(self.path(name, "train", "model.h5")) as ours, h5py.File(self.path(other, "train", "model.h5")) as theirs:
            arrays = []
            theirs["weights"].visititems(lambda key, item: arrays.append(key) if isinstance(item, h5py.Dataset) else None)
            self.assertTrue(arrays)
            for key in arrays:
                np.testing.assert_array_equal(ours["weights"][key][()], theirs["weights"][key][()])

    @classmethod
    def spelt(cls, choose):
        """The table in one of many spellings that mean the same; None: the plainest."""
        pick = choose.choice if choose else lambda values: values[0]
        separator = pick([",", ";", "\t"])
        order = pick([0, 1]) and choose.sample(range(5), 5) or range(5)
        columns = [(pick(["a [m]", "a"]), cls.x[:, 0]), ("b, the second" if separator == "," and choose else "b", cls.x[:, 1]), ("y [kW]", cls.y),
                   ("id", cls.id), ("note", None)]
        comma = separator != "," and pick([False, True])
        end = pick(["\n", "\r\n"])

        def cell(value, row):
            if value is None:
                return pick(["none", '"two, parts"', '"of\ntwo lines"', '"a ""word"""', "größer", ""])
            if value.dtype.kind == "i":
                return pick(["{}", '"{}"', "+{}", " {} "]).format(value[row])
            text = pick([repr, "{:.17e}".format, "{:.17E}".format])(float(value[row]))
            text = text.replace(".", ",") if comma else text
            return pick(["{}", '"{}"', " {}"]).format(text) if separator != "," or not comma else text

        def name(text):
            return f'"{text}"' if separator in text or pick([0, 0, 1]) else text

        lines = [separator.join(name(columns[k][0]) for k in order)]
        lines += [separator.join(cell(columns[k][1], row) for k in order) for row in range(LINES)]
        remarks = pick(["", "# made by hand" + end, "# a; b, c" + end + "#" + end])
        text = remarks + (end * pick([1, 2])).join(lines) + pick([end, "", end + end])
        return pick(["", "\ufeff"]) + text

    @staticmethod
    def data(path, second="b", fields="{name: y}, {name: id}"):
        return f"{{type: csv, files: ['{path}'], fields: [{{name: x, columns: [a, '{second}']}}, {fields}]}}"

    def test_classes_in_text(self):
        """Categories are read as their indices: weights of the same bits as with numbered classes, on two ranks, too."""
        words = ["None", "größer", "a, b"]
        of_line = [(7 * k) % 3 for k in range(LINES)]
        rows = [f"{a!r},{b!r}" for a, b in self.x]
        self.write("numbered.csv", "a,b,kind\n" + "".join(f"{row},{k}\n" for row, k in zip(rows, of_line)))
        self.write("worded.csv", "a,b,kind\n" + "".join(f'{row},"{words[k]}"\n' for row, k in zip(rows, of_line)))
        for name, field, ranks in (("numbered", "name: kind", 1), ("worded", "name: kind, categories: ['None', größer, 'a, b']", 1),
                                   ("worded", "name: kind, categories: ['None', größer, 'a, b']", 2)):
            deck = TRAIN.replace("target: y, precision: float64", "target: kind, precision: float64, objective: classification").replace(
                "      batch: 16\n", "      batch: 16\n      reduce: {mode: ordered}\n").replace("DIR", self.path(f"{name}_{ranks}")).replace(
                "DATA", f"{{type: csv, files: ['{self.path(name + '.csv')}'], fields: [{{name: x, columns: [a, b]}}, {{{field}}}]}}")
            code, out, error = program.run("run", program.write(self.path("classes.yaml"), deck), ranks=ranks)
            self.assertEqual(code, 0, out + error)
            self.same_weights(f"{name}_{ranks}", "numbered_1")

    def test_spellings(self):
        for seed in range(30):
            text = self.spelt(random.Random(seed))
            self.write("spelt.csv", text)
            second = "b, the second" if "b, the second" in text else "b"
            deck = program.write(self.path("spelt.yaml"), PREDICT.replace("DIR", self.path("spelt")).replace("MODEL", self.model).replace(
                "DATA", self.data(self.path("spelt.csv"), second)))
            code, out, error = program.run("run", deck, "--overwrite", ranks=1 + seed % 2)
            self.assertEqual(code, 0, f"{seed}: {out + error}\n{text[:500]}")
            with h5py.File(self.path("spelt", "predict", "predicted.h5")) as file:
                np.testing.assert_array_equal(file["id"][()], self.id, err_msg=f"{seed}: {text[:500]}")
                if seed == 0:
                    first = file["output"][()]
                np.testing.assert_array_equal(file["output"][()], first, err_msg=f"{seed}: {text[:500]}")

    def test_training_has_the_bits_of_arrays(self):
        for ranks in (1, 2, 4):
            name = f"csv_{ranks}"
            self.trained(name, self.data(self.path("plain.csv"), fields="{name: y}"), ranks)
            reference = f"h5_{ranks}"
            self.trained(reference, f"{{type: hdf5, files: [{self.path('plain.h5')}], fields: [{{name: x}}, {{name: y}}]}}", ranks)
            self.same_weights(name, reference)

    def test_lines_left_out_and_several_files(self):
        lines = self.spelt(None).splitlines()
        for name, part in (("part_1.csv", lines[1:11]), ("part_2.csv", lines[11:])):
            self.write(name, "\n".join([lines[0], "NaN,1,2,3,x", "1,,2,3,x", *part]) + "\n")
        data = self.data(self.path("part_*.csv")).replace("type: csv", "type: csv, missing: leave_out, range: [5, 40]")
        deck = program.write(self.path("parts.yaml"), PREDICT.replace("DIR", self.path("parts")).replace("MODEL", self.model).replace("DATA", data))
        code, out, error = program.run("run", deck, ranks=2)
        self.assertEqual(code, 0, out + error)
        self.assertIn(f"'{self.path('part_2.csv')}': 2 lines with a missing value are left out, the first in {self.path('part_2.csv')}:2", out + error)
        with h5py.File(self.path("parts", "predict", "predicted.h5")) as file:
            np.testing.assert_array_equal(file["id"][()], self.id[5:])

    def test_words_of_other_programs(self):
        """True and False are 1 and 0; placeholders of pandas, SAS, C and spreadsheets for missing values leave their lines out."""
        words = ["#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-nan", ".", "<NA>", "NULL", "None", "--", "#DIV/0!", "#VALUE!",
                 "#NUM!", "#REF!", "#NAME?", "#NULL!"]
        lines = [f"{a!r},{b!r},{b!r},{['TRUE', 'false'][k % 2]}" for k, (a, b) in enumerate(self.x.tolist())]
        for row, word in enumerate(words):
            lines.insert(3 * row, f"1,{word},2.5,False")
        self.write("words.csv", "\n".join(["a,b,y,id", *lines]) + "\n")
        data = self.data(self.path("words.csv"), fields="{name: y, unit: kW}, {name: id}").replace("type: csv", "type: csv, missing: leave_out")
        deck = program.write(self.path("words.yaml"), PREDICT.replace("DIR", self.path("words")).replace("MODEL", self.model).replace("DATA", data))
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        self.assertIn(f"{len(words)} lines with a missing value are left out", out + error)
        with h5py.File(self.path("words", "predict", "predicted.h5")) as file:
            np.testing.assert_array_equal(file["id"][()], 1 - np.arange(LINES) % 2)

    def predicted(self, name, text, keys=""):
        """Predictions for a table; `keys` are further ones of the data set."""
        self.write(name + ".csv", text)
        data = self.data(self.path(name + ".csv"), fields="{name: y, unit: kW}, {name: id}").replace("type: csv", "type: csv" + keys)
        deck = program.write(self.path(name + ".yaml"), PREDICT.replace("DIR", self.path(name)).replace("MODEL", self.model).replace("DATA", data))
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        with h5py.File(self.path(name, "predict", "predicted.h5")) as file:
            np.testing.assert_array_equal(file["id"][()], self.id)
            return file["output"][()]

    def table_of(self, separator, number=repr):
        lines = [["a", "b", "y", "id"]]
        lines += [[number(float(v)) for v in (*self.x[k], self.y[k])] + [str(self.id[k])] for k in range(LINES)]
        return "\n".join(separator.join(line) for line in lines) + "\n"

    def test_dialects_of_spreadsheets(self):
        """A first line sep=; and decimal commas, where cells are separated by semicolons, by commas, or as the deck says."""
        plain = self.predicted("dialect", self.table_of(","))

        def quoted(value):
            return f'"{value!r}"'.replace(".", ",")

        for number, (text, keys) in enumerate((
                ("sep=;\n" + self.table_of(";"), ""),
                ("\ufeffsep=;\r\n" + self.table_of(";", quoted).replace("\n", "\r\n"), ""),
                ('"sep=;"\n' + self.table_of(";"), ""),
                ("SEP=\t\n" + self.table_of("\t"), ""),
                ("sep=|\n" + self.table_of("|"), ""),
                ("sep=,\n" + self.table_of(",", quoted), ", decimal: ','"),
                (self.table_of(";", quoted), ""),
                (self.table_of(";", quoted), ", decimal: ','"),
                (self.table_of(",", quoted), ", decimal: ','"),
                (self.table_of(";"), ", decimal: '.'"),
                (self.table_of("|", quoted), ", delimiter: '|'"),
                (self.table_of("\t"), ", delimiter: tab"),
                (self.table_of(":"), ", delimiter: ':'"))):
            with self.subTest(text=text[:60], keys=keys):
                np.testing.assert_array_equal(self.predicted(f"dialect_{number}", text, keys), plain)
        # 12,000 beside 950 is ambiguous, until the deck says that commas are decimal points.
        cells = [["a", "b", "y", "id"]] + [["1,125" if k else "950", "0,500", "1,5", str(self.id[k])] for k in range(LINES)]
        text = "\n".join(";".join(line) for line in cells) + "\n"
        points = "\n".join(";".join(line) for line in cells).replace(",", ".") + "\n"
        np.testing.assert_array_equal(self.predicted("decided", text, ", decimal: ','"), self.predicted("points", points))

    def test_latin_1(self):
        """Headings and units of older programs: bytes that are no UTF-8."""
        text = self.spelt(None).replace("b,y [kW]", "größe,y [°C]")
        self.write("latin.csv", text.encode("latin-1"))
        with h5py.File(self.path("latin.h5"), "w") as file:
            file["x"], file["y"] = self.x, self.y
            file["y"].attrs["units"] = np.bytes_("°C".encode("latin-1"))
        data = (self.data(self.path("latin.csv"), "größe", "{name: y, unit: °C}"),
                f"{{type: hdf5, files: [{self.path('latin.h5')}], fields: [{{name: x}}, {{name: y, unit: °C}}]}}")
        for number, given in enumerate(data):
            self.trained(f"latin_{number}", given)
            self.same_weights(f"latin_{number}", "h5")

    def test_names_in_a_remark(self):
        np.savetxt(self.path("numpy.csv"), np.column_stack([self.x, self.y]), delimiter=",", header="a,b,y", fmt="%.17g")
        deck = program.write(self.path("numpy.yaml"), PREDICT.replace("DIR", self.path("numpy")).replace("MODEL", self.model).replace(
            "DATA", self.data(self.path("numpy.csv"), fields="{name: y, unit: kW}")))
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        with h5py.File(self.path("numpy", "predict", "predicted.h5")) as file:
            self.assertEqual(file["output"].shape, (LINES,))
            self.assertIn("against the labels", out + error)


if __name__ == "__main__":
    unittest.main()
