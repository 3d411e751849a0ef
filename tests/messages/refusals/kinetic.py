"""What the plugin kinetic says about decks that cannot work."""
# needs: kinetic
from table import Table

DECK = """
run: {name: waves, directory: out}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      parameters: {k: 0.5, a: 1e-4}
      domain: {lower: [0], upper: [2*pi/k], cells: [4]}
      species:
        - name: electron
          charge: -1
          velocity: {lower: [-6], upper: [6], cells: [8]}
          f0: (1 + a*cos(k*x)) * maxwellian(v)
      end_time: 0.1
"""
FLUID = """
run: {name: fluid, directory: fluid}
plugins: [kinetic]
stages:
  - simulate: {physics: moment_fluid, parameters: {k: 0.4, a: 1e-4}, length: 2*pi/k, density: 1 + a*cos(k*x), end_time: 1,
               growth_rate: {oscillating: true}}
"""
TRAIN = """
run: {name: closure, directory: closure}
plugins: [kinetic]
stages:
  - train:
      network: {type: heat_flux_kernel, layers: [4]}
      dataset: {type: hdf5, files: [waves.h5], fields: [{name: wavenumber}, {name: temperature}, {name: velocity}, {name: heat_flux}]}
      hold_out: 0.1
      batch: 4
      steps: 1
      optimizer: {type: adam}
      learning_rate: {type: constant, start: 1e-3}
"""
S = "stages[0].simulate."
GAS = S + "species[0]."
PLANE = [S + "domain={lower: [0, 0], upper: [1, 1], cells: [4, 4]}", GAS + "velocity={lower: [-6, -6], upper: [6, 6], cells: [8, 8]}",
         GAS + "f0=maxwellian(vx)*maxwellian(vy)"]
WALLS = S + "domain={lower: [0], upper: [1], cells: [4], lower_wall: [reflect], upper_wall: [copy]}"

table = Table("kinetic", DECK)
says = table.says

# Formulas: a fault is shown in the deck's own text, where it stands there
def faulty(name, text, fault, problem):
    """The deck with a text in place of f0's; `fault` is what the message points at."""
    deck = DECK.replace("(1 + a*cos(k*x)) * maxwellian(v)", text)
    at = deck.index(fault)
    table.file(name, deck)
    shown = " ".join(text.strip('|>-\n"').split())
    says(f"{name}:{deck.count(chr(10), 0, at) + 1}:{at - deck.rfind(chr(10), 0, at)}: stages[0].simulate.species[0].f0: {problem}\n    {shown}\n    "
         + " " * shown.index(fault) + "^", deck=name)


UNKNOWN = "there is no variable '{}'; known: x, vx, v, a, k"
faulty("plain.yaml", "(1 + a*cos(qq*x)) * maxwellian(v)", "qq", UNKNOWN.format("qq"))
faulty("behind.yaml", "(1 + a*cos(k*x)) * maxwellian(v) * qq", "qq", UNKNOWN.format("qq"))
faulty("inside.yaml", '"(1 + a*cos(k*x)) * maxwellian(v, qq)"', "qq", UNKNOWN.format("qq"))
faulty("folded.yaml", ">-\n            (1 + a*cos(k*x))\n            * maxwellian(v) * qq", "qq", UNKNOWN.format("qq"))
faulty("chosen.yaml", '"if(x < k < 1, 1, 2) * maxwellian(v)"', "< 1, 1", "comparisons are not chained; write 'a < b and b < c'")
KNOWN = "sin, cos, tan, exp, log, sqrt, abs, min, max, tanh, step, if, maxwellian"
faulty("misspelt.yaml", "(1 + a*cos(k*x)) * maxwelian(v)", "maxwelian", "there is no function 'maxwelian'; did you mean 'maxwellian'?")
faulty("kappa.yaml", "(1 + a*cos(k*x)) * kappa(v)", "kappa", f"there is no function 'kappa'; known: {KNOWN}")
says("key 'steps' is missing: physics 'vlasov_poisson' has no end of its own; specify when to stop, by steps: 1000 or by end_time", S + "end_time=null")
says("stages[0].simulate.parameters.a: parameters need each other in a circle: a -> k -> a; give one of them a number", S + 'parameters={k: 2*a, a: k/2}')
says("stages[0].simulate.parameters.pi: a parameter cannot be called 'pi': formulas call a coordinate, the time or a constant so; give it a name "
     "of its own", S + "parameters={k: 0.5, a: 1e-4, pi: 3}")

# Domain and velocities
says("'lower', 'upper' and 'cells' need one entry per dimension, one to three of them", S + "domain.upper=[1, 2]")
says("'lower_wall' and 'upper_wall' need one entry per dimension, or none", S + "domain.lower_wall=[copy, copy]")
says("a dimension is periodic at both ends or at none: give 'lower_wall' and 'upper_wall'", S + "domain.lower_wall=[copy]")
says("'lower', 'upper' and 'cells' need one entry per velocity dimension, one to three of them", GAS + "velocity.lower=[-6, -6]")
says("domain, dimension 1: 'upper' (-1) must be larger than 'lower' (0)", S + "domain.upper=[-1]")
says(("this build has no kernels for 1x3v_p1_tensor (it has ", "); build them with cmake -DCAMBIUM_KINETIC_KERNELS=\"",
      ";1x3v_p1_tensor\""), S + "basis={family: tensor, order: 1}", GAS + "velocity={lower: [-1, -1, -1], upper: [1, 1, 1], cells: [2, 2, 2]}")
says("dimension 1 of phase space has 1 cells for 2 ranks; use fewer ranks or more cells", S + "domain.cells=[1]", S + "ranks=[2, 1]", ranks=2)

# Widths of velocity cells
def spaced(entry):
    return GAS + f"velocity.spacing=[{{{entry}}}]"


FIRST_VELOCITY = "species 'electron', velocity dimension 1: "
EIGHT = "-6, -4, -2, -1, 0, 1, 2, 4, 6"
says("'spacing' needs one entry per velocity dimension, or none", GAS + "velocity.spacing=[{stretch: 0.5}, {stretch: 0.5}]")
says("'edges', 'mapping' and 'stretch' exclude each other; give one of them", spaced("stretch: 0.5, mapping: 6*eta"))
says(FIRST_VELOCITY + "'edges' has 8 entries, but 8 cells have 9 faces, 'lower' and 'upper' included", spaced("edges: [-6, -4, -2, 0, 1, 2, 4, 6]"))
says(FIRST_VELOCITY + "'edges' has 1 entries, but 8 cells have 9 faces, 'lower' and 'upper' included", spaced("edges: [-6]"))
says("stages[0].simulate.species[0].velocity.spacing[0].edges[3]: " + FIRST_VELOCITY + "'edges' must increase, but -2 is followed by -2.5",
     spaced(f"edges: [{EIGHT.replace('-1', '-2.5')}]"))
says(FIRST_VELOCITY + "'edges' must increase, but -1 is followed by -1", spaced(f"edges: [{EIGHT.replace(' 0', ' -1')}]"))
says(FIRST_VELOCITY + "'edges' leads from -6 to 7 and must lead from 'lower', -6, to 'upper', 6", spaced(f"edges: [{EIGHT.replace('4, 6', '4, 7')}]"))
says(("species[0].velocity.spacing[0].edges[1]: there is no variable 'vt'; known: a, k",), spaced(f"edges: [{EIGHT.replace('-4', 'vt')}]"))
says("species 'electron', velocity dimension 1: v = 0 lies inside the cell from -1 to 0.5, where streaming would change its direction; 0 must be an edge "
     "between two cells", spaced(f"edges: [{EIGHT.replace(' 0', ' 0.5')}]"))
says(FIRST_VELOCITY + "'mapping' must increase, but it is 6 at eta = -1 and 3.375 at eta = -0.75", spaced("mapping: 6*eta^2"))
says(FIRST_VELOCITY + "'mapping' leads from -5 to 5 and must lead from 'lower', -6, to 'upper', 6", spaced("mapping: 5*eta"))
says(("species[0].velocity.spacing[0].mapping: there is no variable 'v'; known: eta, a, k",), spaced("mapping: 6*v"))
says(FIRST_VELOCITY + "'stretch' is 1.5 and must be between 0 (cells of equal widths) and 1", spaced("stretch: 1.5"))
says(FIRST_VELOCITY + "'stretch' is -0.1 and must be between 0 (cells of equal widths) and 1", spaced("stretch: -0.1"))
says(FIRST_VELOCITY + "8002 cells are more than the 8000 that can have different widths; give fewer 'cells'", spaced("stretch: 0.5"), GAS + "velocity.cells=[8002]")
says("species 'electron': a reflecting wall needs cells that are mirror images at v = 0, but velocity dimension 1 has a cell from -6 to -4 and none from 4 to 6",
     WALLS, spaced("edges: [-6, -4, -2, -1, 0, 1, 2, 5, 6]"))

# Species and collisions
says("'species' is empty; give at least one", S + "species=[]")
TWIN = "{name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [8]}, f0: maxwellian(v)}"
says("two species have the name 'electron'; give each its own", S + f"species=[{TWIN}, {TWIN}]")
says("two species have the name 'electron'; give each its own", S + f"species=[{TWIN}, {TWIN.replace('electron', 'beam')}, {TWIN}]")
says("species 'electron': a reflecting wall needs velocities that are symmetric about 0, not -3 to 6", WALLS,
     GAS + "velocity={lower: [-3], upper: [6], cells: [9]}")
says("species 'electron': velocity dimension 1 meets a reflecting wall and cannot be partitioned among ranks; give 'ranks' with 1 there", WALLS,
     S + "ranks=[1, 2]", ranks=2)
says("species 'electron': velocity dimension 1 cannot be partitioned among ranks with the dougherty operator; give 'ranks' with 1 there",
     GAS + "collisions={operator: dougherty, frequency: 1}", S + "ranks=[1, 2]", ranks=2)
says("species 'electron': the collision frequency is -1 at x = 1.5708; it cannot be negative", GAS + "collisions={frequency: -1}")
says("species 'electron' has no 'collisions'; give their frequency, 0 for free streaming", S + "physics=boltzmann_bgk")

says("'species' needs the names of two different species", S + "collisions=[{species: [electron, electron], frequency: 1}]")

# Sources, losses, reactions and what walls give back
BOX = [S + "domain.lower_wall=[absorb]", S + "domain.upper_wall=[absorb]"]


def gives_back(entry):
    return [*BOX, GAS + f"walls=[{{{entry}}}]"]


says("species 'electron': there is no wall 'left'; the walls are lower_x, upper_x", *gives_back("wall: left"))
says("species 'electron': the upper_x wall does not absorb, so it has nothing to give back; make it 'absorb' in 'upper_wall' of the domain",
     GAS + "walls=[{wall: upper_x}]")
says("species 'electron': the upper_x wall is given twice; one entry is enough", *BOX, GAS + "walls=[{wall: upper_x}, {wall: upper_x}]")
says("species 'electron', upper_x wall: the reflected fraction is 1.5 and must be between 0 and 1", *gives_back("wall: upper_x, reflection: 1.5"))
says("species 'electron', upper_x wall: there is no species 'ion'; the species are electron", *gives_back("wall: upper_x, yield: {ion: 1}"))
says("species 'electron', upper_x wall: the yield per arriving 'electron' is -1; it cannot be negative", *gives_back("wall: upper_x, yield: {electron: -1}"))
says("species 'electron', upper_x wall: the temperature of emitted particles is 0 and must be positive", *gives_back("wall: upper_x, temperature: 0"))
says("species 'electron': a reflecting wall needs velocities that are symmetric about 0, not -3 to 6", GAS + "velocity={lower: [-3], upper: [6], cells: [9]}",
     *gives_back("wall: upper_x, reflection: 0.5"))
says("species 'electron': velocity dimension 1 meets a reflecting wall and cannot be partitioned among ranks; give 'ranks' with 1 there",
     *gives_back("wall: upper_x, reflection: 0.5"), S + "ranks=[1, 2]", ranks=2)
says("species 'electron', upper_x wall: the emitted flux is -1 at time 0; it cannot be negative; fix the formula of 'flux', for example by max(0, ...)",
     *gives_back("wall: upper_x, flux: t - 1"), command="run", code=4)
says("species 'electron': the upper_x wall floats and gives back 1.2 of its particles for each that arrives, so no potential lets the currents to it cancel; "
     "take 'reflection' and the 'yield' of its own below 1 together, or give the wall a potential",
     *gives_back("wall: upper_x, reflection: 0.4, yield: {electron: 0.8}"), S + "wall_potential={upper: [floating]}", command="run")
says(("species 'electron': its source is -0.", " somewhere; it cannot be negative: particles leave by 'loss', in proportion to f"),
     GAS + "source={profile: -maxwellian(v)}", command="run")
says("species 'electron': the rate of its source is -1 at time 0; it cannot be negative: particles leave by 'loss', in proportion to f",
     GAS + "source={profile: maxwellian(v), rate: t - 1}", command="run", code=4)
says("species 'electron': the loss is -1 at x = 1.5708; it cannot be negative; fix the formula of 'loss', for example by max(0, ...)", GAS + "loss=-1")
says((" particles are left of ", "; its losses, sources and walls have emptied the domain; lower its 'loss', or add a 'source'"),
     GAS + "loss=20", S + "end_time=3", command="run", code=4)
PAIR = "{kind: %s, species: [electron, %s], rate: %s%s}"


def reacts(kind="ionisation", other="ion", rate="1", more=", temperatures: [1, 1]"):
    ion = "{name: ion, charge: 1, velocity: {lower: [-6], upper: [6], cells: [8]}, f0: maxwellian(v)}"
    return [S + f"species=[{TWIN}, {ion}]", S + "reactions=[" + PAIR % (kind, other, rate, more) + "]"]


says("reactions: 'species' needs the names of two different species", *reacts(other="electron"))
says("reactions: there is no species 'proton'; the species are electron, ion", *reacts(other="proton"))
says("reactions: ionisation needs 'temperatures', one for each species of a new pair", *reacts(more=""))
says("reactions: recombination makes no particles; remove 'temperatures'", *reacts(kind="recombination"))
says("reactions: the temperature of new particles is -1 and must be positive", *reacts(more=", temperatures: [1, -1]"))
says("reactions: the rate is -1 at x = 1.5708; it cannot be negative; fix the formula of 'rate', for example by max(0, ...)", *reacts(rate="-1"), command="run", code=4)

# Fields
says("a field has three components", S + "external={E: ['0', '0', '0', '0']}")
says("a field has three components", S + "physics=vlasov_maxwell", S + "fields={E: ['0', '0', '0', '0']}")
NO_FEELING = "external: {} acts on particles with at least {} velocity dimensions, which no charged species has ('electron'); give 'velocity' " \
    "more dimensions, or {} = 0"
says(NO_FEELING.format("Bz", 2, "Bz"), S + "external={B: [0, 0, 1]}")
says(NO_FEELING.format("Ey", 2, "Ey"), S + "external={E: ['0', 0.1*cos(k*x)]}")
says(NO_FEELING.format("Ez", 3, "Ez"), *PLANE, S + "external={E: [1, 2, sin(t)]}")
says(NO_FEELING.format("By", 3, "By"), *PLANE, S + "external={B: [0, y, 1]}", S + "physics=vlasov_maxwell")
says("wall_potential: 'lower' and 'upper' need one entry per dimension, 2, or none", *PLANE,
     S + "domain.lower_wall=[copy, copy]", S + "domain.upper_wall=[copy, copy]", S + "wall_potential={lower: [0]}")
BIASED = [*BOX, S + "wall_potential={lower: [0], upper: [circuit]}"]
R = "{wall: upper_x, resistance: 1}"
says("circuits: give 'resistance' or 'inductance'; a source without them is a potential: write its formula in 'wall_potential'", *BIASED,
     S + "circuits=[{wall: upper_x, voltage: 1}]")
says("circuits: there is no wall 'right' that is 'circuit' in 'wall_potential'; write it there", *BIASED, S + "circuits=[{wall: right, resistance: 1}]")
says("circuits: there is no wall 'upper_x' that is 'circuit' in 'wall_potential'; write it there", *BOX, S + f"circuits=[{R}]")
says("circuits: the upper_x wall has two circuits; leave one", *BIASED, S + f"circuits=[{R}, {R}]")
says("wall_potential: the upper_x wall is 'circuit', but no entry of 'circuits' has this wall; add one", *BIASED)
says("circuits: no wall has a given potential, so there is no ground; give one in 'wall_potential'", *BOX,
     S + "wall_potential={lower: [floating], upper: [circuit]}", S + f"circuits=[{R}]")
says("stages[0].simulate.circuits[0].resistance: found -1, expected a number >= 0", *BIASED, S + "circuits=[{wall: upper_x, resistance: -1}]")
says("there is no variable 'x'; known: t, a, k\n    x\n    ^", *BIASED, S + "circuits=[{wall: upper_x, resistance: 1, voltage: x}]")
says("wall_potential: dimension 1 is periodic and has no wall to be 'symmetry'; give 0 there", S + "wall_potential={lower: [symmetry]}")
for wall in ("reflect", "copy"):
    says(f"wall_potential: the upper wall of dimension 1 cannot float, since it absorbs no charge ({wall}); make it 'absorb' in "
         "'upper_wall' of the domain, or give its potential", S + "domain={lower: [0], upper: [1], cells: [4], lower_wall: [copy], "
         f"upper_wall: [{wall}]}}", S + "wall_potential={upper: [floating]}")
says("no wall has a fixed potential, so plasma and floating walls must be neutral together, but they have the charge -1 (their particles, "
     "without signs: 1); give the missing species or 'background', or a wall its potential", S + "domain={lower: [0], upper: [1], cells: [4], "
     "lower_wall: [reflect], upper_wall: [absorb]}", GAS + "f0=maxwellian(v)", S + "wall_potential={upper: [floating]}", command="run")

# Output
says("output 'heat_flux' belongs to vlasov_poisson and vlasov_maxwell", S + "physics=boltzmann_bgk", GAS + "collisions={frequency: 0}",
     S + "output=[{type: heat_flux, modes: [1]}]")
says("also has 'temperature'; known: pressure, heat_flux, third_moment", S + "output=[{type: moments, also: [temperature]}]")
says("also has 'pressure' twice", S + "output=[{type: moments, also: [pressure, pressure]}]")
says("output 'heat_flux': there is no species 'ion'", S + "output=[{type: heat_flux, modes: [1], species: ion}]")
says("output 'heat_flux' needs one periodic dimension and one velocity", *PLANE, S + "output=[{type: heat_flux, modes: [1]}]")
says("output 'distribution', species 'electron': 'axes' needs one to three different ones of x, vx",
     S + "output=[{type: distribution, format: vtkhdf, axes: [vy]}]")
says("'axes' belongs to 'format: vtkhdf'", S + "output=[{type: distribution, axes: [vx]}]")
says("'xml' belongs to 'format: vtkhdf'", S + "output=[{type: distribution, xml: true}]")
table.file("fluid.yaml", FLUID)
says("output 'moments' belongs to kinetic physics (vlasov_poisson, vlasov_maxwell, boltzmann_bgk)", S + "output=[{type: moments}]",
     deck="fluid.yaml")

# Closures
says("closure: 'model' belongs to 'type: model'", S + "closure={type: none, model: model.h5}", deck="fluid.yaml")
table.file("train.yaml", TRAIN)
T = "stages[0].train."
numbers = [[float(k % 5 + 1)] for k in range(40)]
pairs = [[1.0, 0.5]] * 40
table.file("waves.h5", {"wavenumber": numbers, "temperature": pairs, "velocity": pairs, "heat_flux": pairs})
table.file("mean.h5", {"wavenumber": [[0.0]] * 40, "temperature": pairs, "velocity": pairs, "heat_flux": pairs})
table.file("wide.h5", {"wavenumber": [[1.0, 2.0]] * 40, "temperature": pairs, "velocity": pairs, "heat_flux": pairs})
says("a wavenumber of the training set is 0; the mean has no heat flux", T + "dataset.files=[mean.h5]", deck="train.yaml", command="run")
says("sample 0: field 'wavenumber' has 2 values instead of 1; use the file that the output 'heat_flux' writes",
     T + "dataset.files=[wide.h5]", T + "hold_out=0", deck="train.yaml", command="run")
says("layers: a width of 0 is none; widths are 1 or more", T + "network.layers=[0]", deck="train.yaml")
table.begins("run.directory=mlp", T + "network={type: mlp, layers: [2], input: wavenumber, target: velocity}", deck="train.yaml")
says("closure: 'mlp/train/model.h5' holds a network of type 'mlp', not heat_flux_kernel", S + "closure={type: model, model: mlp/train/model.h5}",
     deck="fluid.yaml", command="run")

# What another run stored
says("species 'electron' needs 'f0', or the stage 'start_from'", GAS + "f0=''")
table.begins("run.directory=first", S + "output=[{type: distribution, every: 1}]", S + "steps=1")
FIRST = S + "start_from=first/simulate/distribution.1.h5"
says("start_from: dimension 1 of the domain goes from 0 to 12.5664 there and from 0 to 15 here; only the cells and the velocities may differ",
     FIRST, S + "domain.upper=[15]", command="run")
says("start_from: the file holds no distribution function of a species 'ion'", FIRST, GAS + "name=ion", command="run")
says("start_from: species 'electron' was stored with 1 and 1 dimensions of configuration and velocity space, this deck has 2 and 2", FIRST,
     *PLANE, command="run")

# A calculation that breaks, and one that another deck began
says("the distribution function is not finite any more at step 1, time 0: that of 'electron' in cell [0] (x = 1.5708) on rank 0; take more cells or a "
     "smaller 'cfl', and check what the deck lets grow", S + "external={E: [exp(1e5*(t + 0.01))]}", S + "end_time=1",
     command="run", code=4)
says("the moments are not finite any more at step 3, time 300; try a shorter 'timestep'", S + "timestep=100", S + "end_time=1e6",
     deck="fluid.yaml", command="run", code=4)
# The density does not depend on the operator or on the cells of velocity space, and what the message advises helps.
HOLE = GAS + "f0=(0.001 + step(x - 2.5))*maxwellian(v)"
# (The first step is a little shorter with more cells: -0.0947 with 8, -0.0940 with 32.)
NEGATIVE = ("step 1, time 0: rank 0: collisions: species 'electron' has density -0.094", " and squared thermal speed ", " in cell [0] (x = 1.5708), and both must be "
            "positive: its distribution function has become negative there, which its key positivity: true prevents")
for operator in ("bgk", "dougherty"):
    for cells in (8, 32):
        keys = [GAS + f"collisions={{operator: {operator}, frequency: 1}}", HOLE, GAS + f"velocity.cells=[{cells}]"]
        says(NEGATIVE, *keys, command="run", code=4)
        table.begins("run.directory=limited", *keys, GAS + "positivity=true")
SECOND = "{name: ion, charge: 0, mass: 4, velocity: {lower: [-6], upper: [6], cells: [16]}, f0: (0.001 + step(x - 2.5))*maxwellian(v)}"
FIRST_SPECIES = "{name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [8]}, f0: maxwellian(v)}"
says(("collisions: species 'ion' has density -0.0947", " in cell [0] (x = 1.5708), and both must be positive: its distribution function has become negative "
      "there, which its key positivity: true prevents"), S + f"species=[{FIRST_SPECIES}, {SECOND}]",
     S + "collisions=[{species: [electron, ion], frequency: 1}]", command="run", code=4)
says(("step 1, time 0: rank 0: collisions: operator 'dougherty' needs ", " sub-steps in a step, by its frequency in cell [0] (x = 1.5708); give scheme: "
      "implicit, which takes one step at any frequency, or lower 'frequency'"),
     GAS + "collisions={operator: dougherty, frequency: 1e6, scheme: explicit}", command="run", code=4)
says(("step 1, time 0: rank 0: collisions: species 'electron': the collision frequency is -1 at x = 1.5708, where n = ", ", T = ",
      "; fix the formula of 'frequency', for example by max(0, ...)"),
     GAS + "collisions={operator: dougherty, frequency: 0*n*T - 1}", command="run", code=4)
table.interrupts("run.directory=stored", S + "checkpoint={every: 1}")
says("species 'electron' was stored on [4, 8] cells with basis 1x1v_p2, this deck has [8, 8] with 1x1v_p2; resume with the deck that "
     "wrote it, or begin another run with 'start_from'", command=["restart", "stored", S + "domain.cells=[8]"])

table.run()
