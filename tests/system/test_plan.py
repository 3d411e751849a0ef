"""`cambium plan` of simulations: what ranks count is what was planned and no more than their surface asks for; the page, by hand."""
# needs: md kinetic superres
# cost: 30
# thorough
import json
import math
import os
import re
import sys
import unittest

import program

sys.path.insert(0, os.path.join(program.SOURCE, "studies"))
import scale_cases as cases  # noqa: E402

RANKS = [int(n) for n in os.environ.get("CAMBIUM_RANKS", "2,4,8").split(",")]
PLANNED = 0.2  # of bytes and of collectives
AGREEMENTS = 2


def parts(plan):
    """Ranks along each dimension: of "4 x 2 x 2 bricks"."""
    return [int(n) for n in re.match(r"[0-9]+(?: x [0-9]+)*", plan["parts"]).group().split(" x ")]


def shell(edges, divided, reach):
    """Volume within reach of a brick that lies beyond a side that is divided, by looking at a grid of points."""
    points, inside = 40, 0
    for i in range(points):
        for j in range(points):
            for k in range(points):
                gaps = []
                for e, n in zip(edges, (i, j, k)):
                    x = (e + 2 * reach) * (n + 0.5) / points - reach
                    gaps.append(max(0.0, -x, x - e))
                inside += any(g > 0.0 and d for g, d in zip(gaps, divided)) and sum(g * g for g in gaps) < reach * reach
    return math.prod(e + 2 * reach for e in edges) * inside / points**3


# Of the decks of molecular dynamics: edge of the cell and range, Å, and the words of a ghost in a step (positions, forces, slopes).
GHOSTS = {"lennard_jones": (16 * 5.719, 9.5125, 4), "silicon": (12 * 5.431, 1.8 * 2.0951 + 1, 4 + 3), "copper": (20 * 3.61, 2 * 3.61 + 1, 4 + 1),
          "deep_potential": (10 * 3.61, 6.5 + 1, 4 + 3)}


class Counted(unittest.TestCase):
    """Runs on more ranks than cores, each of which is a node of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("plan_counted")
        machine = cases.write_machine(cls.folder)
        cls.runs, cls.plans = {}, {}
        for case in cases.CASES:
            path = cases.write_deck(case, cls.folder)
            cls.runs[case] = {n: cases.counted(cases.run(program.PROGRAM, path, n)) for n in RANKS}
            cls.plans[case] = {p["ranks"]: p for p in cases.planned(program.PROGRAM, path, machine, RANKS, *cases.RATES.get(case, ()))}

    def test_the_plan_says_what_ranks_count(self):
        for case in cases.CASES:
            for n in RANKS:
                with self.subTest(case=case, ranks=n):
                    run, plan = self.runs[case][n], self.plans[case][n]
                    self.assertLess(abs(plan["sent"] / run["sent"] - 1), PLANNED, (plan, run))
                    self.assertLess(abs(plan["received"] / run["received"] - 1), PLANNED, (plan, run))
                    self.assertLess(abs(plan["messages"] / run["messages"] - 1), 0.35, (plan, run))
                    # Beside those of the physics, ranks agree about once a second whether to go on: up to twice a step where steps are slow.
                    self.assertGreater(run["collectives"], (1 - PLANNED) * plan["collectives"], (plan, run))
                    self.assertLess(run["collectives"], (1 + PLANNED) * plan["collectives"] + AGREEMENTS, (plan, run))

    def test_atoms_send_their_shell(self):
        for case, (edge, reach, words) in GHOSTS.items():
            for n in RANKS:
                with self.subTest(case=case, ranks=n):
                    run, plan = self.runs[case][n], self.plans[case][n]
                    grid = parts(plan)
                    self.assertEqual(math.prod(grid), n)
                    ghosts = n * plan["items"] / edge**3 * shell([edge / r for r in grid], [r > 1 for r in grid], reach)
                    # Lists that are made anew add at most a few words for each ghost now and then.
                    self.assertLess(run["sent"], 1.35 * 8 * words * ghosts)
                    self.assertGreater(run["sent"], 0.8 * 8 * words * ghosts)
                    self.assertLess(run["messages"], 26 * 4, "26 neighbours, four kinds of message")
                    self.assertLess(run["collectives"], 2 + AGREEMENTS)

    def test_integrators_sum_as_often_as_planned(self):
        """Twelve neighbours of a small crystal; a list is made anew now and then, and ranks agree whether to go on."""
        path, machine = cases.write_deck("lennard_jones", self.folder, steps=200), cases.write_machine(self.folder)
        for name, keys in (("csvr", "temperature: 240 K"), ("nose_hoover", "temperature: 240 K"), ("langevin", "temperature: 240 K"),
                           ("npt", "temperature: 240 K, pressure: 0 bar, interval: 4"), ("fire", "pressure: 2000 bar, max_timestep: 5 fs")):
            with self.subTest(integrator=name):
                small = ["stages[0].simulate.structure.lattice.cells=[6, 6, 6]", f"stages[0].simulate.integrator={{type: {name}, {keys}}}"]
                run = cases.counted(cases.run(program.PROGRAM, path, 2, overrides=small))
                plan = cases.planned(program.PROGRAM, path, machine, [2], *small)[0]
                self.assertAlmostEqual(run["collectives"], plan["collectives"], delta=0.5)

    def test_convection_sends_a_few_rows(self):
        for case, row in (("convection", 256), ("cavity", 2 * 128)):
            for n in RANKS:
                with self.subTest(case=case, ranks=n):
                    run, levels = self.runs[case][n], (n - 1).bit_length()
                    # Three stages; five rows to each of two neighbours; of three fields and of complex modes two ends of a group of slabs on each
                    # level of a tree, but one on the last.
                    bound = 1.25 * 3 * 8 * row * (2 * 5 + (2 * levels - 1) * (3 + 1))
                    self.assertLess(run["sent"], bound)
                    self.assertLess(run["received"], bound)
                    self.assertLessEqual(run["messages"], 3 * (2 * 2 + 4 * levels) + 2.5 * levels)  # and a new length of the step now and then
                    self.assertLess(run["collectives"], 1 + AGREEMENTS)

    def test_convection_in_three_dimensions_sends_as_much_on_any_number_of_ranks(self):
        # Columns of a plane as stored, with ghosts, and as swept: six planes to each of two neighbours, and of four fields and of all modes four rows at
        # most, in shares, in each of three stages.
        stored, swept, modes = 26 * 48, 23 * 48 + 32, 2 * 17 * 2 * 16
        bound = 1.1 * 3 * 8 * (2 * 6 * stored + 4 * (4 * swept + modes))
        for n in RANKS:
            with self.subTest(ranks=n):
                run = self.runs["convection_3d"][n]
                self.assertLess(run["sent"], bound)
                self.assertLess(run["received"], bound)
                self.assertLess(run["collectives"], 2 + AGREEMENTS)

    def test_convection_keeps_its_rows_and_a_few_more(self):
        """Columns by the thousand and few rows: what a rank holds of the others would be most of its memory."""
        columns, rows = 8192, max(64, 2 * max(RANKS))  # every rank needs two rows
        wide = cases.write_deck("convection", program.fresh("plan_wide"))
        overrides = [f"stages[0].simulate.cells=[{columns}, {rows}]", "stages[0].simulate.steps=2", "stages[0].simulate.width=64"]
        extra = {}
        for n in RANKS:
            program_itself = self.runs["convection"][n]["memory"]
            extra[n] = cases.counted(cases.run(program.PROGRAM, wide, n, overrides=overrides))["memory"] - program_itself
            with self.subTest(ranks=n):
                # Words of a column: some twenty arrays of the rows of the slab and two more, and the ends of groups of three lengths of the step.
                self.assertLess(extra[n], 1.2 * 8 * columns * (20 * (math.ceil(rows / n) + 2) + 160))
        if {2, 8} <= set(RANKS):
            self.assertLess(extra[8], 0.7 * extra[2], extra)

    def test_cells_send_surfaces_and_shares(self):
        # Modes of a cell; cells along each dimension, of which the first are of configuration space; modes and components of moments and of fields
        # there; numbers of own cells that travel for the potential, over the modes. The Maxwellians of collisions are corrected three times.
        for case, modes, cells, space, conf, moments, fields, potential, collectives in (
                ("kinetic_1x2v", 20, [256, 16, 16], 1, 3, 4, 0, 0, 12), ("kinetic_2x2v", 16, [32, 32, 8, 8], 2, 4, 4, 6, 0, 6), ("plane", 16, [32, 32, 8, 8], 2, 4, 4, 0, 2.6, 9),
                ("plane_with_walls", 16, [32, 32, 8, 8], 2, 4, 4, 0, 3, 9),
                ("gas", 8, [256, 32], 1, 3, 3, 0, 0, 12)):
            for n in RANKS:
                with self.subTest(case=case, ranks=n):
                    run, plan = self.runs[case][n], self.plans[case][n]
                    grid = parts(plan)
                    own = [math.ceil(c / r) for c, r in zip(cells, grid)]
                    surface = sum(2 * math.prod(own) / own[d] for d in range(len(own)) if grid[d] > 1)
                    mine = math.prod(own[:space])
                    edge = sum(2 * mine / own[d] for d in range(space) if grid[d] > 1)
                    shared = 2 * moments if math.prod(grid[space:]) > 1 else 0
                    # Four times traces of half the modes at most, packs of up to eight cells along x; three stages' fields of cells that touch, loads, waves
                    # (twice two numbers) and potentials of own cells and of those that touch (between walls loads, potentials and lines of nodes), moments where velocities are cut.
                    bound = 8 * (4 * 0.5 * modes * surface * max(1, 8 / own[0]) + 3.1 * conf * (fields * edge + (shared + potential) * mine) + 64)
                    self.assertLess(run["sent"], bound)
                    self.assertLess(run["received"], bound)
                    self.assertLess(run["collectives"], collectives + AGREEMENTS + (3 if shared else 0))

    def test_cells_keep_their_share(self):
        """Many cells of configuration space and few velocities: moments and fields of all cells would be most of a rank's memory."""
        many = cases.write_deck("kinetic_2x2v", program.fresh("plan_many"))
        s = "stages[0].simulate."
        overrides = [s + "domain.cells=[128, 128]", s + "species[0].velocity.cells=[4, 4]", s + "parameters.u=0", s + "parameters.vt=0.15", s + "steps=2"]
        extra = {}
        for n in RANKS:
            program_itself = self.runs["kinetic_2x2v"][n]["memory"]
            extra[n] = cases.counted(cases.run(program.PROGRAM, many, n, overrides=overrides))["memory"] - program_itself
        if {2, 8} <= set(RANKS):
            self.assertLess(extra[8], 0.28 * extra[2], extra)  # moments and fields of all cells would make it a third

    def test_the_page_follows_from_its_messages(self):
        """A flat network: latency of each round, bytes through one link; sums over a tree."""
        folder = program.fresh("plan_page")
        machine = cases.write_machine(folder, "1 GB/s", "100 us")
        path = cases.write_deck("silicon", folder)
        plan, = cases.planned(program.PROGRAM, path, machine, [8], "--rate", "1e6")
        self.assertAlmostEqual(plan["work_seconds"], 12**3 * 8 / 8 * 1e-6, delta=1e-9)
        seconds = plan["work_seconds"]
        for e in plan["exchanges"]:
            rounds = e["rounds"] * (3 if e["messages"] == 0 else 1)
            bytes_ = min(3, 2) * e["sent"] if e["messages"] == 0 else e["sent"]
            self.assertAlmostEqual(e["seconds"], rounds * 1e-4 + bytes_ * 1e-9, delta=1e-9, msg=e["name"])
            seconds += e["seconds"]
        self.assertAlmostEqual(plan["step_seconds"], seconds, delta=1e-9)
        self.assertAlmostEqual(plan["efficiency"], 12**3 * 8 * 1e-6 / (8 * seconds), delta=1e-9)

    def test_ten_to_the_nine_atoms(self):
        code, out, error = program.run("plan", os.path.join(program.SOURCE, "inputs", "md", "argon_melt.yaml"), "--machine", "frontier", "--ranks",
                                       "16,1024,65536,98304", "stages[0].simulate.structure.lattice.cells=[640, 640, 640]", "--rate", "2e7", "--json")
        self.assertEqual(code, 0, error)
        figures = json.loads(out.splitlines()[-1])
        self.assertEqual(figures["items"], 4 * 640**3)
        self.assertEqual([p["ranks"] for p in figures["plans"]], [16, 1024, 65536, 98304])
        self.assertFalse(figures["plans"][0]["refused"])
        self.assertGreater(figures["plans"][0]["efficiency"], 0.9)
        times = [p["step_seconds"] for p in figures["plans"]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertRegex(out, r"(?m)^largest sensible number of ranks: [0-9]+, efficiency [0-9]+ %")

    def test_a_model_that_is_not_there(self):
        folder = program.fresh("plan_model")
        path = cases.write_deck("deep_potential", folder)
        code, _, error = program.run("plan", path, "--machine", cases.write_machine(folder), "--ranks", "8", "--rate", "1e4",
                                     "stages[0].simulate.potential.model=trained/model.dp")
        self.assertEqual(code, 2)
        self.assertIn("how far deep_potential reaches is not known before its model is there; run the stage that writes it, or name a model file", error)

    def test_weak(self):
        folder = program.fresh("plan_weak")
        machine = cases.write_machine(folder, "10 GB/s", "2 us")
        for case in ("copper", "kinetic_2x2v"):
            plans = cases.planned(program.PROGRAM, cases.write_deck(case, folder), machine, [8, 64, 512], "--weak")
            for plan in plans:
                self.assertAlmostEqual(plan["items"] / plans[0]["items"], 1.0, delta=0.05, msg=case)


class Asked(unittest.TestCase):
    """What a plan takes from its user."""

    def test_size_in_nodes(self):
        deck = os.path.join(program.SOURCE, "inputs", "train", "transformer.yaml")
        for machine, each in (("frontier", 8), ("a100_slingshot", 4)):
            said = {option: program.run("plan", deck, "--machine", machine, option, sizes) for option, sizes in
                    (("--nodes", "2,16"), ("--ranks", f"{2 * each},{16 * each}"))}
            self.assertEqual(said["--nodes"][0], 0, said["--nodes"][2])
            self.assertEqual(said["--nodes"][1], said["--ranks"][1])
        for options in ((), ("--nodes", "2", "--ranks", "16")):
            code, _, error = program.run("plan", deck, "--machine", "frontier", *options)
            self.assertEqual(code, 2)
            self.assertIn("--ranks", error)
            self.assertIn("--nodes", error)

    def test_data_of_an_earlier_stage(self):
        """The plan of a training whose data the deck makes is the plan of the same training after the stage was run."""
        folder = program.fresh("plan_makes_data")
        deck = os.path.join(program.SOURCE, "inputs", "deepmd", "copper.yaml")
        run = "run.directory=" + os.path.join(folder, "run")
        plan = ("--machine", "frontier", "--ranks", "8", "--stage", "2", "--json")
        code, _, error = program.run("plan", deck, run, *plan)
        self.assertEqual(code, 2)
        self.assertIn("(where an earlier stage writes these data: --make-data makes them at the deck's test size)", error)
        code, out, error = program.run("plan", deck, run, *plan, "--make-data")
        self.assertEqual(code, 0, error)
        self.assertIn("stage 1 run at the deck's test size for the shapes of its data", out)
        self.assertFalse(os.path.exists(os.path.join(folder, "run")))
        code, _, error = program.run("run", deck, run, "--test-size")
        self.assertEqual(code, 0, error)
        code, after, error = program.run("plan", deck, run, *plan)
        self.assertEqual(code, 0, error)
        self.assertEqual(json.loads(out.splitlines()[-1]), json.loads(after.splitlines()[-1]))

    def test_no_stage_to_make_data(self):
        deck = os.path.join(program.SOURCE, "inputs", "train", "transformer.yaml")
        code, _, error = program.run("plan", deck, "--machine", "frontier", "--ranks", "8", "--make-data")
        self.assertEqual(code, 2)
        self.assertIn("--make-data: no stage precedes the training, so that nothing makes its data; leave --make-data out", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
