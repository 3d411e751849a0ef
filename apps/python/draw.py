#!/usr/bin/env python3
"""Pictures and movies of what runs write: what `cambium plot` and `cambium movie` call.

    python3 draw.py plot FILE [-o picture.png] [--show NAME ...] [--frame K]
    python3 draw.py movie FILE [-o movie.mp4] [--show NAME ...] [--fps 10] [--every 1]
    python3 draw.py plot RUN [-o FOLDER]        # every file of a run, or of one of its stages

Needs numpy, h5py and matplotlib; movies ffmpeg or Pillow. In Python: cambium_io.plot(FILE) and cambium_io.movie(FILE).
"""

import argparse
import contextlib
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_movie  # noqa: E402
import cambium_views  # noqa: E402
from cambium_movie import CannotWrite  # noqa: E402
from cambium_said import say  # noqa: E402
from cambium_style import save  # noqa: E402
from cambium_views import NothingToDraw  # noqa: E402

PICTURES = (".png", ".pdf", ".svg")
# What runs write that is no result to look at.
APART = ("model.h5", "best.h5", "ensemble.h5")


class Refused(Exception):
    pass


@contextlib.contextmanager
def writing(output):
    """Refused where the disk does not take what is written to a file inside; what was begun of it goes."""
    try:
        yield
    except OSError as error:
        with contextlib.suppress(OSError):
            if Path(output).is_file():
                Path(output).unlink()
        raise Refused(f"cannot write '{output}': {error.strerror or error}; make room or name another location by -o") from None


def files_of(folder):
    """What may be drawn of a run or a stage, without tables that an HDF5 file of the same name holds, too."""
    found = [p for pattern in ("*", "*/*", "*/*/*") for p in sorted(folder.glob(pattern))
             if p.suffix in (".csv", ".h5", ".h5md", ".extxyz", ".vtkhdf") and p.is_file()]
    kept = [p for p in found if p.name not in APART and not p.name.startswith(("restart.", "failed."))
            and "previous" not in p.relative_to(folder).parts]
    return [p for p in kept if not (p.suffix == ".h5" and p.with_suffix(".csv") in kept)]


def only_one_of_a_series(files, view_of):
    """Files that are one movie together, such as distribution.<step>.h5, once."""
    seen = set()
    for file in files:
        try:
            view = view_of(file)
        except (NothingToDraw, OSError, KeyError):
            continue
        if getattr(view, "series", file) not in seen and view.count > 1:
            seen.add(getattr(view, "series", file))
            yield file, view


def frame_of(view, wanted, path):
    if wanted is None:
        return None
    if not -view.count <= wanted < view.count:
        raise Refused(f"'{path}' has {view.count} snapshots, 0 to {view.count - 1}; there is no snapshot {wanted}")
    return range(view.count)[wanted]


def draw_picture(view, path, output, frame):
    if output.suffix not in PICTURES:
        raise Refused(f"'{output}' has no format for pictures: end it in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")
    figure = view.figure(frame_of(view, frame, path))
    with writing(output):
        save(figure, output, dpi=150, bbox_inches="tight", pad_inches=0.08)
    plt.close(figure)
    say(f"wrote {output}")


def draw_movie(view, path, output, wanted):
    if view.count < 2:
        raise Refused(f"'{path}' holds nothing that moves; `cambium plot {path}` draws it")
    with writing(output):
        frames = cambium_movie.write(view, output, wanted.fps, wanted.every)
    say(f"wrote {output}: {frames} frames")


def one_file(wanted):
    path = Path(wanted.source)
    try:
        view = cambium_views.open_view(path, wanted.show)
    except (OSError, KeyError) as error:
        raise Refused(f"'{path}' cannot be read: {error}") from None
    suffix = ".png" if wanted.verb == "plot" else cambium_movie.default_suffix()
    output = Path(wanted.output) if wanted.output else path.with_suffix(suffix)
    if wanted.verb == "plot":
        draw_picture(view, path, output, wanted.frame)
    else:
        draw_movie(view, path, output, wanted)


def whole_run(wanted):
    folder = Path(wanted.source)
    files = files_of(folder)
    target = Path(wanted.output) if wanted.output else None
    if target and target.suffix:
        raise Refused(f"'{target}' is a file; '{folder}' is a folder with {len(files)} files, whose pictures go into a folder")
    drawn = 0
    if wanted.verb == "movie":
        pairs = only_one_of_a_series(files, lambda file: cambium_views.open_view(file, wanted.show))
    else:
        pairs = ((file, None) for file in files)
    for file, view in pairs:
        try:
            view = view or cambium_views.open_view(file, wanted.show)
        except (NothingToDraw, OSError, KeyError) as reason:
            if not wanted.show:
                say(f"left out {file}: it {reason}")
            continue
        suffix = ".png" if wanted.verb == "plot" else cambium_movie.default_suffix()
        place = target / file.parent.relative_to(folder) if target else file.parent
        with writing(place):
            place.mkdir(parents=True, exist_ok=True)
        if wanted.verb == "plot":
            draw_picture(view, file, place / (file.name + suffix), wanted.frame if wanted.frame is None or view.count > 1 else None)
        else:
            draw_movie(view, file, place / (file.name + suffix), wanted)
        drawn += 1
    if not drawn:
        what = "with several snapshots" if wanted.verb == "movie" else "that can be drawn"
        raise Refused(f"'{folder}' holds no file {what}" + (f" and has {', '.join(wanted.show)}" if wanted.show else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("plot", "movie"))
    parser.add_argument("source")
    parser.add_argument("-o", "--output")
    parser.add_argument("--show", action="append", default=[], metavar="NAME")
    parser.add_argument("--frame", type=int)
    parser.add_argument("--fps", type=float, default=10.0)
    parser.add_argument("--every", type=int, default=1)
    wanted = parser.parse_args()
    try:
        whole_run(wanted) if Path(wanted.source).is_dir() else one_file(wanted)
    except NothingToDraw as reason:
        print(f"cambium: '{wanted.source}' {reason}", file=sys.stderr)
    except (Refused, CannotWrite) as reason:
        print(f"cambium: {reason}", file=sys.stderr)
    else:
        return 0
    return 2


if __name__ == "__main__":
    sys.exit(main())
