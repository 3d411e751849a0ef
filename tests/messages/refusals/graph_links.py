"""What the plugin graph says about decks and files of links."""
# needs: graph
from table import Table

DECK = """
run: {name: links, directory: links}
plugins: [graph]
stages:
  - train:
      network: {type: light_gcn, embedding_dim: 4, negatives: 8}
      dataset: {type: links, synthetic: {users: 20, items: 15, links: 4}}
      batch: 20
      epochs: 1
      learning_rate: {type: constant, start: 0.01}
"""
PREDICT = """
run: {name: predict, directory: predict}
plugins: [graph]
stages:
  - predict_links:
      dataset: {type: links, synthetic: {users: 20, items: 15, links: 4}}
      gfcf_rank: 4
"""
T, P = "stages[0].train.", "stages[0].predict_links."
BOX = "{type: expression, samples: 20, box: {x: [-1, 1]}, target: {z: x}}"

table = Table("graph_links", DECK)
table.file("predict.yaml", PREDICT)
says = table.says


def links(**changes):
    """Two users and three items; None takes a part away."""
    parts = {"/": (None, {"users": 2, "items": 3}), "train/indptr": [0, 2, 3], "train/items": [0, 1, 2], "test/indptr": [0, 1, 2],
             "test/items": [2, 0]} | changes
    return {name: value for name, value in parts.items() if value is not None or name == "/"}


def reads(message, content, *more):
    """Looking for the held-out links of a file with this content."""
    name = table.file(f"links_{len(table.cases)}.h5", content)
    says(message.replace("FILE", name), P + f"dataset={{type: links, file: {name}{''.join(', ' + m for m in more)}}}", deck="predict.yaml",
         command="run")


def reads_text(message, edges, *keys, held_out=None):
    """The same for text; `keys` are further ones of the data set."""
    name = table.file(f"edges_{len(table.cases)}.txt", edges)
    words = [f"type: links, edges: {name}", *keys]
    if held_out is not None:
        words.append("held_out_edges: " + table.file(f"held_out_{len(table.cases)}.txt", held_out))
    says(message.replace("EDGES", name).replace("HELD_OUT", f"held_out_{len(table.cases)}.txt"), P + "dataset={" + ", ".join(words) + "}",
         deck="predict.yaml", command="run")


# The data set
says("give one of: file (HDF5), edges (text), synthetic", T + "dataset={type: links}")
says("give one of: file (HDF5), edges (text), synthetic", T + "dataset={type: links, file: a.h5, edges: b.txt}")
BELONGS = "held_out_edges, validation_edges, bipartite, users, items, columns and counts belong to edges; a file and synthetic links define all of these"
says(BELONGS, T + "dataset={type: links, file: a.h5, users: 3}")
says(BELONGS, T + "dataset={type: links, file: a.h5, validation_edges: b.txt}")
says("items belong to users; of a plain graph (bipartite: false) give users", T + "dataset={type: links, edges: a.txt, bipartite: false, items: 3}")
says("tuning needs validation links; give a file that has some, or validation_edges", T + "dataset={type: links, edges: a.txt, tuning: true}")
says("train_on_validation trains on the links that tuning predicts; remove one of the two",
     T + "dataset={type: links, file: a.h5, tuning: true, train_on_validation: true}")
says("made: there are no validation links; remove train_on_validation, or give some", T + "dataset.train_on_validation=false", command="run")
says("made: no link is held out; raise hold_out, or give held_out_edges", T + "dataset.hold_out=0", T + "dataset.held_out=true", command="run")
says("made: no link is held out; raise hold_out, or give held_out_edges", P + "dataset.hold_out=0", deck="predict.yaml", command="run")

# Text
reads_text("EDGES:2: there is no user 5; they are numbered 0 to 4", "0 1\n5 1\n", "users: 5")
reads_text("EDGES:1: there is no item 2; they are numbered 0 to 1", "0 2\n1 0\n", "items: 2")
reads_text("EDGES:2: there is no node 3; they are numbered 0 to 2", "0 1\n1 3\n", "users: 3", "bipartite: false")
reads_text("EDGES:2: node indices start at 0, found -1", "0 1\n-1 2\n")
reads_text("EDGES:2: 'u v' or 'u v weight' was expected, but the line has 1 word; is the file cut short?", "0 1\n1")
reads_text("EDGES:1: 'u v' or 'u v weight' was expected, but the line has 5 words; describe them by the key 'columns'; "
           "if a line lists the neighbours of a node, as in a graph of METIS, save the graph as a list of edges", "0 1 1 1 1\n")
reads_text("HELD_OUT:2: 'u v' or 'u v weight' was expected, but the line has 1 word; is the file cut short?", "0 1\n", held_out="0 2\n1")
reads_text("EDGES: there are no links to train on; give some, or hold fewer out", "# nothing\n")
reads_text("'HELD_OUT' holds no link; give some, or leave held_out_edges out to hold out a fraction of 'EDGES'", "0 1\n1 0\n", held_out="# none\n")
reads_text("EDGES: no link is held out; raise hold_out, or give held_out_edges", "0 1\n1 0\n", held_out="0 1\n")

# Files
reads("'FILE' has no attributes 'users' and 'items', and no 'nodes' either; is it a file of links?", links(**{"/": (None, {"items": 3})}))
reads("'FILE' has no attributes 'users' and 'items', which tuning needs; is it a file of links?", {"/": (None, {"nodes": 3}), "edges": [[0, 1]]},
      "tuning: true")
reads("'FILE' states -2 users, expected 1 to 2147483647", links(**{"/": (None, {"users": -2, "items": 3})}))
reads("'FILE': /train/indptr must hold 3 values from 0 to 2, the count of /train/items; the file is cut short or damaged",
      links(**{"train/items": [0, 1]}))
reads("'FILE': /train/indptr falls at user 1; it must rise", links(**{"/": (None, {"users": 3, "items": 3}), "train/indptr": [0, 2, 1, 3]}))
reads("'FILE': /test/items of user 1 holds 3; items are numbered 0 to 2", links(**{"test/items": [2, 3]}))
reads("'FILE' has no group validation: its links would be held out for tuning; remove tuning, or add the group", links(), "tuning: true")
reads("'FILE': /edges must have two columns, the nodes of each edge", {"/": (None, {"nodes": 3}), "edges": [[0, 1, 2]]})

reads("FILE: link 2: there is no node 3; nodes are numbered 0 to 1", {"/": (None, {"nodes": 2}), "edges": [[0, 1], [1, 3]]})

# The network
says("light_gcn needs links; give a dataset of type links", T + "dataset=" + BOX, T + "batch=4", command="run")

# Judging
says("predict_links evaluates on held-out links; give a dataset of type links", P + "dataset=" + BOX, deck="predict.yaml", command="run")
says("users: there is no user 20; made has 20, numbered 0 to 19", P + "users=[20]", deck="predict.yaml", command="run")
says("models: no file is named 'there/model_*/model.h5'", P + "models=[there/model_*/model.h5]", deck="predict.yaml", command="run")
table.begins("run.directory=trained")
says("made: these are not the links that this light_gcn was trained on, to whose users and items its embeddings belong; give the data set of "
     "its training, or train on this one", P + "models=[trained/train/model.h5]", P + "dataset.synthetic.seed=2", deck="predict.yaml", command="run")
table.begins("run.directory=other", T + "dataset=" + BOX, T + "model={type: mlp, layers: [4], input: input, target: target}", T + "batch=4")
says("models: 'other/train/model.h5' holds a mlp, which gives links no score; light_gcn does", P + "models=[other/train/model.h5]",
     deck="predict.yaml", command="run")

table.run()
