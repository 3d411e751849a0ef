"""Checkpoints of a training that no rank holds whole: one file by all ranks, or a file of each; the same weights on other ranks and in
other divisions, written behind or not; what is said of shares that are missing or foreign; ranks killed while they write.

CAMBIUM_KILLS: moments at which a run is killed while it writes (6)."""
# needs: md
# cost: 60
# processors: 2
import glob
import os
import random
import shutil
import subprocess
import time
import unittest

import h5py

import program
from test_train import deck, stage, weights

KILLS = int(os.environ.get("CAMBIUM_KILLS", "6"))
RESUMED = 2 if KILLS <= 12 else 1


def shared(folder, transfer, preset=None, **given):
    """A deck whose checkpoints are written so, divided so."""
    path = deck(folder, mode="ordered", **given)
    with open(path) as file:
        text = file.read().replace("keep: 100", f"keep: {given.get('keep', 100)}, {transfer}")
    if preset:
        text = text.replace("      log_every: 20\n", "      log_every: 20\n      parallel: {preset: %s, persistence_threshold: 50}\n" % preset)
    return program.write(path, text)


def shares(folder, step):
    """Bytes of the shares of a checkpoint, rank by rank."""
    out = []
    for path in sorted(glob.glob(stage(folder, f"restart.{step}.shares/*"))):
        with open(path, "rb") as file:
            out.append(file.read())
    return out


class Shares(unittest.TestCase):
    def trained(self, name, transfer, preset=None, ranks=1, **given):
        folder = program.fresh("shares_" + name)
        code, out, error = program.run("run", shared(folder, transfer, preset, **given), ranks=ranks)
        self.assertEqual(code, 0, error)
        return folder

    def goes_on(self, folder, ranks, *overrides):
        """From step 50."""
        for name in ("restart.100.h5", "restart.120.h5", os.path.join("..", "stages_done.txt")):
            if os.path.exists(stage(folder, name)):
                os.remove(stage(folder, name))
        code, out, error = program.run("restart", os.path.join(folder, "run"), *overrides, ranks=ranks)
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 50", out)

    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)

    def test_any_ranks_and_any_division_read_them(self):
        for optimizer, transfer, others in (("adamw", "transfer: per_rank", ((2, "ddp"), (8, "zero2"))),
                                            ("split_adamw", "transfer: collective", ((1, "zero1"), (2, "zero3"))),
                                            ("adamw", "transfer: per_rank, asynchronous: true", ((2, "zero3"),))):
            # Split gradients are kept in bfloat16 where a model is divided.
            whole = self.trained("whole", "transfer: gather", "ddp" if optimizer == "split_adamw" else None, optimizer=optimizer)
            part = self.trained("part", transfer, "zero3", ranks=4, optimizer=optimizer)
            self.assertEqual(weights(whole), weights(part), transfer)
            for ranks, preset in others:
                self.goes_on(part, ranks, f"stages[0].train.parallel.preset={preset}")
                self.assertEqual(weights(whole), weights(part), (transfer, ranks, preset))
            self.goes_on(part, 1, "stages[0].train.checkpoint.transfer=gather", "stages[0].train.checkpoint.asynchronous=false")
            self.assertEqual(weights(whole, "restart.100.h5"), weights(part, "restart.100.h5"), transfer)

    def test_files_of_former_checkpoints_and_undivided_weights(self):
        """Written gathered, gone on with in shares; and weights that every rank holds whole."""
        whole = self.trained("former", "transfer: gather", ranks=2)
        part = os.path.join(program.SCRATCH, "shares_former_on")
        for transfer, ranks in (("per_rank", 4), ("collective", 2)):
            shutil.rmtree(part, ignore_errors=True)
            shutil.copytree(whole, part)
            self.goes_on(part, ranks, f"run.directory={part}/run", f"stages[0].train.checkpoint.transfer={transfer}")
            self.assertEqual(weights(whole), weights(part))
            self.goes_on(part, 2, f"run.directory={part}/run")
            self.assertEqual(weights(whole), weights(part))
        with h5py.File(stage(part, "restart.100.h5")) as file, h5py.File(stage(whole, "restart.100.h5")) as gathered:
            for name in ("weights", "average", "best", "states"):
                self.assertIn(name, file)
            self.assertEqual(file["weights"][()].tobytes(), gathered["weights"][()].tobytes())

    def test_three_ranks_read_what_four_wrote(self):
        """Sums over three ranks have an order of their own, so nothing is trained there: what is read is what is exported."""
        four = self.trained("four", "transfer: per_rank", "zero3", ranks=4, steps=100)
        with open(os.path.join(four, "net.yaml")) as file:
            text = file.read().replace("mode: ordered, ", "mode: fast, ")
        four = program.fresh("shares_four_fast")
        code, _, error = program.run("run", program.write(os.path.join(four, "net.yaml"), text.replace("shares_four/", "shares_four_fast/")), ranks=4)
        self.assertEqual(code, 0, error)
        expected = weights(four)
        for ranks, preset in ((3, "ddp"), (3, "zero3"), (8, "zero1")):
            for name in ("model.h5", os.path.join("..", "stages_done.txt")):
                os.remove(stage(four, name))
            code, out, error = program.run("restart", os.path.join(four, "run"), f"stages[0].train.parallel.preset={preset}", ranks=ranks)
            self.assertEqual(code, 0, error)
            self.assertIn("resumed at step 100", out)
            self.assertEqual(weights(four), expected)

    def test_written_behind_they_are_the_same(self):
        for ranks in (1, 2):
            at_once = self.trained("at_once", "transfer: per_rank", "zero2", ranks)
            behind = self.trained("behind", "transfer: per_rank, asynchronous: true", "zero2", ranks)
            for step in (50, 100):
                self.assertEqual(len(shares(behind, step)), ranks)
                self.assertEqual(shares(at_once, step), shares(behind, step))

    def test_old_ones_go_with_their_shares(self):
        folder = self.trained("kept", "transfer: per_rank", ranks=2, keep=2, every=20)
        self.assertEqual(sorted(os.path.basename(path) for path in glob.glob(stage(folder, "restart.*"))),
                         ["restart.100.h5", "restart.100.shares", "restart.120.h5", "restart.120.shares"])

    def test_a_share_that_cannot_be_written_is_reported_by_the_next_steps(self):
        for behind in ("", ", asynchronous: true"):
            folder = program.fresh("shares_limit")
            path = shared(folder, "transfer: per_rank" + behind, layers="128, 128", validate=1000, steps=200)
            done = subprocess.run(["sh", "-c", 'ulimit -f 400 && exec "$@"', "sh", *program.command("run", path)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"cannot write '.*restart\.50\.shares/\w+\.00000': File too large; raise the limit")
            self.assertEqual(glob.glob(stage(folder, "restart.*.h5")), [])

    def test_keys_that_do_not_go_together(self):
        folder = program.fresh("shares_keys")
        code, _, error = program.run("run", shared(folder, "asynchronous: true"))
        self.assertEqual(code, 2)
        self.assertIn("checkpoint.asynchronous needs a file of each rank, which a thread writes without messages; use transfer: per_rank with it",
                      error)

    def damaged(self, name, harm, message):
        """The run goes on from the checkpoint before; and when that is gone, says what is wrong."""
        folder = self.trained("damaged", "transfer: per_rank", "zero3", ranks=2)
        whole = weights(folder)
        os.remove(stage(folder, "../stages_done.txt"))
        files = sorted(glob.glob(stage(folder, "restart.100.shares/*")))
        harm(files, folder)
        copy = folder + "_alone"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        code, out, error = program.run("restart", os.path.join(folder, "run"), ranks=2)
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 50", out)
        self.assertIn(message, out + error)
        self.assertEqual(weights(folder), whole)
        os.remove(stage(copy, "restart.50.h5"))
        code, out, error = program.run("restart", os.path.join(copy, "run"), f"run.directory={copy}/run", ranks=2)
        self.assertEqual(code, 2, out)
        self.assertIn("restart.100.h5: shard 2 of 2 ('", error)
        self.assertIn(message, error)
        return copy

    def test_missing_and_foreign_shares(self):
        def cut(files, _):
            with open(files[1], "r+b") as file:
                file.seek(200)
                file.write(b"\xff\x01")
        self.damaged("missing", lambda files, _: os.remove(files[1]), "is missing")
        self.damaged("cut", cut, "is damaged: what it holds is not what was written")
        self.damaged("foreign", lambda files, folder: shutil.copy(sorted(glob.glob(stage(folder, "restart.50.shares/*")))[1], files[1]),
                     "belongs to another checkpoint")

    def test_a_newer_version_is_named(self):
        folder = self.trained("newer", "transfer: per_rank", ranks=2)
        os.remove(stage(folder, "../stages_done.txt"))
        with h5py.File(stage(folder, "restart.100.h5"), "r+") as file:
            file["shares"].attrs["format"] = 2
        code, _, error = program.run("restart", os.path.join(folder, "run"), ranks=2)
        self.assertEqual(code, 2)
        self.assertIn("stores its arrays in shards of format 2, this Cambium reads format 1; resume with the version that wrote it", error)

    def test_killed_while_writing(self):
        """No checkpoint without its shares, whenever the ranks end."""
        folder, dice = program.fresh("shares_killed"), random.Random(7)
        path = shared(folder, "transfer: per_rank, asynchronous: true", "zero3", every=1, keep=2, steps=150, layers="64, 64", validate=1000)
        started = time.time()
        code, _, error = program.run("run", path, ranks=2)
        self.assertEqual(code, 0, error)
        whole, seconds = weights(folder), time.time() - started
        resumed = 0
        for kill in range(KILLS):
            shutil.rmtree(os.path.join(folder, "run"))
            run = subprocess.Popen(program.command("run", path, ranks=2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while run.poll() is None and not glob.glob(stage(folder, "restart.*.h5")):
                time.sleep(0.002)
            time.sleep(dice.uniform(0.0, 0.4) * seconds)
            program.kill_ranks(run, folder)
            manifests = sorted(glob.glob(stage(folder, "restart.*.h5")))
            self.assertTrue(manifests)
            for manifest in manifests:
                with h5py.File(manifest) as file:
                    name, sizes = file["shares"].attrs["files"], file["shares/bytes"][()]
                for rank, size in enumerate(sizes):
                    share = os.path.join(manifest.replace(".h5", ".shares"), f"{name}.{rank:05}")
                    self.assertEqual(os.path.getsize(share), size + 32, share)
            if kill % RESUMED == 0:
                code, out, error = program.run("restart", os.path.join(folder, "run"), ranks=(2, 4, 1)[resumed % 3])
                self.assertEqual(code, 0, error)
                self.assertNotIn("is damaged", out + error)
                self.assertEqual(weights(folder), whole)
                resumed += 1


if __name__ == "__main__":
    unittest.main(verbosity=2)
