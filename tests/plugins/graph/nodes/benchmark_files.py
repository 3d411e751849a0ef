"""Graphs with several splits as published benchmarks and graph libraries lay them out, for test_benchmark_files.cpp.

benchmark_files.py FOLDER: writes the files and prints "roles K R0 R1 ..." for each split K, the roles of all nodes as numbers. Ends with 3 where
a library is missing.
"""
import os
import sys
import zipfile

try:
    import h5py
    import numpy
except ImportError as error:
    print(error)
    sys.exit(3)

FOLDER = sys.argv[1]
DRAW = numpy.random.default_rng(8)
NODES, SPLITS, EDGES = 60, 3, 150


def graph():
    """Two classes, one of them rare, whose nodes are mostly joined to the other class."""
    labels = (numpy.arange(NODES) % 4 == 0).astype("int64")
    features = numpy.zeros((NODES, 5))
    features[numpy.arange(NODES), numpy.where(labels == 1, 0, DRAW.integers(1, 5, NODES))] = 1.0
    pairs = set()
    while len(pairs) < EDGES:
        u, v = sorted(DRAW.integers(0, NODES, 2))
        if u != v:
            pairs.add((int(u), int(v)))
    masks = numpy.zeros((3, SPLITS, NODES), dtype=bool)
    for split in range(SPLITS):
        order = DRAW.permutation(NODES)
        for role, part in enumerate((order[:30], order[30:44], order[44:58])):
            masks[role, split, part] = True
    return features, labels, numpy.array(sorted(pairs)), masks


features, labels, edges, masks = graph()
heterophilous = {"node_features": features, "node_labels": labels, "edges": edges, "train_masks": masks[0], "val_masks": masks[1],
                 "test_masks": masks[2]}
both_ways = numpy.concatenate([edges, edges[:, ::-1]]).T
library = {"x": features.astype("float32"), "y": labels, "edge_index": both_ways, "train_mask": masks[0].T, "val_mask": masks[1].T,
           "test_mask": masks[2].T}
split = numpy.full((SPLITS, NODES), -1)
for role in range(3):
    split[masks[role]] = role
own = {"features": features, "labels": labels, "edges": edges, "split": split}
for name, arrays in (("heterophilous", heterophilous), ("library", library)):
    numpy.savez_compressed(os.path.join(FOLDER, name + "_compressed.npz"), **arrays)
    numpy.savez(os.path.join(FOLDER, name + "_stored.npz"), **arrays)
for name, arrays in (("heterophilous", heterophilous), ("library", library), ("own", own)):
    with h5py.File(os.path.join(FOLDER, name + ".h5"), "w") as file:
        for key, values in arrays.items():
            file[key] = values
        if name == "own":
            file.attrs["nodes"] = NODES
with h5py.File(os.path.join(FOLDER, "one.h5"), "w") as file:
    for key, values in dict(own, split=split[0]).items():
        file[key] = values
    file.attrs["nodes"] = NODES
with zipfile.ZipFile(os.path.join(FOLDER, "heterophilous_stored.npz")) as archive, zipfile.ZipFile(
        os.path.join(FOLDER, "other.npz"), "w", zipfile.ZIP_BZIP2) as out:
    for name in archive.namelist():
        out.writestr(name, archive.read(name))
numpy.savez(os.path.join(FOLDER, "own.npz"), **own)
numpy.savez(os.path.join(FOLDER, "directed.npz"), **own, directed=True)
numpy.savez(os.path.join(FOLDER, "each.npz"), **own, directed=[True, False])
shared = dict(heterophilous, val_masks=masks[0])
numpy.savez(os.path.join(FOLDER, "shared.npz"), **shared)
listed = {key: value for key, value in library.items() if not key.endswith("_mask")}
listed.update(train_idx=numpy.flatnonzero(masks[0, 0]), valid_idx=numpy.flatnonzero(masks[1, 0]), test_idx=numpy.flatnonzero(masks[2, 0]))
numpy.savez(os.path.join(FOLDER, "listed.npz"), **listed)
with h5py.File(os.path.join(FOLDER, "listed.h5"), "w") as file:
    for key, values in listed.items():
        file[key] = values
numpy.savez(os.path.join(FOLDER, "listed_beyond.npz"), **dict(listed, valid_idx=numpy.array([60])))
weighted = dict(library, edge_weight=numpy.tile(numpy.arange(EDGES) + 1.0, 2), year=labels, y=labels + 1)
numpy.savez(os.path.join(FOLDER, "weighted.npz"), **weighted)
with h5py.File(os.path.join(FOLDER, "weighted.h5"), "w") as file:
    for key, values in weighted.items():
        file[key] = values
numpy.savez(os.path.join(FOLDER, "one_hot.npz"), **dict(library, y=numpy.eye(2)[labels]))
with h5py.File(os.path.join(FOLDER, "one_hot.h5"), "w") as file:
    for key, values in dict(library, y=numpy.eye(2)[labels]).items():
        file[key] = values
numpy.savez(os.path.join(FOLDER, "objects.npz"), **dict(library, y=labels.astype(object)))
numpy.savez(os.path.join(FOLDER, "names.npz"), **dict(library, y=numpy.array(["rare", "often"])[labels]))
numpy.savez(os.path.join(FOLDER, "turned.npz"), **dict(heterophilous, train_masks=masks[0][:, :7]))
numpy.savez(os.path.join(FOLDER, "halves.npz"), **dict(heterophilous, node_labels=labels + 0.5))
numpy.savez(os.path.join(FOLDER, "rows.npz"), **dict(heterophilous, node_features=features[:7]))
numpy.savez(os.path.join(FOLDER, "threes.npz"), **{key: values for key, values in library.items() if key != "edge_index"}, edge_index=both_ways.T[:9].reshape(3, 6))
with open(os.path.join(FOLDER, "heterophilous_compressed.npz"), "rb") as file:
    whole = file.read()
with open(os.path.join(FOLDER, "short.npz"), "wb") as file:
    file.write(whole[:-30])
spoiled = bytearray(whole)
at = whole.index(b"node_features.npy") + 60
for k in range(at, at + 40):
    spoiled[k] ^= 0x5A
with open(os.path.join(FOLDER, "spoiled.npz"), "wb") as file:
    file.write(bytes(spoiled))
with open(os.path.join(FOLDER, "heterophilous_stored.npz"), "rb") as file:
    flipped = bytearray(file.read())
flipped[flipped.index(b"node_features.npy") + 300] ^= 1
with open(os.path.join(FOLDER, "flipped.npz"), "wb") as file:
    file.write(bytes(flipped))
for number in range(SPLITS):
    print("roles", number, *split[number])
