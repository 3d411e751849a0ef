"""Fields written with `compress` are read by h5py through the filter in lib/hdf5, and lie within their bound of those
of the same run without it."""
import os
import unittest

import program

DECK = os.path.join(program.SOURCE, "inputs", "superres", "compressed_output.yaml")


class Compressed(unittest.TestCase):
    def fields(self, name, *options):
        folder = program.fresh(name)
        code, out, error = program.run("run", DECK, "--test-size", f"run.directory={folder}", *options)
        self.assertEqual(code, 0, error)
        import h5py
        with h5py.File(os.path.join(folder, "simulate", "fields.h5")) as file:
            return out, {field: file["tasks"][field][:].astype(float) for field in "pbuw"}

    def test_bound_and_reading(self):
        import h5py
        # The build folder may lie anywhere; beside the sources or an installation cambium_io finds the filter itself.
        h5py.h5pl.prepend(os.fsencode(os.path.join(os.path.dirname(program.PROGRAM), "..", "lib", "hdf5")))
        out, stored = self.fields("compressed")
        self.assertIn("times smaller", out)
        _, plain = self.fields("not_compressed", "stages[0].simulate.output=[{type: fields, interval: 0.25}]")
        for field, exact in plain.items():
            for frame, kept in zip(exact, stored[field]):
                self.assertLessEqual(abs(frame - kept).max(), 1e-4 * (frame.max() - frame.min()))
        self.assertGreater(max(abs(plain[f] - stored[f]).max() for f in plain), 0.0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
