"""`cambium profile`: the classes and idle time are the wall time, nearly all of it has a name, operations are those that shapes say."""
# needs: md
# cost: 30
# thorough
import csv
import json
import os
import re
import subprocess
import unittest

import program

DECKS = {  # enough steps that the start of a stage is not most of it
    "md": ("md/copper_melting.yaml", 2, ["stages[0].simulate.steps=300"]),
    "superres": ("superres/rayleigh_benard.yaml", 2, ["stages[0].simulate.cells=[256, 64]", "stages[0].simulate.end_time=2"]),
    "kinetic": ("kinetic/sod_bgk.yaml", 1, []),
    "submatrix": ("submatrix/diamond.yaml", 1, []),
    "train": ("train/surrogate.yaml", 2, ["stages[0].train.epochs=20", "stages[0].train.validate.every=250"]),
}
SMALL = {"kinetic", "submatrix"}  # at the size of the tests
CLASSES = {"matrix", "elementwise", "reduction", "transcendental", "movement", "communication", "files", "host"}


def stage_folders(run):
    return [os.path.join(run, name) for name in sorted(os.listdir(run)) if os.path.isfile(os.path.join(run, name, "profile.json"))]


def loaded(folder, name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


class Profile(unittest.TestCase):
    runs = {}

    def run_of(self, name):
        """The run of a deck that the tests share: (folder, what it said, ranks)."""
        if name not in self.runs:
            self.runs[name] = self.profiled(name)
        return self.runs[name]

    def profiled(self, name, ranks=None):
        deck, usual, keys = DECKS[name]
        folder = program.fresh(f"profile_{name}_{ranks or usual}")
        sizes = ["--test-size"] if name in SMALL else []
        code, out, error = program.run("profile", os.path.join(program.SOURCE, "inputs", deck), f"run.directory={folder}", *sizes, *keys,
                                       ranks=ranks or usual)
        self.assertEqual(code, 0, error)
        return folder, out, ranks or usual

    def judge(self, rank):
        self.assertLessEqual({row["class"] for row in rank["rows"]}, CLASSES)
        named = sum(row["seconds"] for row in rank["rows"])
        self.assertAlmostEqual((named + rank["idle_seconds"]) / rank["wall_seconds"], 1.0, delta=0.01)
        return named / rank["wall_seconds"]

    def test_every_plugin_has_names(self):
        built = os.environ["CAMBIUM_BUILT_PLUGINS"].split()
        for name in DECKS:
            if name != "train" and name not in built:
                continue
            with self.subTest(name):
                folder, out, ranks = self.run_of(name)
                first = stage_folders(folder)[-1 if name == "train" else 0]
                profile = loaded(first, "profile.json")
                self.assertEqual([rank["rank"] for rank in profile["ranks"]], list(range(ranks)))
                for rank in profile["ranks"]:
                    self.assertGreaterEqual(self.judge(rank), 0.95)
                self.assertIn("idle ", out)
                self.assertIn("profile.json, trace.json", out)
                for key in ("matrix_double_flops", "vector_float_flops", "memory_bytes", "files_bytes"):
                    self.assertGreater(profile["peaks_of_a_rank"][key], 1e6)

    def test_sections_as_the_timing_table_has_them(self):
        """Timing adds up its sections by itself; its table begins with the loop, the profile with the stage. Both read the clock one after
        the other, between which another program may get the processor: one of three runs has to agree."""
        self.assertTrue(any(self.sections_agree() for _ in range(3)))

    def sections_agree(self):
        folder, out, _ = self.profiled("md", ranks=1)
        rank = loaded(os.path.join(folder, "simulate"), "profile.json")["ranks"][0]
        loop = float(re.search(r"^Loop ([\d.]+) s", out, re.M).group(1))
        self.assertGreaterEqual(rank["wall_seconds"], loop - 0.01)
        apart = {}
        for section in ("integrate", "force"):
            timed = float(re.search(rf"^{section} +[\d.]+ +([\d.]+)", out, re.M).group(1))
            found = sum(row["seconds"] for row in rank["rows"] if row["section"] == section)
            apart[section] = abs(found - timed) / (0.02 * timed + 0.002)
        print("sections apart, of what is allowed:", apart)
        return max(apart.values()) < 1.0

    def test_tool_of_kokkos(self):
        """A tool that is loaded is told of sections and kernels, with a profile and without."""
        folder = program.fresh("profile_tool")
        deck = os.path.join(program.SOURCE, "inputs", DECKS["md"][0])
        tool = os.environ["CAMBIUM_KOKKOS_TOOL"]
        told = []
        for profile in ("false", "true"):
            notes = os.path.join(folder, profile)
            done = subprocess.run(program.command("run", deck, f"run.directory={folder}/run_{profile}", "stages[0].simulate.steps=20",
                                                  f"run.profile={profile}"), capture_output=True, text=True,
                                  env={**os.environ, "KOKKOS_PROFILE_LIBRARY": tool, "KOKKOS_TOOLS_LIBS": tool, "CAMBIUM_TOOL_NOTES": notes})
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(notes) as file:
                told.append(file.read().splitlines())
        self.assertEqual(told[0], told[1])
        self.assertGreater(told[0].count("section force"), 10)
        self.assertEqual(told[0].count("section end"), sum(line.startswith("section ") for line in told[0]) // 2)
        self.assertTrue(any(line.startswith("kernel sutton_chen") for line in told[0]))

    def test_operations_of_a_training(self):
        folder, _, ranks = self.run_of("train")
        train = os.path.join(folder, "train")
        with open(os.path.join(train, "training.csv")) as file:
            steps = int(list(csv.reader(line for line in file if not line.startswith("#")))[-1][0])
        profile = loaded(train, "profile.json")
        found = sum(row["flops"] for rank in profile["ranks"] for row in rank["rows"] if row["section"] == "gradient")
        # 2 to 64 to 64 to 1: forward, gradient of the weights, and of every layer's input but the first one's.
        layers = [(2, 64), (64, 64), (64, 1)]
        sample = 2 * (2 * sum(a * b for a, b in layers) + sum(a * b for a, b in layers[1:]))
        seen = 20 * 3600  # whole epochs of what is not held out
        self.assertGreaterEqual(steps, seen // 64)
        self.assertAlmostEqual(found / (sample * seen), 1.0, delta=0.01)

    def test_waits_for_ranks_of_the_same_machine(self):
        """Gradients are added in shared memory, where a rank that is ready waits for the other one: that is communication, no work of its own."""
        folder, _, _ = self.profiled("train")
        ranks = loaded(stage_folders(folder)[-1], "profile.json")["ranks"]
        waits = [row for rank in ranks for row in rank["rows"] if row["name"] == "shared memory: wait for other ranks"]
        self.assertTrue(waits)
        self.assertEqual({row["class"] for row in waits}, {"communication"})
        self.assertGreater(sum(row["seconds"] for row in waits), 0.0)

    def test_trace(self):
        folder, _, ranks = self.run_of("md")
        events = loaded(os.path.join(folder, "simulate"), "trace.json")["traceEvents"]
        self.assertEqual({event["pid"] for event in events}, set(range(ranks)))
        self.assertEqual(sorted(event["args"]["name"] for event in events if event["ph"] == "M"), [f"rank {k}" for k in range(ranks)])
        complete = [event for event in events if event["ph"] == "X"]
        self.assertGreater(len(complete), 1000)
        for event in complete:
            self.assertIn(event["cat"], CLASSES)
            self.assertGreaterEqual(event["ts"], 0.0)
            self.assertGreaterEqual(event["dur"], 0.0)
        self.assertTrue(any(event["name"].startswith("MPI_") for event in complete))
        self.nested([event for event in complete if event["pid"] == 0])

    def test_report_has_the_picture(self):
        folder, _, _ = self.run_of("train")
        code, _, error = program.run("report", folder)
        self.assertEqual(code, 0, error)
        with open(os.path.join(folder, "report.html")) as page:
            self.assertEqual(page.read().count('alt="profile"'), 2)  # of both stages

    def nested(self, events):
        """Regions of a rank lie inside each other or apart."""
        open_until = []
        for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
            end = event["ts"] + event["dur"]
            while open_until and open_until[-1] <= event["ts"] + 0.002:  # written to thousandths
                open_until.pop()
            if open_until:
                self.assertLessEqual(end, open_until[-1] + 0.003)
            open_until.append(end)

    def test_results_stay(self):
        folder, _, _ = self.run_of("md")
        plain = program.fresh("profile_plain")
        deck, ranks, keys = DECKS["md"]
        code, out, error = program.run("run", os.path.join(program.SOURCE, "inputs", deck), f"run.directory={plain}", *keys, ranks=ranks)
        self.assertEqual(code, 0, error)
        self.assertNotIn("profile of", out)
        with open(os.path.join(folder, "simulate", "thermo.csv")) as one, open(os.path.join(plain, "simulate", "thermo.csv")) as other:
            self.assertEqual(one.read(), other.read())

    def test_disk_that_takes_no_trace(self):
        folder = program.fresh("profile_refused")
        os.makedirs(os.path.join(folder, "simulate", "trace.json.part"))  # stands where the file is written first
        deck, _, keys = DECKS["md"]
        code, out, error = program.run("profile", os.path.join(program.SOURCE, "inputs", deck), f"run.directory={folder}",
                                       "stages[0].simulate.steps=20")
        self.assertEqual(code, 0, error)
        self.assertRegex(out + error, re.escape("the run continues without this part of its profile: cannot write '")
                         + ".*trace.json': Is a directory; free some space or choose another run directory")
        self.assertTrue(os.path.isfile(os.path.join(folder, "simulate", "profile.json")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
