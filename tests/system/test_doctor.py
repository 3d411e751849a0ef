"""`cambium doctor`: what it says of a sound installation, word for word where words do not depend on the machine, and what it notices."""
import os
import re
import subprocess
import unittest

import program

BUILT = os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split()
BUILD = ("Cambium", "instructions", "back ends", "data live in", "MPI", "HDF5", "LibTorch", "plugins")
CHECKS = ("BLAS", "ranks and cores", "BLAS threads", "binding", "memory", "shared memory", "disk", "seen by all", "locks", "checkpoints", "messages", "products",
          "eigenvalues", "transforms", "random numbers")
DECKS = {"argon_crystal": "md", "plasma_wave": "kinetic", "heat_conduction": "superres", "logistic_growth": "graph", "matter_growth": "cosmo"}


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = program.fresh("doctor_" + self.id().rsplit(".", 1)[1])

    def says(self, *words, ranks=1, code=0):
        done, out, error = program.run("doctor", self.folder, *words, ranks=ranks)
        self.assertEqual(done, code, out + error)
        self.assertEqual(os.listdir(self.folder), [], "it leaves nothing behind")
        return out

    def test_a_sound_installation(self):
        for ranks in (1, 2, 3):
            out = self.says(ranks=ranks)
            for what in BUILD:
                self.assertRegex(out, rf"(?m)^         {what} +\S")
            checks = CHECKS + (("clocks",) if ranks > 1 else ())
            for what in checks + tuple(name for name, plugin in DECKS.items() if plugin in BUILT):
                self.assertRegex(out, rf"(?m)^  (fine   |NOTE   ){what} +\S")
            self.assertNotIn("WRONG", out)
            self.assertRegex(out, r"(?m)^\d+ checks in [\d.]+ s: \d+ fine, \d+ to note, 0 wrong$")
            self.assertLess(float(re.search(r"checks in ([\d.]+) s", out)[1]), 60)
            self.assertIn(f"  fine   seen by all     all {ranks} ranks read what rank 0 wrote\n", out)
            self.assertIn("  fine   locks           a second run is refused a directory in use\n", out)
            self.assertIn("  fine   checkpoints     checksums hold, and one changed bit is noticed\n", out)
            self.assertIn("  fine   messages        sums, a ring of 1 MB and a broadcast arrive as sent\n", out)
            self.assertIn("  fine   random numbers  Philox gives the words its authors give\n", out)
            self.assertRegex(out, r"  fine   products        double against plain loops: \d\.\de-\d+, expected below 1e-13\n")
            if "md" in BUILT:
                self.assertRegex(out, r"  fine   argon_crystal   energy of a crystal of argon in eV, summed over shells: expected -41\.79133291 within 1e-07, found -41\.7913")

    def test_quick_leaves_the_simulations_out(self):
        out = self.says("--quick")
        self.assertIn("this build\n", out)
        self.assertNotIn("\nsimulations, by", out)
        self.assertNotIn("argon_crystal", out)

    def test_what_to_do_is_said(self):
        """More ranks than cores: a note with its remedy, and nothing is wrong."""
        cores = len(os.sched_getaffinity(0))
        out = self.says("--quick", ranks=cores + 1)
        self.assertRegex(out, rf"  NOTE   ranks and cores 1 machine: {cores + 1} ranks x \d+ threads? on {cores} cores?, a rank may use \d+ of them\n"
                              r" {25}-> several threads share a core, and steps take longer: start fewer ranks, or fewer threads \(OMP_NUM_THREADS\)\n")

    def test_readers_of_vtkhdf_are_judged(self):
        """Older releases show the files empty or end in them; a VTK stands in for one."""
        place = os.path.join(program.fresh("doctor_vtk"), "vtkmodules")
        os.mkdir(place)
        program.write(os.path.join(place, "__init__.py"), "")
        before = os.environ.get("PYTHONPATH", "")
        self.addCleanup(os.environ.__setitem__, "PYTHONPATH", before)
        os.environ["PYTHONPATH"] = os.path.dirname(place) + (":" + before if before else "")
        for release, mark, more in (("9.1.0", "NOTE   ", r" {25}-> it shows such files empty or ends in them: give the output vtkhdf 'xml: true', whose files every release reads\n"),
                                    ("9.3.1", "fine   ", ""), ("10.0.0", "fine   ", "")):
            program.write(os.path.join(place, "vtkCommonCore.py"), f"class vtkVersion:\n    def GetVTKVersion(self):\n        return '{release}'\n")
            self.assertRegex(self.says("--quick"), rf"  {mark}VTKHDF +version 2\.0: for ParaView 5\.12, VTK 9\.3 or newer; Python has VTK {release}\n" + more)

    def test_a_wrong_number_is_exit_code_4(self):
        """A deck beside a plugin's library that expects the wrong number."""
        if "md" not in BUILT:
            self.skipTest("needs md")
        plugins = program.fresh("doctor_plugins")
        with open(os.path.join(program.SOURCE, "inputs", "doctor", "argon_crystal.yaml"), encoding="utf-8") as file:
            text = file.read()
        program.write(os.path.join(plugins, "wrong.doctor.yaml"), text.replace("-41.79", "-41.80"))
        program.write(os.path.join(plugins, "broken.doctor.yaml"), text.replace("type: fcc", "type: fcd"))
        before = os.environ.get("CAMBIUM_PLUGIN_PATH")
        os.environ["CAMBIUM_PLUGIN_PATH"] = plugins
        try:
            for ranks in (1, 2):
                out = self.says(ranks=ranks, code=4)
                self.assertRegex(out, r"  WRONG  wrong           energy of a crystal of argon in eV, summed over shells: expected -41\.80133291 within 1e-07, found -41\.7913\d+\n"
                                      r" {25}-> forces of pairs are not to be trusted; build for the processors that compute \(CAMBIUM_ARCH\), with another compiler\n")
                self.assertRegex(out, r"  WRONG  broken          energy of a crystal of argon in eV, .* found .*fcd")
                self.assertRegex(out, r"(?m)^\d+ checks in [\d.]+ s: \d+ fine, \d+ to note, 3 wrong$")
        finally:
            os.environ.pop("CAMBIUM_PLUGIN_PATH")
            if before is not None:
                os.environ["CAMBIUM_PLUGIN_PATH"] = before

    def test_a_note_without_a_number_is_refused(self):
        plugins = program.fresh("doctor_notes")
        path = program.write(os.path.join(plugins, "odd.doctor.yaml"), "x-doctor: [{what: a, result: b, expected: many, within: 1}]\n")
        environment = dict(os.environ, CAMBIUM_PLUGIN_PATH=plugins)
        done = subprocess.run(program.command("doctor", self.folder), capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stderr), (2, f"cambium: '{path}': x-doctor.expected is not a number: 'many'\n"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_directory_that_takes_nothing(self):
        place = program.write(os.path.join(self.folder, "file"), "")
        code, _, error = program.run("doctor", place, "--quick")
        os.remove(place)
        self.assertEqual(code, 2)
        self.assertRegex(error, rf"^cambium: cannot write '{re.escape(place)}/cambium-doctor-[0-9a-f]+': Not a directory; free some space or choose another run directory")


if __name__ == "__main__":
    unittest.main(verbosity=2)
