"""Five hundred ways to write the same deepmd/npy system are read alike, and as numpy reads them: number types, byte orders, orders of
axes, versions of the header, shapes, sets, orders of type_map.raw, mixed type; the same in groups of an HDF5 file. What is none is refused by
name.
Usage: test_layouts.py READ_SYSTEMS SCRATCH"""
import ast
import json
import os
import random
import shutil
import subprocess
import sys

try:
    import h5py
    import numpy as np
    from numpy.lib import format as npy_format
except ImportError:
    print("SKIPPED: deepmd/npy layouts: numpy or h5py is not there")
    sys.exit(77)

READ, SCRATCH = sys.argv[1], os.path.join(sys.argv[2], "deepmd_layouts")
SPECIES = ["O", "H", "H", "Cu"]
FLOATS, WHOLE = ["f4", "f8"], ["f4", "f8", "i1", "i2", "i4", "i8"]


def content(rng, frames):
    """Numbers that every type of number in use can hold."""
    whole = lambda *shape: rng.integers(-100, 100, shape).astype(float)
    box = np.array([[[20, 0, 0], [2, 21, 0], [-3, 1, 22]]] * frames, float)
    box[:, 0, 0] += np.arange(frames)
    if rng.random() < 0.5:
        box = box[:, :, [1, 2, 0]]  # other axes than a along x
    n = len(SPECIES)
    return {"coord": whole(frames, n, 3) / 8, "box": box, "energy": whole(frames), "force": whole(frames, n, 3),
            "virial": whole(frames, 3, 3), "fparam": whole(frames, 2), "aparam": whole(frames, n, 1)}


def header_text(rng, array, descr):
    """A header as other programs write it: blanks, quotes, order of keys; ended and filled up as the format wants."""
    quote = rng.choice("'\"")
    items = {"descr": quote + descr + quote, "fortran_order": str(array.flags.f_contiguous and not array.flags.c_contiguous),
             "shape": "(" + "".join(f"{n}{rng.choice(['', ' '])}," for n in array.shape) + ")"}
    keys = rng.sample(list(items), 3)
    colon = rng.choice([":", ": ", " : "])
    text = "{" + rng.choice(["", " "]) + rng.choice([", ", ","]).join(quote + k + quote + colon + items[k] for k in keys) + rng.choice(["", ", "]) + "}"
    assert ast.literal_eval(text)["descr"] == descr
    return text


def save(rng, path, array, types):
    kind = rng.choice(types)
    array = np.asarray(array)
    typed = array.astype(rng.choice("<>") + kind)
    assert np.array_equal(typed.astype(float), array), (path, kind)
    if rng.random() < 0.3:
        typed = np.asfortranarray(typed)
    with open(path, "wb") as file:
        if rng.random() < 0.5:
            npy_format.write_array(file, typed, version=rng.choice([(1, 0), (2, 0), (3, 0)]))
        else:
            text = header_text(rng, typed, typed.dtype.str)
            text += " " * (-(len(text) + 11) % rng.choice([16, 64])) + "\n"
            file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + typed.tobytes("A"))
    read = np.load(path)
    assert read.shape == array.shape and np.array_equal(read.astype(float), array), path


def shaped(rng, name, array):
    frames = len(array)
    flat = array.reshape(frames, -1)
    shapes = [array.shape, flat.shape]
    if name in ("energy",):
        shapes += [(frames, 1), (1, frames)]
    if name == "aparam":
        shapes += [(1, flat.size), (frames, len(SPECIES), 1)]
    if frames == 1:
        shapes += [flat.shape[1:]]
    return array.reshape(rng.choice(shapes))


def words(rng, items):
    """As numpy.loadtxt reads them."""
    if rng.random() < 0.5:
        text = "\n".join(str(i) + rng.choice(["", " ", "\t"]) for i in items) + rng.choice(["", "\n"])
        return "# as dpdata writes\n" + text if rng.random() < 0.1 else text
    return " ".join(map(str, items)) + rng.choice(["", "\n"])


def write(rng, folder, data):
    """One spelling of the content; what a reader must find."""
    frames, expected = len(data["energy"]), dict(data)
    names = list(dict.fromkeys(SPECIES)) + rng.sample(["He", "Xe", "U"], rng.randint(0, 3))
    rng.shuffle(names)
    os.makedirs(folder)
    mixed, named = rng.random() < 0.25, rng.random() < 0.9
    types = [names.index(s) for s in SPECIES]
    rows = [0, 1, 2, 3]  # of each row of the files, the atom, or -1
    if mixed:
        named = True
        for _ in range(rng.randint(0, 3)):
            rows.insert(rng.randint(0, len(rows)), -1)
    if named:
        open(os.path.join(folder, "type_map.raw"), "w").write(words(rng, names))
    open(os.path.join(folder, "type.raw"), "w").write(words(rng, [0] * len(rows) if mixed else types))
    left_out = {key for key in ("energy", "force", "virial", "fparam", "aparam") if rng.random() < 0.3}
    open_space = rng.random() < 0.2
    if open_space:
        open(os.path.join(folder, "nopbc"), "w").write("")
        expected.pop("box")
    for key in left_out:
        expected.pop(key)
    cuts = sorted(rng.sample(range(1, frames), rng.randint(0, min(2, frames - 1)))) if frames > 1 else []
    for k, (a, b) in enumerate(zip([0] + cuts, cuts + [frames])):
        place = os.path.join(folder, rng.choice(["set.%03d", "set.%d"]) % k if not k else "set.%03d" % k)
        os.makedirs(place)
        for key, values in data.items():
            if key in left_out or (key == "box" and open_space and rng.random() < 0.5):
                continue
            values = values[a:b]
            if mixed and key in ("coord", "force", "aparam"):
                padded = np.zeros((b - a, len(rows)) + values.shape[2:])
                for row, atom in enumerate(rows):
                    if atom >= 0:
                        padded[:, row] = values[:, atom]
                values = padded.reshape(b - a, -1)
            save(rng, os.path.join(place, key + ".npy"), values if mixed else shaped(rng, key, values), FLOATS if key == "coord" else WHOLE)
        if mixed:
            save(rng, os.path.join(place, "real_atom_types.npy"), np.array([[types[r] if r >= 0 else -1 for r in rows]] * (b - a)), ["i4", "i8", "f8"])
    expected["species"] = SPECIES if named else [str(t) for t in types]
    return expected


def as_group(rng, folder, file):
    """The folder's files as datasets of a group, in ways in which dpdata and h5py write them."""
    group = file.create_group(os.path.basename(folder))
    for path, _, names in os.walk(folder):
        for name in names:
            key, source = os.path.relpath(os.path.join(path, name), folder), os.path.join(path, name)
            if name.endswith(".npy"):
                group.create_dataset(key, data=np.load(source), **(rng.choice([{}, {"compression": "gzip"}]) if np.load(source).ndim else {}))
            elif name == "nopbc":
                group[key] = True
            elif name == "type.raw":
                types = np.loadtxt(source, ndmin=1, dtype=rng.choice(["i4", "i8", "f8"])).ravel()
                group[key] = types if rng.random() < 0.8 else [str(int(t)) for t in types]
            else:
                texts = [str(t) for t in np.loadtxt(source, ndmin=1, dtype=str).ravel()]
                group[key] = np.array(texts, "S") if rng.random() < 0.5 else texts


def wrong_systems(data):
    """Folder, what becomes of it, what is said."""
    n = len(data["energy"])

    def with_array(name, array):
        def change(folder):
            np.save(os.path.join(folder, "set.000", name + ".npy"), array)
        return change


    def with_text(name, text):
        return lambda folder: open(os.path.join(folder, name), "w").write(text)
    def nameless(folder):
        os.remove(os.path.join(folder, "type_map.raw"))
        np.save(os.path.join(folder, "set.000", "real_atom_types.npy"), np.full((n, 4), -2))
    flat = data["coord"].reshape(n, -1)
    cannot = "are not read; expected floating-point numbers of 4 or 8 bytes, or integers: save it with numpy.save('"
    return [
        ("half", with_array("energy", data["energy"].astype("f2")), "set.000/energy.npy: values of type <f2 (half precision) " + cannot + "energy.npy', "
         "array.astype('f8'))"),
        ("longdouble", with_array("energy", data["energy"].astype("g")), "set.000/energy.npy: values of type <f16 (long double) " + cannot),
        ("complex", with_array("force", data["force"].astype("c16")), "set.000/force.npy: values of type <c16 " + cannot),
        ("records", with_array("box", np.zeros(n, [("a", "f8"), ("b", "i4")])), "(records) " + cannot),
        ("text", with_array("virial", np.array(["1"] * n)), "set.000/virial.npy: the type <U1 is text, expected numbers"),
        ("turned", with_array("coord", np.ascontiguousarray(flat.T)), "set.000/coord.npy: expected rows of 12 value(s), those of 4 atom(s), found shape 12 x 3"),
        ("turned_force", with_array("force", np.ascontiguousarray(data["force"].reshape(n, -1).T)),
         "set.000/force.npy: expected 3 row(s) of 12 value(s), found shape 12 x 3"),
        ("one_box", with_array("box", data["box"][:1]), "set.000/box.npy: expected 3 row(s) of 9 value(s), found shape 1 x 3 x 3"),
        ("short", with_array("energy", data["energy"][:2]), "set.000/energy.npy: expected 3 row(s) of 1 value(s), found shape 2"),
        ("few_aparam", with_array("aparam", np.ones((1, 4))), "set.000/aparam.npy: expected 3 row(s) of 0 value(s), found shape 1 x 4"),
        ("word", with_text("type.raw", "0 1 O 1\n"), "type.raw: the type of atom 2 is 'O', which is no whole number"),
        ("fraction", with_text("type.raw", "0 1 1.5 1\n"), "type.raw: the type of atom 2 is '1.5', which is no whole number"),
        ("none", with_text("type.raw", "# nothing\n"), "none/type.raw: holds no atom"),
        ("strange", with_array("real_atom_types", np.full((n, 4), 7)), "set.000/real_atom_types.npy: frame 0, atom 0 has type 7; expected those of type_map.raw, "
         "0 to 2, or -1 for an atom that the frame does not have"),
        ("nameless", nameless, "set.000/real_atom_types.npy: frame 0, atom 0 has type -2; expected a number from 0 up, or -1 for an atom that the frame does "
         "not have"),
        ("empty_frame", with_array("real_atom_types", np.full((n, 4), -1)), "set.000/real_atom_types.npy: frame 0 has no atom"),
        ("version", lambda folder: open(os.path.join(folder, "set.000/coord.npy"), "r+b").write(b"\x93NUMPY\x04"), "set.000/coord.npy: version 4.0 of NumPy's format "
         "is not read; 1 to 3 are"),
        ("order", lambda folder: open(os.path.join(folder, "set.000/coord.npy"), "wb").write(
            b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 12), }".ljust(69) + b"\n"),
         "set.000/coord.npy: fortran_order is 0 in the header, expected True or False"),
        ("unended", lambda folder: open(os.path.join(folder, "set.000/coord.npy"), "wb").write(
            b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 12".ljust(69) + b"\n"),
         "set.000/coord.npy: the header ends inside of 'shape'; is this a .npy file?"),
    ]


def plain(folder, data):
    os.makedirs(os.path.join(folder, "set.000"))
    open(os.path.join(folder, "type.raw"), "w").write("0\n1\n1\n2\n")
    open(os.path.join(folder, "type_map.raw"), "w").write("O\nH\nCu\n")
    for key, values in data.items():
        if key not in ("fparam", "aparam"):
            np.save(os.path.join(folder, "set.000", key + ".npy"), values)


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    expected, folders = [], []
    for seed in range(500):
        rng = random.Random(seed)
        data = content(np.random.default_rng(seed % 10), 1 + seed % 4)
        folders.append(os.path.join(SCRATCH, f"s{seed}"))
        expected.append(write(rng, folders[-1], data))
    with h5py.File(os.path.join(SCRATCH, "all.hdf5"), "w") as file:
        for seed in range(0, 500, 2):
            as_group(random.Random(seed), folders[seed], file)
            folders.append(f"{file.filename}#/s{seed}")
            expected.append(expected[seed])
    three = content(np.random.default_rng(1), 3)
    wrong = wrong_systems(three)
    for name, change, _ in wrong:
        folders.append(os.path.join(SCRATCH, name))
        plain(folders[-1], three)
        change(folders[-1])
    # A set without the types that the first one has.
    folders.append(os.path.join(SCRATCH, "half_mixed"))
    plain(folders[-1], three)
    shutil.copytree(os.path.join(folders[-1], "set.000"), os.path.join(folders[-1], "set.001"))
    np.save(os.path.join(folders[-1], "set.000/real_atom_types.npy"), np.zeros((3, 4), int))
    out = subprocess.run([READ], input="\n".join(folders) + "\n", capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == len(folders), out[-1:]
    failures = 0
    for folder, line, wanted in zip(folders, out, expected):
        found = json.loads(line)
        try:
            assert "error" not in found, found
            assert len(found) == len(wanted["coord"]), (len(found), len(wanted["coord"]))
            for k, frame in enumerate(found):
                assert set(frame) == set(wanted), (set(frame), set(wanted))
                for key, values in wanted.items():
                    if key == "species":
                        assert frame[key] == values, (frame[key], values)
                    else:
                        np.testing.assert_allclose(np.ravel(frame[key]), np.ravel(values[k]), rtol=1e-12, atol=1e-11, err_msg=key)
        except AssertionError as error:
            failures += 1
            print(folder, error)
    half_mixed = ("half_mixed", None, f"{folders[-1]}/set.001/real_atom_types.npy: does not exist, but other sets of {folders[-1]} have it: a system is of mixed "
                  "type in all of its sets or in none")
    for (name, _, words_of), line in zip(wrong + [half_mixed], out[len(expected):]):
        found = json.loads(line)
        if words_of not in (found.get("error", "") if isinstance(found, dict) else ""):
            failures += 1
            print(name, str(found)[:300])
    shutil.rmtree(SCRATCH)
    print(f"{len(expected)} spellings, {len(wrong) + 1} refusals, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
