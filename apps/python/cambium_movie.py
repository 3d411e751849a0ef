"""Writes the moments of a view as a movie: .mp4 by ffmpeg, .gif by Pillow, or NAME.png as NAME.0000.png, NAME.0001.png, ..."""

import shutil
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

MOVIES = (".mp4", ".gif", ".png")


class CannotWrite(Exception):
    """Why a movie cannot be written, and what helps."""


def default_suffix():
    return ".mp4" if shutil.which("ffmpeg") else ".gif"


def require_writer(path):
    """CannotWrite where the format is unknown or its program is missing; before anything is drawn."""
    if path.suffix not in MOVIES:
        raise CannotWrite(f"'{path}' has no format for movies: end it in {', '.join(MOVIES[:-1])} or {MOVIES[-1]}")
    if path.suffix == ".mp4" and not shutil.which("ffmpeg"):
        raise CannotWrite(f"'{path}' needs the program ffmpeg, which is not here: install it, or write {path.stem}.gif")
    if path.suffix == ".gif":
        try:
            import PIL.Image  # noqa: F401
        except ImportError:
            raise CannotWrite(f"'{path}' needs the Python package Pillow, which is not here: install it, or write {path.stem}.png") from None


def figures(view, moments):
    """A figure for each moment, which stands until the next one is asked for."""
    for k in moments:
        figure = view.figure(k)
        yield figure
        plt.close(figure)


def images(view, moments):
    """Every moment as an array [row][column][rgb]."""
    for figure in (view.frames if hasattr(view, "frames") else lambda of: figures(view, of))(moments):
        if figure.get_dpi() != 110:
            figure.set_dpi(110)
        figure.canvas.draw()
        yield np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()


def even(image):
    """With an even number of rows and columns, which the format of the movie asks for."""
    rows, columns = (n - n % 2 for n in image.shape[:2])
    return image[:rows, :columns]


def write_mp4(path, pictures, fps):
    first = even(next(pictures))
    words = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{first.shape[1]}x{first.shape[0]}",
             "-r", f"{fps:g}", "-i", "-", "-an", "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", str(path)]
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        program.stdin.write(first.tobytes())
        for picture in pictures:
            program.stdin.write(even(picture).tobytes())
    except BrokenPipeError:
        pass
    said = program.communicate()[1].decode(errors="replace").strip()
    if program.returncode:
        raise CannotWrite(f"ffmpeg could not write '{path}': {said.splitlines()[-1] if said else 'no reason given'}")


def write_gif(path, pictures, fps):
    from PIL import Image

    frames = [Image.fromarray(p).convert("P", palette=Image.ADAPTIVE, colors=256) for p in pictures]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000.0 / fps), loop=0)


def write_pictures(path, pictures):
    for number, picture in enumerate(pictures):
        plt.imsave(path.with_name(f"{path.stem}.{number:04d}.png"), picture)


def write(view, path, fps=10.0, every=1):
    """The movie of a view; number of frames."""
    path = Path(path)
    require_writer(path)
    moments = range(0, view.count, every)
    pictures = images(view, moments)
    if path.suffix == ".mp4":
        write_mp4(path, pictures, fps)
    elif path.suffix == ".gif":
        write_gif(path, pictures, fps)
    else:
        write_pictures(path, pictures)
    return len(moments)
