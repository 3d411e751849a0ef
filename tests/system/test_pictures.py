"""`cambium plot` and `cambium movie`, and cambium_io.plot and movie: of every file that decks which ship leave behind. Needs no data."""
# needs: md
# cost: 110
# thorough
import glob
import os
import shutil
import subprocess
import sys
import unittest

import numpy as np

import program
import registered

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.image
    import matplotlib.pyplot as plt
except ImportError as missing:
    print(f"SKIPPED: pictures of runs: {missing} (Debian: python3-matplotlib)")
    sys.exit(77)
import cambium_io  # noqa: E402
import cambium_style  # noqa: E402
import cambium_views  # noqa: E402

os.environ["CAMBIUM_PYTHON"] = sys.executable
SALT = """
run: {name: salt, seed: 4, directory: DIRECTORY}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {file: DIRECTORY/salt.extxyz}
      initial_temperature: 300 K
      potential: {type: lennard_jones, cutoff: 7.0, pairs: [{species: [Na, Na], epsilon: 0.01, sigma: 2.4}, {species: [Cl, Cl], epsilon: 0.01, sigma: 3.6}]}
      timestep: 1 fs
      steps: 40
      thermo: {every: 10}
      output:
        - {type: h5md, every: 10}
        - {type: extxyz, every: 10}
        - {type: vtkhdf, every: 10}
        - {type: rdf, every: 10, r_max: 7.0, bins: 50}
        - {type: msd, every: 10}
"""
# name of a run: (deck, overrides, files of which there is a movie)
RUNS = {
    "two_stream": ("kinetic/two_stream", ["stages[0].simulate.output=[{type: moments, every: 5}, {type: distribution, every: 10}, "
                    "{type: points, at: [[0.5], [2.0]], every: 5}, {type: heat_flux, modes: [1, 2], every: 5}, {type: vtkhdf, every: 10}]"],
                   ["conf.h5", "distribution.0.h5", "output.vtkhdf"]),
    "plane": ("kinetic/oblique_2x2v", ["stages[0].simulate.output=[{type: moments, every: 1}, {type: distribution, every: 3}]"], ["conf.h5", "distribution.0.h5"]),
    "convection": ("superres/rayleigh_benard", [], ["fields.h5"]),
    "sampling": ("superres/variable_resolution", [], ["fields.h5", "output.vtkhdf", "reconstruction.h5"]),
    "epidemic": ("graph/diffusion", [], ["nodes.h5"]),
    "stirred": ("graph/transport", [], ["nodes.h5", "output.vtkhdf"]),
    "search": ("podlstm/search", [], ["field.h5"]),
    "levels": ("submatrix/diamond_levels", ["stages[4].density_matrix.output=[density, charges, sizes]"], []),
    "copper": ("deepmd/copper", [], []),
    "archive": ("pretrain/archive", [], []),
    "filters": ("assimilate/convection", [], []),
    "structure": ("cosmo/structure_growth", [], ["matter.h5"]),
}
folders = {}


def rocksalt(a, cells):
    """A cube of rock salt as extended XYZ."""
    places = [(x, y, z) for x in range(2 * cells) for y in range(2 * cells) for z in range(2 * cells)]
    edge = a * cells
    rows = [f"{('Na', 'Cl')[(x + y + z) % 2]} {0.5 * a * x} {0.5 * a * y} {0.5 * a * z}" for x, y, z in places]
    return f'{len(rows)}\nLattice="{edge} 0 0 0 {edge} 0 0 0 {edge}" Properties=species:S:1:pos:R:3 pbc="T T T"\n' + "\n".join(rows) + "\n"


def run(name):
    """The folder of a run, which is made once."""
    if name not in folders:
        folder = program.fresh("pictures_" + name)
        if name == "salt":
            program.write(os.path.join(folder, "salt.extxyz"), rocksalt(5.6, 3))
            deck, overrides = program.write(os.path.join(folder, "deck.yaml"), SALT.replace("DIRECTORY", folder)), []
        else:
            deck, overrides, _ = RUNS[name]
            deck = registered.decks()[deck]
            if not registered.built(registered.plugins_of(deck)):
                raise unittest.SkipTest(f"this build has not all of the plugins of {deck}")
            overrides = ["--test-size", f"run.directory={folder}", *overrides]
        code, out, error = program.run("run", deck, *overrides, "--overwrite")
        assert code == 0, out + error
        for twin in glob.glob(os.path.join(folder, "simulate_[3-9]")):  # an archive's simulations leave the same files behind
            shutil.rmtree(twin)
        folders[name] = folder
    return folders[name]


def looked_at(path):
    """A picture as numbers; it has ink on white and is no blank."""
    image = matplotlib.image.imread(path)[..., :3]
    image = image / (255.0 if image.max() > 1.5 else 1.0)
    assert (image.min(axis=2) < 0.6).mean() > 0.002, f"{path} is blank"
    return image


class Plots(unittest.TestCase):
    def test_every_file_of_every_run(self):
        for name in [*RUNS, "salt"]:
            with self.subTest(name):
                folder = run(name)
                code, out, error = program.run("plot", folder, "-o", os.path.join(folder, "plots"))
                self.assertEqual((code, error), (0, ""))
                drawn = sorted(glob.glob(os.path.join(folder, "plots", "**", "*.png"), recursive=True))
                self.assertEqual(len(drawn), out.count("wrote "))
                for picture in drawn:
                    looked_at(picture)
                left = [line for line in out.splitlines() if line.startswith("left out")]
                for line in left:
                    self.assertRegex(line, "holds (no|nothing)|is a single")
                stages = {os.path.basename(os.path.dirname(p)) for p in drawn}
                written = {os.path.basename(os.path.dirname(p)) for p in glob.glob(os.path.join(folder, "*", "*.h5"))} - {"label"}
                self.assertLessEqual(written, stages | {"plots"})

    def test_formats_follow_the_name(self):
        folder = run("convection")
        file = os.path.join(folder, "simulate", "fields.h5")
        for suffix, first in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
            target = os.path.join(folder, "b" + suffix)
            code, out, error = program.run("plot", file, "-o", target, "--show", "b,w", "--frame", "1")
            self.assertEqual((code, out, error), (0, f"wrote {target}\n", ""))
            with open(target, "rb") as picture:
                self.assertEqual(picture.read(len(first)), first)

    def test_names_units_and_values(self):
        folder = os.path.join(run("convection"), "simulate")
        figure = cambium_io.plot(os.path.join(folder, "fields.h5"), ["b", "w"], frame=2)
        maps = [axes for axes in figure.axes if axes.get_xlabel()]
        self.assertEqual([axes.get_xlabel() + axes.get_ylabel() for axes in maps], ["xz", "xz"])
        self.assertEqual([axes.get_ylabel() for axes in figure.axes if not axes.get_xlabel()], ["Buoyancy", "Velocity along z"])
        fields = cambium_io.Run(folder).fields
        np.testing.assert_allclose(np.asarray(maps[0].collections[0].get_array()).reshape(16, 32), np.asarray(fields["b"])[2].T)
        self.assertEqual(figure._suptitle.get_text(), f"t = {float(np.asarray(fields['t'])[2]):.4g}")
        figure = cambium_io.plot(os.path.join(run("salt"), "simulate", "thermo.h5"))
        self.assertIn("Temperature (K)", [axes.get_ylabel() for axes in figure.axes])
        figure = cambium_io.plot(os.path.join(run("salt"), "simulate", "rdf.h5"))
        self.assertEqual({axes.get_xlabel() for axes in figure.axes}, {"Distance (Å)"})
        self.assertEqual([line.get_label() for line in figure.axes[0].lines], ["Na-Na", "Na-Cl", "Cl-Cl"])
        plt.close("all")

    def test_legends_stand_beside_the_curves(self):
        for name, file in (("salt", "rdf.h5"), ("salt", "thermo.csv"), ("salt", "trajectory.h5md"), ("two_stream", "points.h5")):
            figure = cambium_io.plot(os.path.join(run(name), "simulate", file))
            figure.canvas.draw()
            legends = [(axes, axes.get_legend()) for axes in figure.axes if axes.get_legend()]
            self.assertTrue(legends, file)
            for axes, legend in legends:
                self.assertGreaterEqual(legend.get_window_extent().x0, axes.get_window_extent().x1 - 1, file)
                self.assertLessEqual(legend.get_window_extent().x1, figure.bbox.x1 + 1, f"{file}: the legend is cut off")
        plt.close("all")

    def test_several_species_have_colours_and_names(self):
        for file in ("trajectory.h5md", "trajectory.extxyz", "output.vtkhdf"):
            axes = cambium_io.plot(os.path.join(run("salt"), "simulate", file)).axes[-1]
            self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["Na", "Cl"])
            atoms = axes.collections[0]
            self.assertEqual(len(atoms.get_offsets()), 216)
            colours = atoms.get_facecolor()[:, :3]  # those behind are paler, in the order of their depth
            self.assertEqual(sorted(np.unique((colours[:, 0] > colours[:, 2]), return_counts=True)[1]), [108, 108])
            self.assertGreater(colours[0].min(), colours[-1].min())
        plt.close("all")


class Movies(unittest.TestCase):
    def test_every_file_that_moves(self):
        for name, (_, _, moving) in RUNS.items():
            if not moving:
                continue
            with self.subTest(name):
                folder = run(name)
                code, out, error = program.run("movie", folder, "--every", "2", "-o", os.path.join(folder, "movies"))
                self.assertEqual((code, error), (0, ""))
                written = {os.path.splitext(os.path.basename(p))[0] for p in glob.glob(os.path.join(folder, "movies", "**", "*.*"), recursive=True)}
                self.assertEqual(written, set(moving))

    def test_frames_change_and_keep_their_colours(self):
        folder = run("convection")
        file, target = os.path.join(folder, "simulate", "fields.h5"), os.path.join(folder, "frames.png")
        code, out, error = program.run("movie", file, "-o", target, "--every", "2", "--show", "w")
        self.assertEqual((code, out, error), (0, f"wrote {target}: 3 frames\n", ""))
        frames = [looked_at(p) for p in sorted(glob.glob(os.path.join(folder, "frames.*.png")))]
        self.assertEqual(len(frames), 3)
        self.assertEqual(len({f.shape for f in frames}), 1)
        self.assertGreater(np.abs(frames[0] - frames[-1]).max(), 0.3)
        view = cambium_views.open_view(file, ["w"])
        ends = [view.figure(k).axes[0].collections[0].get_clim() for k in (0, 4)]
        self.assertEqual(ends[0], ends[1])
        self.assertAlmostEqual(ends[0][1], float(np.abs(np.asarray(cambium_io.Run(folder).fields["w"])).max()), places=12)
        plt.close("all")

    def test_gif_and_its_speed(self):
        image = __import__("PIL.Image").Image
        file = os.path.join(run("salt"), "simulate", "trajectory.h5md")
        target = os.path.join(run("salt"), "atoms.gif")
        self.assertEqual(program.run("movie", file, "-o", target, "--fps", "5"), (0, f"wrote {target}: 5 frames\n", ""))
        with image.open(target) as movie:
            self.assertEqual((movie.n_frames, movie.info["duration"]), (5, 200))
        self.assertEqual(str(cambium_io.movie(file, target, every=2)), target)
        with image.open(target) as movie:
            self.assertEqual((movie.n_frames, movie.info["duration"]), (3, 100))

    @unittest.skipUnless(shutil.which("ffprobe"), "no ffmpeg: a movie was not written as .mp4")
    def test_mp4(self):
        file = os.path.join(run("convection"), "simulate", "fields.h5")
        target = os.path.join(run("convection"), "rb.mp4")
        self.assertEqual(program.run("movie", file, "-o", target, "--fps", "12"), (0, f"wrote {target}: 5 frames\n", ""))
        said = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames,r_frame_rate,codec_name",
                               "-of", "csv=p=0", target], capture_output=True, text=True, check=True).stdout.strip()
        self.assertEqual(said, "h264,12/1,5")


class Colours(unittest.TestCase):
    def lightness(self, colours):
        """CIE L* of sRGB."""
        linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
        y = linear @ [0.2126, 0.7152, 0.0722]
        return np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)

    def test_two_signs_are_alike_and_white_is_zero(self):
        light = self.lightness(cambium_style.diverging_colours())
        np.testing.assert_allclose(light, light[::-1], atol=0.5)
        steps = np.diff(light[:128])
        self.assertTrue((steps > 0).all())
        self.assertLess(steps.max(), 1.2 * steps.min())
        self.assertGreater(light[127:129].min(), 96)

    def test_signs_choose_the_map(self):
        self.assertEqual(cambium_style.colours_of(0.0, 2.0), {"cmap": "viridis", "vmin": 0.0, "vmax": 2.0})
        self.assertEqual(cambium_style.colours_of(-1e-3, 2.0)["vmin"], 0.0)  # f a little below zero
        self.assertEqual(cambium_style.colours_of(-3.0, 1.0), {"cmap": cambium_style.DIVERGING, "vmin": -3.0, "vmax": 3.0})
        self.assertEqual(cambium_style.colours_of(5.0, 6.0), {"cmap": "viridis", "vmin": 5.0, "vmax": 6.0})


class Messages(unittest.TestCase):
    def says(self, message, *words):
        code, _, error = program.run(*words)
        self.assertEqual((code, error.strip()), (2, "cambium: " + message))

    def test_what_cannot_be_drawn(self):
        folder = run("salt")
        file, thermo = os.path.join(folder, "simulate", "trajectory.h5md"), os.path.join(folder, "simulate", "thermo.csv")
        self.says("there is no 'runs/none' to draw: name a file that a stage wrote, such as runs/copper/simulate/thermo.csv, or a run "
                  "directory; `cambium plot --help` explains more", "plot", "runs/none")
        self.says("there is no 'runs/none' to draw: name a file that a stage wrote, such as runs/copper/simulate/thermo.csv, or a run "
                  "directory; `cambium movie --help` explains more", "movie", "runs/none")
        self.says("--fps is 0; a movie needs more than 0 and at most 120 frames per second", "movie", file, "--fps", "0")
        self.says("--every is 0; it is 1 for every snapshot, 2 for every second one", "movie", file, "--every", "0")
        self.says(f"'{file}' has 5 snapshots, 0 to 4; there is no snapshot 5", "plot", file, "--frame", "5")
        self.says(f"'{thermo}' has no 'heat' to show; it has: step, time, temperature, pressure, potential, kinetic, conserved, volume, "
                  "density, pxx, pyy, pzz, pxy, pxz, pyz", "plot", thermo, "--show", "heat")
        self.says(f"'{file}' is a trajectory; --show is for files with several quantities", "plot", file, "--show", "force")
        self.says(f"'{thermo}' holds nothing that moves; `cambium plot {thermo}` draws it", "movie", thermo)
        self.says("'x.bmp' has no format for pictures: end it in .png, .pdf or .svg", "plot", file, "-o", "x.bmp")
        self.says("'x.avi' has no format for movies: end it in .mp4, .gif or .png", "movie", file, "-o", "x.avi")
        self.says(f"'x.png' is a file; '{folder}/simulate' is a folder with 6 files, whose pictures go into a folder",
                  "plot", folder + "/simulate", "-o", "x.png")
        deck = os.path.join(folder, "deck.resolved.yaml")
        self.says(f"'{deck}' is no file that can be drawn: those are .csv, .h5, .nc, .h5md, .extxyz, .xyz and .vtkhdf", "plot", deck)

    def test_files_that_hold_nothing(self):
        folder = program.fresh("pictures_nothing")
        self.says(f"'{folder}' holds no file that can be drawn", "plot", folder)
        self.says(f"'{folder}' holds no file with several snapshots", "movie", folder)
        empty = program.write(os.path.join(folder, "thermo.csv"), "step,time [ps],temperature [K]\n")
        self.says(f"'{empty}' holds no row yet", "plot", empty)
        program.write(empty, "step,time [ps],temperature [K]\n0,0,300\n1,1,300\n")
        self.says(f"'{empty}' holds no column that changes", "plot", empty)
        words = program.write(os.path.join(folder, "words.csv"), "a sentence\nand another\n")
        self.says(f"'{words}' is no table of numbers with a heading", "plot", words)
        import h5py
        bare = os.path.join(folder, "bare.h5")
        with h5py.File(bare, "w") as file:
            file["x"] = np.arange(4.0)
        self.says(f"'{bare}' holds no array with named dimensions; give its dimensions scales (h5py: make_scale, attach_scale), or name a file "
                  "that a run wrote", "plot", bare)

    def test_what_is_missing(self):
        file = os.path.join(run("salt"), "simulate", "trajectory.h5md")
        try:
            os.environ["CAMBIUM_PYTHON"] = "/usr/bin/false"
            for verb in ("plot", "movie"):
                self.says("no /usr/bin/false with numpy, h5py and matplotlib; install them (Debian: python3-h5py python3-matplotlib) or "
                          "name a Python that has them in CAMBIUM_PYTHON", verb, file)
            folder = program.fresh("pictures_broken")
            broken = program.write(os.path.join(folder, "python"), "#!/bin/sh\n[ \"$1\" = -c ]\n")
            os.chmod(broken, 0o755)
            os.environ["CAMBIUM_PYTHON"] = broken
            self.says("the picture could not be drawn; the reason is above", "plot", file)
            self.says("the movie could not be drawn; the reason is above", "movie", file)
            os.environ["CAMBIUM_PYTHON"] = sys.executable
            target = os.path.join(folder, "atoms.mp4")
            done = self.without_ffmpeg("movie", file, "-o", target)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"cambium: '{target}' needs the program ffmpeg, which is not here: install it, or write atoms.gif\n"))
            done = self.without_ffmpeg("movie", file)
            self.assertEqual((done.returncode, done.stdout), (0, f"wrote {file.replace('h5md', 'gif')}: 5 frames\n"))
        finally:
            os.environ["CAMBIUM_PYTHON"] = sys.executable

    def without_ffmpeg(self, *words):
        """What the program calls, with a PATH on which there is nothing."""
        script = os.path.join(program.SOURCE, "apps", "python", "draw.py")
        return subprocess.run([sys.executable, script, *words], env={**os.environ, "PATH": program.fresh("no_programs")},
                              capture_output=True, text=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
