"""A run that comes to its end by itself ends with a row of observables, a frame in every output that shows states and a checkpoint, wherever
'every' falls; what is due after the last step is said."""
# needs: md
import glob
import os
import re
import unittest

import h5py
import numpy as np

import physics_runs
import program
import registered

RELAX = """
run: {name: relax, directory: "DIR", seed: 3}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 3.7, cells: [3, 3, 3], species: [Cu], displacement: 0.15}}
      potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
      integrator: {type: fire, force_tolerance: 1e-3}
      steps: 5000
      thermo: {every: 1000}
      output:
        - {type: extxyz, every: 1000, forces: true}
        - {type: h5md, every: 1000, forces: true}
"""
# Outputs that show states, with how the steps of their frames are read.
OUTPUTS = {
    "md": ["{type: extxyz, every: 5}", "{type: h5md, every: 5}", "{type: vtkhdf, every: 5}"],
    "vlasov_poisson": ["{type: moments, every: 5}", "{type: distribution, every: 5}", "{type: vtkhdf, every: 5}"],
    "vlasov_maxwell": ["{type: moments, interval: 1000}"],
    "boltzmann_bgk": ["{type: moments, every: 5}"],
    "moment_fluid": [],
    "rayleigh_benard": ["{type: fields, interval: 1000}", "{type: vtkhdf, every: 5}"],
    "cavity": ["{type: fields, interval: 1000}", "{type: vtkhdf, every: 5}"],
    "graph_diffusion": ["{type: node_fields, every: 5}", "{type: vtkhdf, interval: 1000}"],
    "mesh_transport": ["{type: node_fields, interval: 1000}", "{type: vtkhdf, every: 5}"],
    "particle_mesh": ["{type: matter, every: 5, counts: false}"],
}
STEPS = {"conf.h5": "step", "nodes.h5": "step", "matter.h5": "step", "fields.h5": "scales/iteration",
         "trajectory.h5md": "particles/trajectory/position/step"}


def rows(stage):
    with open(os.path.join(stage, "thermo.csv")) as file:
        names, *lines = (line.strip().split(",") for line in file)
    return [dict(zip([name.split(" ")[0] for name in names], map(float, line))) for line in lines]


def shown(stage):
    """{file: steps of its frames}; of VTKHDF files, which hold times, the number of frames."""
    out = {}
    for path in glob.glob(os.path.join(stage, "*")):
        name = os.path.basename(path)
        if name in STEPS:
            with h5py.File(path) as file:
                out[name] = [int(step) for step in file[STEPS[name]][()]]
        elif name.endswith(".extxyz"):
            with open(path) as file:
                out[name] = [int(step) for step in re.findall(r"\bStep=(\d+)", file.read())]
        elif name.endswith(".vtkhdf"):
            with h5py.File(path) as file:
                out[name] = len(file["VTKHDF/Steps/Values"])
        elif found := re.fullmatch(r"distribution\.(\d+)\.h5", name):
            out.setdefault("distribution", []).append(int(found[1]))
    return {name: sorted(steps) if isinstance(steps, list) else steps for name, steps in out.items()}


class Converged(unittest.TestCase):
    def test_relaxed_structure_is_in_the_files(self):
        folder = program.fresh("end_relax")
        run = os.path.join(folder, "run")
        code, out, error = program.run("run", program.write(os.path.join(folder, "relax.yaml"), RELAX.replace("DIR", run)))
        self.assertEqual(code, 0, error)
        stage = os.path.join(run, "simulate")
        first, last = rows(stage)
        self.assertLess(0, last["step"])
        self.assertNotEqual(last["step"] % 1000, 0)
        self.assertLess(last["potential"], first["potential"] - 1.0)
        self.assertEqual(shown(stage), {name: [0, int(last["step"])] for name in ("trajectory.extxyz", "trajectory.h5md")})
        self.assertTrue(os.path.exists(os.path.join(stage, f"restart.{last['step']:.0f}.h5")))
        self.assertRegex(out, r"potential energy: \S+ eV\npotential energy below that of the first line: \S+ eV/atom")
        self.assertNotIn("drift", out)
        # The frame is the structure that was relaxed: its energy, its pressure and its forces, computed anew.
        again = os.path.join(folder, "again")
        fcc = "{lattice: {type: fcc, a: 3.7, cells: [3, 3, 3], species: [Cu], displacement: 0.15}}"
        deck = RELAX.replace("DIR", again).replace(fcc, f"{{file: '{stage}/trajectory.extxyz'}}").replace("steps: 5000", "steps: 0")
        code, _, error = program.run("run", program.write(os.path.join(folder, "again.yaml"), deck))
        self.assertEqual(code, 0, error)
        anew = rows(os.path.join(again, "simulate"))[0]
        for name in ("potential", "pressure"):
            self.assertAlmostEqual(anew[name] / last[name], 1.0, delta=1e-6, msg=name)
        with open(os.path.join(stage, "trajectory.extxyz")) as file:
            lines = file.read().splitlines()
        atoms = int(lines[0])
        self.assertAlmostEqual(float(re.search(r"\benergy=(\S+)", lines[atoms + 3])[1]) / last["potential"], 1.0, delta=1e-9)
        with h5py.File(os.path.join(stage, "trajectory.h5md")) as file:
            forces = file["particles/trajectory/force/value"][-1] / 96.48533212331002
        self.assertLess(np.linalg.norm(forces, axis=1).max(), 1e-3)

    def test_a_run_that_is_over_is_taken_up_without_another_frame(self):
        folder = program.fresh("end_over")
        run = os.path.join(folder, "run")
        code, _, error = program.run("run", program.write(os.path.join(folder, "relax.yaml"), RELAX.replace("DIR", run)))
        self.assertEqual(code, 0, error)
        stage = os.path.join(run, "simulate")
        before = shown(stage), rows(stage)
        os.remove(os.path.join(run, "stages_done.txt"))  # as if it had been killed at the very end
        code, _, error = program.run("restart", run)
        self.assertEqual(code, 0, error)
        self.assertEqual((shown(stage), rows(stage)), before)


class LastStep(unittest.TestCase):
    def run_to(self, name, folder, steps):
        path = physics_runs.deck(folder, name, steps, 20)
        code, out, error = program.run("run", path, f"stages[0].simulate.output=[{', '.join(OUTPUTS[name])}]", "--overwrite")
        self.assertEqual(code, 0, error)
        return os.path.join(folder, "run"), out

    def check(self, stage, steps):
        self.assertEqual([int(row["step"]) for row in rows(stage)], steps)
        for name, found in shown(stage).items():
            if "interval: 1000" in str(OUTPUTS) and name in self.by_time:
                self.assertEqual(found if isinstance(found, int) else len(found), len(self.by_time[name]), name)
            elif isinstance(found, int):
                self.assertEqual(found, len(steps), name)
            else:
                self.assertEqual(found, steps, name)

    def test_every_physics(self):
        self.assertEqual(set(registered.types("physics")) - set(OUTPUTS), set(), "physics without a list of outputs")
        for name in OUTPUTS:
            if not physics_runs.plugins(name):
                continue
            with self.subTest(name):
                text = " ".join(OUTPUTS[name])
                self.by_time = {file: [0, 13] for kind, file in (("fields, interval", "fields.h5"), ("node_fields, interval", "nodes.h5"),
                                                               ("moments, interval", "conf.h5"),
                                                               ("vtkhdf, interval", "output.vtkhdf")) if kind in text}
                folder = program.fresh(f"end_{name}")
                run, _ = self.run_to(name, folder, 13)
                stage = os.path.join(run, "simulate")
                self.assertEqual(len(shown(stage)), len(OUTPUTS[name]), shown(stage))
                self.check(stage, [0, 5, 10, 13])
                self.assertEqual(physics_runs.steps_in(run), [13])
                # More steps go on from there.
                code, out, error = program.run("restart", run, "stages[0].simulate.steps=17")
                self.assertEqual(code, 0, error)
                self.assertIn("resumed at step 13", out)
                self.by_time = {file: [0, 13, 17] for file in self.by_time}
                self.check(stage, [0, 5, 10, 13, 15, 17])

    def test_a_multiple_gives_one_frame(self):
        folder = program.fresh("end_multiple")
        run, _ = self.run_to("md", folder, 20)
        self.by_time = {}
        self.check(os.path.join(run, "simulate"), [0, 5, 10, 15, 20])
        self.assertEqual(physics_runs.steps_in(run), [20])

    def test_no_checkpoint_where_none_is_wanted(self):
        folder = program.fresh("end_without")
        path = physics_runs.deck(folder, "md", 3, 0)
        code, _, error = program.run("run", path, "stages[0].simulate.checkpoint.at_end=false")
        self.assertEqual(code, 0, error)
        self.assertEqual(physics_runs.steps_in(os.path.join(folder, "run")), [])


class NotDue(unittest.TestCase):
    def test_said(self):
        folder = program.fresh("end_not_due")
        path = physics_runs.deck(folder, "md", 3, 0)
        code, out, error = program.run("run", path, "stages[0].simulate.output=[{type: h5md}, {type: msd}, {type: vacf, start_step: 4}, {type: rdf, every: 1}]")
        self.assertEqual(code, 0, error)
        self.assertIn("output[0] (h5md) is due every 100 steps, and the stage ends at step 3: it shows the initial state and the last one", out)
        self.assertIn("output[1] (msd) is due every 10 steps, and the stage ends at step 3: step 0 is its only sample; lower 'every' or give more steps",
                      out + error)
        self.assertIn("output[2] (vacf) begins at step 4, and the stage ends at step 3: it takes no sample; lower 'start_step' or 'start_time', or give more steps", out + error)
        self.assertIn("output[2] (vacf) has written no vacf.h5: the stage ended at step 3, time 0.006, before its first sample was due", out + error)
        self.assertNotIn("output[3]", out + error)
        code, checked, error = program.run("check", path, "stages[0].simulate.output=[{type: msd}]")
        self.assertIn("output[0] (msd) is due every 10 steps", checked + error)


if __name__ == "__main__":
    unittest.main()
