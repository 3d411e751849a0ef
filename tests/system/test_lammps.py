"""lmp_cambium gives what `cambium run` gives for the same atoms: energy, forces, pressure; messages for its users."""
import os
import re
import shutil
import subprocess
import unittest

import h5py
import numpy as np

import program

LMP = os.environ["LMP_CAMBIUM"]
KJ_PER_MOL = 96.48533212331002  # of one eV: e N_A / 1000
# g/mol Å²/ps² in eV: CODATA 2018 over what LAMMPS of 2021 has for units metal, which is rounded at 6e-8.
MASS_SCALE = (1.66053906660e-27 * 1e4 / 1.602176634e-19) / 1.0364269e-4

FEW_BITS = f"model: {program.SOURCE}/inputs/deepmd/models/copper.dp, compress: 1e-6, quantize: {{bits: 3}}"
EAM = f"{program.SOURCE}/inputs/md/cu_sutton_chen.eam.alloy"
POTENTIALS = {  # deck, pair_style, pair_coeff, species, lattice
    "sutton_chen": ("{type: sutton_chen, element: Cu, cutoff: 6.5}", "cambium sutton_chen",
                    '"{element: Cu, cutoff: 6.5}" Cu', "Cu", "fcc 3.61"),
    "few_bits": (f"{{type: deep_potential, {FEW_BITS}}}", "cambium", f'"{{{FEW_BITS}}}" Cu', "Cu", "fcc 3.61"),
    "stillinger_weber": ("{type: stillinger_weber}", "cambium stillinger_weber", '"{}" Si', "Si", "diamond 5.431"),
    "eam": (f"{{type: eam, file: {EAM}}}", "cambium", f'"{{type: eam, file: {EAM}}}" Cu', "Cu", "fcc 3.61"),  # a hybrid would take eam for LAMMPS' own
}
PLUGINS = {"mace": "mace", "torch_script": "torch_potential"}  # beside md and deepmd
if "CAMBIUM_DATA" in os.environ:  # models of other programs
    MACE = os.path.join(os.environ["CAMBIUM_DATA"], "models", "MACE_scratch_run-3.model-cp2k.pth")
    KNOWN = program.run("list", "potential")[1]
    for kind, keys in (("mace", f"model: {MACE}"), ("torch_script", f"model: {MACE}, trust: true")):
        if re.search(rf"^ *{kind} ", KNOWN, re.M):
            POTENTIALS[kind] = (f"{{type: {kind}, {keys}}}", f"cambium {kind}", f'"{{{keys}}}" Cu', "Cu", "fcc 3.61")
else:
    print("SKIPPED: models of MACE in LAMMPS: CAMBIUM_DATA is not set")
READ = """
units metal
read_data DATA
pair_style STYLE
pair_coeff * * COEFF
"""
SETUP = """
units metal
lattice LATTICE
region cell block 0 5 0 4 0 4
create_box 1 cell
create_atoms 1 box
mass 1 MASS
displace_atoms all random 0.15 0.15 0.15 4711 units box
write_data DATA
pair_style STYLE
pair_coeff * * COEFF
"""
MEASURE = """
compute stress all stress/atom NULL
compute total all reduce sum c_stress[1] c_stress[2] c_stress[3]
variable from_atoms equal -(c_total[1]+c_total[2]+c_total[3])/(3*vol)
compute energy all pe/atom
compute energies all reduce sum c_energy
thermo_style custom step pe c_energies press v_from_atoms
thermo_modify format float %.15g
dump forces all custom 1 FORCES id fx fy fz
dump_modify forces format float %.16g sort id
run 0
"""
MASSES = {"Cu": "63.546", "Si": "28.085"}


def lammps(folder, text, ranks=1):
    path = program.write(os.path.join(folder, "in.lmp"), text)
    launcher = program.MPIEXEC + ["-np", str(ranks)] if ranks > 1 else []
    done = subprocess.run(launcher + [LMP, "-in", path, "-log", "none"], cwd=folder, capture_output=True, text=True,
                          timeout=600)
    return done.returncode, done.stdout + done.stderr


def setup(folder, name, text=SETUP):
    _, style, coeff, species, lattice = POTENTIALS[name]
    for key, value in (("LATTICE", lattice), ("MASS", MASSES[species]), ("DATA", os.path.join(folder, "start.data")),
                       ("STYLE", style), ("COEFF", coeff)):
        text = text.replace(key, value)
    return text


def thermo(output):
    lines = output.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:1] == ["Step"])
    return [float(word) for word in lines[at + 1].split()]


def ours(folder, name):
    deck, _, _, species, _ = POTENTIALS[name]
    plugins = ["md", "deepmd", *([PLUGINS[name]] if name in PLUGINS else [])]
    path = program.write(os.path.join(folder, "deck.yaml"), f"""
run: {{name: same, directory: {folder}/run}}
plugins: [{", ".join(plugins)}]
stages:
  - simulate:
      physics: md
      structure: {{file: {folder}/start.data, species: [{species}]}}
      potential: {deck}
      integrator: nve
      timestep: 1 fs
      steps: 0
      output: [{{type: h5md, every: 1, forces: true}}]
""")
    code, out, error = program.run("run", path)
    assert code == 0, out + error
    with open(os.path.join(folder, "run", "simulate", "thermo.csv")) as file:
        names, values = (line.strip().split(",") for line in file.read().splitlines()[:2])
    row = dict(zip([name.split(" ")[0] for name in names], map(float, values)))
    with h5py.File(os.path.join(folder, "run", "simulate", "trajectory.h5md")) as file:
        atoms = file["particles/trajectory"]
        forces = atoms["force/value"][0] / KJ_PER_MOL
    return row, forces  # in the order of ids


class SameNumbers(unittest.TestCase):
    def test_potentials(self):
        for name in POTENTIALS:
            with self.subTest(name):
                folder = program.fresh(f"lammps_{name}")
                code, out = lammps(folder, setup(folder, name))  # ids depend on the ranks that create the atoms
                self.assertEqual(code, 0, out)
                text = setup(folder, name, READ) + MEASURE.replace("FORCES", "forces.dump")
                results = {}
                for ranks in (1, 2, 4):
                    code, out = lammps(folder, text, ranks)
                    self.assertEqual(code, 0, out)
                    forces = np.loadtxt(os.path.join(folder, "forces.dump"), skiprows=9)[:, 1:]
                    results[ranks] = (thermo(out), forces)
                row, forces = ours(folder, name)
                for ranks, ((_, energy, of_atoms, pressure, from_atoms), theirs) in results.items():
                    self.assertLess(abs(energy / row["potential"] - 1.0), 1e-10)
                    self.assertLess(abs(of_atoms / energy - 1.0), 1e-10)
                    self.assertLess(abs(pressure / row["pressure"] - 1.0), 1e-6)  # constants of two unit systems
                    self.assertLess(abs(from_atoms / pressure - 1.0), 1e-10)
                    self.assertLess(np.abs(theirs - forces).max() / np.abs(forces).max(), 1e-10)

    def test_a_word_is_the_file_of_a_type(self):
        folder = program.fresh("lammps_files")
        self.assertEqual(lammps(folder, setup(folder, "sutton_chen"))[0], 0)
        yace = os.path.join(program.SOURCE, "inputs", "md", "copper.yace")
        for kind, file in (("eam", EAM), ("pace", yace)):
            energies = []
            for coeff in (file, f'"{{file: {file}}}"'):
                start = READ.replace("DATA", os.path.join(folder, "start.data")).replace("STYLE", f"cambium {kind}").replace("COEFF", coeff + " Cu")
                code, out = lammps(folder, start + MEASURE.replace("FORCES", "forces.dump"))
                self.assertEqual(code, 0, out)
                energies.append(thermo(out)[1])
            self.assertEqual(energies[0], energies[1])

    def test_overlay_adds_to_the_forces_of_another_style(self):
        model = os.path.join(program.SOURCE, "inputs/deepmd/models/copper.dp")
        cases = {name: POTENTIALS[name][1:3] for name in POTENTIALS} | {"deep_potential": ("cambium deep_potential", f'"{{model: {model}}}" Cu')}
        for name, (style, coeff) in cases.items():
            with self.subTest(name):
                folder = program.fresh(f"lammps_overlay_{name}")
                start = setup(folder, name if name in POTENTIALS else "sutton_chen")
                self.assertEqual(lammps(folder, start)[0], 0)

                def forces(*lines, ranks=1):
                    text = "\n".join(["units metal", f"read_data {folder}/start.data", *lines]) + MEASURE.replace("FORCES", "forces.dump")
                    code, out = lammps(folder, text, ranks)
                    self.assertEqual(code, 0, out)
                    return np.loadtxt(os.path.join(folder, "forces.dump"), skiprows=9)[:, 1:]

                alone = forces("pair_style " + style, "pair_coeff * * " + coeff)
                other = forces("pair_style lj/cut 6.0", "pair_coeff * * 0.1 2.3")
                self.assertGreater(np.abs(other).max(), 0.1)
                for ranks in (1, 2):
                    both = forces(f"pair_style hybrid/overlay lj/cut 6.0 {style}", "pair_coeff * * lj/cut 0.1 2.3",
                                  "pair_coeff * * cambium " + coeff, ranks=ranks)
                    self.assertLess(np.abs(both - alone - other).max() / np.abs(both).max(), 1e-10)

    def test_the_fast_default_stays_within_its_stated_error(self):
        """`pair_coeff * * MODEL Cu` against the model as it is: docs/using/lammps.md says a millionth."""
        model = os.path.join(program.SOURCE, "inputs/deepmd/models/copper.dp")
        folder = program.fresh("lammps_fast")
        code, out = lammps(folder, setup(folder, "sutton_chen"))
        self.assertEqual(code, 0, out)

        def measured(coeff, ranks=1):
            text = f"units metal\nread_data {folder}/start.data\npair_style cambium\npair_coeff * * {coeff} Cu\n"
            code, out = lammps(folder, text + MEASURE.replace("FORCES", "forces.dump"), ranks)
            self.assertEqual(code, 0, out)
            return thermo(out), np.loadtxt(os.path.join(folder, "forces.dump"), skiprows=9)[:, 1:]

        (_, energy, _, pressure, _), forces = measured(f'"{{model: {model}}}"')
        for coeff, ranks in ((model, 1), (model, 2), (f"{model} {model}", 1)):
            (_, fast_energy, _, fast_pressure, _), fast = measured(coeff, ranks)
            error = np.abs(fast - forces).max() / np.abs(forces).max()
            self.assertLess(error, 1e-6)
            self.assertGreater(error, 1e-12)  # it is another evaluation
            self.assertLess(abs(fast_energy - energy) / len(forces), 1e-6)  # eV/atom
            self.assertLess(abs(fast_pressure - pressure) / abs(pressure), 1e-6)

    def test_dynamics_conserve_energy_and_minimize_runs(self):
        folder = program.fresh("lammps_dynamics")
        text = setup(folder, "stillinger_weber") + """
velocity all create 600 1234
fix 1 all nve
timestep 0.0002
thermo_style custom step etotal
thermo_modify format float %.15g
thermo 200
run 200
minimize 0 1e-4 500 2000
"""
        code, out = lammps(folder, text, 2)
        self.assertEqual(code, 0, out)
        lines = [line.split() for line in out.splitlines()]
        energies = [float(w[1]) for w in lines if len(w) == 2 and w[0] in ("0", "200")]
        self.assertLess(abs(energies[1] - energies[0]) / 640, 2e-5)
        self.assertIn("Minimization stats", out)


class SameTrajectory(unittest.TestCase):
    """100 steps of NVE from one file of atoms and velocities, LAMMPS' rounded constant made good by the mass."""

    START = SETUP.split("pair_style")[0].replace("write_data DATA", "velocity all create 300 1234\nwrite_data DATA")
    STEPS = READ + """
mass 1 MASS
fix 1 all nve
timestep 0.0005
dump last all custom 100 LAST id xu yu zu
dump_modify last format float %.16g sort id
run 100
"""

    def theirs(self, folder, style, coeff, ranks):
        text = self.STEPS.replace("DATA", "start.data").replace("STYLE", style).replace("COEFF", coeff)
        text = text.replace("MASS", f"{float(MASSES[coeff.split()[-1]]) * MASS_SCALE:.16g}")
        code, out = lammps(folder, text.replace("LAST", "last.dump"), ranks)
        self.assertEqual(code, 0, out)
        path = os.path.join(folder, "last.dump")
        first = np.loadtxt(path, skiprows=9, max_rows=320)[:, 1:]
        last = np.loadtxt(path, skiprows=9 + 320 + 9)[:, 1:]
        self.assertGreater(np.abs(last - first).max(), 0.05)  # Å: they moved
        return last

    def ours(self, folder, potential, species):
        path = program.write(os.path.join(folder, "deck.yaml"), f"""
run: {{name: same, directory: {folder}/run}}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {{file: {folder}/start.data, species: [{species}]}}
      potential: {potential}
      integrator: nve
      timestep: 0.5 fs
      steps: 100
      output: [{{type: h5md, every: 100}}]
""")
        code, out, error = program.run("run", path)
        self.assertEqual(code, 0, out + error)
        with h5py.File(os.path.join(folder, "run", "simulate", "trajectory.h5md")) as file:
            atoms = file["particles/trajectory"]
            lengths = np.diag(atoms["box/edges/value"][-1])
            return atoms["position/value"][-1] + atoms["image/value"][-1] * lengths

    def test_trajectory(self):
        model = os.path.join(program.SOURCE, "inputs/deepmd/models/copper.dp")
        cases = (("{type: stillinger_weber}", "cambium stillinger_weber", '"{}" Si', "diamond 5.431", "0 4 0 5 0 2"),
                 (f"{{type: deep_potential, model: {model}}}", "cambium", f'"{{model: {model}}}" Cu', "fcc 3.61", "0 5 0 4 0 4"))
        for potential, style, coeff, lattice, cells in cases:
            with self.subTest(style):
                folder, species = program.fresh("lammps_trajectory"), coeff.split()[-1]
                start = self.START.replace("LATTICE", lattice).replace("MASS", MASSES[species]).replace("DATA", "start.data")
                code, out = lammps(folder, start.replace("0 5 0 4 0 4", cells).replace("0.15 0.15 0.15", "0.05 0.05 0.05"))
                self.assertEqual(code, 0, out)
                ours = self.ours(folder, potential, species)
                for ranks in (1, 2):
                    theirs = self.theirs(folder, style, coeff, ranks)
                    self.assertEqual(theirs.shape, ours.shape)
                    self.assertLess(np.abs(theirs - ours).max(), 1e-9)  # Å


class Committee(unittest.TestCase):
    """`deviation FILE EVERY` against the models' own forces, each model run alone."""

    SETUP = SETUP.replace("STYLE", "cambium OPTIONS").replace("LATTICE", "fcc 3.61").replace("MASS", "63.546")
    MEASURE = """
fix 1 all nve
timestep 0.0005
thermo 3
dump forces all custom 2 FORCES id fx fy fz
dump_modify forces format float %.16g sort id
run 4
"""

    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("lammps_committee")
        cls.models = [os.path.join(cls.folder, name) for name in ("a.dp", "b.dp")]
        for k, path in enumerate(cls.models):
            shutil.copy(os.path.join(program.SOURCE, "inputs/deepmd/models/copper.dp"), path)
            with h5py.File(path, "r+") as file:
                file.visititems(lambda name, item, k=k: cls.disturb(item, k))

    @staticmethod
    def disturb(item, k):
        """Another model of the same shape: the larger weights differ by half a per cent."""
        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" and item.ndim == 2 and item.shape[0] > 1:
            item[...] = item[()] * (1.0 + 0.005 * k)

    def forces(self, models, ranks=1, options="deep_potential", start="start.data"):
        others = f", committee: [{', '.join(models[1:])}]" if models[1:] else ""
        keys = f'"{{model: {models[0]}{others}}}" Cu'
        text = (self.SETUP + self.MEASURE).replace("OPTIONS", options).replace("COEFF", keys)
        text = text.replace("DATA", os.path.join(self.folder, start)).replace("FORCES", "forces.dump")
        code, out = lammps(self.folder, text, ranks)
        self.assertEqual(code, 0, out)
        return np.loadtxt(os.path.join(self.folder, "forces.dump"), skiprows=9, max_rows=320)[:, 1:]

    def test_deviation(self):
        each = np.array([self.forces([model]) for model in self.models])
        spread = np.sqrt(((each - each.mean(axis=0)) ** 2).sum(axis=2).mean(axis=0))
        self.assertGreater(spread.max(), 1e-4)
        for ranks in (1, 2):
            self.forces(self.models, ranks, "deep_potential deviation model_devi.out 2")
            with open(os.path.join(self.folder, "model_devi.out")) as file:
                lines = file.read().splitlines()
            self.assertEqual(lines[0].split(), ["#", "step", "max_devi_v", "min_devi_v", "avg_devi_v", "max_devi_f",
                                                "min_devi_f", "avg_devi_f"])
            self.assertEqual([line.split()[0] for line in lines[1:]], ["0", "2", "4"])
            numbers = [float(word) for word in lines[1].split()[4:]]
            for mine, expected in zip(numbers, (spread.max(), spread.min(), spread.mean())):
                self.assertLess(abs(mine / expected - 1.0), 1e-8)

    def test_messages(self):
        def refused(options, models, expected):
            text = (self.SETUP + "run 0\n").replace("OPTIONS", options).replace("COEFF", " ".join(models) + " Cu")
            code, out = lammps(self.folder, text.replace("DATA", os.path.join(self.folder, "start.data")))
            self.assertNotEqual(code, 0)
            self.assertIn(expected, out)
        refused("deviation devi.out 10", self.models[:1], "pair_style cambium: deviation devi.out needs a committee: name two "
                "models or more in pair_coeff")
        refused("deviation devi.out", self.models, "pair_style cambium takes the type of the potential (deep_potential when "
                "absent) and, for a committee, `deviation FILE EVERY`; the potential's keys go into pair_coeff")
        refused("deviation devi.out 0", self.models, "pair_style cambium: deviation devi.out 0 is written every EVERY "
                "steps; give a number above zero")
        refused("deviation no/such/devi.out 2", self.models, "pair_style cambium: cannot write 'no/such/devi.out': No such "
                "file or directory")


class Messages(unittest.TestCase):
    def refused(self, text, expected):
        code, out = lammps(program.fresh("lammps_refused"), text)
        self.assertNotEqual(code, 0)
        self.assertIn(expected, out)

    def test_messages(self):
        folder = program.fresh("lammps_messages")
        good = setup(folder, "sutton_chen")
        self.refused(good.replace("units metal", "units real"),
                     "pair_style cambium works in Å, eV and ps: begin the input with `units metal` (it has `units real`)")
        self.refused(good.replace('"{element: Cu, cutoff: 6.5}" Cu', ""),
                     "pair_coeff for cambium is `pair_coeff * * MODEL SPECIES...` with one species (or NULL) for each of the "
                     "1 atom types, as in `pair_coeff * * water.dp O H`")
        self.refused(good.replace('"{element: Cu, cutoff: 6.5}" Cu', '"{element: Cu, cutoff: 6.5}" NULL'),
                     "pair_coeff for cambium: every type is NULL; name the species of at least one")
        self.refused("\n".join(line for line in good.splitlines() if not line.startswith("pair_coeff")) + "\nrun 0\n",
                     "All pair coeffs are not set")
        binding = setup(folder, "stillinger_weber").replace("cambium stillinger_weber", "cambium tight_binding").replace(
            '"{}" Si', '"{parameters: bowler}" Si')
        self.refused(binding + "compute each all pe/atom\ncompute sum all reduce sum c_each\nthermo_style custom step pe c_sum\nrun 0\n",
                     "pair_style cambium: tight_binding gives no energies and virials per atom; leave out what needs them")
        self.refused(good.replace("cutoff: 6.5", "cutof: 6.5"), "did you mean 'cutoff'?")
        tail = good.replace("cambium sutton_chen", "cambium lennard_jones").replace(
            '"{element: Cu, cutoff: 6.5}" Cu', '"{epsilon: 0.1, sigma: 2.3, cutoff: 6, tail: true}" Cu')
        code, out = lammps(program.fresh("lammps_periodic"), tail + "run 0\n")
        self.assertEqual(code, 0, out)
        self.refused(tail + "change_box all boundary p p f\nrun 0\n",
                     "pair_style cambium: the structure is not periodic along all three cell vectors")
        self.refused(setup(folder, "stillinger_weber").replace("units metal", "units metal\nnewton off") + "run 0\n",
                     "pair_style cambium: stillinger_weber adds forces to ghost atoms; use `newton on`, which is the default")


if __name__ == "__main__":
    unittest.main()
