"""Training through the program: the same weights on any number of ranks and after any interruption; what it says when data,
disk or learning rate are bad."""
# needs: deepmd
# cost: 30
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [LAYERS], precision: PRECISION}
      dataset: {type: expression, samples: 500, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}, noise: 0.05}
      hold_out: 0.1
      batch: BATCH
      steps: STEPS
      optimizer: OPTIMIZER
      learning_rate: {type: cosine, start: RATE, stop: 1e-5}
      warm_up: {steps: 10}
      clip: {norm: 0.5}
      ema: {decay: 0.9}
      reduce: {mode: MODE, bucket_size: 4 kB}
      validate: {every: VALIDATE}
      checkpoint: {every: EVERY, keep: 100}
      log_every: 20
"""


def deck(folder, **given):
    values = {"LAYERS": "24, 24", "PRECISION": "float32", "BATCH": "21", "STEPS": "120", "OPTIMIZER": "adamw",
              "RATE": "0.01", "MODE": "fast", "EVERY": "50", "VALIDATE": "20", "DIR": os.path.join(folder, "run")}
    values.update({key.upper(): str(value) for key, value in given.items()})
    text = DECK
    for key, value in values.items():
        text = text.replace(key, value)
    return program.write(os.path.join(folder, "net.yaml"), text)


def stage(folder, name):
    return os.path.join(folder, "run", "train", name)


def weights(folder, name="model.h5"):
    """All numbers of a model file or a checkpoint, as bytes."""
    with h5py.File(stage(folder, name)) as file:
        if "tensors" in file:
            return {key: file[key][()].tobytes() for key in ("weights", "average", "best") if key in file}
        return {key: data[()].tobytes() for key, data in file["weights"].items()}


def text(folder, name):
    with open(stage(folder, name)) as file:
        return file.read()


class Training(unittest.TestCase):
    def trained(self, name, ranks=1, **given):
        folder = program.fresh("train_" + name)
        code, out, error = program.run("run", deck(folder, **given), ranks=ranks)
        self.assertEqual(code, 0, error)
        return folder, out

    def test_ordered_mode_does_not_depend_on_ranks(self):
        for optimizer, rate, others in (("adamw", 0.01, (2, 3, 4)), ("{type: lars, weight_decay: 1e-4}", 1.0, (2, 4, 5)),
                                        ("lamb", 0.01, (4,)), ("{type: split_sgd, momentum: 0.9}", 0.05, (4,))):
            one, _ = self.trained("ordered_1", mode="ordered", optimizer=optimizer, rate=rate)
            for ranks in others:
                more, _ = self.trained(f"ordered_{ranks}", ranks, mode="ordered", optimizer=optimizer, rate=rate)
                self.assertEqual(weights(one), weights(more))
                self.assertEqual(weights(one, "restart.100.h5"), weights(more, "restart.100.h5"))
                for table in ("training.csv", "validation.csv"):
                    self.assertEqual(text(one, table), text(more, table))

    def test_uneven_batches_give_the_serial_gradient(self):
        # 21 samples on 2 and on 3 ranks, and 450 = 21 * 21 + 9 in an epoch.
        one, _ = self.trained("even_1", precision="float64", optimizer="sgd", rate=0.3)
        for ranks in (2, 3):
            more, out = self.trained(f"even_{ranks}", ranks, precision="float64", optimizer="sgd", rate=0.3)
            self.assertIn("exposed communication", out)
            for name, data in weights(one).items():
                np.testing.assert_allclose(np.frombuffer(weights(more)[name]), np.frombuffer(data), rtol=1e-9, atol=1e-12)

    def test_what_a_training_warns_of(self):
        folder, out = self.trained("warned", steps=9, layers="6, 9")
        self.assertIn("warm_up takes 10 steps, but the training has 9: its learning rate only rises, and the schedule after it never begins; "
                      "shorten warm_up, or train longer", out)
        self.assertIn("ema: after 9 steps 39 % of it are still the weights that training began with, and it is what is validated and "
                      "written; lower decay to 0.6, let averaging begin later (start_step), or train longer", out)
        model = stage(folder, "model.h5")
        code, out, error = program.run("run", deck(program.fresh("train_begun"), layers="6, 9"), "stages[0].train.network.activation=relu",
                                       f"stages[0].train.start_from={model}")
        self.assertEqual(code, 0, error)
        self.assertIn(f"start_from: the network of '{model}' has other keys than the deck's: activation: tanh there, relu here; its weights "
                      "mean the same only where these do not change what the network computes", out)
        self.assertNotIn("ema: after", out)
        self.assertNotIn("warm_up takes", out)

    def test_kill_and_resume(self):
        for ranks in (1, 2):
            long = {"steps": 600, "every": 50, "layers": "64, 64", "validate": 100}
            whole, _ = self.trained(f"whole_{ranks}", ranks, **long)
            folder = program.fresh(f"train_killed_{ranks}")
            run = subprocess.Popen(program.command("run", deck(folder, **long), ranks=ranks), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            while not os.path.exists(stage(folder, "restart.150.h5")):
                time.sleep(0.002)
            program.kill_ranks(run, folder)
            self.assertFalse(os.path.exists(stage(folder, "model.h5")))
            code, out, error = program.run("restart", os.path.join(folder, "run"), ranks=ranks)
            self.assertEqual(code, 0, error)
            self.assertIn("resumed at step", out)
            self.assertEqual(weights(whole), weights(folder))
            self.assertEqual(weights(whole, "restart.600.h5"), weights(folder, "restart.600.h5"))
            for table in ("training.csv", "validation.csv"):
                self.assertEqual(text(whole, table), text(folder, table))

    def test_model_card_after_a_resume_without_a_better_validation(self):
        # The only validation is that of step 40; the resumed part, from step 50 on, has none.
        whole, _ = self.trained("card", steps=60, every=10, validate=40)
        part = program.fresh("train_card_resumed")
        shutil.rmtree(part)
        shutil.copytree(whole, part)
        for name in ("restart.60.h5", "model.h5"):
            os.remove(stage(part, name))
        os.remove(os.path.join(part, "run", "stages_done.txt"))
        code, _, error = program.run("restart", os.path.join(part, "run"))
        self.assertEqual(code, 0, error)
        cards = []
        for folder in (whole, part):
            with h5py.File(stage(folder, "model.h5")) as file:
                cards.append({name: data[()] for name, data in file["card"].items()})
        self.assertIn("validation_error", cards[0])
        self.assertEqual(cards[0], cards[1])

    def test_every_step_resumes(self):
        self.check_resumes("adamw", (1, 19, 20, 21, 37, 59))
        self.check_resumes("{type: split_sgd, momentum: 0.9}", (37,))
        self.check_resumes("lamb", (37,))

    def check_resumes(self, optimizer, steps):
        whole, _ = self.trained("steps", steps=60, every=1, optimizer=optimizer)
        for step in steps:
            part = program.fresh("train_step")
            shutil.rmtree(part)
            shutil.copytree(whole, part)
            for later in range(step + 1, 61):
                os.remove(stage(part, f"restart.{later}.h5"))
            os.remove(os.path.join(part, "run", "stages_done.txt"))
            code, _, error = program.run("restart", os.path.join(part, "run"))
            self.assertEqual(code, 0, error)
            self.assertEqual(weights(whole), weights(part), step)
            self.assertEqual(text(whole, "training.csv"), text(part, "training.csv"))

    def test_a_signal_stops_in_order(self):
        folder = program.fresh("train_signal")
        run = subprocess.Popen(program.command("run", deck(folder, steps=2000000, every=50)), stdout=subprocess.PIPE, text=True)
        while not os.path.exists(stage(folder, "restart.100.h5")):
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 3)
        self.assertIn("stopped by signal SIGTERM; a checkpoint is written. Resume with:\n  cambium restart ", out)

    def test_other_numbers_of_ranks_resume(self):
        for mode, note in (("fast", "written by 1 ranks: sums are rounded differently from here on"), ("ordered", "resumed at")):
            whole, _ = self.trained("ranks_1", mode=mode)
            part = program.fresh("train_ranks")
            shutil.rmtree(part)
            shutil.copytree(whole, part)
            os.remove(stage(part, "restart.100.h5"))
            os.remove(os.path.join(part, "run", "stages_done.txt"))
            code, out, error = program.run("restart", os.path.join(part, "run"), f"run.directory={part}/run", ranks=2)
            self.assertEqual(code, 0, error)
            self.assertIn(note, out)
            if mode == "ordered":
                self.assertEqual(weights(whole), weights(part))
        code, _, error = program.run("restart", os.path.join(part, "run"), ranks=3)
        self.assertEqual(code, 0, error)  # nothing is left to do, so nothing is asked

    def test_divergence_names_the_term_and_keeps_the_best(self):
        for rate, what in ((1e4, r"the term 'scaled_error' of the loss is (not a number|infinite)"),
                           (1.0, r"the loss is \S+, more than divergence_factor = 100 times its first values \(\S+\), most of it in the "
                                 r"term 'scaled_error'")):
            folder = program.fresh("train_diverges")
            code, _, error = program.run("run", deck(folder, optimizer="{type: sgd, momentum: 0.9}", rate=rate, steps=4000),
                                         "stages[0].train.clip=null", "stages[0].train.validate.every=1",
                                         "stages[0].train.divergence_factor=100", "stages[0].train.network.activation=relu")
            self.assertEqual(code, 4, error)
            self.assertRegex(error, r"numerical failure: training diverged at step \d+: " + what + r"; the learning rate was "
                                    r"\S+, try a tenth of it or a warm_up; the best model, of step \d+, is in ")
            self.assertTrue(weights(folder))

    def test_a_full_disk_leaves_the_older_checkpoint(self):
        folder = program.fresh("train_full")
        os.makedirs(stage(folder, ""))
        os.symlink("/dev/full", stage(folder, "restart.100.h5.part"))
        code, _, error = program.run("run", deck(folder))
        self.assertEqual(code, 2, error)
        self.assertIn("restart.100.h5", error)
        self.assertIn("No space left on device", error)
        self.assertFalse(os.path.exists(stage(folder, "restart.100.h5")))
        os.remove(stage(folder, "restart.100.h5.part")) if os.path.islink(stage(folder, "restart.100.h5.part")) else None
        whole, _ = self.trained("full_whole")
        code, out, error = program.run("restart", os.path.join(folder, "run"))
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 50", out)
        self.assertEqual(weights(whole), weights(folder))

    def test_messages(self):
        folder = program.fresh("train_messages")
        cases = [
            (dict(batch=1000), [], "batch is 1000, but the training set has 450 samples; lower batch"),
            (dict(optimizer="split_sgd", precision="float64"), [],
             "optimizer split_sgd splits float32 weights, but the model trains in float64; set the model's precision to float32"),
            (dict(mode="ordered"), ["stages[0].train.gradient_accumulation_steps=2"],
             "gradient_accumulation_steps does nothing in ordered mode, where reduce.micro_batches cuts the batch; remove it"),
            (dict(mode="ordered"), ["stages[0].train.reduce.micro_batches=6"], "micro_batches is 6, but must be a power of two; 8 is the next"),
            ({}, ["stages[0].train.epochs=3"], "give one of: steps, epochs"),
            ({}, ["stages[0].train.hold_out=0.0001"], "hold_out 0.0001 of 500 samples is none; hold out more, or remove it"),
            ({}, ["stages[0].train.start_from=none.h5"], "none.h5"),
            ({}, ["stages[0].train.optimizer=adma"], "did you mean 'adam'"),
        ]
        for given, overrides, message in cases:
            code, _, error = program.run("run", deck(folder, **given), *overrides)
            self.assertEqual(code, 2, error)
            self.assertIn(message, error)

    def test_another_optimizer_cannot_resume(self):
        folder, _ = self.trained("optimizer")
        os.remove(os.path.join(folder, "run", "stages_done.txt"))
        with h5py.File(stage(folder, "restart.100.h5"), "r+") as file:
            file["cambium"].attrs["deck"] = ""  # by which the difference is found before
        code, _, error = program.run("restart", os.path.join(folder, "run"), "stages[0].train.optimizer=sgd")
        self.assertEqual(code, 2)
        self.assertIn("was written with optimizer adamw, but the deck has sgd; resume with the same, or begin a new run with "
                      "start_from", error)

    def test_training_goes_on_from_a_model(self):
        first, _ = self.trained("first")
        second, out = self.trained("second", steps="20\n      start_from: " + stage(first, "model.h5"))
        self.assertIn("weights and statistics from", out)
        with open(stage(second, "validation.csv")) as a, open(stage(first, "validation.csv")) as b:
            self.assertLess(float(a.read().split("\n")[1].split(",")[1]), 2 * float(b.read().split("\n")[-2].split(",")[1]))

    def test_patience_ends_training(self):
        folder = program.fresh("train_patience")
        code, out, error = program.run("run", deck(folder, steps=4000, rate=0), "stages[0].train.validate.patience=3",
                                       "stages[0].train.learning_rate.stop=0", "stages[0].train.ema=null")
        self.assertEqual(code, 0, error)
        self.assertIn("no improvement in 3 validations: training ends at step 80", out)

    def test_committee(self):
        folder = program.fresh("train_committee")
        code, out, error = program.run("run", deck(folder), "stages[0].train.ensemble_size=3")
        self.assertEqual(code, 0, error)
        models = [weights(folder, f"model_{k}/model.h5") for k in (1, 2, 3)]
        self.assertNotEqual(models[0], models[1])
        self.assertNotEqual(models[1], models[2])
        one, _ = self.trained("member")
        self.assertEqual(weights(one), models[0])
        os.remove(os.path.join(folder, "run", "stages_done.txt"))
        os.remove(stage(folder, "model_2/finished.txt"))
        code, out, error = program.run("restart", os.path.join(folder, "run"))
        self.assertEqual(code, 0, error)
        self.assertNotIn("model 1 of 3", out)
        self.assertIn("model 2 of 3", out)
        self.assertEqual(weights(folder, "model_2/model.h5"), models[1])

    def run_with(self, name, *overrides, ranks=1, **given):
        """Weights of a training, and what it printed."""
        folder = program.fresh(name)
        code, out, error = program.run("run", deck(folder, every=1000, **given), *overrides, ranks=ranks)
        self.assertEqual(code, 0, error)
        return weights(folder), out + error

    def test_loaders_train_alike(self):
        planned = "stages[0].train.loader={type: buffered, %s}"
        for mode in ("ordered", "fast"):
            for permutation in ("stored", "computed"):
                order = f"stages[0].train.permutation={permutation}"
                for ranks in (1, 2, 4):
                    shuffled, _ = self.run_with("train_loader_default", order, mode=mode, ranks=ranks)
                    # Remapped, sums over ranks have another order unless the mode fixes it.
                    for keys in ("shared_memory: true", "remap: false") + (("prefetch: 0",) if mode == "ordered" or ranks == 1 else ()):
                        found, out = self.run_with("train_loader_buffered", order, planned % keys, mode=mode, ranks=ranks)
                        self.assertEqual(shuffled, found, (mode, permutation, ranks, keys))
                        self.assertIn("loader buffered: the samples of the data set are computed, not read from files, so there are no reads to "
                                      "plan; loader: shuffle computes them when they are needed", out)
                    if mode == "ordered" and ranks > 1:
                        self.assertEqual(shuffled, one)
                    one = shuffled

    def test_a_permutation_cannot_change(self):
        folder, _ = self.trained("permutation", every=50)
        os.remove(os.path.join(folder, "run", "stages_done.txt"))
        code, _, error = program.run("restart", os.path.join(folder, "run"), "stages[0].train.permutation=computed")
        self.assertEqual(code, 2)
        self.assertIn("stages[0].train.permutation is stored there and computed here; leave what determines the result as it was", error)

    def test_list_and_evaluate(self):
        code, out, _ = program.run("list", "models")
        self.assertEqual(code, 0)
        self.assertIn("mlp", out)
        folder, _ = self.trained("evaluated", steps=400)
        data = "{type: expression, samples: 300, seed: 9, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}"
        judge = "run: {name: judge}\nstages: [{evaluate: {model: MODEL, dataset: %s}}]\n" % data
        judge = judge.replace("MODEL", stage(folder, "model.h5"))
        one = program.run("run", program.write(os.path.join(folder, "judge.yaml"), judge), cwd=folder)
        two = program.run("run", os.path.join(folder, "judge.yaml"), "--overwrite", ranks=2, cwd=folder)
        self.assertEqual((one[0], two[0]), (0, 0), one[2] + two[2])
        found = [[line for line in out.split("\n") if line.strip().startswith("error")] for out in (one[1], two[1])]
        self.assertEqual(found[0], found[1])
        self.assertLess(float(found[0][0].split()[1]), 0.13)  # a third of the spread of the targets
        program.write(os.path.join(folder, "wide.yaml"), judge.replace("x: [-1, 1]", "x: [-1, 4]"))
        out = program.run("run", os.path.join(folder, "wide.yaml"), "--overwrite", cwd=folder)[1]
        self.assertRegex(out, r"field 'input' spans \[\S+, \S+\], but training saw \[\S+, \S+\]: the model extrapolates")

    def test_the_measure_of_the_best_model_is_chosen(self):
        # An error of weight -1: the best model is the worst one, which is the first that is looked at.
        folder = program.fresh("train_measure")
        code, out, error = program.run("run", deck(folder), "stages[0].train.validate.metric_weights=[-1]")
        self.assertEqual(code, 0, error)
        self.assertRegex(out, r"best validation: weighted sum -\S+ \(at step 20, epoch 0\.9091\)\n")
        code, _, error = program.run("run", deck(folder), "--overwrite", "stages[0].train.validate.metric_weights=[1, 0.5]")
        self.assertEqual(code, 2)
        self.assertIn("validate.metric_weights has 2 weights, but mlp is evaluated by 1 errors: error", error)

    def judged(self, folder, model, dataset, *overrides):
        """What the stage evaluate says of a model and data that do not go together."""
        text = "run: {name: judge}\nplugins: [md, deepmd]\nstages: [{evaluate: {model: %s, dataset: %s}}]\n" % (model, dataset)
        code, _, error = program.run("run", program.write(os.path.join(folder, "judge.yaml"), text), "--overwrite", *overrides, cwd=folder)
        self.assertEqual(code, 2, error)
        return error

    def test_evaluate_refuses_other_units_and_fields(self):
        folder, _ = self.trained("units", steps=20)
        data = "{type: expression, samples: 30, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}"
        model = stage(folder, "model.h5")
        with h5py.File(model, "r+") as file:
            file["fields/input"].attrs["unit"] = "nm"
        self.assertIn(f"model '{model}' was trained on 'input' in nm, but the data set has it in no unit; convert the data, or "
                      "train on it afresh", self.judged(folder, model, data))
        with h5py.File(model, "r+") as file:
            file.move("fields/input", "fields/pressure")
        self.assertIn(f"model '{model}' was trained on a field 'pressure', which the data set does not have",
                      self.judged(folder, model, data))

    def test_evaluate_refuses_other_species(self):
        folder = program.fresh("train_species")
        frames = "".join("4\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:forces:R:3 energy=%g\n" % (-1.0 - k) +
                         "".join(f"{{}} {x} {y} {z + 0.1 * k} 0 0 0\n" for x, y, z in ((0, 0, 0), (2, 2, 0), (2, 0, 2), (0, 2, 2)))
                         for k in range(4))
        copper = program.write(os.path.join(folder, "copper.xyz"), frames.replace("{}", "Cu"))
        silver = program.write(os.path.join(folder, "silver.xyz"), frames.replace("{}", "Ag"))
        deck = ("run: {name: net, directory: run}\nplugins: [md, deepmd]\nstages: [{train: {network: {type: deep_potential, rcut: 4.0, "
                "neuron: [4, 8], axis_neuron: 2, fitting: [8, 8]}, dataset: {type: extxyz, files: [%s]}, batch: 1, steps: 4, "
                "learning_rate: {type: constant, start: 1e-3}}}]\n")
        code, _, error = program.run("run", program.write(os.path.join(folder, "net.yaml"), deck % copper), cwd=folder)
        self.assertEqual(code, 0, error)
        self.assertIn("species 'Ag' of sample 0 is not in the network's type_map: Cu",
                      self.judged(folder, stage(folder, "model.h5"), "{type: extxyz, files: [%s]}" % silver))

    def test_a_damaged_model_is_refused(self):
        folder, _ = self.trained("damaged")
        model = stage(folder, "model.h5")
        with h5py.File(model, "r+") as file:
            del file["weights/layers.1.b"]
            file["weights/layers.1.b"] = np.zeros(3, "f4")
        code, _, error = program.run("run", deck(folder), "run.directory=" + os.path.join(folder, "other"), "stages[0].train.start_from=" + model)
        self.assertEqual(code, 2)
        self.assertIn("the model needs /weights/layers.1.b of shape [24], but the file has [3]; it was written by another version "
                      "or changed afterwards", error)

    def test_picture_of_the_loss(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            print(f"SKIPPED: picture of a training: {error}")
            return
        folder, _ = self.trained("picture")
        picture = os.path.join(folder, "loss.png")
        script = os.path.join(program.SOURCE, "apps", "python", "plot_run.py")
        subprocess.run([sys.executable, script, os.path.join(folder, "run"), "-o", picture], check=True, capture_output=True)
        self.assertGreater(os.path.getsize(picture), 20000)

    def test_mllog_lines(self):
        folder = program.fresh("train_mllog")
        code, out, error = program.run("run", deck(folder), "stages[0].train.mllog=true")
        self.assertEqual(code, 0, error)
        import json
        lines = [json.loads(line[len(":::MLLOG "):]) for line in out.split("\n") if line.startswith(":::MLLOG ")]
        keys = [line["key"] for line in lines]
        for key in ("init_start", "init_stop", "run_start", "run_stop", "eval_start", "eval_stop", "eval_error",
                    "global_batch_size", "train_samples", "eval_samples", "opt_name", "seed"):
            self.assertIn(key, keys)
        self.assertEqual([line["event_type"] for line in lines if line["key"] == "run_start"], ["INTERVAL_START"])
        self.assertEqual([line["metadata"]["status"] for line in lines if line["key"] == "run_stop"], ["aborted"])

    def test_rules_of_mlperf_hpc(self):
        """A target that is reached, one that is not, and a log without what the rules ask for."""
        said = "stages[0].train.submission={organisation: mine, platform: laptop, caches_cleared: true}"
        for target, words, status in (("1e9", "or less, reached at step", "success"), ("1e-12", "or less, not reached: ", "aborted")):
            folder = program.fresh("train_rules_" + status)
            code, out, error = program.run("run", deck(folder), "stages[0].train.mllog=true", said, f"stages[0].train.validate.target={target}")
            self.assertEqual(code, 0, error)
            self.assertIn(words, out)
            self.assertIn(f'"status":"{status}"', out)
            code, out, error = program.run("suite", "check", os.path.join(folder, "run"))
            self.assertEqual(code, 2, out + error)  # the benchmark is none of MLPerf HPC; all else is kept
            self.assertIn("1 point against the rules of MLPerf HPC 3.0", out)
            self.assertIn('submission_benchmark is "other"; the benchmarks are cosmoflow, deepcam, oc20, openfold', out)
        folder = program.fresh("train_rules_none")
        code, out, error = program.run("run", deck(folder), "stages[0].train.mllog=true")
        self.assertEqual(code, 0, error)
        code, out, error = program.run("suite", "check", os.path.join(folder, "run"))
        self.assertEqual(code, 2)
        for key in ("submission_org", "submission_platform", "submission_division", "submission_status"):
            self.assertIn(f"there is no {key}; exactly one is required", out)
        self.assertIn("there is no cache_clear; at least one is required", out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
