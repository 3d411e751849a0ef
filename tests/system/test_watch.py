"""`cambium watch`: curves of a run that goes on, of one that ended, and on a page; what it says of folders that hold none."""
import os
import re
import subprocess
import time
import unittest

import program

DECK = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [8]}
      dataset: {type: expression, samples: 2000, box: {x: [0, 1]}, target: {y: sin(5*x)}}
      validation: {type: expression, samples: 100, box: {x: [0, 1]}, target: {y: sin(5*x)}}
      validate: {every: 20}
      batch: 20
      steps: STEPS
      log_every: 20
      optimizer: adamw
      learning_rate: {type: constant, start: 0.01}
"""


class Watch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("watch")

    def deck(self, name, steps):
        run = os.path.join(self.folder, name)
        return run, program.write(run + ".yaml", DECK.replace("DIR", run).replace("STEPS", str(steps)))

    def test_a_run_that_goes_on_and_its_end(self):
        run, deck = self.deck("long", 20000)
        page = os.path.join(self.folder, "live.html")
        running = subprocess.Popen(program.command("run", deck), stdout=subprocess.DEVNULL)
        table = os.path.join(run, "train", "validation.csv")
        while not (os.path.exists(table) and os.path.getsize(table) > 60):
            self.assertIsNone(running.poll())
            time.sleep(0.05)
        code, out, error = program.run("watch", run, "--once", "--page", page, "--show", "loss,error")
        going = running.poll() is None
        self.assertEqual(code, 0, error)
        self.assertRegex(out, r"train: step \d+ of 20000 \(\d+ %\)")
        self.assertRegex(out, r"\nloss = [0-9.e-]+.*\n +[0-9.e-]+ \|[\u2800-\u28ff]+\n")
        self.assertIn("validation: error = ", out)
        self.assertNotIn("learning_rate", out)
        if going:
            self.assertNotIn(", ended", out)
        code, out, error = program.run("watch", run, "--interval", "0.2", "--page", page)
        self.assertEqual((code, running.wait()), (0, 0), error)
        self.assertIn("step 20000 of 20000 (100 %), ended", out)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("refresh", text)
        self.assertEqual((text.count("<polyline"), text.count("<figure"), text.count('class="second"')), (5, 4, 1))  # both losses on one axis, scaled error, validation, learning rate
        code, out, error = program.run("watch", os.path.join(run, "train"), limit=60)  # the folder of a stage: ends with it
        self.assertEqual(code, 0, error)
        self.assertIn("step 20000 of 20000 (100 %), ended", out)
        code, out, error = program.run("watch", run, "--show", "los")
        self.assertIn("no column of this stage is named los; it has: loss, validation: loss, scaled_error, validation: error, learning_rate", out)
        code, _, error = program.run("watch", run, "--page", os.path.join(self.folder, "nowhere", "live.html"))
        self.assertEqual(code, 2)
        self.assertIn("live.html': No such file or directory; choose another with --page", error)

    def test_the_picture_is_the_curve(self):
        """A rising line from the left below to the right above, one point in each column."""
        stage = os.path.join(self.folder, "line", "simulate")
        os.makedirs(stage)
        rows = "".join(f"{k},{2.0 * k}\n" for k in range(0, 101, 10))
        program.write(os.path.join(stage, "thermo.csv"), "step,energy [eV]\n" + rows + "110,5")  # the last line is not complete
        code, out, error = program.run("watch", os.path.dirname(stage), "--once")
        self.assertEqual(code, 0, error)
        rows = re.findall(r"\|([\u2800-\u28ff]+)$", out, re.M)
        columns = ["".join(row[k] for row in rows) for k in range(len(rows[0]))]
        self.assertTrue(all(sum(letter != "\u2800" for letter in column) in (1, 2) for column in columns))
        self.assertNotEqual(rows[-1][0], "\u2800")
        self.assertNotEqual(rows[0][-1], "\u2800")
        self.assertIn("energy [eV] = 200", out)
        self.assertRegex(out, r"\n +200 \|")

    def test_losses_share_an_axis(self):
        """Both pictures end where the larger and the smaller loss of both tables do."""
        stage = os.path.join(self.folder, "losses", "train")
        os.makedirs(stage)
        program.write(os.path.join(stage, "training.csv"), "step,epoch,learning_rate,loss\n10,1,0.1,4\n20,2,0.1,2\n")
        program.write(os.path.join(stage, "learning_curve.csv"), "step,epoch,training_loss,validation_loss\n10,1,4,6\n20,2,3,5\n")
        code, out, error = program.run("watch", os.path.dirname(stage), "--once", "--show", "loss")
        self.assertEqual(code, 0, error)
        self.assertIn("validation: loss = 5\n", out)
        self.assertEqual(len(re.findall(r"\n +6 \|", out)), 2)
        self.assertEqual(len(re.findall(r"\n +2 \|", out)), 2)

    def test_numbers_that_are_none(self):
        stage = os.path.join(self.folder, "nan", "train")
        os.makedirs(stage)
        program.write(os.path.join(stage, "training.csv"), "step,loss\n1,2\n2,nan\n3,inf\n4,1\n")
        code, out, error = program.run("watch", os.path.dirname(stage), "--once")
        self.assertEqual(code, 0, error)
        self.assertIn("loss = 1, not finite at step 2", out)

    def test_bad_input(self):
        for words, said in ((["nowhere"], "there is no folder 'nowhere'; give the run.directory of the deck"),
                            ([self.folder, "--interval=0"], "--interval is 0; give a number of seconds above 0")):
            code, _, error = program.run("watch", *words)
            self.assertEqual(code, 2)
            self.assertIn(said, error)
        python = os.environ.get("CAMBIUM_PYTHON")
        os.environ["CAMBIUM_PYTHON"] = os.path.join(self.folder, "no_python")
        code, _, error = program.run("watch", self.folder, "--once")
        os.environ.pop("CAMBIUM_PYTHON") if python is None else os.environ.update(CAMBIUM_PYTHON=python)
        self.assertEqual(code, 2)
        self.assertIn("there is no python3, which draws the curves; name one in CAMBIUM_PYTHON", error)
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty)
        code, out, _ = program.run("watch", empty, "--once")
        self.assertEqual((code, out.split(" has ")[1]), (0, "written a table with steps\n"))


if __name__ == "__main__":
    unittest.main()
