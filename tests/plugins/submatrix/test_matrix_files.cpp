// Matrices as CP2K and Matrix Market files hold them.
#include <cstring>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/submatrix/matrices/matrix_file.hpp"
#include "plugins/submatrix/report/matrix_input.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

const std::vector<double> h{-0.5, 0.1, 0.02, 0.1, 0.3, 0.05, 0.02, 0.05, -0.4};

std::string text(bool upper, const std::string& header) {
  std::string out = header;
  for (int i = 0; i < 3; ++i)
    for (int j = upper ? i : 0; j < 3; ++j)
      out += "       " + std::to_string(i + 1) + "       " + std::to_string(j + 1) + "  " +
             std::to_string(h[static_cast<std::size_t>(3 * i + j)]) + "E+000\n";
  return out;
}

std::string binary() {
  std::string out;
  const std::int32_t marker = 16;
  const auto add = [&](const void* p, std::size_t n) { out.append(static_cast<const char*>(p), n); };
  for (std::int32_t i = 1; i <= 3; ++i)
    for (std::int32_t j = i; j <= 3; ++j) {
      add(&marker, 4), add(&i, 4), add(&j, 4), add(&h[static_cast<std::size_t>(3 * (i - 1) + j - 1)], 8),
          add(&marker, 4);
    }
  return out;
}

std::string problem(const Scratch& scratch, const std::string& content) {
  const std::string path = scratch.file("h");
  io::write_file_atomically(path, content);
  std::string out = message([&] { read_matrix_file(path); });
  for (auto at = out.find(path); at != std::string::npos; at = out.find(path)) out.replace(at, path.size(), "FILE");
  return out;
}

}  // namespace

TEST_CASE("every format gives the same Hamiltonian, block by block") {
  const Scratch scratch("submatrix_files");
  World world(MPI_COMM_SELF);
  MatrixInput input;
  input.molecule = {1, 2};
  for (const std::string& content : {text(false, ""), text(true, ""), binary(),
                                     text(true, "%%MatrixMarket matrix coordinate real symmetric\n% note\n3 3 6\n"),
                                     text(false, "%%MatrixMarket matrix coordinate real general\n3 3 9\n")}) {
    input.hamiltonian = scratch.file("h");
    io::write_file_atomically(input.hamiltonian, content);
    input.blocks = BlockKind::atom;
    const MatrixSystem system = read_matrices(input, world.context);
    REQUIRE(system.layout->blocks() == 2);
    CHECK(system.layout->size(1) == 2);
    CHECK(system.atoms == 2);
    const double* block = system.hamiltonian.block(0, 1);
    CHECK(block[0] == 0.1);
    CHECK(block[1] == 0.02);
    CHECK(system.hamiltonian.block(1, 0)[1] == 0.02);
    CHECK(system.hamiltonian.block(1, 1)[1] == 0.05);
    CHECK(system.overlap.block(1, 1)[3] == 1.0);
  }
  input.unit = "eV";
  CHECK(read_matrices(input, world.context).hamiltonian.block(0, 0)[0] == Approx(-0.5 / 27.211386245988).epsilon(1e-9));
}

TEST_CASE("a matrix file that cannot be used says why") {
  const Scratch scratch("submatrix_files");
  CHECK(problem(scratch, "1 1 2.0\n1 2\n") ==
        "FILE:2: expected row, column and value, found 2 words; was the file truncated?");
  CHECK(
      problem(scratch, "1 1 2.0\n1 2 0.1\n") ==
      "FILE: row 2, the last one, has no diagonal element; was the file truncated? If that element is zero, write it");
  CHECK(problem(scratch, "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1.0\n2 2 1.0\n") ==
        "FILE: 3 elements announced, 2 found; the file is truncated");
  CHECK(problem(scratch, "%%MatrixMarket matrix array real general\n") ==
        "FILE:1: expected '%%MatrixMarket matrix coordinate real symmetric' (or general)");
  CHECK(problem(scratch, binary().substr(0, 100)) ==
        "FILE: 100 bytes are no whole number of records of 24; the file is truncated or no binary CSR file of CP2K");
  CHECK(problem(scratch, "0 1 2.0\n") == "FILE: row 0, column 1; rows and columns are counted from 1");
  World world(MPI_COMM_SELF);
  MatrixInput input;
  input.hamiltonian = scratch.file("h");
  io::write_file_atomically(input.hamiltonian, text(false, ""));
  input.molecule = {4, 1, 1};
  CHECK(message([&] { read_matrices(input, world.context); }) ==
        input.hamiltonian +
            " has 3 rows, which are no whole number of molecules of 6 functions; 'molecule' holds the functions of "
            "each atom of one molecule");
}
