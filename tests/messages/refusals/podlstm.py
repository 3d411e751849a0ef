"""What the plugin podlstm says about decks and data that cannot work."""
# needs: podlstm
import math
import os
import shutil
import struct

import h5py
from table import Table, built_with

DECK = """
run: {name: pod, directory: pod}
plugins: [podlstm]
stages:
  - pod: {field: {files: [f.h5], array: q}, modes: 2}
"""
FORECAST = """
run: {name: forecast, directory: forecast}
plugins: [podlstm]
stages:
  - forecast: {data: {series: {file: s.h5, training: 60}, window: 4, horizon: 4}}
"""
SEARCH = """
run: {name: search, directory: search}
plugins: [podlstm]
stages:
  - search:
      data: {series: {file: s.h5, training: 60}, window: 4, horizon: 4}
      network: {head: dense, epochs: 1}
      strategy: random
      trials: 2
      ensemble: {members: 1, seeds: 1, plain_epochs: 1}
"""
TRAIN = """
run: {name: train, directory: train}
plugins: [podlstm]
stages:
  - train:
      network: {type: stacked_lstm}
      dataset: {type: forecast_windows, series: {file: s.h5}, window: 4, horizon: 4}
      batch: 4
      steps: 1
      optimizer: {type: adam}
      learning_rate: {type: constant, start: 1e-3}
"""
P, S, T = "stages[0].pod.", "stages[0].forecast.data.", "stages[0].train."
DAYS = {"units": "days since 2000-01-01"}


def field(times=4, lon=3, missing=False, unit="days since 2000-01-01"):
    """(time, lat, lon) with coordinates; without the file's own names where the test takes them away."""
    values = [[[math.nan if missing else math.sin(c + 2 * t) + t + 0.1 * r for c in range(lon)] for r in range(2)] for t in range(times)]
    return {"q": values, "lat": [-30.0, 30.0], "lon": [120.0 * k for k in range(lon)], "time": ([7.0 * t for t in range(times)], {"units": unit})}


def series(n=80, modes=2, **changes):
    values = [[math.sin(0.7 * t + k) + 0.3 * math.cos(1.9 * t * (k + 1)) for k in range(modes)] for t in range(n)]
    return {"coefficients": values, "time": ([7.0 * t for t in range(n)], DAYS)} | changes


def classic(dimensions, variables):
    """A NetCDF-3 file of doubles: {name: length}, {name: (dimensions, values)}."""
    def word(text):
        return struct.pack(">i", len(text)) + text.encode().ljust(-(-len(text) // 4) * 4, b"\0")

    order = list(dimensions)
    head = b"CDF\1" + struct.pack(">iii", 0, 10, len(order)) + b"".join(word(d) + struct.pack(">i", dimensions[d]) for d in order)
    head += struct.pack(">iiii", 0, 0, 11, len(variables))
    size = len(head) + sum(len(word(v)) + 4 + 4 * len(d) + 8 + 12 for v, (d, _) in variables.items())
    body = b""
    for name, (dims, values) in variables.items():
        data = struct.pack(f">{len(values)}d", *values)
        head += word(name) + struct.pack(">i", len(dims)) + b"".join(struct.pack(">i", order.index(d)) for d in dims)
        head += struct.pack(">iiiii", 0, 0, 6, len(data), size + len(body))
        body += data
    return head + body


table = Table("podlstm", DECK)
for name, text in {"forecast": FORECAST, "search": SEARCH, "train": TRAIN}.items():
    table.file(name + ".yaml", text)
table.file("f.h5", field())
table.file("s.h5", series())


def says(message, *overrides, **how):
    table.says(message, *overrides, command=how.pop("command", "run"), **how)


# Fields
says("files: name at least one file", P + "field.files=[]", command="check")
says("cannot open 'none.h5': No such file or directory; correct the path", P + "field.files=[none.h5]")
says("'f.h5' has no array 'sst'; known: lat, lon, q, time", P + "field.array=sst")
says("'f.h5' has no array 'day' next to 'q': name the times of its snapshots (time: NAME)", P + "field.time=day")
says("'f.h5' has 2 times in 'lat' but 4 snapshots in 'q'", P + "field.time=lat")
says("cannot open '.': it is a folder; name the files in it", P + "field.files=[.]", command="check")
says("'f.h5' has no coordinate 'depth' of 2 values for axis 1 of 'q'", P + "field.axes=[depth, lon]")
says("weights: cos_latitude needs latitudes, found the axes axis1, axis2; none of them has units degrees_north, the standard_name latitude or a "
     "name that begins with lat: name them (axes: [lat, lon]), or set weights: none", P + "weights=cos_latitude", P + "field.files=[plain.h5]")
table.file("curved.h5", {"q": (field()["q"], {"coordinates": "nav_lat nav_lon"}), "time": field()["time"],
                         "nav_lat": ([[0.0] * 3] * 2, {"units": "degrees_north"})})
says("weights: cos_latitude needs latitudes along one axis, those of 'q' change along two ('nav_lat'); bring the field to a regular grid "
     "(cdo remapbil), or set weights: none", P + "weights=cos_latitude", P + "field.files=[curved.h5]")
table.file("listed.h5", {"q": ([[1.0, 2.0, 4.0], [2.0, 1.0, 0.0], [0.0, 3.0, 1.0]], {"coordinates": "clat clon"}), "time": ([0.0, 1.0, 2.0], DAYS),
                         "cell": [0.0, 1.0, 2.0], "clat": ([-0.5, 0.0, 0.5], {"units": "radian", "standard_name": "latitude"}),
                         "clon": ([0.0, 1.0, 2.0], {"units": "radian", "standard_name": "longitude"})})
with h5py.File(table.path("listed.h5"), "r+") as file:
    for scale in ("time", "cell"):
        file[scale].make_scale(scale)
    for name, scales in {"q": ["time", "cell"], "clat": ["cell"], "clon": ["cell"]}.items():
        for axis, scale in enumerate(scales):
            file[name].dims[axis].attach_scale(file[scale])
says("weights: cos_latitude: 'q' has a list of cells with latitudes in 'clat', which do not tell their areas; set weights: none where areas are "
     "equal (ICON, HEALPix), or name the latitudes (axes: [clat]) where cells are those of a regular grid", P + "weights=cos_latitude",
     P + "field.files=[listed.h5]")
table.file("metres.h5", field() | {"lat": [-3e6, 3e6]})
says("weights: cos_latitude: 'lat' of 'metres.h5' is -3000000, beyond 90 degrees; fix the file", P + "weights=cos_latitude",
     P + "field.files=[metres.h5]")
table.file("plain.h5", {"q": field()["q"], "time": field()["time"]})
table.file("wide.h5", field(lon=4))
says("'wide.h5' has another shape than 'f.h5'", P + "field.files=[f.h5, wide.h5]")
table.file("turned.h5", field() | {"lat": [30.0, -30.0]})
says("'turned.h5' has lat 30 at index 0, where 'f.h5' has -30: they are on other grids, or in another direction; interpolate one to the grid "
     "of the other (cdo remapbil, cdo invertlat)", P + "field.files=[f.h5, turned.h5]")
table.file("kelvin.h5", field() | {"q": (field()["q"], {"units": "K"})})
says("'q' of 'kelvin.h5' is in 'K', of 'f.h5' in ''; convert one of them", P + "field.files=[f.h5, kelvin.h5]")
table.file("noleap.h5", field() | {"time": ([35.0 + 7.0 * t for t in range(4)], DAYS | {"calendar": "noleap"})})
says("times of 'noleap.h5' have the calendar noleap, the others standard; convert one of the files (cdo setcalendar)",
     P + "field.files=[f.h5, noleap.h5]")
table.file("mask.h5", {"land": [1.0, 0.0]})
says("the mask 'land' of 'mask.h5' has 2 values, the field has 6 cells", P + "field.mask={file: mask.h5, array: land}")
says("'mask.h5' has no array 'sea'; known: land", P + "field.mask={file: mask.h5, array: sea}")
table.file("mask_turned.h5", {"land": [[1.0] * 2] * 3})
says("the mask 'land' of 'mask_turned.h5' has the shape (3, 2), the field (2, 3); turn it (ncpdq -a)",
     P + "field.mask={file: mask_turned.h5, array: land}")
table.file("masks.h5", {"land": ([[[1.0] * 3] * 2] * 2), "time": ([0.0, 1.0], DAYS)})
says("the mask 'land' of 'masks.h5' has 12 values, the field has 6 cells", P + "field.mask={file: masks.h5, array: land}")
table.file("empty.h5", field(missing=True))
says("'q' is NaN or missing in 4 of 4 snapshots at lat -30, lon 0 (first in snapshot 0) and no mask leaves that cell out; name a mask, or set "
     "missing: land", P + "field.files=[empty.h5]", command="check")
says("no cell of 'q' is left; the mask and `missing` leave all of them out", P + "field.files=[empty.h5]", P + "field.missing=land")
table.file("flat_field.h5", field() | {"q": [[[3.0] * 3] * 2] * 4})
says("the training snapshots are all the same, so there are no modes; name another array, or more snapshots", P + "field.files=[flat_field.h5]")
table.file("line.nc", classic({"time": 3}, {"q": (["time"], [1.0, 2.0, 3.0])}))
NETCDF = built_with("netcdf")
CANNOT = ("is a NetCDF-3 file, which this build cannot read: install libnetcdf (Debian package: libnetcdf-dev) and build again, or convert it: "
          "nccopy -k nc4")
says("the array 'q' of 'line.nc' has 1 dimension(s), expected (time, ...) with at least two" if NETCDF else f"'line.nc' {CANNOT} line.nc field.nc",
     P + "field.files=[line.nc]")
table.file("timeless.nc", classic({"t": 3, "x": 2}, {"q": (["t", "x"], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])}))
says("'timeless.nc' has no array 'time' next to 'q', nor another coordinate of it that measures time: name the times of its snapshots (time: NAME)"
     if NETCDF else f"'timeless.nc' {CANNOT} timeless.nc field.nc", P + "field.files=[timeless.nc]")
if NETCDF:
    table.file("times.nc", classic({"time": 2, "y": 2, "x": 3}, {"land": (["time", "y", "x"], [1.0] * 12), "time": (["time"], [0.0, 1.0])}))
    says("'land' of 'times.nc' has 2 times, expected one; extract one of them (ncks -d)", P + "field.mask={file: times.nc, array: land}")
    table.file("cut.nc", b"CDF\1")
    says(("'cut.nc' cannot be opened: ", "NetCDF"), P + "field.files=[cut.nc]")

# Series of coefficients
F = dict(deck="forecast.yaml")
says("train and test: give both arrays, or none", S + "series.train=a", **F, command="check")
table.file("flat.h5", series(coefficients=[1.0] * 80))
says("'coefficients' of 'flat.h5' has 1 dimension(s), expected (time, mode)", S + "series.file=flat.h5", **F)
table.file("nan.h5", series(coefficients=[[1.0, math.nan]] * 80))
says("'coefficients' of 'nan.h5' is not finite at time 0, mode 1; a forecast needs every coefficient", S + "series.file=nan.h5", **F)
says("'s.h5' has no array 'day' of times; known: coefficients, time", S + "series.time=day", **F)
table.file("short.h5", series(time=([1.0, 2.0], DAYS)))
says("'time' of 'short.h5' has 2 times, but there are 80 coefficients in time", S + "series.file=short.h5", **F)
table.file("moons.h5", series(time=([7.0 * t for t in range(80)], {"units": "moons since 2000-01-01"})))
says("times 'time' of 'moons.h5' are in 'moons since 2000-01-01', expected seconds, minutes, hours, days, weeks, months or years since a date",
     S + "series.file=moons.h5", **F)
table.file("still.h5", series(time=([7.0] * 80, DAYS)))
says("times 'time' of 'still.h5' do not increase: time 1 is day 7, the one before day 7", S + "series.file=still.h5", **F)
says("training: 90 times requested, but 's.h5' has 80", S + "series.training=90", **F)
table.file("constant.h5", series(coefficients=[[math.sin(t), 1.0] for t in range(80)]))
says("mode 2 of the series never changes; leave it out (fewer modes)", S + "series.file=constant.h5", **F)
says("period: '12' is 12 days, but the series has a time every 7 days, and a cycle takes two at least; give its unit, such as '365.2425 days' or "
     "'12 samples'", S + "period=12", **F)
says("period: 'long' is no length of time; give days or a unit, such as '365.2425 days', '12 samples' or '1 year'", S + "period=long", **F)
says("var_order: 6 times back do not fit a window of 4; lower it", S + "var_order=6", **F)

# Forecasts with spread, ahead, and of indices
A = "stages[0].forecast."
says("ahead: 9 times, but forecasts are validated over 4 only; raise data.horizon or lower ahead", A + "ahead=9", **F)
says("members: a spread needs at least two members; give more, or 0 for no ensemble", A + "members=1", **F, command="check")
says("members: 0, but ahead, index and residual are of an ensemble; give members: 100", A + "members=0", A + "ahead=2", **F, command="check")
says("lat and lon: give two bounds each, such as lat: [-5, 5], lon: [190, 240]", A + "index=[{name: nino34, lat: [0], lon: [190, 240]}]", **F,
     command="check")
says("lat: give the southern bound first", A + "index=[{name: nino34, lat: [5, -5], lon: [190, 240]}]", **F, command="check")
BOX = "lat: [-5, 5], lon: [190, 240]"
says("index: two indices have the name 'nino 3.4'; rename one of them", A + f"index=[{{name: nino_3_4, {BOX}}}, {{name: nino 3.4, {BOX}}}]", **F,
     command="check")
says("'s.h5' has no modes on a grid, which maps and means over a box are made of; name a pod.h5 that a stage `pod` wrote",
     A + "index=[{name: nino34, lat: [-5, 5], lon: [190, 240]}]", **F)
table.file("flipping.h5", series(coefficients=[[(-1) ** t * (1 + 0.1 * math.sin(t * t)), (-1) ** t * math.sin(2.3 * t * t)] for t in range(80)]))
says("ahead, index and residual take a linear inverse model, but this series gives none; give other lags or larger ridges in data.lim, or a longer "
     "training series", A + "ahead=2", S + "series.file=flipping.h5", S + "lim.lags=[1]", **F)
says("years: give the first and the last year, such as [1982, 1989]", P + "anomalies.years=[1982]", command="check")
says("anomalies: 4 snapshots of the climatology are too few for 7 coefficients; give other years, fewer harmonics or more snapshots",
     P + "anomalies.harmonics=3")

# Networks and searches
says("stacked_lstm needs the fields 'window' (past, features) and 'target' (future, modes); give a dataset of type hdf5 that has both",
     T + "dataset={type: expression, samples: 10, box: {x: [0, 1]}, target: {y: x}}", deck="train.yaml")
says("head: a recurrent head gives as many times as it reads, but window is 4 and horizon 2; use head: dense", T + "dataset.horizon=2",
     deck="train.yaml")
N = "stages[0].search."
says("network.head: a recurrent head gives as many times as it reads, but window and horizon differ; use head: dense", N + "network.head=recurrent",
     N + "data.horizon=2", "run.directory=heads", deck="search.yaml")
says("all 2 trials failed, so there is no network to forecast with; lower network.rate (1e+300)", N + "network.rate=1e300",
     "run.directory=diverging", deck="search.yaml", command="run", code=4)
says("'s.h5' is no ensemble; name the ensemble.h5 that a stage `search` wrote", "stages[0].forecast.ensemble=s.h5", **F)
says("no such file: 'none.jsonl'", N + "replay=none.jsonl", "run.directory=replay", deck="search.yaml")
table.begins(deck="search.yaml")
says("2 trials of 'search/search/journal.h5' came out otherwise than recorded; was it made with another deck, program or machine?",
     N + "replay=search/search/journal.h5", N + "network.epochs=2", "run.directory=replay", deck="search.yaml", code=4)
shutil.copy(table.path("search/search/ensemble.h5"), table.path("cut.h5"))
with h5py.File(table.path("cut.h5"), "r+") as file:
    whole = file["networks/000/weights"][:]
    del file["networks/000/weights"]
    file["networks/000/weights"] = whole[:-1]
says(f"a stored network has {len(whole) - 1} weights, its genome requires {len(whole)}", "stages[0].forecast.ensemble=cut.h5", **F)
os.remove(table.path("search/stages_done.txt"))
says("'search/search/journal.h5' records another search (space, strategy, training or data differ): give this run another directory "
     "(run.directory=PATH), or remove the file to start afresh", command=["restart", "search", N + "network.epochs=2"])
says("'policy' is for strategy: ppo, and another one is chosen: write strategy: ppo, or leave it out", N + "policy={batch: 4}", "run.directory=policy", deck="search.yaml")
table.run()
