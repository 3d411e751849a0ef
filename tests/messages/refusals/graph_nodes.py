"""What the plugin graph says about decks and files of graphs whose nodes are to be classified."""
# needs: graph
from table import Table

DECK = """
run: {name: nodes, directory: nodes}
plugins: [graph]
stages:
  - train:
      network: {type: gcn, layers: [4]}
      dataset: {type: graph, synthetic: {nodes: 60, classes: 2, num_features: 8, training: 5}}
      loader: full_graph
      epochs: 1
      learning_rate: {type: constant, start: 0.01}
"""
CLASSIFY = """
run: {name: classify, directory: classify}
plugins: [graph]
stages:
  - classify_nodes:
      models: []
      dataset: {type: graph, synthetic: {nodes: 60, classes: 2, num_features: 8, training: 5}, nodes: test}
      mlp: {seeds: 0}
"""
T, C = "stages[0].train.", "stages[0].classify_nodes."
MADE = "{nodes: 60, classes: 2, width: 8, training: 5}"
BOX = "{type: expression, samples: 20, box: {x: [-1, 1]}, target: {z: x}}"

table = Table("graph_nodes", DECK)
table.file("classify.yaml", CLASSIFY)
says = table.says


def graph(**changes):
    """Three nodes in a row; None takes a part away."""
    parts = {"/": (None, {"nodes": 3}), "edges": [[0, 1], [1, 2]], "labels": [0, 1, 1], "split": [0, 1, 2]} | changes
    return {name: value for name, value in parts.items() if value is not None or name == "/"}


def reads(message, content, *more):
    """Training on a file with this content."""
    name = table.file(f"graph_{len(table.cases)}.h5", content)
    says((message.replace("FILE", name)), T + f"dataset={{type: graph, file: {name}}}", *more, command="run")


def reads_text(message, edges, *keys, labels=None):
    """Training on text; `keys` are further ones of the data set."""
    name = table.file(f"edges_{len(table.cases)}.txt", edges)
    words = [f"type: graph, edges: {name}", *keys]
    if labels is not None:
        words.append("labels: " + table.file(f"labels_{len(table.cases)}.txt", labels))
    says(message.replace("EDGES", name).replace("LABELS", f"labels_{len(table.cases)}.txt"), T + "dataset={" + ", ".join(words) + "}", command="run")


# The data set
says("give one of: file (HDF5), edges (text), synthetic", T + "dataset={type: graph}")
says("give one of: file (HDF5), edges (text), synthetic", T + f"dataset={{type: graph, file: a.h5, synthetic: {MADE}}}")
says("split is 'some', expected an index from 0 or the word each", T + "dataset={type: graph, file: a.h5, split: some}")
says("split selects one of several splits of a file; give file, or remove split", T + f"dataset={{type: graph, synthetic: {MADE}, split: each}}")
says("labels, count, directed, columns and counts belong to edges; a file and a synthetic graph define all of these",
     T + f"dataset={{type: graph, synthetic: {MADE}, directed: true}}")
says("divided stores a part of the features on each rank, and features: true needs all of them; remove one of the two",
     T + f"dataset={{type: graph, synthetic: {MADE}, divided: true, features: true}}")
reads_text("EDGES: no node is marked for training; give the graph roles (split), or take nodes: labelled", "0 1\n")
reads("FILE: node 0 is one of those for training, but its class is not known", graph(labels=[-1, 1, 1]))

# Text
reads_text("EDGES:2: there is no node 5; the graph has 5, numbered 0 to 4", "0 1\n1 5\n", "count: 5")
reads_text("EDGES:2: node indices start at 0, found -1", "0 1\n-1 2\n")
reads_text("EDGES:2: the weight between nodes 1 and 2 is -0.5; weights are finite and 0 or more", "0 1\n1 2 -0.5\n")
reads_text("EDGES:2: 'u v' or 'u v weight' was expected, but the line has 1 word; is the file cut short?", "0 1\n1")
reads_text("LABELS:2: 'node class' or 'node class role' was expected, but the line has 1 word; is the file cut short?", "0 1\n", labels="0 1\n1")
reads_text("LABELS:1: 'learning' is no role of a node; training, validation and test are", "0 1\n", labels="0 1 learning\n")
reads_text("LABELS:1: 'colour' names no column of labels; call them node, class and role, or id, label and split", "0 1\n", labels="node,colour\n0,1\n")
reads_text("LABELS:1: the names 'label', 'y' must be those of one column of nodes, one of classes and at most one of roles; call them node, class "
           "and role", "0 1\n", labels="label,y\n0,1\n")
reads_text("LABELS:3: node 0 has a class already; give each node one line", "0 1\n", labels="0 1\n1 0\n0 0\n")
reads_text("LABELS:1: expected a whole number for a node, found 'a'", "0 1\n", labels="a 1\n")
reads_text("LABELS:1: expected a whole number for the index of a class, found '0.5'", "0 1\n", labels="0 0.5\n")
reads_text("EDGES: the edge between nodes 1 and 0 has the weight 3 in one direction and 2 in the other; give it one weight, or make the graph "
           "directed", "0 1 2\n1 0 3\n", labels="0 1 training\n1 0 test\n")
reads_text("LABELS:1: classes are numbered from 0 to 999999, not -2", "0 1\n", labels="0 -2\n")
reads_text("EDGES: a graph without nodes", "# nothing\n")
reads_text("EDGES: nodes have 1 class; a classification needs two or more", "0 1\n", labels="0 0 training\n1 0\n")

# Files
reads("'FILE' has no attribute 'nodes' (how many there are); is it a file of a graph?", {"edges": [[0, 1]]})
reads("'FILE' states -2 nodes, expected 1 to 2147483647", graph(**{"/": (None, {"nodes": -2})}))
reads("'FILE': /edges must have two columns, the nodes of each edge", graph(edges=[[0, 1, 2]]))
reads("FILE: edge 2: there is no node 7; the graph has 3, numbered 0 to 2", graph(edges=[[0, 1], [1, 7]]))
reads("'FILE': /edges holds 4294967297, but values there are at most 2147483647", graph(edges=[[0, 1], [1, 2**32 + 1]]))
reads("FILE: edge 2: the weight between nodes 1 and 2 is not a number; weights are finite and 0 or more", graph(weights=[1.0, float("nan")]))
reads("'FILE': /weights holds 1 values for 2 edges; the file is cut short or damaged", graph(weights=[1.0]))
reads("FILE: 2 classes for 3 nodes; the file is cut short, or its parts belong to different graphs", graph(labels=[0, 1]))
reads("'FILE': /features must have a row for each of the 3 nodes", graph(features=[[1.0], [2.0]]))
reads("'FILE': a feature of node 1 is not finite", graph(features=[[1.0], [float("inf")], [2.0]]))
reads("'FILE': /split holds 3 for node 2; 0 is training, 1 validation, 2 test, -1 none of them", graph(split=[0, 1, 3]))
reads("'FILE': /labels holds 20000000 for node 1; classes are numbered from 0 to 999999", graph(labels=[0, 20000000, 1]))
reads("'FILE': /labels holds -2 for node 1; classes count from 0, and -1 means unknown", graph(labels=[0, -2, 1]))


def rows(start, column):
    return graph(features=(None, {"columns": 4}), **{"features/indptr": start, "features/indices": column})


reads("'FILE': /features/indptr must hold 4 values from 0 to 3, the count of /features/indices, and /features/values as many as these; "
      "the file is cut short or damaged", rows([0, 1, 2, 4], [0, 3, 1]))
reads("'FILE': /features/indptr falls at node 1; it must rise", rows([0, 2, 1, 3], [0, 3, 1]))
reads("'FILE': /features/indices of node 1 must rise within 0 to 3", rows([0, 1, 2, 3], [0, 4, 1]))

# Networks and the loader
says("layers: a width of 0 is none; widths are 1 or more", T + "network.layers=[0]")
says("layers: 31 hidden layers; 30 are the most", T + f"network.layers={[4] * 31}")
says("fan_out: 0 neighbours are none; draw 1 or more", T + "network.fan_out=[0, 1]")
says("fan_out has 1 values for 2 layers (the hidden ones and the last)", T + "network.fan_out=[3]")
says("fan_out draws neighbours for batches of single nodes, and loader: full_graph takes all of them; remove fan_out, or take loader: shuffle",
     T + "network.fan_out=[3, 3]", command="run")
says("gcn needs nodes of a graph; give a dataset of type graph", T + "dataset=" + BOX, command="run")
says("loader full_graph brings nodes of a graph; give a dataset of type graph", T + "dataset=" + BOX,
     T + "network={type: mlp, layers: [4], input: input, target: target}", command="run")
says("loader full_graph gives every rank as many rows of the graph, and 3 ranks do not divide the 8 slices of reduce.mode ordered; start a power of "
     "two of ranks, or take reduce.mode fast", T + "reduce={mode: ordered, micro_batches: 8}", command="run", ranks=3)
says("loader full_graph brings all 10 samples at every step, but batch is 4; remove batch, or take loader: shuffle for batches of nodes",
     T + "batch=4", command="run")

says("codec rounds the rows of other ranks only, and 'ordered' guarantees results bitwise identical to one rank; remove one of them",
     T + "network.layout={type: needed_rows, codec: int8, ordered: true}")
says("graph_attention weighs neighbours by itself, for which the layout grid_2d brings no rows; take rows or needed_rows",
     T + "network={type: graph_attention, layers: [4], layout: grid_2d}", command="run", ranks=4)

# Judging
says("models: no file is named 'there/model_*/model.h5'", C + "models=[there/model_*/model.h5]", deck="classify.yaml", command="run")
says("classify_nodes evaluates nodes of a graph; give a dataset of type graph", C + "dataset=" + BOX, deck="classify.yaml", command="run")
table.begins("run.directory=trained")
JUDGE = C + "models=[trained/train/model.h5]"
says("made: nodes have 9 features, but this gcn reads 8; take a graph with the same features, or train on this one", JUDGE,
     C + "dataset.synthetic.width=9", deck="classify.yaml", command="run")
says("made: classes are numbered up to 2, but this gcn was trained on 2; take a graph with the same classes, or train on this one", JUDGE,
     C + "dataset.synthetic.classes=3", deck="classify.yaml", command="run")
table.begins("run.directory=other", T + "dataset=" + BOX, T + "network={type: mlp, layers: [4], input: input, target: target}", T + "loader=shuffle", T + "batch=4")
says("models: 'other/train/model.h5' holds a mlp, which gives nodes no class; gcn, graph_sage and graph_attention do",
     C + "models=[other/train/model.h5]", deck="classify.yaml", command="run")

# A network whose layers cannot become products
table.file("product.yaml", f"""
run: {{name: product, directory: product}}
plugins: [graph]
stages:
  - compress: {{model: trained/train/model.h5, dataset: {BOX}, multiplications: 0.5}}
""")
says("model: 'trained/train/model.h5' holds a gcn, whose layers cannot become products; networks that can have a key 'factor_ranks': mlp, transformer, "
     "conv_net, flow_unet, meshfree_flow_net, cosmoflow, mesh_graph_net, stacked_lstm, deep_potential", deck="product.yaml", command="run")

table.run()
