"""Reads the run directories of Cambium into numpy arrays.

    import cambium_io
    run = cambium_io.Run("runs/copper")
    run.thermo["temperature"], run.thermo.units["temperature"]
    run.trajectory.position(-1)           # Angstrom, shape (atoms, 3)
    run.rdf.r, run.rdf.g("Cu-Cu")
    run.msd["Cu"], run.msd.diffusion["Cu"]
    run.provenance["git_hash"]
    run.results["gamma"].value, run.results.seconds      # what the summary says, in full precision
    run.thermo.plot(); run.trajectory.plot(); cambium_io.plot(run.fields)   # matplotlib figures
    print(run); run.thermo.to_pandas(); run.pod; run.dataset("conf.h5")                 # xarray
    cambium_io.plot("runs/copper/simulate/rdf.h5"); cambium_io.movie("runs/rb/simulate/fields.h5")

A run directory holds one folder per stage; `run.stage("simulate")` opens one, and the properties of a run are those of its
last stage that wrote such a file. Needs numpy and h5py, for pictures matplotlib; nothing is kept open.
"""

import contextlib
import csv
import os
import re
from pathlib import Path

import h5py
import numpy as np

from cambium_results import Result, Results, results_in  # noqa: F401

# H5MD readers know forces per mole; Cambium's own unit is eV/Angstrom.
KJ_PER_MOL = 96.48533212331001


def read_compressed_files():
    """Lets h5py read what was written with `compress`: names the folder of Cambium's HDF5 filter, beside this file's build or
    installation, to the HDF5 library. True when the filter is there. Done once on import."""
    for file in (Path(__file__).absolute(), Path(__file__).resolve()):
        for prefix in [file.parents[2] / "build", *file.parents[2:5]]:
            for folder in [prefix / "lib/hdf5", prefix / "lib/cambium/hdf5", *prefix.glob("lib/*/cambium/hdf5")]:
                if folder.is_dir():
                    h5py.h5pl.prepend(os.fsencode(folder))
                    return True
    return "HDF5_PLUGIN_PATH" in os.environ


read_compressed_files()


@contextlib.contextmanager
def filter_explained(path):
    """Says how to go on where HDF5 cannot read an array because it does not find Cambium's filter."""
    try:
        yield
    except OSError as error:
        if "filter" not in str(error) and "plugin" not in str(error):
            raise
        raise OSError(f"'{path}' holds compressed fields, and Cambium's filter for HDF5 was not found: name its folder in HDF5_PLUGIN_PATH "
                      f"(lib/hdf5 of a build, lib/cambium/hdf5 of an installation), or make a plain file with `cambium decompress {path} OUT`"
                      ) from error


def plots():
    """The module that draws; here because reading needs no matplotlib."""
    import cambium_plots

    return cambium_plots


def plot(data, names=None, **options):
    """A matplotlib figure of anything that a Run gives: a table, a trajectory, a distribution, fields (names: which of them);
    or of a file by its name, as `cambium plot` draws it (frame: which moment)."""
    from cambium_style import tidy

    if isinstance(data, (str, os.PathLike)):
        import cambium_views

        return tidy(cambium_views.open_view(data, names).figure(**options))
    if hasattr(data, "sel") or isinstance(data, dict):
        return tidy(plots().fields(data, names, **options))
    return tidy(data.plot(names, **options) if names else data.plot(**options))


def movie(path, output=None, names=None, fps=10.0, every=1):
    """The movie of a file, as `cambium movie` writes it; its path: `output`, else beside the file."""
    import cambium_movie
    import cambium_views

    target = Path(output) if output else Path(path).with_suffix(cambium_movie.default_suffix())
    cambium_movie.write(cambium_views.open_view(path, names), target, fps, every)
    return target


def table_rows(path):
    """Cells of a CSV file, its first row the heading: divided by commas, or where the heading has none by semicolons (then 2,5 is a number)
    or tabs. Lines in front that begin with # are left out."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = file.read().splitlines(keepends=True)
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    divider = next((mark for mark in ",;\t" if lines and mark in lines[0]), ",")
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=divider)]
    return [[re.sub(r"^([-+]?\d*),(\d+(?:[eE][-+]?\d+)?)$", r"\1.\2", cell) for cell in row] for row in rows] if divider == ";" else rows


NO_VALUE = {"", "na", "n/a", "nan", "null", "none"}  # cells of a table, in small letters


class Table:
    """A CSV file with units in its header: table["temperature"] is an array, table.units["temperature"] is "K". Cells without a value
    are NaN. ValueError where a cell is a text; with `without_texts` its column is left out."""

    def __init__(self, path, without_texts=False):
        self.path = Path(path)
        rows = table_rows(self.path)
        self.units, names = {}, []
        for heading in rows[0]:
            name, _, unit = heading.partition(" [")
            names.append(name)
            self.units[name] = unit.rstrip("]")
        whole = [row for row in rows[1:] if len(row) == len(names)]
        self._columns = {}
        for k, name in enumerate(names):
            try:
                self._columns[name] = np.array([np.nan if row[k].lower() in NO_VALUE else float(row[k]) for row in whole])
            except ValueError:
                if not without_texts:
                    raise

    def __getitem__(self, name):
        return self._columns[name]

    def __contains__(self, name):
        return name in self._columns

    def __len__(self):
        return len(next(iter(self._columns.values())))

    @property
    def names(self):
        return list(self._columns)

    def __repr__(self):
        columns = [f"{name} ({self.units[name]})" if self.units[name] else name for name in self.names]
        return f"<Table {self.path}: {len(self) if columns else 0} rows of {', '.join(columns)}>"

    def to_pandas(self):
        """The columns as a pandas.DataFrame; units are in its attrs."""
        import pandas
        frame = pandas.DataFrame(self._columns)
        frame.attrs["units"] = {name: self.units[name] for name in self.names}
        return frame

    def plot(self, names=None):
        """A matplotlib figure of the columns, or of those named, over time."""
        return plots().table(self, names)


class Trajectory:
    """An H5MD file. Frames are numbered from 0; negative numbers count from the end. Lengths in Angstrom, times in ps."""

    def __init__(self, path):
        self.path = Path(path)
        with h5py.File(self.path, "r") as file:
            group = file["particles/trajectory"]
            self.steps = group["position/step"][:]
            self.times = group["position/time"][:]
            self.ids = group["id"][:]
            self.masses = group["mass"][:]
            names = {value: name for name, value in h5py.check_enum_dtype(group["species"].dtype).items()}
            self.species = np.array([names[value] for value in group["species"][:]])
            self.has = {name for name in ("velocity", "force") if name in group}

    def __len__(self):
        return len(self.steps)

    def __repr__(self):
        return f"<Trajectory {self.path}: {len(self)} frames of {len(self.ids)} atoms ({', '.join(sorted(set(self.species)))})>"

    def _read(self, name, frame):
        with h5py.File(self.path, "r") as file:
            return file["particles/trajectory"][name]["value"][range(len(self))[frame]]

    def cell(self, frame):
        """Cell vectors as rows."""
        edges = self._read("box/edges", frame)
        return np.diag(edges) if edges.ndim == 1 else edges

    def position(self, frame):
        """Inside the cell, relative to its corner."""
        return self._read("position", frame)

    def unwrapped(self, frame):
        """Followed through the periodic faces."""
        return self.position(frame) + self._read("image", frame) @ self.cell(frame)

    def velocity(self, frame):
        """Angstrom/ps."""
        return self._read("velocity", frame)

    def force(self, frame):
        """eV/Angstrom."""
        return self._read("force", frame) / KJ_PER_MOL

    def universe(self):
        """An MDAnalysis.Universe of all frames, with names, types, elements, masses (g/mol) and ids. Of cells in general
        orientation its vectors are turned into the lower-triangular one."""
        import MDAnalysis

        universe = MDAnalysis.Universe(str(self.path))
        for name, values in (("names", self.species), ("types", self.species), ("elements", self.species),
                             ("masses", self.masses), ("ids", self.ids)):
            universe.add_TopologyAttr(name, list(values))
        if abs(np.triu(self.cell(0), 1)).max() > 0.0:
            universe.trajectory.add_transformations(self._lower_triangular)
        return universe

    def _lower_triangular(self, frame):
        """MDAnalysis keeps a cell as lengths and angles, in lower-triangular orientation: the vectors of a frame follow it."""
        q, r = np.linalg.qr(self.cell(frame.frame).T)
        q = q * np.sign(np.diag(r))
        for name in ("positions", "velocities", "forces"):
            if getattr(frame, "has_" + name):
                setattr(frame, name, getattr(frame, name) @ q)
        return frame

    def atoms(self, frame):
        """One frame as ase.Atoms: cell, masses, velocities and forces (as results of a calculator) in ASE's units."""
        import ase
        from ase.calculators.singlepoint import SinglePointCalculator

        atoms = ase.Atoms(list(self.species), positions=self.position(frame), cell=self.cell(frame), pbc=True, masses=self.masses)
        if "velocity" in self.has:
            atoms.set_velocities(self.velocity(frame) / (1000.0 * ase.units.fs))
        if "force" in self.has:
            atoms.calc = SinglePointCalculator(atoms, forces=self.force(frame))
        return atoms

    def plot(self, frames=None):
        """A matplotlib figure of the particles at the first and the last frame, or at the frames named."""
        return plots().trajectory(self, frames)


class Rdf:
    """Radial distribution functions: g(pair, average) and coordination(pair, average) on the distances r (Angstrom)."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            group = file["rdf"]
            self.pairs = [name.decode() for name in group["pair"][:]]
            self.r = group["r"][:]
            self._g, self._coordination = group["g"][:], group["coordination"][:]
            self.first_step, self.last_step = group["first_step"][:], group["last_step"][:]
            self.samples = group["samples"][:]

    def __len__(self):
        """Number of averages."""
        return len(self._g)

    def g(self, pair=None, average=-1):
        return self._g[average, self.pairs.index(pair or self.pairs[0])]

    def coordination(self, pair=None, average=-1):
        """Particles of the second species within r of one of the first."""
        return self._coordination[average, self.pairs.index(pair or self.pairs[0])]

    def plot(self):
        """A matplotlib figure of the last average of each pair."""
        return plots().rdf(self)


class Correlation:
    """Mean square displacement or velocity autocorrelation over the lags `time` (ps): curves["Cu"], also as self["Cu"];
    "all" is over all particles. diffusion["Cu"] in Angstrom^2/ps."""

    def __init__(self, path, name):
        self.name = name
        with h5py.File(path, "r") as file:
            group = file[name] if isinstance(file[name], h5py.Group) else file  # a group in files of earlier versions
            self.time, self.origins = group["time"][:], group["origins"][:]
            self.species = [symbol.decode() for symbol in group["species"][:]]
            attributes = group[name].attrs
            self.unit = attributes["units"] if "units" in attributes else attributes["unit"]
            self.curves = dict(zip(self.species, group[name][:]))
            self.diffusion = dict(zip(self.species, group["diffusion"][:]))
            self.running_diffusion = {}
            if "running_diffusion" in group:
                self.running_diffusion = dict(zip(self.species, group["running_diffusion"][:]))

    def __getitem__(self, species):
        return self.curves[species]

    def plot(self):
        """A matplotlib figure of every species over the lag."""
        return plots().correlation(self)


def open_fields(path):
    """Fields over time: an xarray.Dataset where xarray is installed, else a dict of arrays with the same names.

    Reads fields.h5 and reconstruction.h5 of the plugin superres: dimensions t, x, z. Everything is loaded into memory.
    """
    with filter_explained(path), h5py.File(path, "r") as file:
        scales, tasks = file["scales"], file["tasks"]
        coordinates = {"t": scales["sim_time"][:], "x": scales["x"][:], "z": scales["z"][:]}
        fields = {name: tasks[name][:] for name in tasks}
    try:
        import xarray
    except ImportError:
        return {**coordinates, **fields}
    dimensions = tuple(coordinates)
    return xarray.Dataset({name: (dimensions, values) for name, values in fields.items()}, coords=coordinates)


def _near(axis, places, period=0.0):
    """Numbers of the four entries of an axis around each place, and their weights (Lagrange, cubic): two arrays (places, 4)."""
    count = min(4, len(axis))
    first = np.searchsorted(axis, places, side="right") - (count + 1) // 2
    if not period:
        first = np.clip(first, 0, len(axis) - count)
    at = first[:, None] + np.arange(count)
    nodes = axis[at % len(axis)] + period * (at // len(axis))
    weights = np.ones(at.shape)
    for j in range(count):
        for k in range(count):
            if k != j:
                weights[:, j] *= (places - nodes[:, k]) / (nodes[:, j] - nodes[:, k])
    return at % len(axis), weights


def sample(fields, t, x, z, periodic=True):
    """Fields of open_fields at any places: t, x, z are numbers or arrays of one shape; {name: array of that shape}.

    Cubic along every axis, on the true coordinates; along a periodic x every number is a place. Between frames of a model's
    answer this is as good as its file is fine: ask for more points under `write` of the stage reconstruct.
    """
    axes = [np.asarray(fields[name], dtype=float) for name in ("t", "x", "z")]
    places = np.broadcast_arrays(*(np.asarray(p, dtype=float) for p in (t, x, z)))
    shape, places = places[0].shape, [p.ravel() for p in places]
    period = len(axes[1]) * (axes[1][1] - axes[1][0]) if periodic else 0.0
    if periodic:
        places[1] = axes[1][0] + (places[1] - axes[1][0]) % period
    for name, axis, place in zip("txz", axes, places):
        outside = place < axis[0], place > (axis[-1] + period if name == "x" else axis[-1])
        if np.any(outside):
            wrong = place[outside[0] | outside[1]][0]
            raise ValueError(f"{name} = {wrong:g} lies outside the fields, which span {name} = {axis[0]:g} to {axis[-1]:g}")
    near = [_near(axis, place, period if name == "x" else 0.0) for name, axis, place in zip("txz", axes, places)]
    out = {}
    for name in (name for name in fields if name not in ("t", "x", "z")):
        values = np.asarray(fields[name])
        block = values[near[0][0][:, :, None, None], near[1][0][:, None, :, None], near[2][0][:, None, None, :]]
        out[name] = np.einsum("nijk,ni,nj,nk->n", block, near[0][1], near[1][1], near[2][1]).reshape(shape)
    return out


class Run:
    """A run directory, or the folder of one stage."""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.is_dir():
            raise FileNotFoundError(f"'{path}' is not a folder; name a run directory, such as runs/copper")

    def __repr__(self):
        """Files of the folder and of its stages, a line each."""
        def files(folder):
            return ", ".join(sorted(p.name for p in folder.iterdir() if p.is_file())) or "no files"
        return "\n".join([f"<Run {self.path}: {files(self.path)}>"] + [f"  {name}: {files(self.path / name)}" for name in self.stages])

    @property
    def stages(self):
        """Names of the stages' folders, oldest first."""
        folders = [p for p in self.path.iterdir() if p.is_dir()]
        return [p.name for p in sorted(folders, key=lambda p: (p.stat().st_mtime, p.name))]

    def stage(self, name):
        return Run(self.path / name)

    def find(self, name):
        """Path of a file of this folder or of its last stage that has it; None when there is none."""
        for folder in [self.path] + [self.path / stage for stage in reversed(self.stages)]:
            if (folder / name).exists():
                return folder / name
        return None

    def _need(self, name, how):
        path = self.find(name)
        if path is None:
            raise FileNotFoundError(f"'{self.path}' has no {name}; {how}")
        return path

    @property
    def thermo(self):
        return Table(self._need("thermo.csv", "a simulate stage writes it"))

    @property
    def training(self):
        """Learning rate and loss over the steps."""
        return Table(self._need("training.csv", "a train stage writes it"))

    @property
    def learning_curve(self):
        """Loss of the training and of the validation set at each validation, reduced alike."""
        return Table(self._need("learning_curve.csv", "a train stage with validation or hold_out writes it where the network gives its loss"))

    @property
    def validation(self):
        """Metrics on the validation set over the steps."""
        return Table(self._need("validation.csv", "a train stage with validation or hold_out writes it"))

    @property
    def trajectory(self):
        path = self.find("trajectory.h5md")
        if path is None:
            found = [p for folder in [self.path] + [self.path / s for s in self.stages] for p in folder.glob("*.h5md")]
            path = found[-1] if found else self._need("trajectory.h5md", "add '- {type: h5md}' to output in the deck")
        return Trajectory(path)

    @property
    def rdf(self):
        return Rdf(self._need("rdf.h5", "add '- {type: rdf}' to output in the deck"))

    @property
    def msd(self):
        return Correlation(self._need("msd.h5", "add '- {type: msd}' to output in the deck"), "msd")

    @property
    def vacf(self):
        return Correlation(self._need("vacf.h5", "add '- {type: vacf}' to output in the deck"), "vacf")

    @property
    def fields(self):
        """Fields over time and space, see open_fields."""
        return open_fields(self._need("fields.h5", "add '- {type: fields, interval: 1}' to output in the deck"))

    @property
    def reconstruction(self):
        """What a model made of coarse samples, at the points that the deck asked for; sample() asks anywhere between them."""
        return open_fields(self._need("reconstruction.h5", "give the stage reconstruct 'write' in the deck"))

    @property
    def pod(self):
        """Modes, coefficients and means of the stage pod: an xarray.Dataset."""
        return self.dataset("pod.h5", "the stage pod writes it")

    @property
    def forecast(self):
        """Forecasts of coefficients: an xarray.Dataset."""
        return self.dataset("forecast.h5", "the stage forecast writes it")

    def dataset(self, name, how="see the files of this run by print(run)"):
        """A file for xarray, such as pod.h5, conf.h5 or matter.h5, loaded into memory: an xarray.Dataset."""
        import xarray
        with xarray.open_dataset(self._need(name, how)) as opened:
            return opened.load()

    @property
    def results(self):
        """What the last stage with a results.json found."""
        return Results(self._need("results.json", "every stage writes it at its end; an earlier version did not: run it again"))

    @property
    def provenance(self):
        """Program, machine and deck behind the results, as a dict."""
        found = self.find("thermo.h5") or self.find("training.h5")
        with h5py.File(found or self._need("thermo.h5", "a simulate stage writes it"), "r") as file:
            return dict(file["cambium"].attrs)
