"""What the core says about decks, files and command lines that cannot work; the decks are of molecular dynamics."""
# needs: md deepmd
import os

from table import Table

DECK = """
run: {name: copper, directory: out}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 3.61, cells: [4, 4, 4], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
      steps: 2
"""
S = "stages[0].simulate."
table = Table("core", DECK)
says = table.says

# Formulas
for message, formula in {
    "the exponent of a time must be a number\n    t^step\n      ^": "t^step",
    "expected a number, a name or '(', found '*'\n    300 + *\n          ^": "300 + *",
    "this is not a number\n    .\n    ^": ".",
    "this '[' is not closed\n    300 [K\n        ^": "300 [K",
    "the exponent of a unit must be a whole number\n    300 K^x\n          ^": "300 K^x",
    "the '(' of exp is not closed\n    300*exp(1\n        ^": "300*exp(1",
}.items():
    says(message, S + f"integrator={{type: langevin, temperature: \"{formula}\", damping: 1}}")

# Command line, run, stages
says("a command is missing: `cambium run DECK`, for example `cambium run inputs/md/copper_melting.yaml`; `cambium --help` lists the others",
     command=[])
says("The following argument was not expected: --steps; a key of a deck is changed by key.path=value, for example "
     "stages[0].simulate.steps=100, and `cambium run --help` lists the options", command=["run", "deck.yaml", "--steps"])
says("deck is required; `cambium run --help` lists what it takes", command=["run"])
says("'.' is a folder, not a deck: give the path of a YAML file; a run that stopped continues with `cambium restart FOLDER`", deck=".")
says("steps: unknown key; did you mean 'stages[0].simulate.steps'?", "steps=5")
says("cutoff: unknown key; did you mean 'stages[0].simulate.potential.cutoff'?", "cutoff=5")
table.file("tab.yaml", "run:\n\tname: copper\n")
says("tab.yaml:2:6: not valid YAML: illegal map value; line 2 is indented with a tab, and YAML requires spaces", deck="tab.yaml")
table.file("blank.yaml", "run:\n  name:\u00a0copper\n  seed: 3\n")
says("blank.yaml:3:7: not valid YAML: illegal map value; line 2 holds a no-break or other special blank, as web pages have; type a plain one",
     deck="blank.yaml")
for tag, where in {"!env": "run: {name: !env USER}\n", "!include": "run: {name: copper}\nstages: !include stages.yaml\n",
                   "!!python/tuple": "run: {name: copper}\nstages: !!python/tuple []\n", "!!binary": "run: {name: !!binary Y3U=}\n"}.items():
    name = "tag_" + tag.strip("!").replace("/", "_") + ".yaml"
    table.file(name, where)
    says(f"found the tag '{tag}', expected a value without one; the only tag of decks is !choice", deck=name)
for words in ("$SCRATCH/copper", "${SCRATCH}/copper", "~/copper", "$SCRATCH"):
    says(f"found '{words}', which a shell would fill in and a deck does not; write the path itself, or give the key on the command line, "
         "outside of single quotes", f"run.directory={words}")
says("there is no completion for the shell 'tcsh': bash, zsh and fish have one, for example `cambium completion bash > "
     "~/.local/share/bash-completion/completions/cambium`", command=["completion", "tcsh"])
says("there is no kind 'potentiel'; did you mean 'potential'?", command=["list", "potentiel"])
for words in (["doc", "allow_other_parameters"], ["list", "allow_other_parameters"]):  # only plurals of kinds lose their s
    says(("there is no kind 'allow_other_parameters'; known: ",), command=words)
says("option 'steps' has no value; write key=value, for example steps=100", command=["bench", "md", "steps"])
says("edge is 0; give how many times as long as usual, 1 or more", command=["bench", "md", "edge=0", "peer=no"])
table.file("a_file", "no folder\n")
says(("the run cannot make its folder 'a_file/run', because '", "a_file' is a file; choose another with run.directory=PATH"),
     command=["check", "deck.yaml", "run.directory=a_file/run"])
says("there is no bench 'kinetics'; did you mean 'kinetic'?", command=["bench", "kinetics"])
says("there is no bench 'kinetics'; did you mean 'kinetic'?", command=["doc", "bench", "kinetics"])
says("bench lowp has no option 'sise'; did you mean 'size'? It takes part=all, size=4096, fields= (`cambium bench lowp --help`)",
     command=["bench", "lowp", "sise=64"])
says("bench lowp has no option 'repetitions'. It takes part=all, size=4096, fields= (`cambium bench lowp --help`)",
     command=["bench", "lowp", "repetitions=2"])
says("bench lowp: part is 'wires'; it must be one of all, infer, lossy, wire, for example part=all", command=["bench", "lowp", "part=wires"])
says("bench lowp: size is '64.5'; it must be a whole number, for example size=4096", command=["bench", "lowp", "size=64.5"])
says("bench peaks: rows is 0; give a number from 16 to 16384", command=["bench", "peaks", "rows=0"])
says("bench peaks: turns is 0; give a number from 1 to 1000", command=["bench", "peaks", "rows=64", "turns=0"])
says("bench compare takes two programs: `cambium bench compare OLD NEW`, for example bench compare old/bin/cambium build/bin/cambium",
     command=["bench", "compare", "old"])
says("bench compare has no option 'turn'; did you mean 'turns'? It takes names=a,b turns=5 ranks=1 limit=0.03", command=["bench", "compare", "old", "new", "turn=3"])
says("bench compare: turns is 'many'; give a number from 1 to 1000", command=["bench", "compare", "old", "new", "turns=many"])
says("bench lowp: size is 32; give 64 to 16384", command=["bench", "lowp", "size=32"])

# The bench of tasks
BENCH = ["bench", "task_bench"]
says("bench task_bench: patterns names 'fftt'; did you mean 'fft'?", command=[*BENCH, "patterns=fftt"])
says("bench task_bench: back_ends names 'task'; did you mean 'tasks'?", command=[*BENCH, "back_ends=task"])
says("bench task_bench: steps is 1; give 2 or more", command=[*BENCH, "steps=1"])
says("bench task_bench: efficiency is 1; give a share between 0 and 1", command=[*BENCH, "efficiency=1"])
says("bench task_bench: imbalance is 3; give 0 to 2", command=[*BENCH, "imbalance=3"])
says("bench task_bench: output_bytes is 24; give a multiple of 16", command=[*BENCH, "output_bytes=24"])
says("bench checkpoints: every is 1, but must be at least 2", command=["bench", "checkpoints", "every=1"])
says("bench checkpoints: width is 0, but must be at least 1", command=["bench", "checkpoints", "width=0"])
says("bench task_bench: hide_bytes is 8; give a multiple of 16, or 0",
     command=[*BENCH, "hide_bytes=8", "patterns=trivial", "back_ends=messages", "iterations=1", "steps=2"])
says("key 'steps' is missing: physics 'md' has no end of its own; specify when to stop, for example by steps: 1000", S + "steps=null")
TIMES = 'write HH:MM:SS ("00:10:00"), days before it ("1-12:00:00"), or units (12h, 90m, 1d 6h)'
says(f"walltime 'soon' is not a time; {TIMES}", "run.walltime=soon", command="run")
for none in ("0", "00:00:00", "0h"):
    says(f"walltime '{none}' leaves no time to run; {TIMES}, or leave it out for no limit", f"run.walltime='{none}'")
table.file("occupied", "a file, no folder")
says("cannot make the folder 'occupied/run': Not a directory; choose another with run.directory=PATH", "run.directory=occupied/run", command="run")
table.begins("run.directory=shown")
with open(table.path("shown/provenance.yaml"), "w", encoding="utf-8") as file:
    file.write("{")
os.makedirs(table.path("shown/report.html"))
says("the page could not be written; the reason is above", command=["report", "shown"])

# Names of the field that are guessed
NVT = "take 'langevin' (constant temperature, Langevin dynamics (BAOAB)) or 'csvr' (constant temperature, stochastic velocity rescaling) or 'nose_hoover' (constant temperature, chain of Nose-Hoover thermostats)"
for guessed in ("nvt", "NVT"):
    says(f"integrator '{guessed}' is not here by this name; {NVT}", S + f"integrator={guessed}")
for guessed in ("nvt_bussi", "V-rescale", "berendsen"):
    says(f"integrator '{guessed}' is not here by this name; take 'csvr' (constant temperature, stochastic velocity rescaling)",
         S + f"integrator={{type: {guessed}, temperature: 300}}")
says("integrator 'nph' is not here by this name; take 'npt' (constant pressure and temperature, stochastic cell rescaling)", S + "integrator=nph")
for guessed in ("lj", "lj/cut"):
    says(f"potential '{guessed}' is not here by this name; take 'lennard_jones' (12-6 pair potential of rare gases and their mixtures)",
         S + f"potential.type={guessed}")
says("writer 'xyz' is not here by this name; take 'extxyz' (trajectory in extended XYZ, for OVITO and ASE)", S + "output=[{type: xyz, every: 1}]")
says("writer 'gr' is not here by this name; take 'rdf' (radial distribution functions by pair of species)", S + "output=[{type: gr, every: 1}]")
says("integrator 'bussi' is not here by this name; take 'csvr' (constant temperature, stochastic velocity rescaling)",
     command=["doc", "integrator", "bussi"])
says("there is no integrator 'langevine'; did you mean 'langevin'?", S + "integrator=langevine")

# Parts of the cell
says("'ranks' makes equal bricks, which 'balance' would move; leave out one of them, or give balance: {criterion: volume}",
     S + "ranks=[1, 1, 1]", S + "balance={every: 50}")
says("found 'pair', expected one of: pairs, atoms, time, volume; did you mean 'pairs'?", S + "balance.criterion=pair")
says("found 0, expected a whole number >= 1", S + "balance.every=0")
says("found 0.9, expected a number from 1 to 1000000", S + "balance.threshold=0.9")
says("stages[0].simulate.balance.evry: unknown key; did you mean 'every'?", S + "balance={evry: 5}")
says("stages[0].simulate.ballance: unknown key; did you mean 'balance'?", S + "ballance={}")

# Structures
KEEP = S + "structure.keep="
says("group 'structure.keep' holds no atom: check its species, tags and region (all conditions must hold together)",
     KEEP + "{sphere: {center: [1, 1, 1], radius: 0.5}}", command="run")
says("group 'structure.keep': there is no species 'Ag'; known: Cu", KEEP + "{species: [Ag]}", command="run")
says("'repeat' is for files; a lattice has 'cells': [8, 4, 12] are as many", S + "structure.repeat=[2, 1, 3]")
says("found 0, expected a whole number >= 1", S + "structure.repeat=[2, 0, 3]")
XYZ = 'Lattice="20 0 0 0 20 0 0 0 20" Properties='
for name, text, message in (
    ("list.xyz", f"1\n{XYZ}species:S\nAr 1 1 1\n", "list.xyz:2: Properties=species:S is not a list of name:type:count"),
    ("lacks.xyz", f"1\n{XYZ}pos:R:3\n1 1 1\n", "lacks.xyz:2: Properties=pos:R:3 lacks species:S:1 (or Z:I:1)"),
    ("z.xyz", f"1\n{XYZ}Z:I:1:pos:R:3\n200 1 1 1\n", "z.xyz:3: there is no element 200"),
    ("minus.xyz", "-1\n\n", "minus.xyz:1: expected the number of atoms, found '-1'"),
):
    table.file(name, text)
    says(message, S + f"structure={{file: {name}}}", command="run")
CELL = "0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n"
HEAD = "\n\n1 atoms\n1 atom types\n"
ATOMS = "\nMasses\n\n1 39.9\n\nAtoms # atomic\n\n1 1 1 1 1\n"
for name, text, message in (
    ("edge", HEAD + "0 1 9 xlo xhi\n" + ATOMS, "edge.data:5: expected two numbers, the low and the high end of the cell"),
    ("tilt", HEAD + CELL + "1 2 xy xz yz\n" + ATOMS, "tilt.data:8: expected three numbers, the tilts xy xz yz"),
    ("label", HEAD + CELL + "\nAtom Type Labels\n\n1 Ar Kr\n", "label.data:11: expected a type and its label"),
    ("mass", HEAD + CELL + "\nMasses\n\n1 39.9 Ar\n", "mass.data:11: expected 1 lines 'type mass'"),
    ("early", HEAD + CELL + "\nVelocities\n\n1 0 0 0\n", "early.data:9: Velocities come before Atoms: put them after"),
    ("speed", HEAD + CELL + ATOMS + "\nVelocities\n\n1 0 0\n", "speed.data:19: expected 'id vx vy vz', found 3 words"),
    ("nobody", HEAD + CELL + ATOMS + "\nVelocities\n\n2 0 0 0\n", "nobody.data:19: there is no atom 2"),
):
    table.file(name + ".data", text)
    says(message, S + f"structure={{file: {name}.data}}", command="run")

FILE = S + "structure={file: edge.data, %s}"
says("units: there is no style 'lj' with units; known: metal, real, si, cgs, electron, micro, nano", FILE % "units: lj")
says("velocity_unit: 'eV' is no unit of a velocity; give one such as angstrom/fs", FILE % "velocity_unit: eV")
says("velocity_unit: there is no unit 'angstroms'; did you mean 'angstrom'?", FILE % "velocity_unit: angstroms/fs")

# Checkpoints
import h5py

OUT = S + "output=[{type: h5md, every: 1}]"
says("'every' and 'interval' exclude each other; leave one out", S + "output=[{type: vtkhdf, every: 1, interval: 0.1}]")
for name in ("old", "shape"):
    table.interrupts(f"run.directory={name}", S + "checkpoint={every: 1}")
    last = sorted(f for f in os.listdir(table.path(name + "/simulate")) if f.startswith("restart"))[-1]
    with h5py.File(table.path(f"{name}/simulate/{last}"), "r+") as file:
        if name == "old":
            file["checkpoint"].attrs.modify("format", 0)
        else:
            shape = file["fields/velocity"].shape
            del file["fields/velocity"]
            file["fields/velocity"] = [[0.0] * (shape[1] + 1)] * shape[0]
says(("'old/simulate/restart.2.h5' is a checkpoint of format 0, this Cambium reads format ", "; resume with the version that wrote it ("),
     command=["restart", "old"])
says("field 'velocity' of the checkpoint 'shape/simulate/restart.2.h5' has rows of another shape or type than this deck needs; resume with "
     "the deck that wrote it or start afresh", command=["restart", "shape"])
table.interrupts("run.directory=more", S + "checkpoint={every: 2}", OUT)
with h5py.File(table.path("more/simulate/trajectory.h5md"), "r+") as file:
    group = file["particles/trajectory/position"]
    steps, n = group["value"].shape[0], group["value"].shape[1]
    del group["value"]
    group.create_dataset("value", shape=(steps, n + 1, 3), maxshape=(None, n + 1, 3), chunks=True)
says(f"'more/simulate/trajectory.h5md' holds {n + 1} particles per frame but this run has {n}: resume with the deck that wrote it, or move the "
     "file away", command=["restart", "more", S + "steps=4"])

says("checkpoint.asynchronous keeps the whole file in the memory of rank 0, and transfer: collective is for files that are too large for that; leave out "
     "one of the two", S + "checkpoint={transfer: collective, asynchronous: true}")
says("checkpoint.asynchronous keeps the file in memory, and compress writes it to the disk twice; leave out one of the two",
     S + "checkpoint={asynchronous: true, compress: {type: lossless}}")
table.run()
