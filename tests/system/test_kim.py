"""Models of OpenKIM against LAMMPS' own `pair_style kim`: energies, pressures, forces; ranks, energy conservation, messages."""
# needs: md kim
# thorough
import os
import re
import shutil
import subprocess
import unittest

import h5py
import numpy as np

import program

LMP = shutil.which("lmp")
LISTING = shutil.which("kim-api-collections-management")
LIST = subprocess.run([LISTING, "list"], capture_output=True, text=True).stdout if LISTING else ""
INSTALLED = set(re.findall(r"\S+__MO_\d+_\d+", LIST))
HERE = " kim " in program.run("list", "potential")[1]
KJ_PER_MOL = 96.48533212331002  # of one eV: e N_A / 1000
#: name without the version, lattice, spacing (Å), species in turn over the sites: one model of each driver that other programs know well.
MODELS = [
    ("EAM_Dynamo_ErcolessiAdams_1994_Al__MO_123629422045", "fcc", 4.05, ["Al"]),
    ("EAM_Dynamo_MendelevSordeletKramer_2007_CuZr__MO_120596890176", "fcc", 4.0, ["Cu", "Zr"]),
    ("EAM_QuinticClampedSpline_ErcolessiAdams_1994_Al__MO_450093727396", "fcc", 4.05, ["Al"]),
    ("EAM_CubicNaturalSpline_ErcolessiAdams_1994_Al__MO_800509458712", "fcc", 4.05, ["Al"]),
    ("EDIP_JustoBazantKaxiras_1998_Si__MO_958932894036", "diamond", 5.43, ["Si"]),
    ("EMT_Asap_Standard_JacobsenStoltzeNorskov_1996_AlAgAuCuNiPdPt__MO_115316750986", "fcc", 3.8, ["Cu", "Au", "Ni"]),
    ("LJ_Shifted_Bernardes_1958HighCutoff_Ar__MO_242741380554", "fcc", 5.3, ["Ar"]),
    ("LJ_ElliottAkerson_2015_Universal__MO_959249795837", "fcc", 5.3, ["Ar", "Ne"]),
    ("MEAM_LAMMPS_KimKimJung_2016_AlTi__MO_618133763375", "fcc", 4.1, ["Al", "Ti"]),
    ("Morse_Shifted_GirifalcoWeizer_1959HighCutoff_Cu__MO_151002396060", "fcc", 3.61, ["Cu"]),
    ("SNAP_ZuoChenLi_2019_Ge__MO_183216355174", "diamond", 5.66, ["Ge"]),
    ("SW_StillingerWeber_1985_Si__MO_405512056662", "diamond", 5.43, ["Si"]),
    ("Tersoff_LAMMPS_Tersoff_1989_SiC__MO_171585019474", "zincblende", 4.36, ["Si", "C"]),
]
MASS = {"Al": 26.98, "Cu": 63.55, "Zr": 91.22, "Si": 28.09, "Au": 196.97, "Ni": 58.69, "Ar": 39.95, "Ne": 20.18, "Ti": 47.87, "Ge": 72.63, "C": 12.01}
SITES = {"fcc": [(0, 0, 0), (0, .5, .5), (.5, 0, .5), (.5, .5, 0)]}
SITES["diamond"] = SITES["fcc"] + [(x + .25, y + .25, z + .25) for x, y, z in SITES["fcc"]]
SITES["zincblende"] = [site for pair in zip(SITES["fcc"], SITES["diamond"][4:]) for site in pair]


def installed(name):
    """The full name of the newest version; None where there is none."""
    return max((full for full in INSTALLED if full.startswith(name + "_")), default=None)


LAMMPS = """
kim init MODEL metal
read_data start.data
kim interactions SPECIES
thermo_style custom step pe press
thermo_modify format float %.15g
dump forces all custom 1 forces.dump id fx fy fz
dump_modify forces format float %.16g sort id
run 0
"""
DECK = """
run: {name: kim, directory: DIR}
plugins: [md, kim]
stages:
  - simulate:
      physics: md
      structure: {file: DIR/start.data, species: [SPECIES]}
      potential: {type: kim, model: MODEL}
      steps: STEPS
      KEYS
      output: [{type: h5md, every: 1, forces: true}]
"""


def start(folder, lattice, spacing, species, reach=4.0):
    """A perturbed triclinic crystal in a file of LAMMPS, which two ranks can divide where atoms act on others up to `reach` (Å) away."""
    rng = np.random.default_rng(5)
    cells = np.array([2, 2, max(3, int(np.ceil((2 * reach + 4) / spacing)))])
    corners = np.ndindex(*cells)
    sites = np.array([np.add(corner, site) for corner in corners for site in SITES[lattice]]) / cells
    cell = spacing * cells[:, None] * np.array([[1, 0, 0], [.04, 1, 0], [-.03, .05, .98]])
    positions = sites @ cell + rng.uniform(-.12, .12, (len(sites), 3))
    lines = ["crystal", "", f"{len(sites)} atoms", f"{len(species)} atom types", "", *(f"0 {cell[k, k]:.15g} {'xyz'[k]}lo {'xyz'[k]}hi" for k in range(3)),
             f"{cell[1, 0]:.15g} {cell[2, 0]:.15g} {cell[2, 1]:.15g} xy xz yz", "", "Masses", "", *(f"{k + 1} {MASS[one]}" for k, one in enumerate(species)), "", "Atoms # atomic", ""]
    lines += [f"{k + 1} {k % len(species) + 1} {x[0]:.15g} {x[1]:.15g} {x[2]:.15g}" for k, x in enumerate(positions)]
    program.write(os.path.join(folder, "start.data"), "\n".join(lines) + "\n")


def theirs(folder, model, species):
    path = program.write(os.path.join(folder, "in.lmp"), LAMMPS.replace("MODEL", model).replace("SPECIES", " ".join(species)))
    done = subprocess.run([LMP, "-in", path, "-log", "none"], cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:1] == ["Step"])
    _, energy, pressure = map(float, lines[at + 1].split())
    return energy, pressure, np.loadtxt(os.path.join(folder, "forces.dump"), skiprows=9)[:, 1:]


def run_deck(folder, model, species, steps=0, keys="", ranks=1):
    shutil.rmtree(os.path.join(folder, "simulate"), ignore_errors=True)
    text = DECK.replace("DIR", folder).replace("MODEL", model).replace("SPECIES", ", ".join(species)).replace("STEPS", str(steps)).replace("KEYS", keys)
    return program.run("run", program.write(os.path.join(folder, "deck.yaml"), text), "--overwrite", ranks=ranks, cwd=folder)


def ours(folder, model, species, ranks=1):
    code, out, error = run_deck(folder, model, species, ranks=ranks)
    if code != 0:
        raise RuntimeError(out + error)
    reach = float(re.search(r"influence distance ([\d.]+) Å", out)[1])
    row = thermo(folder)[0]
    with h5py.File(os.path.join(folder, "simulate", "trajectory.h5md")) as file:
        group = file["particles/trajectory"]
        return row["potential"], row["pressure"], group["force/value"][0] / KJ_PER_MOL, reach


def thermo(folder):
    with open(os.path.join(folder, "simulate", "thermo.csv")) as file:
        names, *rows = [line.strip().split(",") for line in file]
    return [dict(zip([name.split(" ")[0] for name in names], map(float, row))) for row in rows]


def difference(mine, other):
    """Of energy and forces relative to the largest, of the pressure in bar."""
    return (abs(mine[0] / other[0] - 1.0), np.abs(mine[2] - other[2]).max() / np.abs(other[2]).max(), abs(mine[1] - other[1]) / max(1.0, abs(other[1])))


@unittest.skipUnless(HERE and INSTALLED, "no KIM models")
class Models(unittest.TestCase):
    @unittest.skipUnless(LMP, "lmp is not installed")
    def test_energies_forces_and_pressures_of_lammps(self):
        found = [(installed(name), *rest) for name, *rest in MODELS if installed(name)]
        self.assertGreaterEqual(len(found), 10)
        for model, lattice, spacing, species in found:
            with self.subTest(model):
                folder = program.fresh("kim")
                start(folder, lattice, spacing, species)
                start(folder, lattice, spacing, species, 1.05 * ours(folder, model, species)[3])
                expected = theirs(folder, model, species)
                for ranks in (1, 2):
                    energy, force, pressure = difference(ours(folder, model, species, ranks), expected)
                    self.assertLess(energy, 1e-10)
                    self.assertLess(force, 1e-9)
                    self.assertLess(pressure, 1e-6)  # LAMMPS rounds eV/Å³ to bar at 1e-7

    def test_energy_is_conserved_by_ranks_alike(self):
        name, lattice, spacing, species = next(entry for entry in MODELS if entry[0].startswith("SW_"))
        model = installed(name)
        folder = program.fresh("kim_nve")
        start(folder, lattice, spacing, species, 8.0)
        totals = {}
        for ranks in (1, 4):
            code, out, error = run_deck(folder, model, species, 40, "timestep: 0.0005\n      initial_temperature: 300", ranks)
            self.assertEqual(code, 0, out + error)
            totals[ranks] = [row["conserved"] for row in thermo(folder)]
            self.assertLess(max(totals[ranks]) - min(totals[ranks]), 2e-5 * abs(totals[ranks][0]))
        np.testing.assert_allclose(totals[4], totals[1], rtol=1e-11)
        self.assertNotIn("kim.log", os.listdir(folder))

    def test_messages(self):
        folder = program.fresh("kim_messages")
        start(folder, "diamond", 5.43, ["Si"])

        def message(model, species=("Si",)):
            code, out, error = run_deck(folder, model, species)
            self.assertNotEqual(code, 0, out)
            return error

        name = "SW_StillingerWeber_1985_Si__MO_405512056662"
        full = installed(name)
        self.assertRegex(message(name + "_999"), rf"no KIM model {name}_999 is installed; among the \d+ that are: {full}")
        self.assertIn(f"species 'Cu' is unknown to the KIM model {full}; its species: Si", message(full, ("Cu",)))
        driver = re.search(r"SW__MD_\d+_\d+", LIST)[0]
        self.assertIn(f"{driver} is a model driver, a formula without parameters; give a model (MO_...) that uses it", message(driver))
        code, out, error = run_deck(folder, "MO_405512056662", ["Si"])
        self.assertEqual(code, 0, error)
        self.assertIn(f"kim: {full} (Si; influence distance", out)


if __name__ == "__main__":
    if not HERE or not INSTALLED:
        print("SKIPPED: models of OpenKIM: this build has no plugin kim, or none are installed (Debian: libkim-api-dev, openkim-models)")
    elif not LMP:
        print("SKIPPED: models of OpenKIM beside LAMMPS: lmp is not here (Debian: lammps)")
    unittest.main(verbosity=2)
