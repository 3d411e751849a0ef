"""What the plugin relate says about decks, files of pairs and clicks, and models."""
# needs: relate
import numpy as np

from table import Table

DECK = """
run: {name: clicks, directory: clicks}
plugins: [relate]
stages:
  - train:
      network: {type: dlrm, embedding_dim: 2, bottom: [2], top: [2]}
      dataset: {type: clicks, synthetic: {records: 40, categorical_features: 3, rows: 5, dense_features: 2}}
      batch: 10
      steps: 2
      learning_rate: {type: constant, start: 0.01}
"""
PAIRS = """
run: {name: pairs, directory: pairs}
plugins: [relate]
stages:
  - train:
      network: {type: affinity, embedding_dim: 2, layers: [2]}
      dataset: {type: pairs, synthetic: {compounds: 8, targets: 6}, fragment_rows: 50, kmer_length: 1}
      batch: 4
      steps: 2
      learning_rate: {type: constant, start: 0.01}
"""
JUDGE = """
run: {name: judge, directory: judge}
plugins: [relate]
stages:
  - evaluate_clicks:
      training: {type: clicks, synthetic: {records: 40, categorical_features: 3, rows: 5, dense_features: 2}}
      dataset: {type: clicks, synthetic: {records: 10, categorical_features: 3, rows: 5, dense_features: 2, first_index: 40}}
"""
PREDICT = """
run: {name: predict, directory: predict}
plugins: [relate]
stages:
  - predict_affinities:
      dataset: {type: pairs, synthetic: {compounds: 8, targets: 6}, fragment_rows: 50, kmer_length: 1, split: test}
"""
RECOMMEND = """
run: {name: recommend, directory: recommend}
plugins: [relate]
stages:
  - recommend:
      dataset: {type: interactions, synthetic: {users: 20, items: 10, interactions_per_user: 4}}
"""
BOUNDS = """
run: {name: bounds, directory: bounds}
plugins: [relate]
stages:
  - choose_row_bounds:
      model: m.h5
      dataset: {type: clicks, synthetic: {records: 10, categorical_features: 3, rows: 5, dense_features: 2, first_index: 40}}
"""
BOX = "{type: expression, samples: 20, box: {x: [-1, 1]}, target: {z: x}}"
T, J, P, R = "stages[0].train.", "stages[0].evaluate_clicks.", "stages[0].predict_affinities.", "stages[0].recommend."

table = Table("relate", DECK)
for name, text in (("pairs.yaml", PAIRS), ("judge.yaml", JUDGE), ("predict.yaml", PREDICT), ("recommend.yaml", RECOMMEND), ("bounds.yaml", BOUNDS)):
    table.file(name, text)
says = table.says


def clicks(**changes):
    """Three records; None takes an array away."""
    parts = {"label": [0, 1, 0], "categorical": [[1, 7], [2, 7], [1, 8]], "dense": [[0.5], [1.0], [2.0]]} | changes
    return {name: value for name, value in parts.items() if value is not None}


def reads(message, content, *more):
    """Training on a file of clicks with this content."""
    name = table.file(f"clicks_{len(table.cases)}.h5", content)
    says(message.replace("FILE", name), T + f"dataset={{type: clicks, file: {name}}}", T + "batch=2", *more, command="run")


# Clicks
says("give one of: file, synthetic", T + "dataset={type: clicks}")
says("group, vocabulary, vocabulary_file and num_embeddings belong to file; synthetic records define all of these", T + "dataset.group=a")
says("num_embeddings takes values as row indices, which need no vocabulary; remove one of them",
     T + "dataset={type: clicks, file: a.h5, num_embeddings: [3], vocabulary: b}")
says("num_embeddings: a table of 0 rows is none; give 1 or more", T + "dataset={type: clicks, file: a.h5, num_embeddings: [0]}")
reads("'FILE' has neither categorical nor code in '/': is it a file of clicks?", clicks(categorical=None))
reads("'FILE' has no records", {"label": np.zeros(0, int), "categorical": np.zeros((0, 2), int)})
reads("'FILE': /categorical must be records x columns", clicks(categorical=[1, 2, 3]))
reads("'FILE': 2 labels for 3 records; the file is cut short, or its parts belong to different data", clicks(label=[0, 1]))
reads("'FILE': dense has another number of records than label", clicks(dense=[[1.0], [2.0]]))
reads("'FILE', row 1: a label is 0 or 1, not 3", clicks(label=[0, 3, 1]))
says("label, dense, categorical, header and range belong to file; synthetic records define all of these", T + "dataset.label=a")
says("range [5, 5] holds no records; give 0 <= first < last", T + "dataset={type: clicks, file: a.csv, range: [5, 5]}")
says("delimiter: ';;' is not one separating character; give one, tab or auto", T + "dataset={type: clicks, file: a.csv, delimiter: ';;'}")
other = clicks() | {"more/categorical": [[1], [2]]}
name = table.file("vocabulary.h5", other)
says(f"'{name}': the vocabulary has 1 columns, not 2", T + f"dataset={{type: clicks, file: {name}, vocabulary: more}}", command="run")

# Pairs
says("test_fold and validation_fold are the same; give different ones", T + "dataset.folds={test_fold: 1, validation_fold: 1}", deck="pairs.yaml")
says("folds are counted from 0 to 2", T + "dataset.folds={n_folds: 3, test_fold: 3}", deck="pairs.yaml")
says("split is validation, but folds names no fold for it; give folds a validation_fold, in all data sets of the deck", T + "dataset.split=validation",
     deck="pairs.yaml")
MATRIX = {"affinity": [[5.0, 6.0], [7.0, 5.5]], "drug_smiles": [b"CCO", b"CCN"], "target_sequence": [b"MKL", b"MKV"]}


def reads_pairs(message, *more, **changes):
    parts = {name: value for name, value in (MATRIX | changes).items() if value is not None}
    name = table.file(f"pairs_{len(table.cases)}.h5", parts)
    says(message.replace("FILE", name), T + f"dataset={{type: pairs, file: {name}, kmer_length: 1}}", *more, deck="pairs.yaml", command="run")


reads_pairs("'FILE' has no array affinity (compounds, targets); is it a file of pairs?", affinity=None)
reads_pairs("'FILE': /affinity must be compounds x targets", affinity=[1.0, 2.0])
reads_pairs("'FILE': /drug_smiles holds 1 texts, but /affinity has 2 of them; its parts belong to different data", drug_smiles=[b"CCO"])
reads_pairs("'FILE': /target_similarity must be 2 x 2", target_similarity=[[1.0]])
reads_pairs("'FILE': /fold must have the shape of /affinity", fold=[[0, 1]])
reads_pairs("'FILE', row 0, compound 'drug 0': the SMILES 'C(' cannot be read at letter 3: a branch is not closed",
            T + "dataset.folds={by: given, test_fold: 1, validation_fold: 0}", drug_smiles=[b"C(", b"C"], fold=[[0, 1], [2, 2]])

# Networks
says("a layer of width 0 is none; widths are 1 to 1000000", T + "network.top=[0]")
says("layers: a width of 0 is none; widths are 1 to 1000000", T + "network.layers=[0]", deck="pairs.yaml")
says("dlrm reads rows of tables; give a dataset of type clicks, interactions or pairs", T + "dataset=" + BOX, command="run")
says("synthetic clicks: dlrm multiplies columns with each other and with dense features; records need two columns, or a column and dense features",
     T + "dataset.synthetic={records: 40, categorical_features: 1, dense_features: 0}", command="run")

FACTORS = T + "network={type: factorization_machine, embedding_dim: 2}"
says("init_scale: vectors that begin at zero stay there, because each learns from the others; give more than 0, for example 0.1",
     T + "network={type: factorization_machine, init_scale: 0}")
says("synthetic pairs, row 1: affinity is 3.89157, but the loss cross_entropy needs labels of 0 or 1; give factorization_machine loss: squared", FACTORS,
     deck="pairs.yaml", command="run")

# Choices
says("give one of: file, synthetic", FACTORS, T + "dataset={type: interactions}")
says("train_on_validation leaves nothing for validation; remove it, or take split: training or test", FACTORS,
     T + "dataset={type: interactions, synthetic: {}, train_on_validation: true, split: validation}")
LISTS = {"train/indptr": [0, 2, 3], "train/items": [0, 1, 2], "test/indptr": [0, 1, 1], "test/items": [2],
         "/": (0, {"users": 2, "items": 3})}


def reads_choices(message, **changes):
    """Judging a file of choices with this content; None takes an array away."""
    parts = {name: value for name, value in (LISTS | {k.replace("__", "/"): v for k, v in changes.items()}).items() if value is not None}
    name = table.file(f"choices_{len(table.cases)}.h5", parts)
    says(message.replace("FILE", name), R + f"dataset={{type: interactions, file: {name}}}", deck="recommend.yaml", command="run")


reads_choices("'FILE' states 0 users; a file of interactions has an attribute users from 1 to 1000000000", **{"/": (0, {"users": 0, "items": 3})})
reads_choices("'FILE' has no group test; a file of interactions has the groups train and test, of each indptr and items", test__indptr=None,
              test__items=None)
reads_choices("'FILE': /test/indptr must hold 3 values from 0 to 1, the count of /test/items; the file is cut short or damaged",
              test__indptr=[0, 1])
reads_choices("'FILE': /train/indptr falls at user 0; it must rise", train__indptr=[0, 4, 3])
reads_choices("'FILE': /train/items of user 0 holds 3; they are numbered 0 to 2", train__items=[0, 3, 2])
reads_choices("'FILE': item 1 has no tag in /item_tags; give every item one, such as one for unknown", item_tags__indptr=[0, 1, 1, 2],
              item_tags__items=[0, 1])
reads_choices("'FILE': /item_tags/items holds 999999, but names 3 tags in all; number them from 0 without gaps", item_tags__indptr=[0, 1, 2, 3],
              item_tags__items=[0, 1, 999999])
reads_choices("'FILE': no user has test interactions; give some", test__indptr=[0, 0, 0], test__items=np.zeros(0, int))
reads_choices("'FILE': no user chose anything in this split; take another split", train__indptr=[0, 0, 0], train__items=np.zeros(0, int))
says("recommend offers items to users; give a dataset of type interactions", R + "dataset={type: clicks, synthetic: {records: 40}}",
     deck="recommend.yaml", command="run")

COSINES = T + "network={type: cosine_factorization, embedding_dim: 2, num_negatives: 4}"
MADE = "{type: interactions, synthetic: {users: 20, items: 10, interactions_per_user: 4}"
says("synthetic interactions: cosine_factorization samples negatives itself; give the data set num_negatives: 0", COSINES, T + "dataset=" + MADE + "}",
     command="run")
says("synthetic clicks: cosine_factorization learns from interactions of users; give a dataset of type interactions", COSINES, command="run")
says("command line: stages[0].train.network.loss.temperature: found 0.01, expected a number from 0.03 to 10", COSINES, T + "network.loss={type: softmax, temperature: 0.01}",
     T + "dataset=" + MADE + ", others: 0}")
says("cosine_factorization: each positive needs 8 negatives of 4 that are sampled; give negatives_per_positive: 4 or less, or sample more (num_negatives: 8)",
     T + "network={type: cosine_factorization, embedding_dim: 2, num_negatives: 4, negatives_per_positive: 8}", T + "dataset=" + MADE + ", others: 0}")

# Bench
says("bench relate: columns is 1; give 2 or more", command=["bench", "relate", "columns=1"])
says("bench relate: rows is 0; give 1 or more", command=["bench", "relate", "rows=0"])
SMALL = ["bench", "relate", "columns=2", "rows=9", "batch=9", "lookup_rows=9", "turns=1", "peer=none", "cosine_peer=none"]
says("bench relate: cosine_width is 0; give 1 or more", command=SMALL + ["cosine_width=0"])
says("bench relate: 2 users and 3 items have too few pairs for a batch of 9; raise cosine_users or cosine_items, or lower batch",
     command=SMALL + ["cosine_users=2", "cosine_items=3"])

# Judging
table.begins("run.directory=trained")
table.begins("run.directory=other", T + "dataset=" + BOX, T + "network={type: mlp, layers: [4]}")
says("models: 'other/train/model.h5' holds a mlp, which reads no records; dlrm, factors, cosine_factorization and affinity do", J + "models=[other/train/model.h5]",
     deck="judge.yaml", command="run")
table.begins("run.directory=cosines", COSINES, T + "dataset=" + MADE + ", others: 0}")
says("synthetic interactions: this cosine_factorization has 20 users and 10 items; take the interactions that it was trained on",
     R + "models=[cosines/train/model.h5]", R + "dataset.synthetic.items=12", deck="recommend.yaml", command="run")
says("training and dataset have different columns; give records of the same kind", J + "dataset.synthetic.columns=2", deck="judge.yaml", command="run")
says("synthetic clicks, column C1: its table has 7 rows, but that of training 5; give both the same", J + "dataset.synthetic.rows=7", deck="judge.yaml",
     command="run")
says("largest (0.001) must be at least smallest (0.01)", "stages[0].choose_row_bounds.smallest=0.01", "stages[0].choose_row_bounds.largest=1e-3",
     deck="bounds.yaml")
says("tables: codec: bounds: no table is named 'C9'; the network has C1, C2, C3", T + "tables={codec: {bounds: {C9: 0.1}}}", command="run")
says("tables: codec: bounds: C1 has the bound 0; give a positive number", T + "tables={codec: {bounds: {C1: 0}}}", command="run")
says("evaluate_clicks reads rows of tables; give a dataset of type clicks, interactions or pairs", J + "training=" + BOX, deck="judge.yaml", command="run")
says("predict_affinities evaluates pairs of entities; give a dataset of type pairs",
     P + "dataset={type: clicks, synthetic: {records: 40}}", deck="predict.yaml", command="run")
says("predict_affinities evaluates test pairs; give the dataset split: test", P + "dataset.split=training",
     deck="predict.yaml", command="run")

# Rows that stand for other things than those of the training
MORE = clicks(label=[0, 1, 0, 1], categorical=[[1, 7], [2, 7], [1, 8], [2, 8]], dense=[[0.5], [1.0], [2.0], [3.0]])
learned = table.file("learned.h5", MORE)
later = table.file("later.h5", MORE | {"categorical": [[3, 7], [2, 7], [3, 8], [2, 8]]})
table.begins("run.directory=values", T + f"dataset={{type: clicks, file: {learned}}}", T + "batch=2")
LATER = J + f"training={{type: clicks, file: {learned}}}", J + f"dataset={{type: clicks, file: {later}}}", J + "models=[values/train/model.h5]"
table.begins("run.directory=later", *LATER, deck="judge.yaml")  # rows are found by the values


def forget_values(folder):
    """The model as earlier versions wrote it, without the values of its rows."""
    import h5py
    import json

    with h5py.File(table.path(folder + "/train/model.h5"), "r+") as file:
        state = json.loads(file["model/state"][()])
        for column in state["columns"]:
            del column["vocabulary"]
        del file["model/state"]
        file["model"].create_dataset("state", data=json.dumps(state))


forget_values("values")
says("'later.h5', column C1: values have other rows than those that dlrm was given, and would be read as others; give vocabulary (and "
     "vocabulary_file) the records of the training, and the same min_count", *LATER, deck="judge.yaml", command="run")
LINES = ["A,CCO,P,MKL,5", "B,CCN,P,MKL,6", "A,CCO,Q,MKV,7", "B,CCN,Q,MKV,5.5", "C,CCC,P,MKL,6.5", "C,CCC,Q,MKV,7.5"]
for name, lines in ("ordered.csv", LINES), ("turned.csv", LINES[::-1]):
    table.file(name, "compound,smiles,target,sequence,pKd\n" + "\n".join(lines) + "\n")
table.begins("run.directory=ordered", T + "dataset={type: pairs, file: ordered.csv, kmer_length: 1}", T + "batch=2", deck="pairs.yaml")
says("'turned.csv': column compound indexes other items than the file that affinity was given, so that rows would be read as those of others; write "
     "all pairs into one file, with a column fold (folds: {by: given})", P + "dataset={type: pairs, file: turned.csv, kmer_length: 1, split: test}",
     P + "models=[ordered/train/model.h5]", deck="predict.yaml", command="run")

says("'ordered.csv': rows of column compound_pieces represent other fragments than those that affinity was given; give the data set the radius, fragment_rows "
     "and kmer_length of the training", P + "dataset={type: pairs, file: ordered.csv, kmer_length: 1, radius: 1, split: test}",
     P + "models=[ordered/train/model.h5]", deck="predict.yaml", command="run")
PLAIN = f"{{type: clicks, file: {learned}, logarithm: false}}"
says("'learned.h5': dense values are taken as they are, but training was given them by their logarithm; give the data set logarithm: true",
     J + f"training={{type: clicks, file: {learned}}}", J + "dataset=" + PLAIN, deck="judge.yaml", command="run")
says("'learned.h5': dense values are taken as they are, but dlrm was given them by their logarithm; give the data set logarithm: true",
     J + "training=" + PLAIN, J + "dataset=" + PLAIN, J + "models=[values/train/model.h5]", deck="judge.yaml", command="run")

# Tables
says("ema keeps means of weights, but not of the rows of tables, which dlrm learns; remove ema", T + "average={decay: 0.9}", command="run")
says("tables specifies how embedding tables are sharded and trained, but mlp has none; remove tables", T + "dataset=" + BOX,
     T + "network={type: mlp, layers: [4]}", T + "tables={sharding: rows}", command="run")

table.run()
