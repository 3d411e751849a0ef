#!/usr/bin/env python3
"""The pictures of docs/gallery.md, each from one deck: gallery.py PROGRAM RUNS [NAME ...].

Runs the decks (all, or those of the pictures that are named) into the folder RUNS, takes the picture that the report of the run
would show, and writes it to docs/pictures/gallery/NAME.png. Most decks run as they are; an override cuts a long one short.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "apps" / "python"), *map(str, sorted(ROOT.glob("plugins/*/python")))]
WIDTH = 900  # pixels

# name: (deck, overrides, folder of the stage, which of its pictures)
PICTURES = {
    "copper_melting": ("md/copper_melting", [], "simulate", 0),
    "two_stream": ("kinetic/two_stream", [], "simulate", 0),
    "es_shock": ("kinetic/es_shock", [], "simulate", 0),
    "rayleigh_benard": ("superres/rayleigh_benard", ["stages[0].simulate.cells=[192, 48]", "stages[0].simulate.end_time=30"], "simulate", 0),
    "pod": ("podlstm/pod", [], "pod", 0),
    "surrogate": ("train/surrogate", [], "train", 0),
}

def run(program, name, runs):
    deck, overrides, stage, _ = PICTURES[name]
    words = [program, "run", str(ROOT / "inputs" / f"{deck}.yaml"), f"run.directory={runs / name}", "--overwrite", *overrides]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return runs / name / stage

def shrunk(path, target):
    """A picture of at most WIDTH pixels in few colours: small enough to lie in the tree."""
    from PIL import Image

    with Image.open(path) as image:
        image = image.convert("RGB")
        if image.width > WIDTH:
            image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.LANCZOS)
        image.quantize(128).save(target, optimize=True)

def main():
    import report_pictures

    program, runs = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    target = ROOT / "docs" / "pictures" / "gallery"
    target.mkdir(exist_ok=True)
    for name in sys.argv[3:] or PICTURES:
        stage = run(program, name, runs)
        with tempfile.TemporaryDirectory() as scratch:
            pictures, problems = report_pictures.draw_stage(stage, Path(scratch))
            if problems or not pictures:
                sys.exit(f"{name}: {'; '.join(problems) or 'the stage has no picture'}")
            print(name, [Path(p).name for p in pictures])
            shrunk(pictures[PICTURES[name][3]], target / f"{name}.png")

if __name__ == "__main__":
    main()
