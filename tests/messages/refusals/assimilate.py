"""What the plugin assimilate says about decks and data that cannot work."""
# needs: assimilate superres
from table import Table

DECK = """
run: {name: twin, directory: out}
plugins: [assimilate]
stages:
  - assimilate:
      model: lorenz96
      spin_up: 1
      observations: {every: 0.05, error: 1}
      cycles: 4
      climatology: {samples: 12, interval: 0.5}
      filters: {a: {type: etkf, members: 6}}
"""
FLOW = """
run: {name: flow, directory: flow}
plugins: [assimilate, superres]
stages:
  - assimilate:
      model: {type: rayleigh_benard, rayleigh: 1e4, aspect_ratio: 2, cells: [16, 8]}
      data: fields.h5
      spin_up: 1
      observations: {fields: [b], every: 0.5, stride: [4, 2], error: 0.1}
      cycles: 3
      climatology: {samples: 6, interval: 0.5}
      filters: {a: {type: letkf, members: 4, localisation: 0.5}}
"""
A = "stages[0].assimilate."


def fields(nt=4, nx=16, nz=8):
    """An HDF5 file of p, b, u, w by (t, x, z), smooth numbers; x is periodic over 2."""
    block = [[[(a + 2 * b + 3 * c) % 5 / 50 for c in range(nz)] for b in range(nx)] for a in range(nt)]
    out = {"tasks/" + name: block for name in "pbuw"}
    out["scales/sim_time"] = [0.5 * k for k in range(nt)]
    out["scales/x"] = ([2 * (k + 0.5) / nx for k in range(nx)], {"periodic": 1})
    out["scales/z"] = [(k + 0.5) / nz for k in range(nz)]
    return out


table = Table("assimilate", DECK)
says = table.says
table.file("flow.yaml", FLOW)
table.file("fields.h5", fields())

# Filters
says("'filters' names no filter: give one, such as {etkf: {type: etkf, inflation: 1.02}}", A + "filters={}")
says("found 1, expected a whole number >= 2", A + "filters.a.members=1")
says("letkf and nudging need 'localisation', the half-width of an observation's influence; etkf has none", A + "filters.a.type=letkf")
says("etkf has no 'localisation': take letkf", A + "filters.a.localisation=2")
says("6 members begin as samples of the climatology, which has 5: raise 'climatology.samples'", A + "climatology.samples=5", command="run")
says("'forecasts.after' (5) must be at most 'cycles' (4)", A + "forecasts.after=5")
says("files of the filters 'a b' and 'a_b' have the same name, 'a_b': rename one of the filters", A + "forecasts.after=2",
     A + "filters={a b: {type: etkf, members: 6}, a_b: {type: etkf, members: 6}}")
says("'runs' (13) must be at most 'samples' (12)", A + "climatology.runs=13")

# Observations
says("give one of 'error' and 'relative_error'", A + "observations={every: 0.05}")
says("give one of 'error' and 'relative_error'", A + "observations.relative_error=0.1")
says("'stride' must be at least 1 along both axes", A + "observations.stride=[0, 1]")
says("'positions' are points, and operator: blocks averages over cells: leave out one of them", A + "observations.positions=[[1, 0]]",
     A + "observations.operator=blocks")
says("an interval of 'gaps' ends before it begins", A + "observations.gaps=[[2, 1]]")
says("'burn_in' (1) leaves nothing of 4 cycles of 0.05", A + "burn_in=1")
says("the model has no field 'u'; name among: x", A + "observations.fields=[u]")
says("the position [50, 0] is outside of the model, x = 0 to 40 and z = 0 to 0: give positions inside", A + "observations.positions=[[50, 0]]")
says("'between_x' must rise, and is [3, 1]", A + "observations.between_x=[3, 1]")
says("'between_z' must rise, and is [0.5, 0]", A + "observations.between_z=[0.5, 0]")
says("no position of the model is observed: widen 'between_x' and 'between_z'", A + "observations.between_x=[0.2, 0.3]")
says("lorenz96 reads no fields from 'fields.h5': leave 'data' out to generate the truth", A + "data=fields.h5", command="run")
says("lorenz63 reads no fields from 'fields.h5': leave 'data' out to generate the truth", A + "data=fields.h5", A + "model=lorenz63",
     command="run")

# Fields of an earlier run
says("'fields.h5' has 4 frames from t = 0 to 1.5 and none at t = 2: let 'every' be a multiple of their interval, and 'cycles' times 'every' at "
     "most their time", A + "cycles=4", deck="flow.yaml", command="run")
says("'fields.h5' is 2 wide and the model 4: give fields of the same domain", A + "model.aspect_ratio=4", deck="flow.yaml", command="run")
table.file("body.h5", fields() | {"tasks/mask": [[1 if 4 < b < 8 and c < 3 else 0 for c in range(8)] for b in range(16)]})
says("'body.h5' hides points under a mask, and the model has no bodies: give fields without a mask", A + "data=body.h5", deck="flow.yaml",
     command="run")
says("'stride' is 9 along z, where the model has 8 cells: give at most as many", A + "observations.stride=[4, 9]", deck="flow.yaml", command="run")
says("'stride' is 41 along x, where the model has 40 cells: give at most as many", A + "observations.stride=[41, 1]", command="run")
table.file("stated.h5", fields() | {"/": (None, {"Rayleigh": 1e4, "Prandtl": 7.0})})
says("'stated.h5' has the Prandtl number 7 and 'prandtl' is 1: give that of the data", A + "data=stated.h5", A + "model.prandtl=1",
     deck="flow.yaml", command="run")
says("'stated.h5' has the Rayleigh number 10000 and 'rayleigh' is 30000: give that of the data", A + "data=stated.h5", A + "model.rayleigh=3e4",
     deck="flow.yaml", command="run")
says("'cells' must be at least [4, 4]", A + "model.cells=[2, 8]", deck="flow.yaml")
says("the first of 'cells' must be even, for the transforms along x", A + "model.cells=[17, 8]", deck="flow.yaml")

# Calculations that break
says("filter 'a': the 6 members are all the same at t = 0.05, so that no observation can move them; raise 'inflation', or take a model that is chaotic",
     A + "model={type: lorenz96, forcing: 0}", A + "spin_up=400", A + "climatology.interval=50", A + "start=climatology", command="run", code=4)
says(("lorenz96 does not stay finite between t = ", "; take a smaller 'timestep', or a filter whose analyses stay near the attractor"),
     A + "model={type: lorenz96, timestep: 3}", A + "spin_up=30", command="run", code=4)

table.run()
