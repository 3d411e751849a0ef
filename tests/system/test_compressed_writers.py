"""Every output with a key `compress` keeps its promise: each number within the bound of the same run without it, readers that need nothing
new, the same bytes on one rank and on several; and checkpoints from which runs go on bit for bit."""
# needs: cosmo graph kinetic md superres
import os
import sys
import unittest

import h5py
import numpy as np

import program

sys.path[:0] = [os.path.join(program.SOURCE, *folder) for folder in (("apps", "python"), ("plugins", "kinetic", "python"))]
import cambium_io  # noqa: E402, F401 (names the folder of the filter)
import kinetic_io  # noqa: E402

BOUND = 1e-4


def run(name, deck, *overrides, ranks=1):
    """The folder of the stage of a shipped deck at test size."""
    folder = os.path.join(program.fresh(name), "run")
    code, out, error = program.run("run", os.path.join(program.SOURCE, "inputs", deck), f"run.directory={folder}", *overrides, ranks=ranks)
    assert code == 0, out + error
    return os.path.join(folder, "simulate"), out


def arrays(path):
    """Every numeric array of a file that is no scale and varies, by name."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" and item.size >= 256:
            found[name] = item[()]

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def largest(stored, plain, frames):
    """Error in units of the range of the array, or of each of its frames."""
    if not frames:
        stored, plain = stored[None], plain[None]
    worst = 0.0
    for a, b in zip(stored, plain):
        extent = np.ptp(b.astype(float))
        difference = np.abs(a.astype(float) - b.astype(float)).max()
        worst = max(worst, difference / extent if extent > 0 else difference)
    return worst


TWO_STREAM = ["stages[0].simulate.steps=200"]


class Distributions(unittest.TestCase):
    def outputs(self, more):
        return [f"stages[0].simulate.output=[{{type: moments, every: 50{more}}}, {{type: distribution, every: 100{more}}}]"]

    def test_each_mode_lies_within_its_bound_in_a_quarter_of_the_bytes(self):
        plain, _ = run("writers_plain", "kinetic/two_stream.yaml", *TWO_STREAM, *self.outputs(""))
        packed, out = run("writers_packed", "kinetic/two_stream.yaml", *TWO_STREAM, *self.outputs(f", compress: {{relative: {BOUND}}}"))
        self.assertRegex(out, r"distribution\.200\.h5: arrays of .* MB compressed to .* MB, .* times smaller")
        self.assertRegex(out, r"conf\.h5: arrays of .* times smaller")
        name = "distribution.200.h5"
        before, after = (os.path.getsize(os.path.join(folder, name)) for folder in (plain, packed))
        print(f"{name}: {before} bytes, compressed {after}: {before / after:.2f} times smaller")
        self.assertGreaterEqual(before, 4 * after)
        a, b = arrays(os.path.join(packed, name)), arrays(os.path.join(plain, name))
        self.assertEqual(sorted(a), sorted(b))
        for key in b:
            modes = [(a[key][..., m], b[key][..., m]) for m in range(b[key].shape[-1])] if key.endswith("/f") else [(a[key], b[key])]
            for stored, exact in modes:
                self.assertLessEqual(largest(stored, exact, False), BOUND, key)
        a, b = arrays(os.path.join(packed, "conf.h5")), arrays(os.path.join(plain, "conf.h5"))
        for key in b:
            self.assertLessEqual(largest(a[key], b[key], True), BOUND, key)
        of_both = [kinetic_io.Distribution(os.path.join(folder, name)).plane("x", "vx")[-1] for folder in (packed, plain)]
        np.testing.assert_allclose(*of_both, atol=0.01 * np.abs(of_both[1]).max())

    def test_ranks_make_the_same_bytes(self):
        stored = []
        for ranks in (1, 2):
            folder, _ = run(f"writers_ranks{ranks}", "kinetic/two_stream.yaml", *TWO_STREAM, *self.outputs(f", compress: {{relative: {BOUND}}}"),
                            ranks=ranks)
            chunks = {}
            with h5py.File(os.path.join(folder, "distribution.0.h5"), "r") as file:
                for name in ("electron/f", "electron_f"):
                    data = file[name].id
                    chunks[name] = [data.read_direct_chunk(data.get_chunk_info(k).chunk_offset)[1] for k in range(data.get_num_chunks())]
            stored.append(chunks)
        self.assertEqual(stored[0], stored[1])

    def test_a_run_starts_from_a_compressed_distribution(self):
        program_deck = "kinetic/refine.yaml"
        folder = os.path.join(program.fresh("writers_refine"), "run")
        code, out, error = program.run("run", os.path.join(program.SOURCE, "inputs", program_deck), f"run.directory={folder}", "--test-size",
                                       "stages[0].simulate.output=[{type: distribution, every: 20, compress: {relative: 1e-5}}]")
        self.assertEqual(code, 0, out + error)

    def test_lossless_is_bit_for_bit_and_needs_no_filter_of_ours(self):
        plain, _ = run("writers_plain", "kinetic/two_stream.yaml", *TWO_STREAM, *self.outputs(""))
        packed, _ = run("writers_exact", "kinetic/two_stream.yaml", *TWO_STREAM, *self.outputs(", compress: {type: lossless}"))
        for name in ("conf.h5", "distribution.200.h5"):
            a, b = arrays(os.path.join(packed, name)), arrays(os.path.join(plain, name))
            for key in b:
                self.assertTrue(np.array_equal(a[key], b[key]), key)
        with h5py.File(os.path.join(packed, "distribution.200.h5"), "r") as file:
            self.assertEqual(file["electron/f"].compression, "gzip")


class Writers(unittest.TestCase):
    """Deck, overrides, output without `compress`, its file, and what of each array is encoded apart: frames, of vectors each component."""

    CASES = {
        "node_fields": ("graph/diffusion.yaml", ["end_time=8", "graph.random.nodes=600"], "type: node_fields, interval: 4", "nodes.h5"),
        "matter": ("cosmo/structure_growth.yaml", ["particles=16", "mesh=16", "box=64", "time_steps=8"], "type: matter, every: 4", "matter.h5"),
        "vtkhdf_nodes": ("graph/diffusion.yaml", ["end_time=8", "graph.random.nodes=600"], "type: vtkhdf, interval: 4", "output.vtkhdf"),
        "vtkhdf_grid": ("kinetic/two_stream.yaml", ["steps=60"], "type: distribution, format: vtkhdf, every: 30",
                        "distribution.electron.vtkhdf"),
        "vtkhdf_particles": ("md/argon_melt.yaml", ["steps=20", "structure.lattice.cells=[4, 4, 4]"],
                             "type: vtkhdf, every: 10, velocities: true", "output.vtkhdf"),
        "h5md": ("md/argon_melt.yaml", ["steps=20", "structure.lattice.cells=[4, 4, 4]"],
                 "type: h5md, every: 10, velocities: true, forces: true", "trajectory.h5md"),
        "fields": ("superres/rayleigh_benard.yaml", ["cells=[32, 16]", "end_time=1", "average_from=0"], "type: fields, interval: 0.25",
                   "fields.h5"),
    }

    def stored(self, case, more):
        deck, keys, output, file = self.CASES[case]
        folder, out = run(f"writers_{case}", deck, *(f"stages[0].simulate.{key}" for key in keys),
                          f"stages[0].simulate.output=[{{{output}{more}}}]")
        return arrays(os.path.join(folder, file)), out

    def frames(self, array, first):
        """Frames of single components, first of them by `first`: of VTKHDF's series that have no dimension for time, too."""
        if array.ndim == 2 and array.shape[1] == 3 and array.shape[0] % first == 0:
            array = array.reshape(first, -1, 3)
        elif array.ndim == 1:
            array = array.reshape(first, -1)
        if array.ndim == 3 and array.shape[2] == 3:
            return [array[t, :, c] for t in range(len(array)) for c in range(3)]
        return list(array)

    def test_each_writer_keeps_the_bound_and_lossless_is_exact(self):
        for case in self.CASES:
            with self.subTest(case):
                plain, _ = self.stored(case, "")
                packed, out = self.stored(case, f", compress: {{relative: {BOUND}}}")
                exact, _ = self.stored(case, ", compress: {type: lossless}")
                self.assertRegex(out, r"arrays of .* MB compressed to .* MB, .* times smaller")
                differing = 0
                for key, values in plain.items():
                    self.assertTrue(np.array_equal(exact[key], values), key)
                    moments = 3 if "VTKHDF" in key else len(values)
                    for a, b in zip(self.frames(packed[key], moments), self.frames(values, moments)):
                        self.assertLessEqual(largest(a, b, False), BOUND * (1 + 1e-6), key)
                    differing += not np.array_equal(packed[key], values)
                self.assertGreater(differing, 0)


class Checkpoints(unittest.TestCase):
    DECK = "kinetic/two_stream.yaml"
    OUTPUT = "stages[0].simulate.output=[{type: distribution, every: 100}]"

    def resumed(self, name, compress):
        """The distribution at step 100 of a run that stopped at 50 and went on, and the bytes of its checkpoint."""
        more = [f"stages[0].simulate.checkpoint={{every: 50{compress}}}", self.OUTPUT]
        folder, _ = run(name, self.DECK, "stages[0].simulate.steps=50", *more)
        size = os.path.getsize(os.path.join(folder, "restart.50.h5"))
        code, out, error = program.run("restart", os.path.dirname(folder), "stages[0].simulate.steps=100")
        self.assertEqual(code, 0, out + error)
        self.assertNotIn("has no checksum", out)
        with h5py.File(os.path.join(folder, "distribution.100.h5"), "r") as file:
            return file["electron/f"][()], size

    def test_runs_go_on_from_smaller_checkpoints(self):
        plain, whole = self.resumed("checkpoint_plain", "")
        exact, smaller = self.resumed("checkpoint_exact", ", compress: {type: lossless}")
        near, smallest = self.resumed("checkpoint_near", ", compress: {relative: 1e-6}")
        print(f"checkpoint: {whole} bytes, without loss {smaller}, within 1e-6 {smallest}")
        self.assertTrue(np.array_equal(exact, plain))
        self.assertFalse(np.array_equal(near, plain))
        self.assertLess(np.abs(near - plain).max(), 1e-3 * np.ptp(plain))
        self.assertLess(smaller, whole)
        self.assertLess(smallest, smaller)

    def test_asynchronous_and_compressed_exclude_each_other(self):
        code, out, error = program.run("check", os.path.join(program.SOURCE, "inputs", self.DECK),
                                       "stages[0].simulate.checkpoint={asynchronous: true, compress: {type: lossless}}")
        self.assertEqual(code, 2)
        self.assertIn("checkpoint.asynchronous keeps the file in memory, and compress writes it to the disk twice; leave out one of the two",
                      out + error)


if __name__ == "__main__":
    unittest.main()
