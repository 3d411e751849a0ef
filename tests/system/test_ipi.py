"""The stage `ipi`: a server of i-PI's protocol written here, and ASE's SocketIOCalculator, get the forces of cambium.Potential."""
import os
import socket
import struct
import subprocess
import sys
import unittest

import numpy as np

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium  # noqa: E402

FOLDER = "/tmp" + "/"  # of UNIX sockets: the protocol's
BOHR, HARTREE = 0.529177210903, 27.211386245988
POTENTIAL = "{type: sutton_chen, element: Cu, cutoff: 6.0}"
DECK = """
run: {name: served, directory: DIR}
plugins: [md]
stages:
  - ipi:
      structure: {lattice: {type: fcc, a: 3.61, cells: CELLS, species: [Cu]}}
      potential: POTENTIAL
      PLACE
      timeout: 30 s
"""


def words(connection, count):
    data = b""
    while len(data) < count:
        got = connection.recv(count - len(data))
        assert got, "the connection was closed"
        data += got
    return data


class Ipi(unittest.TestCase):
    def start(self, place, cells="[4, 4, 4]", ranks=1):
        folder = program.fresh("ipi")
        text = DECK.replace("DIR", os.path.join(folder, "run")).replace("PLACE", place).replace("CELLS", cells).replace("POTENTIAL", POTENTIAL)
        path = program.write(os.path.join(folder, "deck.yaml"), text)
        # Python's own copy of the environment: MPI has entered its names in that of the process, from which a launcher would not start.
        process = subprocess.Popen(program.command("run", path, ranks=ranks), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
        self.addCleanup(process.kill)
        return process

    def server(self):
        listening = socket.create_server(("127.0.0.1", 0))
        listening.settimeout(60)
        self.addCleanup(listening.close)
        return listening, f"host: 127.0.0.1\n      port: {listening.getsockname()[1]}"

    def accepted(self, listening, process):
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            process.terminate()
            self.fail("nobody connected: " + "".join(process.communicate(timeout=60)))
        self.addCleanup(connection.close)
        connection.settimeout(60)
        return connection

    def ends(self, process, code=0):
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, out + error)
        return out + error

    def positions(self, cells=4):
        basis = np.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]])
        grid = np.array([(x, y, z) for z in range(cells) for y in range(cells) for x in range(cells)])
        x = 3.61 * (grid[:, None] + basis).reshape(-1, 3)
        return x + np.random.default_rng(8).uniform(-0.2, 0.2, x.shape)

    def ask(self, connection, cell, x):
        connection.sendall(b"STATUS".ljust(12))
        self.assertEqual(words(connection, 12), b"READY       ")
        connection.sendall(b"POSDATA".ljust(12) + (cell.T / BOHR).tobytes() + (np.linalg.inv(cell).T * BOHR).tobytes() + struct.pack("i", len(x)) + (x / BOHR).tobytes())
        connection.sendall(b"STATUS".ljust(12))
        self.assertEqual(words(connection, 12), b"HAVEDATA    ")
        connection.sendall(b"GETFORCE".ljust(12))
        self.assertEqual(words(connection, 12), b"FORCEREADY  ")
        energy, count = struct.unpack("=di", words(connection, 12))
        self.assertEqual(count, len(x))
        forces = np.frombuffer(words(connection, 24 * count)).reshape(-1, 3)
        virial = np.frombuffer(words(connection, 72)).reshape(3, 3).T
        words(connection, struct.unpack("i", words(connection, 4))[0])
        return energy * HARTREE, forces * HARTREE / BOHR, virial * HARTREE

    def test_forces_over_tcp_on_one_and_two_ranks(self):
        potential = cambium.Potential({"type": "sutton_chen", "element": "Cu", "cutoff": 6.0})
        x, cell = self.positions(), 14.44 * np.eye(3)
        cell[1, 0], cell[2, 0] = 0.5, -0.3
        turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
        cell = cell @ (turn * np.sign(np.linalg.det(turn)))
        for ranks in (1, 2):
            listening, place = self.server()
            process = self.start(place, ranks=ranks)
            connection = self.accepted(listening, process)
            connection.sendall(b"INIT".ljust(12) + struct.pack("ii", 0, 3) + b"abc")
            for scale, order in ((1.0, [0, 1, 2]), (1.01, [0, 1, 2]), (1.0, [1, 0, 2])):  # the last is left-handed, as ASE's may be
                energy, forces, virial = self.ask(connection, cell[order] * scale, x * scale)
                expected = potential.evaluate(["Cu"] * len(x), x * scale, cell * scale)
                self.assertLess(abs(energy / expected.energy - 1), 1e-10)
                np.testing.assert_allclose(forces, expected.forces, atol=1e-10 * np.abs(expected.forces).max())
                np.testing.assert_allclose(virial, expected.virial, atol=1e-9 * np.abs(expected.virial).max())
            connection.sendall(b"EXIT".ljust(12))
            self.assertIn("evaluations for the server", self.ends(process))

    def test_what_a_server_must_not_send(self):
        x = self.positions()
        x[5, 1] = np.nan
        for sent, words_of_error in ((b"STATUS".ljust(12) + b"GETFORCE".ljust(12), "ipi: the server requested forces (GETFORCE) before it sent positions (POSDATA)"),
                                     (b"POSDATA".ljust(12) + bytes(144) + struct.pack("i", len(x)) + x.tobytes(), "ipi: the server sent a position that is not finite (atom 6)"),
                                     (b"HELLO".ljust(12), "ipi: the server sent 'HELLO', expected STATUS, INIT, POSDATA, GETFORCE or EXIT; it uses another protocol"),
                                     (b"POSDATA".ljust(12) + bytes(144) + struct.pack("i", 7), "ipi: the server sent 7 atoms, but the structure has 256; give the structure of the server")):
            listening, place = self.server()
            process = self.start(place)
            connection = self.accepted(listening, process)
            connection.sendall(sent)
            self.assertIn(words_of_error, self.ends(process, 2).replace("\n", " "))

    def test_nobody_listens(self):
        folder = program.fresh("ipi_alone")
        long_name = FOLDER + "x" * 200
        for place, sentence in (("unix_socket: nobody_is_here", f"ipi: no server listens at {FOLDER}ipi_nobody_is_here (waited 0.2 s); start it first, or give a longer `timeout`"),
                                (f"unix_socket: {long_name}", f"ipi: the path '{long_name}' of the socket is longer than the 107 characters that sockets have"),
                                ("host: no.such.host.invalid", "ipi: the host 'no.such.host.invalid' is not known (")):
            text = DECK.replace("DIR", os.path.join(folder, "run")).replace("PLACE", place).replace("CELLS", "[4, 4, 4]").replace("POTENTIAL", POTENTIAL).replace("30 s", "0.2 s")
            path = program.write(os.path.join(folder, "deck.yaml"), text)
            code, out, error = program.run("run", path, "--overwrite")
            self.assertEqual(code, 2, out + error)
            self.assertIn(sentence, (out + error).replace("\n", " "))

    def test_a_server_that_leaves_inside_an_answer(self):
        listening, place = self.server()
        process = self.start(place)
        connection = self.accepted(listening, process)
        connection.sendall(b"STATUS".ljust(12))
        words(connection, 12)
        connection.close()
        self.ends(process)
        listening, place = self.server()
        process = self.start(place)
        connection = self.accepted(listening, process)
        x, cell = self.positions(), 14.44 * np.eye(3)
        connection.sendall(b"POSDATA".ljust(12) + cell.tobytes() + cell.tobytes() + struct.pack("i", len(x)) + (x / BOHR).tobytes() + b"GETFORCE".ljust(12))
        connection.close()
        self.assertIn(f"ipi: the server at 127.0.0.1:{listening.getsockname()[1]} closed the connection inside a reply", self.ends(process, 2).replace("\n", " "))

    def test_a_server_that_leaves_inside_a_message(self):
        for sent in (b"STAT", b"POSDATA".ljust(12) + bytes(100)):
            listening, place = self.server()
            process = self.start(place)
            connection = self.accepted(listening, process)
            connection.sendall(sent)
            connection.close()
            self.assertIn(f"ipi: the server at 127.0.0.1:{listening.getsockname()[1]} closed the connection inside a message", self.ends(process, 2).replace("\n", " "))

    def test_ase_drives_over_a_unix_socket(self):
        try:
            from ase import Atoms
            from ase.calculators.socketio import SocketIOCalculator
        except ImportError as error:
            self.skipTest(str(error))
        x, cell = self.positions(), 14.44 * np.eye(3)
        name = f"cambium_test_{os.getpid()}"
        atoms = Atoms(["Cu"] * len(x), x, cell=cell, pbc=True)
        with SocketIOCalculator(unixsocket=name, timeout=60) as calculator:
            process = self.start(f"unix_socket: {name}")
            atoms.calc = calculator
            expected = cambium.Potential({"type": "sutton_chen", "element": "Cu", "cutoff": 6.0})
            for _ in range(3):
                found = expected.evaluate(["Cu"] * len(x), atoms.positions, cell)
                self.assertLess(abs(atoms.get_potential_energy() / found.energy - 1), 1e-7)  # ASE's units are of CODATA 2014
                np.testing.assert_allclose(atoms.get_forces(), found.forces, atol=1e-6)
                stress = -found.virial / atoms.get_volume()
                np.testing.assert_allclose(atoms.get_stress()[:3], np.diag(stress), atol=1e-7)
                atoms.positions[0] += 0.05
        self.ends(process)


if __name__ == "__main__":
    unittest.main(verbosity=2)
