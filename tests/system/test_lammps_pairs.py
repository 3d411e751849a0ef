"""Which pairs interact in lmp_cambium: those of LAMMPS' own pair styles, whatever is left out, taken away or changed in type; `clear`."""
import os
import re
import unittest

import numpy as np

import program
from test_lammps import LMP, lammps

ARGON = "0.0103 3.405"
OURS = ("cambium lennard_jones", '"{epsilon: 0.0103, sigma: 3.405, cutoff: 7.0}" Ar Ar')
THEIRS = ("lj/cut 7.0", ARGON)
ATOMS = """
units metal
atom_style STYLE
lattice fcc 5.4
region cell block 0 4 0 4 0 3
create_box 2 cell BOX
create_atoms 1 box
set type 1 type/fraction 2 0.4 99
mass * 39.948
displace_atoms all random 0.2 0.2 0.2 4711 units box
"""
MEASURE = """
compute stress all stress/atom NULL
compute total all reduce sum c_stress[1] c_stress[2] c_stress[3]
variable from_atoms equal -(c_total[1]+c_total[2]+c_total[3])/(3*vol)
compute each all pe/atom
compute energies all reduce sum c_each
thermo_style custom step pe press c_energies v_from_atoms
thermo_modify format float %.15g
dump forces all custom 1 forces.dump id fx fy fz
dump_modify forces format float %.16g sort id
run 0
"""


def table(out):
    """Rows of the last thermo output."""
    lines = out.splitlines()
    at = max(i for i, line in enumerate(lines) if line.split()[:1] == ["Step"])
    rows = []
    for line in lines[at + 1:]:
        try:
            rows.append([float(word) for word in line.split()])
        except ValueError:
            break
    return np.array(rows)


class Pairs(unittest.TestCase):
    def measured(self, styles, lines="", before="", style="atomic", box="", ranks=1, after=MEASURE):
        folder = program.fresh("lammps_pairs")
        setup = ATOMS.replace("STYLE", style).replace("BOX", box) + before
        code, out = lammps(folder, setup + "\nwrite_data start.data nocoeff\n")  # ids depend on the ranks that create the atoms
        self.assertEqual(code, 0, out)
        keep = "\n".join(line for line in setup.splitlines() if re.match("units|atom_style|bond_style", line))
        code, out = lammps(folder, "\n".join([keep, "read_data start.data" + (" extra/special/per/atom 50" if box else ""), *styles, lines, after]), ranks)
        self.assertEqual(code, 0, out)
        path = os.path.join(folder, "forces.dump")
        return table(out), np.loadtxt(path, skiprows=9)[:, 1:] if os.path.exists(path) else None

    def styles(self, which):
        style, coeff = which
        return ["pair_style " + style, "pair_coeff * * " + coeff]

    def same(self, lines="", ranks=(1, 2), theirs=None, ours=None, **keys):
        numbers, forces = self.measured(theirs or self.styles(THEIRS), lines, **keys)
        for count in ranks:
            found, own = self.measured(ours or self.styles(OURS), lines, ranks=count, **keys)
            np.testing.assert_allclose(found, numbers, rtol=1e-9, err_msg=lines)
            np.testing.assert_allclose(own, forces, atol=1e-9 * np.abs(forces).max(), err_msg=lines)
        return numbers

    def test_excluded_pairs(self):
        everything = self.same()
        for lines in ("group a id <= 60\ngroup b id > 100\nneigh_modify exclude group a b",
                      "group a id <= 60\nneigh_modify exclude group a a", "neigh_modify exclude type 1 2",
                      "neigh_modify exclude type 1 1 exclude type 2 2", "neigh_modify delay 0 every 1 check yes one 4000 page 100000"):
            with self.subTest(lines):
                numbers = self.same(lines)
                self.assertEqual(abs(numbers[0, 1] / everything[0, 1] - 1.0) > 0.05, "exclude" in lines)
        with self.subTest("back again"):
            again = "neigh_modify exclude type 1 2\nrun 0\nneigh_modify exclude none"
            np.testing.assert_allclose(self.same(again, ranks=(1,)), everything, rtol=1e-12)

    def test_excluded_molecules(self):
        for kind in ("intra", "inter"):
            with self.subTest(kind):
                self.same(f"neigh_modify exclude molecule/{kind} all", style="molecular",
                          before="set group all mol 1\ngroup b id > 90\nset group b mol 2")

    def test_exclusions_hold_in_a_run(self):
        run = "thermo 20\nthermo_style custom step pe etotal\nthermo_modify format float %.12g\nvelocity all create 60 12\nfix 1 all nve\ntimestep 0.004\nrun 40\n"
        lines = "group a id <= 60\nneigh_modify exclude group a a"
        numbers, _ = self.measured(self.styles(THEIRS), lines, after=run)
        found, _ = self.measured(self.styles(OURS), lines, ranks=2, after=run)
        np.testing.assert_allclose(found, numbers, rtol=1e-7)

    def test_pairs_of_another_style_of_a_hybrid(self):
        theirs = self.styles(THEIRS) + ["pair_coeff 1 2 0.02 3.3"]
        ours = ["pair_style hybrid lj/cut 7.0 cambium lennard_jones", "pair_coeff * * cambium " + OURS[1], "pair_coeff 1 2 lj/cut 0.02 3.3"]
        self.same(theirs=theirs, ours=ours)

    def test_many_body_forces_see_the_neighbours_that_are_left(self):
        """Two crystals of one box that do not see each other: each has the energy that it has alone."""
        setup = """
units metal
lattice fcc 3.61
region cell block 0 8 0 3 0 3
create_box 2 cell
region right block 4 INF INF INF INF INF
create_atoms 1 box
set region right type 2
mass * 63.546
displace_atoms all random 0.1 0.1 0.1 4711 units box
pair_style cambium sutton_chen
pair_coeff * * "{element: Cu, cutoff: 5.5}" Cu Cu
thermo_style custom step atoms pe
thermo_modify format float %.15g
LINES
run 0
"""
        energy = {}
        for name, lines in (("apart", "neigh_modify exclude type 1 2"), ("left", "group gone type 2\ndelete_atoms group gone"),
                            ("right", "group gone type 1\ndelete_atoms group gone"), ("both", "")):
            code, out = lammps(program.fresh("lammps_apart"), setup.replace("LINES", lines))
            self.assertEqual(code, 0, out)
            energy[name] = table(out)[0, 2]
        self.assertAlmostEqual(energy["apart"] / (energy["left"] + energy["right"]), 1.0, delta=1e-12)
        self.assertGreater(abs(energy["apart"] / energy["both"] - 1.0), 0.01)

    def test_grand_canonical_monte_carlo(self):
        """The same accepted and refused moves as with LAMMPS' own style; none leaves a cold crystal, whose every deletion costs energy."""
        run = """
fix gas all gcmc 1 15 10 2 29494 TEMPERATURE MU 0.3 full_energy
thermo 5
thermo_style custom step atoms pe f_gas[3] f_gas[4] f_gas[5] f_gas[6]
thermo_modify format float %.12g lost ignore
run 20
"""
        for temperature, mu in ((1200, "-1.2"), (20, "-0.02")):
            with self.subTest(temperature):
                text = run.replace("TEMPERATURE", str(temperature)).replace("MU", mu)
                numbers, _ = self.measured(self.styles(THEIRS), after=text)
                found, _ = self.measured(self.styles(OURS), after=text)
                np.testing.assert_allclose(found, numbers, rtol=1e-7)
                insertions, inserted, deletions, deleted = found[-1, 3:7]
                self.assertGreater(min(insertions, deletions), 50)
                self.assertEqual(found[-1, 1] - found[0, 1], inserted - deleted)
                if temperature == 20:
                    self.assertEqual(deleted, 0)
                else:
                    self.assertGreater(deleted, 5)

    def test_swapped_types(self):
        mixture = ("cambium lennard_jones",
                   '"{cutoff: 7.0, pairs: [{species: [Ar, Ar], epsilon: 0.0103, sigma: 3.405}, {species: [Kr, Kr], epsilon: 0.0145, sigma: 3.65}, '
                   '{species: [Ar, Kr], epsilon: 0.0123, sigma: 3.5}]}" Ar Kr')
        theirs = ["pair_style lj/cut 7.0", f"pair_coeff 1 1 {ARGON}", "pair_coeff 2 2 0.0145 3.65", "pair_coeff 1 2 0.0123 3.5"]
        run = """
fix swap all atom/swap 1 10 29494 300 types 1 2
thermo 5
thermo_style custom step pe f_swap[1] f_swap[2]
thermo_modify format float %.12g
run 20
"""
        numbers, _ = self.measured(theirs, after=run)
        found, _ = self.measured(self.styles(mixture), after=run)
        np.testing.assert_allclose(found, numbers, rtol=1e-9)
        self.assertGreater(found[-1, 3], 10)

    def test_bonded_atoms(self):
        keys = {"style": "bond", "box": "bond/types 1 extra/bond/per/atom 12 extra/special/per/atom 50",
                "before": "bond_style harmonic\nbond_coeff 1 0.0 3.8\nspecial_bonds lj/coul 0 1 1\npair_style zero 7.0\npair_coeff * *\n"
                          "create_bonds many all all 1 3.0 3.7\n"}
        bond = "bond_coeff 1 0.0 3.8\n"
        self.same(bond + "special_bonds lj/coul 1 1 1", **keys)
        for ours in (self.styles(OURS), ["pair_style hybrid/overlay zero 7.0 cambium lennard_jones", "pair_coeff * * zero", "pair_coeff * * cambium " + OURS[1]]):
            with self.assertRaises(AssertionError) as refused:
                self.measured(ours, bond + "special_bonds lj/coul 0 0 0.5", **keys)
            self.assertIn("pair_style cambium takes all pairs of atoms, bonded ones too, and special_bonds lj is 0 0 0.5: write `special_bonds lj/coul "
                          "1 1 1`, or, in a hybrid whose other styles need the factors, `pair_modify pair cambium special lj/coul 1 1 1`, for which LAMMPS requires 1e-20 instead of 0 in special_bonds", str(refused.exception))
        hybrid = ["pair_style hybrid/overlay zero 7.0 cambium lennard_jones", "pair_coeff * * zero", "pair_coeff * * cambium " + OURS[1],
                  "pair_modify pair cambium special lj/coul 1 1 1"]
        whole, _ = self.measured(self.styles(THEIRS), bond + "special_bonds lj/coul 1 1 1", **keys)
        found, _ = self.measured(hybrid, bond + "special_bonds lj/coul 1e-20 1e-20 0.5", **keys)
        np.testing.assert_allclose(found, whole, rtol=1e-9)

    def test_include_is_refused(self):
        with self.assertRaises(AssertionError) as refused:
            self.measured(self.styles(OURS), "group a id <= 60\natom_modify first a\nneigh_modify include a")
        self.assertIn("pair_style cambium acts on all atoms of its types, and `neigh_modify include` leaves it those of a group: take it out of the "
                      "input, or give the others a type of their own, with NULL in pair_coeff", str(refused.exception))


class Clear(unittest.TestCase):
    def test_the_style_is_known_after_clear(self):
        text = "\n".join([ATOMS.replace("STYLE", "atomic").replace("BOX", ""), "pair_style " + OURS[0], "pair_coeff * * " + OURS[1], "run 0\n"])
        code, out = lammps(program.fresh("lammps_clear"), "clear\n" + text + "clear\n" + text)
        self.assertEqual(code, 0, out)
        energies = [line.split()[2] for line in out.splitlines() if re.match(r" +0 +0 +-", line)]
        self.assertEqual(len(energies), 2)
        self.assertEqual(*energies)

    def test_ase(self):
        try:
            from ase.build import bulk
            from ase.calculators.lammpsrun import LAMMPS
        except ImportError:
            self.skipTest("needs ASE")
        found = []
        for style, coeff in (THEIRS, (OURS[0], OURS[1].replace(" Ar Ar", " Ar"))):
            atoms = bulk("Ar", cubic=True, a=5.3) * (3, 3, 3)
            atoms.rattle(0.1, seed=3)
            atoms.calc = LAMMPS(command=LMP, pair_style=style, pair_coeff=["* * " + coeff], tmp_dir=program.fresh("lammps_ase"))
            found.append((atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()))
        self.assertAlmostEqual(found[1][0] / found[0][0], 1.0, delta=1e-6)
        for k in (1, 2):
            np.testing.assert_allclose(found[1][k], found[0][k], atol=1e-5 * np.abs(found[0][k]).max())


if __name__ == "__main__":
    unittest.main()
