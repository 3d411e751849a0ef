"""Structures in spellings drawn at random, read by the program and by ASE: the same atoms, cells, velocities and masses.

Skipped, saying so, where ASE is missing (Debian: python3-ase), and the units of LAMMPS' data files where lmp is. tests/core/io holds what ASE does not read: nested lists, exponents with d.
"""
# needs: md
import csv
import glob
import itertools
import os
import random
import shutil
import subprocess
import unittest
import warnings

import numpy as np

import program

STAGE = """  - simulate:
      physics: md
      structure: {structure}
      potential: {{type: lennard_jones, cutoff: 4.0, truncation: smooth, {strength}}}
      steps: 0
      timestep: 0.001 fs
      output: [{{type: extxyz, every: 1, velocities: true}}]
"""
SAME = "epsilon: 0.001, sigma: 2.0"
PAIRS = "pairs: [" + ", ".join(f"{{species: [{a}, {b}], {SAME}}}" for a, b in itertools.combinations_with_replacement(["Ar", "Ne", "Kr"], 2)) + "]"
CELL = np.array([[11.0, 0, 0], [1.5, 12.0, 0], [-0.5, 0.25, 13.0]])
SYMBOLS = ["Ar", "Ne", "Ar", "Kr", "Ne", "Ar"]
MASSES = {"Ar": 39.95, "Ne": 20.1797, "Kr": 83.798}


def modules():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ase.io
            import ase.units
        return ase
    except ImportError as missing:
        print(f"SKIPPED: structures read by ASE: {missing}")
        raise unittest.SkipTest(str(missing)) from None


def atoms_of(seed):
    """Positions (Å) far from each other, velocities (Å/ps)."""
    draw = np.random.default_rng(seed)
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])[:len(SYMBOLS)]
    fraction = 0.25 + 0.5 * corners + 0.05 * draw.random((len(SYMBOLS), 3))
    return fraction @ CELL, draw.normal(size=(len(SYMBOLS), 3)) * 3.0


class Spelling(random.Random):
    def blank(self):
        return self.choice([" ", "  ", "\t"])

    def number(self, x):
        return self.choice(["%.12g", "%.12e", "%+.12f", "%.13E"]) % x

    def list(self, words):
        text = self.choice([" ", "  ", ", "]).join(words)
        return self.choice(['"%s"', "'%s'", "{%s}", "[%s]", '" %s "']) % text

    def pair(self, key, value):
        return key + self.choice(["=", " = ", "= ", " ="]) + value


def extended_xyz(ase, seed):
    s = Spelling(seed)
    position, velocity = atoms_of(seed)
    motion = s.choice(["velo", "momenta"])
    columns = [("species:S:1", lambda k: [SYMBOLS[k]])] if s.random() < 0.6 else [("Z:I:1", lambda k: [str(ase.data.atomic_numbers[SYMBOLS[k]])])]
    columns.append(("pos:R:3", lambda k: [s.number(x) for x in position[k]]))
    scale = {"velo": 1.0, "momenta": 1.0 / (1000.0 * ase.units.fs)}[motion]
    weight = (lambda k: MASSES[SYMBOLS[k]]) if motion == "momenta" else (lambda k: 1.0)
    columns.append((motion + ":R:3", lambda k: [s.number(x) for x in scale * weight(k) * velocity[k]]))
    columns += [(name, lambda k: ["7"]) for name in ("tags:I:1", "charge:R:1", "label:S:1") if s.random() < 0.4]
    s.shuffle(columns)
    keys = [s.pair("Lattice", s.list([s.number(x) for x in CELL.ravel()])), s.pair("Properties", ":".join(name for name, _ in columns))]
    if s.random() < 0.6:
        keys.append(s.pair("pbc", s.list(["T", "T", "T"])))
    for other in ("config_type=bulk", "done", 'note="two words"', "note='Lattice=\"1 0 0\" pbc=F'", 'text="a \\"quoted\\" word"', "Time=1.5",
                  'group="_JSON {\\"number\\": 225}"', '"my key"=3'):
        if s.random() < 0.25:
            keys.append(other)
    s.shuffle(keys)
    lines = [str(len(SYMBOLS)), s.blank().join(keys)]
    lines += [s.blank().join(word for _, make in columns for word in make(k)) for k in range(len(SYMBOLS))]
    return s.choice(["\n", "\r\n"]).join(lines) + "\n"


def lammps_data(seed, style):
    s = Spelling(seed)
    position, velocity = atoms_of(seed)
    kinds = ["Ar", "Ne", "Kr"]
    rows = {"atomic": "{id} {type} {x}", "charge": "{id} {type} 0.5 {x}", "molecular": "{id} 9 {type} {x}", "full": "{id} 9 {type} -0.5 {x}"}
    order = list(range(len(SYMBOLS)))
    s.shuffle(order)
    header = [f"{len(SYMBOLS)} atoms", "3 atom types", f"0 {CELL[0, 0]} xlo xhi", f"0 {CELL[1, 1]} ylo yhi", f"0 {CELL[2, 2]} zlo zhi",
              f"{CELL[1, 0]} {CELL[2, 0]} {CELL[2, 1]} xy xz yz"]
    s.shuffle(header)
    text = ["LAMMPS data file via write_data, version 2 Aug 2023, timestep = 0, units = metal", ""] + header
    text += ["", "Masses", ""] + [f"{k + 1} {MASSES[name]} # {name}" for k, name in enumerate(kinds)]
    text += ["", "Atoms" + s.choice([f" # {style}", f"  # {style}/kk", ""]), ""]
    flags = s.random() < 0.5
    for k in order:
        text.append(rows[style].format(id=k + 1, type=kinds.index(SYMBOLS[k]) + 1, x=" ".join(s.number(x) for x in position[k])) + (" 0 0 0" if flags else ""))
    text += ["", "Velocities", ""] + [f"{k + 1} " + " ".join(s.number(x) for x in velocity[k]) for k in order]
    return "\n".join(text) + "\n"


class Read(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ase = cls.ase = modules()
        cls.folder = program.fresh("structures_read")
        cls.files = []
        for seed in range(12):
            name = program.write(os.path.join(cls.folder, f"{seed}.xyz"), extended_xyz(ase, seed))
            cls.files.append((name, f"{{file: {name}}}", lambda name=name: ase.io.read(name, format="extxyz")))
        numbers = {k + 1: ase.data.atomic_numbers[name] for k, name in enumerate(["Ar", "Ne", "Kr"])}
        for seed, style in enumerate(("atomic", "charge", "molecular", "full")):
            name = program.write(os.path.join(cls.folder, f"{style}.data"), lammps_data(seed, style))
            cls.files.append((name, f"{{file: {name}, species: [Ar, Ne, Kr]}}", lambda name=name, style=style: ase.io.read(
                name, format="lammps-data", style=style, sort_by_id=True, Z_of_type=numbers)))
        deck = program.write(os.path.join(cls.folder, "deck.yaml"),
                             f"run: {{name: read, directory: {cls.folder}/run}}\nplugins: [md]\nstages:\n" +
                             "".join(STAGE.format(structure=structure, strength=PAIRS) for _, structure, _ in cls.files))
        cls.code, cls.out, cls.error = program.run("run", deck)

    def test_the_program_and_ase_read_the_same(self):
        self.assertEqual(self.code, 0, self.out + self.error)
        ase = self.ase
        for k, (name, _, read) in enumerate(self.files):
            stage = "simulate" if k == 0 else f"simulate_{k + 1}"
            [path] = glob.glob(os.path.join(self.folder, "run", stage, "*.extxyz"))
            with self.subTest(os.path.basename(name)):
                theirs, ours = read(), ase.io.read(path, index=0)
                self.assertEqual(ours.get_chemical_symbols(), theirs.get_chemical_symbols())
                np.testing.assert_allclose(ours.cell[:], theirs.cell[:], atol=1e-9)
                self.assertTrue(all(theirs.pbc) or name.endswith(".data"))
                away = np.linalg.solve(CELL.T, (ours.get_positions() - theirs.get_positions()).T)
                np.testing.assert_allclose(away - np.round(away), 0.0, atol=1e-9)
                speed = theirs.arrays["velo"] if "velo" in theirs.arrays else theirs.get_velocities() * 1000.0 * ase.units.fs
                np.testing.assert_allclose(ours.arrays["velo"], speed, rtol=1e-4, atol=1e-9)  # their argon is 39.948


# Sizes of LAMMPS' units in Å, Å/ps and g/mol, to write a file; what a number means there, LAMMPS itself says.
MOL, BOHR = 6.02214076e23, 0.529177210903
UNITS = {"metal": (1, 1, 1), "real": (1, 1e3, 1), "si": (1e10, 1e-2, 1e3 * MOL), "cgs": (1e8, 1e-4, MOL), "electron": (BOHR, 1e3 * BOHR, 1),
         "micro": (1e4, 1e-2, 1e-12 * MOL), "nano": (10, 1e-2, 1e-18 * MOL)}


def in_units(style):
    """Argon in a cell of 12 x 13 x 14 Å, written in a style of units, as write_data does."""
    length, speed, mass = UNITS[style]
    position, velocity = atoms_of(7)
    text = [f"LAMMPS data file via write_data, version 29 Sep 2021, timestep = 0, units = {style}", "", f"{len(position)} atoms", "1 atom types", ""]
    text += [f"0 {edge / length:.17g} {axis}lo {axis}hi" for axis, edge in zip("xyz", (12.0, 13.0, 14.0))]
    text += ["", "Masses", "", f"1 {39.95 / mass:.17g}", "", "Atoms # atomic", ""]
    text += [f"{k + 1} 1 " + " ".join(f"{x / length:.17g}" for x in row) for k, row in enumerate(position)]
    text += ["", "Velocities", ""] + [f"{k + 1} " + " ".join(f"{x / speed:.17g}" for x in row) for k, row in enumerate(velocity)]
    return "\n".join(text) + "\n"


def temperature_in_lammps(lammps, folder, style):
    cut = 3.0 / UNITS[style][0]
    script = program.write(os.path.join(folder, f"in.{style}"), f"units {style}\natom_style atomic\nread_data {style}.data\npair_style zero {cut}\n"
                           f"pair_coeff * *\nneighbor 0 bin\nthermo_modify norm no\nrun 0\nprint 'kelvin $(temp)'\n")
    done = subprocess.run([lammps, "-in", script, "-log", "none"], cwd=folder, capture_output=True, text=True, timeout=120)
    words = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("kelvin")]
    if done.returncode or not words:
        raise AssertionError(done.stdout[-800:] + done.stderr)
    return float(words[0])


class Units(unittest.TestCase):
    def test_velocities_make_the_temperature_that_lammps_finds(self):
        lammps = shutil.which("lmp")
        if not lammps:
            print("SKIPPED: units of data files judged by LAMMPS: there is no lmp (Debian: lammps)")
            self.skipTest("no lmp")
        folder = program.fresh("structures_units")
        for style in UNITS:
            program.write(os.path.join(folder, f"{style}.data"), in_units(style))
        deck = program.write(os.path.join(folder, "deck.yaml"),
                             f"run: {{name: units, directory: {folder}/run}}\nplugins: [md]\nstages:\n" +
                             "".join(STAGE.format(structure=f"{{file: {folder}/{style}.data, species: [Ar]}}", strength=SAME) for style in UNITS))
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        for k, style in enumerate(UNITS):
            with open(os.path.join(folder, "run", "simulate" if k == 0 else f"simulate_{k + 1}", "thermo.csv"), encoding="utf-8") as file:
                first = next(csv.DictReader(file))
            ours = float(next(value for name, value in first.items() if name.startswith("temperature")))
            with self.subTest(style):
                self.assertAlmostEqual(ours / temperature_in_lammps(lammps, folder, style), 1.0, delta=1e-4)


DUMPS = {  # style and columns, dump_modify, more of the structure's keys
    "atom": ("atom", "", "species: [Ar, Ne]"),
    "images": ("atom", "image yes", "species: [Ar, Ne]"),
    "flat": ("atom", "scale no sort id", "species: [Ar, Ne]"),
    "custom": ("custom id type x y z ix iy iz vx vy vz mass", "format float %.15g", "species: [Ar, Ne]"),
    "elements": ("custom element vz vy vx zs ys xs id", "element Ar Ne format float %.15g", ""),
    "unwrapped": ("custom id element xu yu zu vx vy vz", "element Ar Ne sort -1 format float %.15g units yes", ""),
    "scaled": ("custom type xsu ysu zsu vx vy vz id", "units yes time yes format float %.15g", "species: [Ar, Ne]"),
}
LAMMPS_DUMPS = """units real
atom_style atomic
region r prism 1 12 -2 11 0.5 15 3 -2 4
create_box 2 r
create_atoms 1 random 14 11 NULL
create_atoms 2 random 12 12 NULL
mass 1 39.95
mass 2 20.1797
velocity all create 300 5
pair_style zero 2
pair_coeff * *
neighbor 0 bin
fix 1 all nve
timestep 20
run 100
DUMPS
run 20
write_data last.data
"""


class Dumps(unittest.TestCase):
    def test_every_form_of_a_dump_is_the_state_that_write_data_writes(self):
        lammps = shutil.which("lmp")
        if not lammps:
            print("SKIPPED: dumps written by LAMMPS: there is no lmp (Debian: lammps)")
            self.skipTest("no lmp")
        ase, folder = modules(), program.fresh("structures_dumps")
        dumps = "\n".join(f"dump {name} all {style.split()[0]} 20 {name}.lammpstrj {' '.join(style.split()[1:])}\n" + (f"dump_modify {name} {modify}" if modify else "")
                          for name, (style, modify, _) in DUMPS.items())
        script = program.write(os.path.join(folder, "in.dumps"), LAMMPS_DUMPS.replace("DUMPS", dumps))
        done = subprocess.run([lammps, "-in", script, "-log", "none"], cwd=folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout[-800:] + done.stderr)
        structures = [f"{{file: {folder}/last.data, units: real, species: [Ar, Ne]}}"]
        structures += [f"{{file: {folder}/{name}.lammpstrj, {'units: real, ' if 'units yes' not in modify else ''}{keys}}}" for name, (_, modify, keys) in DUMPS.items()]
        deck = program.write(os.path.join(folder, "deck.yaml"), f"run: {{name: dumps, directory: {folder}/run}}\nplugins: [md]\nstages:\n" +
                             "".join(STAGE.format(structure=structure, strength=PAIRS) for structure in structures))
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        read = [ase.io.read(os.path.join(folder, "run", f"simulate_{k + 1}" if k else "simulate", "trajectory.extxyz"), index=0) for k in range(len(structures))]
        data = read[0]
        for name, atoms in zip(DUMPS, read[1:]):
            with self.subTest(name):
                digits = 1e-9 if "%.15g" in DUMPS[name][1] else 2e-4  # LAMMPS writes six by itself
                self.assertEqual(atoms.get_chemical_symbols(), data.get_chemical_symbols())
                np.testing.assert_allclose(atoms.cell[:], data.cell[:], atol=1e-9)
                away = np.linalg.solve(data.cell[:].T, (atoms.get_positions() - data.get_positions()).T)
                np.testing.assert_allclose(away - np.round(away), 0.0, atol=digits)
                if "vx" in DUMPS[name][0]:
                    np.testing.assert_allclose(atoms.arrays["velo"], data.arrays["velo"], rtol=1e-9, atol=1e-9)


class AtRest(unittest.TestCase):
    """Heat baths that multiply velocities do not heat atoms at rest, and a single atom has no temperature."""
    ONE = """run: {{name: rest, directory: {folder}/run}}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {{file: {folder}/one.xyz}}
      potential: {{type: lennard_jones, cutoff: 4.0, epsilon: 0.001, sigma: 2.0}}
      integrator: {integrator}
      {more}
      steps: 1
"""

    def test_atoms_that_stay_cold_are_warned_of(self):
        folder = program.fresh("structures_at_rest")
        program.write(os.path.join(folder, "one.xyz"), '1\nLattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3\nAr 1 1 1\n')
        bath = "the thermostat multiplies velocities"
        for integrator, more, words in (("{type: csvr, temperature: 100}", "", bath), ("{type: nose_hoover, temperature: 100}", "", bath),
                                        ("{type: npt, temperature: 100, pressure: 0}", "", bath), ("{type: npt, pressure: 0}", "", ""),
                                        ("{type: langevin, temperature: 100}", "", ""), ("nve", "", ""), ("nve", "initial_temperature: 100 K", "initial_temperature is 100 K, but all atoms are at rest")):
            with self.subTest(integrator + more):
                deck = program.write(os.path.join(folder, "deck.yaml"), self.ONE.format(folder=folder, integrator=integrator, more=more))
                code, out, error = program.run("run", deck, "--overwrite")
                self.assertEqual(code, 0, out + error)
                said = " ".join((out + error).split())
                self.assertEqual(" at rest" in said, bool(words), said)
                self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
