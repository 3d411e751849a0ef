"""Forecasts of convection as The Well compares them, through the program: the layout of its files key by key, ranks that change nothing, and
the table of errors beside a plain calculation from the files."""
# needs: superres assimilate
import csv
import os
import shutil
import unittest

import h5py
import numpy as np

import program

DECK = os.path.join(program.SOURCE, "inputs", "superres", "well.yaml")
WELL = "write_well/data/{}/rayleigh_benard_Rayleigh_1e6_Prandtl_1.hdf5"
HISTORY, EVERY = 4, 4


def vrmse(forecast, truth):
    """By (field, x, z)."""
    return np.sqrt(((forecast - truth) ** 2).mean((1, 2)) / (truth.var((1, 2), ddof=1) + 1e-7))


def weights(folder, stage):
    with h5py.File(os.path.join(folder, stage, "model.h5")) as file:
        return {name: array[...].tobytes() for name, array in file["weights"].items()}


class Well(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("well")
        code, cls.out, error = program.run("run", DECK, "--test-size", f"run.directory={cls.folder}", *cls.without_torch())
        assert code == 0, error

    @staticmethod
    def without_torch():
        """The U-Net is Torch's."""
        if os.environ.get("CAMBIUM_HAS_TORCH", "1") in ("1", "ON", "TRUE"):
            return []
        operator = "{type: fourier_operator, width: 4, layers: 2, modes: [4, 4]}"
        return [f"stages[8].train.network={operator}"]

    def test_the_layout_is_the_published_one(self):
        """docs/data_format.md of The Well; what its class WellDataset asks files for."""
        for split, runs in (("train", 3), ("valid", 1), ("test", 1)):
            with h5py.File(os.path.join(self.folder, WELL.format(split))) as file:
                self.assertEqual(file.attrs["dataset_name"], "rayleigh_benard")
                self.assertEqual(file.attrs["grid_type"], "cartesian")
                self.assertEqual(int(file.attrs["n_spatial_dims"]), 2)
                self.assertEqual(int(file.attrs["n_trajectories"]), runs)
                self.assertEqual(list(file.attrs["simulation_parameters"]), ["Rayleigh", "Prandtl"])
                self.assertEqual((file.attrs["Rayleigh"], file.attrs["Prandtl"]), (1e6, 1.0))
                axes = file["dimensions"]
                self.assertEqual(list(axes.attrs["spatial_dims"]), ["x", "y"])
                shape = tuple(axes[name].shape[0] for name in ("time", "x", "y"))
                self.assertEqual(shape, (13, 32, 16))
                for name in ("time", "x", "y"):
                    self.assertEqual(axes[name].dtype, np.float32)
                    self.assertFalse(axes[name].attrs["sample_varying"])
                    self.assertFalse(axes[name].attrs["time_varying"])
                np.testing.assert_allclose(np.diff(axes["time"][:]), 0.25, rtol=1e-5)
                for name, axis, kind in (("x_periodic", "x", "PERIODIC"), ("y_wall", "y", "WALL")):
                    one = file["boundary_conditions"][name]
                    self.assertEqual(list(one.attrs["associated_dims"]), [axis])
                    self.assertEqual(len(one.attrs["associated_fields"]), 0)
                    self.assertEqual(one.attrs["bc_type"], kind)
                    self.assertFalse(one.attrs["sample_varying"] or one.attrs["time_varying"])
                    mask = one["mask"][:].astype(bool)
                    self.assertEqual(mask.shape, axes[axis].shape)
                    self.assertTrue(mask[0] and mask[-1])
                    self.assertEqual(one["values"].shape, (mask.sum(),))
                self.assertEqual(list(file["scalars"].attrs["field_names"]), ["Rayleigh", "Prandtl"])
                for name in ("Rayleigh", "Prandtl"):
                    scalar = file["scalars"][name]
                    self.assertEqual((scalar.shape, scalar.dtype), ((1,), np.float32))
                    self.assertFalse(scalar.attrs["sample_varying"] or scalar.attrs["time_varying"])
                self.assertEqual(list(file["t0_fields"].attrs["field_names"]), ["buoyancy", "pressure"])
                self.assertEqual(list(file["t1_fields"].attrs["field_names"]), ["velocity"])
                self.assertEqual(len(file["t2_fields"].attrs["field_names"]), 0)
                for name in ("t0_fields/buoyancy", "t0_fields/pressure", "t1_fields/velocity"):
                    field = file[name]
                    self.assertEqual(field.shape, (runs,) + shape + ((2,) if name.startswith("t1") else ()))
                    self.assertEqual(field.dtype, np.float32)
                    self.assertEqual([bool(v) for v in field.attrs["dim_varying"]], [True, True])
                    self.assertTrue(field.attrs["sample_varying"] and field.attrs["time_varying"])

    def test_fields_are_those_of_the_run(self):
        with h5py.File(os.path.join(self.folder, WELL.format("train"))) as file:
            for run, stage in enumerate(("simulate", "simulate_2", "simulate_3")):
                with h5py.File(os.path.join(self.folder, stage, "fields.h5")) as own:
                    np.testing.assert_allclose(file["t0_fields/buoyancy"][run], own["tasks/b"][:] + 0.5, atol=1e-6)
                    np.testing.assert_allclose(file["t1_fields/velocity"][run, ..., 0], own["tasks/u"][:], atol=1e-7)
                    np.testing.assert_allclose(file["t1_fields/velocity"][run, ..., 1], own["tasks/w"][:], atol=1e-7)
                    height = own["scales/z"][:] - 0.5
                    np.testing.assert_allclose(file["t0_fields/pressure"][run], own["tasks/p"][:] + 0.5 * height, atol=1e-6)

    def truth(self):
        with h5py.File(os.path.join(self.folder, WELL.format("test"))) as file:
            velocity = file["t1_fields/velocity"][0].astype(float)
            return np.stack([file["t0_fields/pressure"][0], file["t0_fields/buoyancy"][0], velocity[..., 0], velocity[..., 1]], 1).astype(float)

    def table(self, name):
        with open(os.path.join(self.folder, "score_forecasts", name)) as file:
            rows = list(csv.reader(file))
        return {head.split(" [")[0]: [float(row[k]) for row in rows[1:]] for k, head in enumerate(rows[0])}

    def test_the_prandtl_number_is_that_of_the_runs(self):
        with h5py.File(os.path.join(self.folder, "simulate", "fields.h5")) as run, h5py.File(os.path.join(self.folder, "seven.h5"), "w") as file:
            for name in ("tasks", "scales"):
                run.copy(name, file)
            file.attrs.update(run.attrs)
            file.attrs["Prandtl"] = 7.0
        path = program.write(os.path.join(self.folder, "seven.yaml"), f"""
run: {{name: seven, directory: {self.folder}/seven}}
plugins: [superres]
stages:
  - write_well: {{train: ["{self.folder}/seven.h5"], rayleigh: 1e6}}
""")
        code, _, error = program.run("run", path)
        self.assertEqual(code, 0, error)
        with h5py.File(os.path.join(self.folder, "seven", WELL.format("train").replace("Prandtl_1", "Prandtl_7"))) as file:
            self.assertEqual(file.attrs["Prandtl"], 7.0)
            self.assertEqual(file["scalars/Prandtl"][()], 7.0)

    def test_errors_beside_a_plain_calculation(self):
        frames = self.truth()
        starts = range(HISTORY, len(frames), EVERY)
        one = np.mean([vrmse(frames[t - 1], frames[t]) for t in starts], 0)
        means = np.mean([vrmse(np.broadcast_to(frames[t - 1].mean((1, 2), keepdims=True), frames[t].shape), frames[t]) for t in starts], 0)
        scores, leads = self.table("scores.csv"), self.table("leads.csv")
        for k, field in enumerate("pbuw"):
            self.assertAlmostEqual(scores["one_step_" + field][0], one[k], delta=1e-5 * one[k])
            self.assertAlmostEqual(scores["one_step_" + field][1], means[k], delta=1e-5 * means[k])
        self.assertAlmostEqual(scores["one_step"][0], one.mean(), delta=1e-5 * one.mean())
        kept = [vrmse(frames[HISTORY - 1], frames[HISTORY + lead]).mean() for lead in range(8)]
        np.testing.assert_allclose(leads["persistence"], kept, rtol=1e-5)
        self.assertAlmostEqual(scores["window_2_5"][0], np.mean(kept[2:5]), delta=1e-5)

    def test_the_solver_knows_the_next_frame(self):
        scores = self.table("scores.csv")
        persistence, mean, solver, coarse = scores["one_step"][:4]
        self.assertLess(solver, 0.5 * persistence)  # the rest is interpolation of velocities to faces, of second order in a coarse grid
        self.assertLess(solver, coarse)
        self.assertAlmostEqual(mean, 1.0, delta=0.01)

    def scored(self, name, rows):
        """scores.csv and leads.csv of score_forecasts with these rows only."""
        folder = program.fresh("well_" + name)
        path = program.write(os.path.join(folder, "score.yaml"), f"""
run: {{name: score, directory: {folder}/run}}
plugins: [superres]
stages:
  - score_forecasts: {{data: ["{self.folder}/{WELL.format('test')}"], methods: [persistence], rayleigh: 1e6, history: {HISTORY},
                      every: {EVERY}, horizon: 8, windows: [[2, 5]], forecasts: {rows}}}
""")
        code, _, error = program.run("run", path)
        self.assertEqual(code, 0, error)
        return [self.table(os.path.join(folder, "run", "score_forecasts", table)) for table in ("scores.csv", "leads.csv")]

    def test_forecasts_in_files_are_scored_as_the_stage_scores_its_own(self):
        """Persistence written as files of The Well by other hands, and the truth itself, which is exact."""
        folder, frames = program.fresh("well_rows"), self.truth()
        truth, late, stopped = (os.path.join(folder, name) for name in ("truth.hdf5", "late.hdf5", "stopped.hdf5"))
        for path, shown in ((truth, frames), (late, np.concatenate([frames[:1], frames[:-1]])),
                            (stopped, np.repeat(frames[HISTORY - 1:HISTORY], len(frames), 0))):
            shutil.copy(os.path.join(self.folder, WELL.format("test")), path)
            with h5py.File(path, "r+") as file:
                file["t0_fields/pressure"][0], file["t0_fields/buoyancy"][0] = shown[:, 0], shown[:, 1]
                file["t1_fields/velocity"][0] = np.moveaxis(shown[:, 2:], 1, -1)
        rows = f'{{kept: {{one_step: ["{late}"], rollout: ["{stopped}"]}}, exact: {{one_step: ["{truth}"]}}, roll: {{rollout: ["{truth}#0"]}}}}'
        scores, leads = self.scored("files", rows)
        for column, (own, exact, kept, roll) in scores.items():  # rows from files in the order of their names
            if column.startswith("one_step"):
                self.assertAlmostEqual(kept, own, delta=1e-9)
                self.assertEqual((exact, np.isnan(roll)), (0.0, True))
            else:
                self.assertAlmostEqual(kept, own, delta=1e-9)
                self.assertTrue(np.isnan(exact))
        np.testing.assert_allclose(leads["kept"], leads["persistence"], rtol=1e-9)
        self.assertEqual(leads["roll"], [0.0] * 8)
        self.assertTrue(np.isnan(leads["exact"]).all())

    def test_a_filter_is_a_row_of_the_table(self):
        """LETKF's files hold b from -1/2 to 1/2 and The Well's from 0 to 1; beside a plain calculation from both."""
        frames = self.truth()
        own, found = {}, {}
        for what in ("one_step", "rollout"):
            with h5py.File(os.path.join(self.folder, "assimilate", f"letkf.{what}.h5")) as file:
                times, height = file["scales/sim_time"][:], file["scales/z"][:] - 0.5
                fields = [file["tasks/" + name][:].astype(float) for name in "pbuw"]
                fields[0] += 0.5 * height
                fields[1] += 0.5
                own[what], found[what] = times, np.stack(fields, 1)
        with h5py.File(os.path.join(self.folder, WELL.format("test"))) as file:
            times = file["dimensions/time"][:].astype(float)
        np.testing.assert_allclose(own["one_step"], times[1:], atol=1e-5)
        np.testing.assert_allclose(own["rollout"], times[HISTORY:HISTORY + 8], atol=1e-5)
        one = np.mean([vrmse(found["one_step"][t - 1], frames[t]) for t in range(HISTORY, len(frames), EVERY)], 0)
        roll = [vrmse(found["rollout"][lead], frames[HISTORY + lead]).mean() for lead in range(8)]
        scores, leads = self.table("scores.csv"), self.table("leads.csv")
        np.testing.assert_allclose([scores["one_step_" + field][-1] for field in "pbuw"], one, rtol=1e-5)
        np.testing.assert_allclose(leads["letkf"], roll, rtol=1e-5)
        self.assertLess(scores["one_step_b"][-1], 0.6)

    def test_ranks_change_nothing(self):
        for name, network in (("operator", "{type: fourier_operator, width: 4, layers: 2, modes: [4, 4], kernel: 3, push_forward: 1, noise: 0.01}"),
                              ("transformer", "{type: vision_transformer, width: 8, heads: 2, layers: 2, push_forward: 1, noise: 0.01}")):
            one = None
            for ranks in (1, 2, 4):
                folder = program.fresh(f"well_{name}_{ranks}")
                path = program.write(os.path.join(folder, "train.yaml"), f"""
run: {{name: train, directory: {folder}/run, seed: 1}}
plugins: [superres]
stages:
  - train:
      network: {network}
      dataset: {{type: snapshots, data: ["{self.folder}/{WELL.format('train')}#1"], history: 2, ahead: 2}}
      batch: 4
      steps: 6
      optimizer: {{type: adam}}
      learning_rate: {{type: constant, start: 1e-3}}
      reduce: {{mode: ordered, micro_batches: 4}}
""")
                code, _, error = program.run("run", path, ranks=ranks)
                self.assertEqual(code, 0, error)
                found = weights(os.path.join(folder, "run"), "train")
                one = one or found
                self.assertEqual(one, found, f"{name} on {ranks} ranks")


if __name__ == "__main__":
    unittest.main()
