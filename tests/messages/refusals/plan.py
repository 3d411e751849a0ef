"""What `cambium plan` says about simulations that it cannot plan."""
# needs: md kinetic superres
from table import Table

DECK = """
run: {name: argon, directory: out}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.719, cells: [16, 16, 16], species: [Ar]}}
      potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.5}
      steps: 10
  - evaluate: {model: m.h5, dataset: {type: hdf5, files: [d.h5], fields: [{name: x}]}}
"""
CONVECTION = """
run: {name: rolls, directory: out}
plugins: [superres]
stages:
  - simulate: {physics: rayleigh_benard, rayleigh: 1e5, cells: [64, 32], end_time: 1}
"""
PLASMA = """
run: {name: waves, directory: out}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      domain: {lower: [0], upper: [1], cells: [4]}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [8]}, f0: maxwellian(v)}
      end_time: 0.1
"""
FLUID = """
run: {name: fluid, directory: out}
plugins: [kinetic]
stages:
  - simulate: {physics: moment_fluid, parameters: {k: 0.4, a: 1e-4}, length: 2*pi/k, density: 1 + a*cos(k*x), end_time: 1}
"""
S = "stages[0].simulate."
MACHINE = "{name: m, peak: 1e12, memory: 1 GB, memory_bandwidth: 10 GB/s, levels: [{name: node, bandwidth: 1 GB/s, latency: 1 us}]}"

table = Table("plan", DECK)
table.file("rolls.yaml", CONVECTION)
table.file("waves.yaml", PLASMA)
table.file("fluid.yaml", FLUID)
table.file("m.yaml", MACHINE)


def says(message, *words, deck="deck.yaml", ranks="8"):
    table.says(message, command=["plan", deck, *words, "--machine", "m.yaml", "--ranks", ranks])


says("--samples-per-rank and --operations-per-sample are for trainings, and a stage 'simulate' is planned; give --rate, or --stage with the number of "
     "a stage 'train'", "--samples-per-rank", "4")
table.says("--machine is required; `cambium plan --help` lists what it takes", command=["plan", "deck.yaml", "--ranks", "8"])
says("--stage 3: 'deck.yaml' has 2 stages; give a number from 1 to 2", "--stage", "3")
says("--stage 2: a stage 'evaluate' cannot be planned; give the number of a stage 'train' or 'simulate', or leave --stage out", "--stage", "2")
says("physics 'moment_fluid' does not report what its steps cost, so that they cannot be planned; `cambium list cost` names those that do",
     deck="fluid.yaml")
says("how long a step computes is not known of this deck (16384 atoms, sum within 8.5 Å and 1 Å of skin); give --rate, the atom-steps/s of one rank "
     "that the summary of a run on such a device prints",
     S + "potential={type: sum, terms: [{type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.5}]}")
says("structure.keep: a part of 16384000000 atoms is not counted to plan; leave 'keep' out, and give a lattice with as many cells as the part has",
     S + "structure.lattice.cells=[1600, 1600, 1600]", S + "structure.keep={sphere: {center: [0.5, 0.5, 0.5], radius: 30, fractional: true}}")
says("100000 ranks: the cell is 91.5 Å wide along c for 100000 ranks: a partitioned direction must be at least 100.0 Å wide (twice the cut-off plus "
     "skin of 50.0 Å); use 1 rank along c or a larger cell", S + "potential.cutoff=49", ranks="100000")
says("64 ranks: 64 ranks cannot share 32 rows of cells: every rank needs two; run on at most 16 ranks or take more cells along z", deck="rolls.yaml",
     ranks="64")
says("64 ranks: dimension 1 of phase space has 4 cells for 8 ranks; use fewer ranks or more cells", deck="waves.yaml", ranks="64")

table.run()
