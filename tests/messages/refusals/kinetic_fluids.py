"""What the plugin kinetic says about fluid species that cannot work."""
# needs: kinetic
from table import Table

DECK = """
run: {name: fluids, directory: out}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      domain: {lower: [0], upper: [4], cells: [4]}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [8]}, f0: maxwellian(v)}
      fluid_species:
        - {name: ion, charge: 1, mass: 25, equation: ten_moment, density: "1", pressure: "0.1"}
      end_time: 0.1
"""
S = "stages[0].simulate."
ION = S + "fluid_species[0]."

table = Table("kinetic_fluids", DECK)
says = table.says

# Keys that do not go together
says("fluid species 'ion': 'k0' belongs to 'equation: ten_moment'; remove it, or use that equation", ION + "equation=five_moment", ION + "k0=1")
says("fluid species 'ion': 'pressure_tensor' belongs to 'equation: ten_moment'; remove it, or use that equation", ION + "equation=five_moment",
     ION + "pressure=''", ION + "pressure_tensor=[1, 0, 0, 1, 0, 1]")
says("fluid species 'ion': 'adiabatic_index' belongs to 'equation: five_moment'; remove it, or use that equation", ION + "adiabatic_index=3")
says("fluid species 'ion': 'velocity' has at most three components", ION + "velocity=[0, 0, 0, 0]")
says("fluid species 'ion': 'pressure_tensor' needs six components: xx, xy, xz, yy, yz, zz", ION + "pressure=''", ION + "pressure_tensor=[1, 1, 1]")
says("fluid species 'ion' needs 'pressure', or with ten moments 'pressure_tensor', and not both", ION + "pressure=''")
says("fluid species 'ion' needs 'pressure', or with ten moments 'pressure_tensor', and not both", ION + "pressure_tensor=[1, 0, 0, 1, 0, 1]")
says("two species have the name 'electron'; give each its own", ION + "name=electron")
says("start_from: fluid species cannot begin from another run; remove 'fluid_species' or 'start_from'", S + "start_from=other.h5")

# Constants
says("fluid species 'ion': mass = 0 must be positive", ION + "mass=0")
says("fluid species 'ion': k0 = -1 must not be negative", ION + "k0=-1")
says("fluid species 'ion': adiabatic_index = 1 must be larger than 1", ION + "equation=five_moment", ION + "adiabatic_index=1")
says("found 1, expected a whole number from 2 to 16", ION + "subcells=1")
says("there is no variable 'v'; known: x\n    v\n    ^", ION + "density=v", command="run")

# First states and runs that break
says("fluid species 'ion': the density is not positive everywhere: see cell [2] (x = 2.16667)", ION + "density=2.2 - x", command="run")
says("fluid species 'ion': the pressure is not positive everywhere: see cell [0] (x = 0.166667)", ION + "pressure=0", command="run")
says("fluid species 'ion': the pressure is not positive everywhere: see cell [0] (x = 0.166667)", ION + "pressure=''",
     ION + "pressure_tensor=[1, 2, 0, 1, 0, 1]", command="run")
says(("density or pressure of a fluid is not positive any more at step ", ": that of 'ion' in cell [", "; take more cells, a smaller 'cfl' or 'limiter: "
      "minmod', and check what the deck lets grow"), S + "species[0].charge=0", S + "external={E: [1e160]}", command="run", code=4)

table.run()
