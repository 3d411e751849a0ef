"""Long-range sums of charges against LAMMPS' own (ewald, pppm, coul/dsf, born/coul/long), where `lmp` is installed."""
import os
import shutil
import subprocess
import unittest

import h5py
import numpy as np

import program

LMP = shutil.which("lmp")
KJ_PER_MOL = 96.48533212331002  # of one eV: e N_A / 1000
#: e^2/(4 pi eps0) of CODATA 2018 over LAMMPS' rounded 14.399645 eV Å.
SCALE = 14.3996454784255 / 14.399645
BORN = {("Na", "Na"): (0.2637, 2.340, 1.0486, 0.4993), ("Na", "Cl"): (0.2110, 2.755, 6.9906, 8.6758), ("Cl", "Cl"): (0.1582, 3.170, 72.4022, 145.4285)}
PAIRS = ", ".join(f"{{species: [{a}, {b}], a: {strength}, rho: 0.317, sigma: {sigma}, c: {c}, d: {d}}}" for (a, b), (strength, sigma, c, d) in BORN.items())
COEFFS = "\n".join(f"pair_coeff {1 + (a == 'Cl')} {1 + (b == 'Cl')} {strength} 0.317 {sigma} {c} {-d}" for (a, b), (strength, sigma, c, d) in BORN.items())
LAMMPS = """
units metal
atom_style charge
read_data start.data
STYLES
thermo_style custom step pe press
thermo_modify format float %.15g
dump forces all custom 1 forces.dump id fx fy fz
dump_modify forces format float %.16g sort id
run 0
"""
DECK = """
run: {name: salt, directory: DIR}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {file: DIR/start.data, species: [Na, Cl]}
      potential: POTENTIAL
      steps: 0
      output: [{type: h5md, every: 1, forces: true}]
"""


@unittest.skipUnless(LMP, "lmp is not installed")
class SameNumbers(unittest.TestCase):
    def start(self, triclinic):
        folder = program.fresh("coulomb_lammps")
        rng = np.random.default_rng(3)
        a, n = 5.64, 3
        sites = [(x, y, z) for z in range(2 * n) for y in range(2 * n) for x in range(2 * n)]
        cell = a * n * np.eye(3)
        if triclinic:
            cell[1, 0], cell[2, 0], cell[2, 1] = 3.1, -2.2, 1.7
        positions = np.array(sites) / (2 * n) @ cell + rng.uniform(-0.35, 0.35, (len(sites), 3))
        lines = ["salt", "", f"{len(sites)} atoms", "2 atom types", "", *(f"0 {cell[k, k]} {'xyz'[k]}lo {'xyz'[k]}hi" for k in range(3))]
        if triclinic:
            lines.append(f"{cell[1, 0]} {cell[2, 0]} {cell[2, 1]} xy xz yz")
        lines += ["", "Masses", "", "1 22.98976928", "2 35.45", "", "Atoms # charge", ""]
        for k, (site, x) in enumerate(zip(sites, positions)):
            chlorine = sum(site) % 2
            lines.append(f"{k + 1} {1 + chlorine} {1 - 2 * chlorine} {x[0]:.15g} {x[1]:.15g} {x[2]:.15g}")
        program.write(os.path.join(folder, "start.data"), "\n".join(lines) + "\n")
        return folder

    def theirs(self, folder, styles):
        path = program.write(os.path.join(folder, "in.lmp"), LAMMPS.replace("STYLES", styles))
        done = subprocess.run([LMP, "-in", path, "-log", "none"], cwd=folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        at = next(i for i, line in enumerate(lines) if line.split()[:1] == ["Step"])
        _, energy, pressure = map(float, lines[at + 1].split())
        return energy, pressure, np.loadtxt(os.path.join(folder, "forces.dump"), skiprows=9)[:, 1:]

    def ours(self, folder, potential):
        shutil.rmtree(os.path.join(folder, "simulate"), ignore_errors=True)
        path = program.write(os.path.join(folder, "deck.yaml"), DECK.replace("DIR", folder).replace("POTENTIAL", potential))
        code, out, error = program.run("run", path, "--overwrite")
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(folder, "simulate", "thermo.csv")) as file:
            names, values = (line.strip().split(",") for line in file.read().splitlines()[:2])
        row = dict(zip([name.split(" ")[0] for name in names], map(float, values)))
        with h5py.File(os.path.join(folder, "simulate", "trajectory.h5md")) as file:
            return row["potential"], row["pressure"], file["particles/trajectory/force/value"][0] / KJ_PER_MOL

    def same(self, styles, potential, tolerance, triclinic=False):
        folder = self.start(triclinic)
        energy, pressure, forces = self.theirs(folder, styles)
        own_energy, own_pressure, own = self.ours(folder, potential)
        self.assertLess(abs(own_energy / SCALE / energy - 1.0), tolerance)
        self.assertLess(abs(own_pressure / SCALE / pressure - 1.0), 100 * tolerance)
        self.assertLess(np.sqrt(((own / SCALE - forces) ** 2).sum(1).mean()), 14.4 * tolerance)

    def test_ewald_and_pppm(self):
        coulomb = "{type: coulomb, charges: {Na: 1, Cl: -1}, cutoff: 10, METHOD}"
        for name, accuracy, method in (("ewald", "1e-7", "method: ewald, accuracy: 1e-7"), ("ewald", "1e-7", "order: 8, accuracy: 1e-7"), ("pppm", "1e-5", "accuracy: 1e-5")):
            styles = f"pair_style coul/long 10.0\npair_coeff * *\nkspace_style {name} {accuracy}"
            for triclinic in (False, True):
                with self.subTest(f"{name}, {method}, triclinic {triclinic}"):
                    self.same(styles, coulomb.replace("METHOD", method), 2 * float(accuracy), triclinic)

    def test_damped_shifted_force(self):
        """LAMMPS computes erfc here by a formula with an error of 1.5e-7."""
        self.same("pair_style coul/dsf 0.2 11.0\npair_coeff * *", "{type: coulomb, charges: {Na: 1, Cl: -1}, method: dsf, cutoff: 11}", 2e-6)

    def test_salt_of_tosi_and_fumi(self):
        styles = f"pair_style born/coul/long 9.0\n{COEFFS}\nkspace_style ewald 1e-7"
        terms = f"{{type: coulomb, charges: {{Na: 1, Cl: -1}}, cutoff: 9, accuracy: 1e-7, order: 8}}, {{type: born_mayer, cutoff: 9, pairs: [{PAIRS}]}}"
        self.same(styles, f"{{type: sum, terms: [{terms}]}}", 2e-7)


if __name__ == "__main__":
    if not LMP:
        print("SKIPPED: long-range sums beside LAMMPS: lmp is not here (Debian: lammps)")
    unittest.main(verbosity=2)
