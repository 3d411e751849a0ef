"""What the plugin graph says about steps of simulations that cannot be learnt, judged or made."""
# needs: graph
from table import Table, built_with

TRAIN = """
run: {name: steps, directory: steps}
plugins: [graph]
stages:
  - train:
      network: {type: mesh_graph_net, layers: 1, width: 2}
      dataset: {type: mesh_trajectories, files: [a.h5]}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
JUDGE = """
run: {name: judge, directory: judge}
plugins: [graph]
stages:
  - rollout: {model: steps/train/model.h5, training: [a.h5], test: [a.h5], steps: 2}
"""
PLAIN = """
run: {name: plain, directory: plain}
plugins: [graph]
stages:
  - train:
      network: {type: mlp, layers: [2]}
      dataset: {type: expression, samples: 4, box: {x: [0, 1]}, target: {y: x}}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
SIMULATE = """
run: {name: two, directory: two}
plugins: [graph]
stages:
  - simulate:
      physics: graph_diffusion
      graph: {ring: {nodes: 12}}
      species: [{name: u, diffusion: 1, initial: x}, {name: v, diffusion: 1, initial: x}]
      surrogate: steps/train/model.h5
      end_time: 2
"""
D, R = "stages[0].train.dataset.", "stages[0].rollout."
SQUARE = {"x": [0.0, 1, 1, 0], "y": [0.0, 0, 1, 1], "z": [0.0, 0, 0, 0]}
table = Table("graph_steps", TRAIN)
for name, content in (("judge", JUDGE), ("plain", PLAIN), ("two", SIMULATE)):
    table.file(name + ".yaml", content)


def run_of(name, interval=1.0, moments=3, **arrays):
    """A file of node_fields: a square of two triangles."""
    values = [[0.1 * m, 0.2, 0.3, 0.4 + 0.1 * m] for m in range(moments)]
    table.file(name, {**SQUARE, "time": [interval * m for m in range(moments)], "c": values, "d": values, **arrays})


run_of("a.h5", triangle=[[0, 1, 2], [0, 2, 3]])
run_of("late.h5", interval=2.0, triangle=[[0, 1, 2], [0, 2, 3]])
run_of("edges.h5", edge=[[0, 1], [1, 2], [2, 3]], weight=[1.0, 1, 1])


def says(message, *overrides, command="run", **how):
    table.says(message, *overrides, command=command, **how)


# The data set
says("'files' names no file", D + "files=[]", command="check")
says("'fields' names no field", D + "fields=[]", command="check")
says("'draws' repeats every sample where 'noise' is 0; give noise, or remove draws", D + "draws=3", command="check")
if built_with("torch"):
    says("a step of 'late.h5' takes 2, one of 'a.h5' 1; a network learns steps of one length", D + "files=[a.h5, late.h5]")
    says("mesh_graph_net reads steps on graphs: give a data set of the type 'mesh_trajectories'",
         "stages[0].train.dataset={type: expression, samples: 4, box: {x: [0, 1]}, target: {y: x}}")

# The judge
says("'training' and 'test' need one file each at least", R + "training=[]", deck="judge.yaml", command="check")
says("'coarse.half' has 2 files, 'test' has 1; give one coarse run for each of 'test'", R + "coarse={half: [a.h5, a.h5]}", deck="judge.yaml",
     command="check")
says("'a.h5' holds 2 steps of stride 1, but 'steps' is 50; lower steps, or give longer runs", R + "steps=50", deck="judge.yaml")
says("a step of 'late.h5' takes 2, one of 'a.h5' 1; give both runs one interval", R + "coarse={half: [late.h5]}", deck="judge.yaml")
says("a step of 'late.h5' takes 2, one of 'a.h5' 1; give both runs one interval", R + "training=[late.h5]", deck="judge.yaml")
table.begins(deck="plain.yaml")
says("'plain/train/model.h5' is a 'mlp', which makes no steps on nodes; name a model of the type mesh_graph_net", R + "model=plain/train/model.h5",
     deck="judge.yaml")
if built_with("torch"):
    table.begins()
    says("'steps/train/model.h5' was trained on 1 fields, 'fields' names 2; name the same ones", R + "fields=[c, d]", deck="judge.yaml")
    says("values between nodes need a mesh of triangles; this run has edges alone", R + "coarse={ring: [edges.h5]}", deck="judge.yaml")
    says("the network makes steps of 1, these trajectories are 2 apart; give them another interval or stride", R + "test=[late.h5]", R + "training=[late.h5]",
         deck="judge.yaml")
    # The network in the solver's place
    says("surrogate: 'steps/train/model.h5' was trained on 1 values at a node, this physics has 2; train it on runs of the same physics",
         deck="two.yaml")

table.run()
