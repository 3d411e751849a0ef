"""Maps of modes: north above, east to the right, neighbours across Greenwich side by side, dates of the file's calendar."""
import os
import sys

import h5py
import numpy as np

SOURCE = os.environ["CAMBIUM_SOURCE"]
sys.path[:0] = [os.path.join(SOURCE, "plugins", "podlstm", "python"), os.path.join(SOURCE, "apps", "python")]
try:
    import plot_podlstm
except ImportError as missing:
    print(f"SKIPPED: test_maps.py: python3 has no {missing.name} (Debian: python3-matplotlib)")
    sys.exit(77)


def pod(name, latitudes, longitudes, turned=False, calendar="standard"):
    """A pod.h5 whose mode is latitude + longitude / 1000, by the place on the Earth."""
    path = os.path.join(os.environ["CAMBIUM_SCRATCH"], name)
    east = (np.asarray(longitudes) + 180.0) % 360.0 - 180.0
    mode = np.asarray(latitudes)[:, None] + east[None, :] / 1000.0
    axes = [("lat", latitudes, "degrees_north", "latitude"), ("lon", longitudes, "degrees_east", "longitude")]
    if turned:
        axes, mode = axes[::-1], mode.T
    with h5py.File(path, "w") as file:
        file.attrs["training_snapshots"] = 2
        file["energy_share"], file["coefficients"] = [1.0], np.arange(3.0)[:, None]
        file["modes"], file["mode"] = mode[None], [1]
        file["time"] = [0.0, 59.0, 60.0]
        file["time"].attrs.update({"units": "days since 2000-1-1", "calendar": calendar})
        for key, values, unit, standard in axes:
            file[key] = np.asarray(values, float)
            file[key].attrs.update({"units": unit, "standard_name": standard})
        for key, dimensions in {"modes": ["mode", axes[0][0], axes[1][0]], "coefficients": ["time", "mode"], "energy_share": ["mode"]}.items():
            for k, dimension in enumerate(dimensions):
                file[dimension].make_scale(dimension)
                file[key].dims[k].attach_scale(file[dimension])
    return path


def drawn(path):
    """{(latitude, longitude): value} of the first map, by the middles of its cells, and its axes."""
    axis = plot_podlstm.modes_figure(path).axes[0]
    mesh = axis.collections[0]
    corners = mesh.get_coordinates()
    middles = 0.25 * (corners[:-1, :-1] + corners[1:, :-1] + corners[:-1, 1:] + corners[1:, 1:])
    values = np.ma.filled(mesh.get_array(), np.nan).reshape(middles.shape[:2])
    return {(round(y, 6), round(x, 6)): v for (x, y), v in zip(middles.reshape(-1, 2), values.ravel())}, axis


def check_places(path, expected_longitudes):
    cells, axis = drawn(path)
    assert axis.get_ylim()[0] < axis.get_ylim()[1] and axis.get_xlim()[0] < axis.get_xlim()[1], "south is above, or west is right"
    assert sorted({x for _, x in cells}) == expected_longitudes, sorted({x for _, x in cells})
    for (latitude, longitude), value in cells.items():
        assert abs(value - (latitude + ((longitude + 180.0) % 360.0 - 180.0) / 1000.0)) < 1e-9, (latitude, longitude, value)


def main():
    north_first, across = [60.0, 20.0, -20.0, -60.0], [350.0, 355.0, 0.0, 5.0, 10.0]
    check_places(pod("north_first.h5", north_first, [0.0, 90.0, 180.0, 270.0]), [0.0, 90.0, 180.0, 270.0])
    check_places(pod("across.h5", north_first[::-1], across), [-10.0, -5.0, 0.0, 5.0, 10.0])
    check_places(pod("turned.h5", north_first, across, turned=True), [-10.0, -5.0, 0.0, 5.0, 10.0])
    when, _ = plot_podlstm.times_of(pod("dates.h5", north_first, across), "time")
    assert str(when[1])[:10] == "2000-02-29", when
    when, label = plot_podlstm.times_of(pod("noleap.h5", north_first, across, calendar="noleap"), "time")
    assert when[1] == 59.0 and "days since 2000-1-1" in label, (when, label)  # 1 March, which numpy's calendar does not say


main()
