"""A finished run by 'end_time' goes on to a later one. Where no step was shortened to meet the first end, it has the bits of a run that was never
interrupted."""
# needs: kinetic superres graph
import csv
import os
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: long, directory: "DIR", seed: 3}
plugins: [PLUGIN]
stages:
  - simulate:
BODY
      thermo: {every: 1}
"""
PHYSICS = {
    "vlasov_poisson": ("kinetic", """      parameters: {k: 0.5, a: 1e-2}
      domain: {lower: [0], upper: [2*pi/k], cells: [8]}
      species: [{name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [16]}, f0: (1 + a*cos(k*x)) * maxwellian(v)}]
      timestep: 0.03125"""),
    "moment_fluid": ("kinetic", """      parameters: {k: 0.4, a: 1e-2}
      length: 2*pi/k
      density: 1 + a*cos(k*x)
      closure: {type: hammett_perkins}
      timestep: 0.03125"""),
    "rayleigh_benard": ("superres", """      rayleigh: 1e5
      cells: [16, 8]
      initial: {noise: 0.1}
      sample_interval: 0.25"""),
    "graph_diffusion": ("graph", """      graph: {ring: {nodes: 12}}
      species: [{name: u, diffusion: 1, initial: sin(2*pi*node/12), reaction: 0.1*cos(t)}]
      sample_interval: 0.25"""),
}


class Prolonged(unittest.TestCase):
    def ended(self, name, end):
        plugin, body = PHYSICS[name]
        folder = os.path.join(program.fresh(f"prolonged_{name}_{end:g}"), "run")
        text = DECK.replace("DIR", folder).replace("PLUGIN", plugin).replace("BODY", f"      physics: {name}\n{body}\n      end_time: {end}")
        code, _, error = program.run("run", program.write(folder + ".yaml", text))
        self.assertEqual(code, 0, error)
        return folder

    @staticmethod
    def last(folder):
        """Name of the last checkpoint, rows of the table without the length of the next step, which an end may cut, and the stored state."""
        stage, state = os.path.join(folder, "simulate"), {}
        newest = max((name for name in os.listdir(stage) if name.startswith("restart.")), key=lambda name: int(name.split(".")[1]))
        with open(os.path.join(stage, "thermo.csv")) as table:
            rows = list(csv.DictReader(table))
        for row in rows:
            row.pop("timestep", None)
        with h5py.File(os.path.join(stage, newest)) as file:
            for group in ("fields", "physics"):
                if group in file:
                    file[group].visititems(lambda name, item: state.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
        return newest, rows, state

    def test_the_bits_are_those_of_an_uninterrupted_run(self):
        for name in PHYSICS:
            with self.subTest(physics=name):
                whole, longer = self.ended(name, 2.0), self.ended(name, 1.0)
                code, out, error = program.run("restart", longer, "stages[0].simulate.end_time=2")
                self.assertEqual(code, 0, error)
                self.assertIn("resumed at step", out)
                expected, found = self.last(whole), self.last(longer)
                self.assertEqual(found[0], expected[0])
                self.assertEqual(found[1], expected[1])
                self.assertEqual(found[2].keys(), expected[2].keys())
                self.assertTrue(expected[2])
                for field, values in expected[2].items():
                    np.testing.assert_array_equal(found[2][field], values, err_msg=field)

    def test_a_last_step_that_was_shortened_stays_and_the_run_goes_on_from_there(self):
        folder = self.ended("vlasov_poisson", 0.99)
        code, _, error = program.run("restart", folder, "stages[0].simulate.end_time=1.5")
        self.assertEqual(code, 0, error)
        times = [float(next(v for k, v in row.items() if k.startswith("time"))) for row in self.last(folder)[1]]
        self.assertIn(0.99, times)
        self.assertAlmostEqual(times[-1], 1.5, delta=1e-12)


if __name__ == "__main__":
    unittest.main()
