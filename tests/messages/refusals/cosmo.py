"""What the plugin cosmo says about decks that cannot work."""
from table import Table

DECK = """
run: {name: web, directory: out}
plugins: [cosmo, md]
stages:
  - simulate:
      physics: structure_growth
      box: 64
      particles: 8
      time_steps: 4
      output: [{type: matter, every: 2}]
"""
ATOMS = """
run: {name: atoms, directory: atoms}
plugins: [cosmo, md]
stages:
  - simulate:
      physics: md
      structure: {lattice: fcc, constant: 3.6, elements: [Cu], cells: [3, 3, 3]}
      potential: {type: lennard_jones, epsilon: 0.4, sigma: 2.3, cutoff: 4}
      timestep: 0.001
      steps: 2
      output: [{type: matter}]
"""
S = "stages[0].simulate."
C = S + "cosmology."

table = Table("cosmo", DECK)
says = table.says
table.file("atoms.yaml", ATOMS)

says("omega_b (0.32) is a part of omega_m (0.3); take a smaller one", C + "omega_b=0.32", C + "omega_m=0.3")
says("the transfer function eisenstein_hu does not hold where baryons (omega_b 0.0495) are so much of matter (omega_m 0.05); "
     "take fewer, or 'transfer: bbks'", C + "omega_b=0.0495", C + "omega_m=0.05", C + "h=0.3")
says("end (0.01) must be a later scale factor than start (0.02)", S + "end=0.01")
says("particles (9) must be an even number; take 10", S + "particles=9")
says("mesh (11) must be an even number; take 12", S + "mesh=11")
says("a row of 134 numbers cannot be transformed: 134 has a prime factor above 61; take a number made of 2, 3 and 5", S + "mesh=134")
says("output 'matter' shows the physics structure_growth; leave it out", deck="atoms.yaml")

table.run()
