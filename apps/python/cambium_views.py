"""What can be drawn of a file. A view has `count` moments and draws one: view.figure(frame) is a matplotlib figure (frame None: the
picture of the whole file). open_view(path) finds the view of any file that a stage writes; plugins know their own (plugin_pictures).
"""

import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import cambium_cf
import cambium_io
import cambium_parity
import cambium_plots
import cambium_xyz
import plugin_pictures
from cambium_cf import with_unit
from cambium_curves import unit_of
from cambium_style import COLOURS, HOLE, MUTED, SEQUENCE, STYLE, colours_of, dates, grid_of, legend

TIMES = ("time", "sim_time")
MANY_ROWS = 60  # of a table whose rows are not told apart by bars
ALONG = ("step", "time", "r", "k", "block", "atom", "epoch")  # first columns over which the others are curves
MOST = 6  # panels of a picture


class NothingToDraw(Exception):
    """Why there is no picture, in words that follow the name of the file."""


def moment(label, value):
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    name, _, unit = label.partition(" (")
    return f"{name.replace('time in free-fall times', 't')} = {value:.4g} {unit.rstrip(')')}".rstrip()


class Whole:
    """A picture of something that does not move, drawn by a function without arguments."""
    count = 1

    def __init__(self, draw):
        self.draw = draw

    def figure(self, frame=None):
        return self.draw()


class Field:
    """Values on a plane (or along a line) at every moment: `at(k)` is an array [first axis][second axis]."""

    def __init__(self, name, label, axes, labels, at, unit=""):
        self.name, self.label, self.axes, self.labels, self.at = name, folded(label), axes, labels, at
        self.signed = unit not in ("K", "degC")
        self.ends = None

    def limits(self, frames):
        """Smallest and largest value over these moments, so that colours keep their meaning through a movie."""
        if self.ends is None:
            lows, highs = zip(*((np.nanmin(v), np.nanmax(v)) for v in (self.at(k) for k in frames)))
            self.ends = float(min(lows)), float(max(highs))
        return self.ends


class Moving:
    """Several fields over the same moments. The subclasses draw one field on axes."""

    def __init__(self, fields, times=None, label=""):
        self.fields, self.times, self.label = fields, times, label
        self.count = 1 if times is None else len(times)

    def shown(self, frame):
        return range(self.count)[frame if frame is not None else -1]

    def title(self, frame):
        return "" if self.times is None else moment(self.label, self.times[frame])

    def figure(self, frame=None):
        wide, high = self.size()
        with plt.rc_context(STYLE):
            figure, panels = grid_of(len(self.fields), wide, high, 3 if wide < 5 else 2)
            for field, axes in zip(self.fields, panels):
                self.draw(figure, axes, field, frame)
            if self.heading(frame):
                figure.suptitle(self.heading(frame), x=0.01, ha="left", fontsize=11, fontweight="bold")
        return figure

    def heading(self, frame):
        return self.title(self.shown(frame))


def folded(label):
    """A long label in lines that fit beside an axis."""
    return textwrap.fill(label, 34)


def edges(centres):
    """Faces of cells around these centres; the ends by symmetry."""
    inner = 0.5 * (centres[1:] + centres[:-1])
    return np.concatenate([[2 * centres[0] - inner[0]], inner, [2 * centres[-1] - inner[-1]]]) if len(centres) > 1 else \
        np.array([centres[0] - 0.5, centres[0] + 0.5])


class Maps(Moving):
    """Fields over a plane in colours: one sign in an even sequence, two signs with white at zero."""

    def size(self):
        x, y = (self.fields[0].axes[k] for k in (0, 1))
        ratio = (x[-1] - x[0]) / max(y[-1] - y[0], 1e-300) if self.equal() else 1.4
        return (4.4, float(np.clip(3.3 / ratio + 0.7, 2.0, 4.6))) if ratio < 2.2 else (6.6, float(np.clip(5.2 / ratio + 0.8, 1.5, 3.4)))

    def equal(self):
        """True where both axes are lengths of like extent."""
        field = self.fields[0]
        names = {label.split(" ")[0].rstrip(",") for label in field.labels}
        spans = [axis[-1] - axis[0] for axis in field.axes]
        return names <= {"x", "y", "z"} and max(spans) < 6 * min(spans)

    def frames(self, moments):
        """A figure for each moment: the same one in other colours, because laying it out takes longer than drawing it."""
        figure, meshes = None, []
        for at in moments:
            k = self.shown(at)
            if figure is None:
                figure = self.figure(at)
                meshes = [axes.collections[0] for axes in figure.axes if axes.get_xlabel()]
            else:
                for field, mesh in zip(self.fields, meshes):
                    mesh.set_array(np.ma.masked_invalid(field.at(k).T))
                if figure._suptitle:
                    figure._suptitle.set_text(self.title(k))
            yield figure
            figure.set_layout_engine("none")
        plt.close(figure)

    def draw(self, figure, axes, field, frame):
        k = self.shown(frame)
        low, high = field.limits(range(self.count) if frame is not None and self.count > 1 else [k])
        x, y = field.axes
        image = axes.pcolormesh(edges(x), edges(y), field.at(k).T, rasterized=True, **colours_of(low, high, field.signed))
        axes.set(xlabel=field.labels[0], ylabel=field.labels[1], aspect="equal" if self.equal() else "auto")
        axes.grid(False)
        axes.set_facecolor(HOLE)
        figure.colorbar(image, ax=axes, label=field.label, pad=0.02, aspect=16)


class Lines(Moving):
    """Fields along a line: the whole file as a map over place and time, a moment as a curve above the first one's."""

    def size(self):
        return 4.8, 3.2

    def heading(self, frame):
        return "" if frame is None and self.count > 1 else self.title(self.shown(frame))

    def draw(self, figure, axes, field, frame):
        x = field.axes[0]
        if frame is None and self.count > 3:
            values = np.array([field.at(k) for k in range(self.count)])
            image = axes.pcolormesh(edges(x), edges(np.asarray(self.times, dtype=float)), values, rasterized=True,
                                    **colours_of(np.nanmin(values), np.nanmax(values), field.signed))
            axes.set(xlabel=field.labels[0], ylabel=self.label)
            axes.grid(False)
            figure.colorbar(image, ax=axes, label=field.label, pad=0.02, aspect=16)
            return
        low, high = field.limits(range(self.count))
        room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
        moments = range(self.count) if frame is None else [0, self.shown(frame)]
        for place, k in enumerate(dict.fromkeys(moments)):
            faint = frame is not None and k == 0 and self.shown(frame) != 0
            axes.plot(x, field.at(k), color=MUTED if faint else COLOURS[place % len(COLOURS)], linewidth=1.0 if faint else 1.8,
                      label=self.title(k) if self.count > 1 else None)
        axes.set(xlabel=field.labels[0], ylabel=field.label, xlim=(x[0], x[-1]), ylim=(low - room, high + room))
        if self.count > 1 and frame is None:
            legend(axes)


class Particles:
    """A trajectory seen along the third axis."""

    def __init__(self, trajectory):
        self.trajectory, self.count = trajectory, len(trajectory)

    def figure(self, frame=None):
        return cambium_plots.trajectory(self.trajectory, None if frame is None else [frame])


class Curves(Whole):
    """One panel for each unit or quantity; curves of a panel by their names. `panels`: [(label of y, [(name, y)])]."""

    def __init__(self, x, label, panels, log_y=False):
        self.x, self.label, self.panels, self.log_y = x, label, panels, log_y

    def figure(self, frame=None):
        with plt.rc_context(STYLE):
            figure, places = grid_of(len(self.panels), 5.4, 3.0, 2)
            for axes, (label, curves) in zip(places, self.panels):
                for k, (name, y) in enumerate(curves):
                    colour = COLOURS[k % len(COLOURS)] if len(curves) <= len(COLOURS) else SEQUENCE(k / (len(curves) - 1))
                    axes.plot(self.x, y, color=colour, label=name)
                axes.set(xlabel=self.label.replace("_", " "), ylabel=folded(label))
                dates(axes, self.x)
                if len(curves) > 1:
                    legend(axes)
        return figure


def names_among(known, wanted):
    """The wanted names; all where none are. NothingToDraw for one that is not there."""
    for name in wanted or ():
        if name not in known:
            raise NothingToDraw(f"has no '{name}' to show; it has: {', '.join(known)}")
    return list(wanted) if wanted else list(known)


def labelled_kinds(file, dims):
    """Of dimensions those that number things (species, modes, methods) and those along which a quantity changes."""
    kinds, along = [], []
    for name in dims:
        values = file.coordinate(name)
        whole = values is None or values.dtype.kind in "Oiu"
        (kinds if whole and name not in TIMES and name not in ("step", "number") else along).append(name)
    return (kinds, along) if along or not kinds else (kinds[1:], kinds[:1])


def words_of(file, kind, k):
    values = file.coordinate(kind)
    return f"{kind} {k + 1}" if values is None else str(values[k]) if values.dtype.kind == "O" else f"{kind} {values[k]}"


def pieces(file, variable):
    """(name, index) of every part of a variable along its first dimension that numbers things; the rest is cut at the first."""
    kinds, _ = labelled_kinds(file, variable.dims)
    if not kinds:
        return [("", {})]
    fixed = {kind: (-1 if kind == "average" else 0) for kind in kinds}
    first = next((kind for kind in kinds if kind != "average"), kinds[0])
    return [(words_of(file, first, k), {**fixed, first: k}) for k in range(variable.shape[variable.dims.index(first)])]


def cut(variable, fixed, moment_name=None, k=None):
    """Reads a variable with some dimensions fixed; of three in space the middle plane of the first."""
    index = [fixed.get(d, k if d == moment_name else slice(None)) for d in variable.dims]
    free = [n for n, i in enumerate(index) if isinstance(i, slice)]
    for n in free[:-2]:
        index[n] = variable.shape[n] // 2
    return np.asarray(variable[tuple(index)], dtype=float)


def fields_of(file, variable, along, time):
    """Fields of a variable over one or two dimensions, a field for each thing that it numbers."""
    space = [d for d in along if d != time][-2:]
    turned = len(space) == 2 and (space[1] in ("x", "lon") or space == ["lat", "lon"])  # drawn to the right
    order = space[::-1] if turned else space
    axes, labels = [np.asarray(file.coordinate(d), dtype=float) for d in order], [file.label(d) for d in order]

    def make(name, fixed):
        def at(k):
            values = cut(variable, fixed, time, k)
            return values.T if turned else values

        label = with_unit(f"{variable.text}{', ' if name else ''}{name}", variable.units)
        return Field(variable.name, label, axes, labels, at, variable.units)

    return [make(name, fixed) for name, fixed in pieces(file, variable)]


def changes(variable):
    """False for a field that is the same number everywhere at its last moment, such as the third component in a plane."""
    values = np.asarray(variable[-1] if variable.shape[0] else [])
    return values.size > 0 and np.ptp(values[np.isfinite(values)]) > 0 if np.isfinite(values).any() else False


def curves_view(file, variables):
    """Over the dimension that they share; a panel for each unit, or for each variable that has several curves."""
    along = labelled_kinds(file, variables[0].dims)[1]
    name = along[-1] if along else variables[0].dims[-1]
    x = file.coordinate(name)
    panels = {}
    for variable in variables:
        parts = pieces(file, variable) if along else [("", {})]
        for words, fixed in parts[:12]:
            key = variable.label if len(parts) > 1 or not variable.units else variable.units
            panels.setdefault(key, []).append((words or variable.name.rsplit("/", 1)[-1].replace("_", " "), cut(variable, fixed)))
    named = [(with_unit(curves[0][0], unit) if len(curves) == 1 and unit == key else (unit_of(key) if key == unit else key), curves)
             for key, curves in panels.items() for unit in [next((v.units for v in variables if v.units == key), None)]]
    return Curves(np.arange(len(named[0][1][0][1])) if x is None else x, file.label(name) if x is not None else name, named[:MOST])


def cf_view(path, names):
    """Of a file whose arrays have names and coordinates: planes before lines before curves."""
    try:
        file = cambium_cf.open(path)
    except ValueError as error:
        raise NothingToDraw(str(error)) from error
    if not file.names:
        raise NothingToDraw(file.why_nothing())
    chosen = [file[n] for n in names_among(file.names, names)]
    ranked = {}
    for variable in chosen:
        kinds, along = labelled_kinds(file, variable.dims)
        time = next((d for d in along if d in TIMES), None)
        space = [d for d in along if d != time]
        rank = 0 if not space or (time is None and len(space) == 1) else min(len(space), 2)
        if names or variable.shape[0] == 0 or rank == 0 or changes(variable):
            ranked.setdefault(rank, []).append((variable, along, time))
    if not ranked:
        raise NothingToDraw("holds nothing that varies in space")
    rank = max(ranked)
    if any(0 in variable.shape for variable, _, _ in ranked[rank]):
        raise NothingToDraw("holds no snapshot yet")
    if rank == 0:
        same = ranked[0][0][0].dims[-1]
        return curves_view(file, [v for v, _, _ in ranked[0] if v.dims[-1] == same or (v.dims[0] == same)])
    time = ranked[rank][0][2]
    fields = [f for variable, along, t in ranked[rank] if t == time for f in fields_of(file, variable, along, t)][:MOST]
    kind = Maps if rank == 2 else Lines
    return kind(fields, file.coordinate(time), file.label(time)) if time else kind(fields)


def named_rows_view(path, names):
    """A CSV file whose first column names its rows, such as methods or systems: bars, a panel for each column of numbers."""
    rows = [row for row in cambium_io.table_rows(path) if row]
    try:
        columns = {heading: [float(row[k]) for row in rows[1:]] for k, heading in enumerate(rows[0]) if k > 0 and cambium_plots.is_number(rows[1][k])}
        of_rows = [row[0] for row in rows[1:]]
    except (ValueError, IndexError):
        columns, of_rows = {}, []
    if not columns:
        raise NothingToDraw("is no table of numbers with a heading")
    wanted = [n for n in names_among(list(columns), names) if names or len(set(columns[n])) > 1][:MOST]
    if not wanted:
        raise NothingToDraw("holds no column that changes")
    what = rows[0][0]
    of_rows = [f"{what} {name}" if cambium_plots.is_number(name) else name for name in of_rows]
    return Whole(lambda: cambium_plots.bars_by_row(of_rows, {name: columns[name] for name in wanted}))


def varies(values):
    """False for a column of one number, whatever is missing of it."""
    known = values[np.isfinite(values)]
    return len(known) > 0 and np.ptp(known) > 0


def many_rows(path):
    """A table with more rows than bars can be told apart, its columns of texts left out; None for another one."""
    try:
        table = cambium_io.Table(path, without_texts=True)
    except IndexError:
        return None
    return table if table.names and len(table) > MANY_ROWS else None


def table_view(path, names):
    """A CSV file of numbers: curves, points where its first column does not increase, or bars where it has few rows."""
    heading = next(iter(cambium_io.table_rows(path)), [])
    if heading and all(cambium_plots.is_number(name) for name in heading):
        raise NothingToDraw("has numbers in its first line, where names of its columns were expected; write them there: x,y,value")
    try:
        table = cambium_io.Table(path)
    except (ValueError, IndexError):
        table = many_rows(path)
        if not table:
            return named_rows_view(path, names)
    wanted = names_among(table.names, names)
    first = table[table.names[0]] if table.names else np.zeros(0)
    if len(table) > MANY_ROWS and table.names[0] not in ALONG and not np.all(np.diff(first) > 0):
        others = [n for n in wanted if n != table.names[0] and (names or varies(table[n]))][:MOST]
        if not others:
            raise NothingToDraw("holds no column that changes")
        return Whole(lambda: cambium_plots.points(table, others))
    if 1 < len(table) <= MANY_ROWS and table.names[0] not in ALONG:
        columns = {with_unit(n, table.units[n]): table[n] for n in wanted if names or varies(table[n])}
        return Whole(lambda: cambium_plots.bars_by_row([f"row {k + 1}" for k in range(len(table))], dict(list(columns.items())[:MOST])))
    if len(table) == 0:
        raise NothingToDraw("holds no row yet")
    if len(table) == 1:
        return Whole(lambda: cambium_plots.bars({n: table[n][0] for n in wanted if n not in ("step", "time")}, table.units))
    if not names:
        wanted = [n for n in wanted if n not in ("step", "time", "epoch", table.names[0]) and varies(table[n])]
    if not wanted:
        raise NothingToDraw("holds no column that changes")
    return Whole(lambda: cambium_plots.table(table, wanted))


def trajectory_view(trajectory, names):
    if names:
        raise NothingToDraw("is a trajectory; --show is for files with several quantities")
    if len(trajectory) == 0:
        raise NothingToDraw("holds no frame yet")
    return Particles(trajectory)


def parity_view(path, names):
    """Predicted over reference of every quantity of a parity file, in a plot each."""
    wanted = names_among(cambium_parity.quantities(path), names)
    return Whole(lambda: cambium_parity.figure(path, wanted))


def vtkhdf_view(path, names):
    import cambium_vtk

    file = cambium_vtk.open(path)
    if isinstance(file, cambium_vtk.Points):
        return trajectory_view(file, names)
    fields = file.fields(names_among(file.names, names))
    return (Lines if len(fields[0].axes) == 1 else Maps)(fields[:MOST], file.times, "time")


def open_view(path, names=None):
    """The view of a file; NothingToDraw says why there is none."""
    path = Path(path)
    view = plugin_pictures.view(path, names)
    if view:
        return view
    if path.suffix == ".csv":
        return table_view(path, names)
    if path.suffix == ".h5md":
        return trajectory_view(cambium_io.Trajectory(path), names)
    if path.suffix in (".extxyz", ".xyz"):
        return trajectory_view(cambium_xyz.XyzTrajectory(path), names)
    if path.suffix == ".vtkhdf":
        return vtkhdf_view(path, names)
    if path.suffix in (".h5", ".hdf5", ".nc"):
        return parity_view(path, names) if cambium_parity.quantities(path) else cf_view(path, names)
    raise NothingToDraw("is no file that can be drawn: those are .csv, .h5, .nc, .h5md, .extxyz, .xyz and .vtkhdf")
