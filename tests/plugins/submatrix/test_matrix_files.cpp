// Matrices as CP2K and Matrix Market files hold them.
#include <cstring>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/submatrix/matrices/matrix_file.hpp"
#include "plugins/submatrix/matrices/matrix_files.hpp"
#include "plugins/submatrix/tasks/matrix_input.hpp"
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
             std::to_string(h[3 * i + j]) + "E+000\n";
  return out;
}

std::string binary() {
  std::string out;
  const std::int32_t marker = 16;
  const auto add = [&](const void* p, std::size_t n) { out.append(static_cast<const char*>(p), n); };
  for (std::int32_t i = 1; i <= 3; ++i)
    for (std::int32_t j = i; j <= 3; ++j) {
      add(&marker, 4);
      add(&i, 4);
      add(&j, 4);
      add(&h[3 * (i - 1) + j - 1], 8);
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
  CHECK(problem(scratch, binary().substr(0, 100)) ==
        "FILE: 100 bytes are no whole number of records of 24; the file is truncated or no binary CSR file of CP2K");
  CHECK(problem(scratch, "0 1 2.0\n") == "FILE:1: row 0, column 1; rows and columns are counted from 1");
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

namespace {

const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n";

std::string market(const std::string& kind, const std::string& rest) {
  return "%%MatrixMarket matrix " + kind + "\n" + rest;
}

}  // namespace

TEST_CASE("a Matrix Market file is read by its banner's rules or says why not") {
  const Scratch scratch("submatrix_files");
  for (const char* kind : {"array pattern general", "coordinate float general", "coordinate real upper", "array real"})
    CHECK(problem(scratch, market(kind, "")) ==
          std::string("FILE:1: expected '%%MatrixMarket matrix', then coordinate or array, then real, integer, complex "
                      "or (with coordinate) pattern, then general, symmetric or hermitian; found '%%MatrixMarket "
                      "matrix ") +
              kind + "'");
  CHECK(problem(scratch, market("coordinate real skew-symmetric", "2 2 1\n2 1 1.0\n")) ==
        "FILE:1: the banner specifies skew-symmetric, where the mirrored element is the negative; the submatrix method "
        "needs "
        "a symmetric matrix");
  CHECK(problem(scratch, market("coordinate integer general", "1 1 1\n1 1 2.5\n")) ==
        "FILE:3: the banner specifies integer, found '2.5'; write real in the banner");
  CHECK(problem(scratch, market("coordinate pattern general", "1 1 1\n1 1 2.5\n")) ==
        "FILE:3: expected row and column, found 3 words; was the file truncated?");
  CHECK(problem(scratch, market("coordinate complex general", "1 1 1\n1 1 2.5\n")) ==
        "FILE:3: expected row, column, real and imaginary part, found 3 words; was the file truncated?");
  CHECK(problem(scratch, market("array real general", "2 2 4\n")) ==
        "FILE:2: expected the numbers of rows and columns");
  CHECK(problem(scratch, market("coordinate real general", "2 2\n")) ==
        "FILE:2: expected the numbers of rows, columns and elements");
  CHECK(problem(scratch, market("array real symmetric", "2 2\n1\n2\n3\n4\n")) ==
        "FILE:6: more than the 3 elements that the size of the matrix announces");
  CHECK(problem(scratch, market("coordinate real general", "1 1 1\n1 1 2.5\n1 1 2.5\n")) ==
        "FILE:4: more than the 1 elements that the line of sizes announces");
  CHECK(problem(scratch, market("coordinate real general", "2 3 1\n1 1 2.5\n")) ==
        "FILE:2: 2 rows and 3 columns; the matrix must be square");
  CHECK(problem(scratch, market("coordinate real general", "2 2 1\n3 1 2.5\n")) ==
        "FILE:3: row 3, column 1 of a matrix of 2 rows");
  CHECK(
      problem(scratch, banner + "2 2 3\n1 1 1.0\n2 1 1.0\n1 2 1.0\n") ==
      "FILE: row 2, column 1 and row 1, column 2 are both there, but the banner specifies that one triangle is stored; "
      "leave one of them out, or write general in the banner");
  for (const char* word : {"1.0x", "1e", "e5", ".", "1e400", "nan", "inf", "1.0-", "--1", "1,5", "0x1"})
    CHECK(problem(scratch, banner + "1 1 1\n1 1 " + word + "\n") ==
          std::string("FILE:3: expected a number for an element, found '") + word + "'");
}

TEST_CASE("numbers of C and of Fortran") {
  const Scratch scratch("submatrix_files");
  const std::string path = scratch.file("h");
  for (const auto& [word, value] :
       std::vector<std::pair<std::string, double>>{{"1.5D-03", 1.5e-3},
                                                   {"1.5d+3", 1.5e3},
                                                   {"1.5q0", 1.5},
                                                   {"0.123456789012345-103", 0.123456789012345e-103},
                                                   {"-.5+2", -50.0},
                                                   {"+5.", 5.0},
                                                   {"1e-310", 1e-310},
                                                   {"4.9E-324", 4.9e-324},
                                                   {"1e-400", 0.0},
                                                   {"-0.0000001E-390", 0.0},
                                                   {"1e+2", 100.0}}) {
    INFO(word);
    io::write_file_atomically(path, banner + "1 1 1\n1 1 " + word + "\n");
    CHECK(read_matrix_file(path).entries.at(0).value == value);
    io::write_file_atomically(path, "1 1 " + word + "\n");
    CHECK(read_matrix_file(path).entries.at(0).value == value);
  }
}

TEST_CASE("what may be meant as a banner is one, and triples are read only where they can be nothing else") {
  const Scratch scratch("submatrix_files");
  const std::string path = scratch.file("h"), rest = "3 3 3\n2 1 -0.25\n3 2 -0.12\n3 1 -0.12\n";
  for (const std::string head :
       {"%%MatrixMarket", "%%matrixmarket", "%MatrixMarket", "%% MatrixMarket", "\n%%MatrixMarket", "MATRIXMARKET",
        "\xEF\xBB\xBF%%MatrixMarket", "% made here\n\n%%MatrixMarket"}) {
    INFO(head);
    io::write_file_atomically(path, head + " matrix coordinate real symmetric\n" + rest);
    const MatrixFile file = read_matrix_file(path);
    CHECK(file.rows == 3);
    REQUIRE(file.entries.size() == 6);
    CHECK(file.entries[0].value == -0.25);
  }
  CHECK(problem(scratch, "% my matrix\n" + rest) ==
        "FILE:2: 3 3 3 may be the line of sizes of a Matrix Market file, which has no banner, or an element; put "
        "'%%MatrixMarket matrix coordinate real general' (or symmetric) before it, or write the element as 3.0");
  CHECK(problem(scratch, "1 1 2\n2 2 1\n2 1 0.5\n" + banner) ==
        "FILE:4: a banner of Matrix Market after elements; was one file appended to another?");
  CHECK(problem(scratch, "1 1 2\n2 2 1\n2 1 0.5\n") == "no error");  // row 2 is no row of a matrix of one row
  CHECK(problem(scratch, "3 3 3.0\n2 1 0.5\n") == "no error");
  CHECK(
      problem(scratch, "1 1 2.0\n2 1 0.5\n2 1 0.5\n2 2 1.0\n") ==
      "FILE: row 2, column 1 is there twice; in Matrix Market files (which begin with '%%MatrixMarket') such elements "
      "are added up, elsewhere their meaning is not defined");
  CHECK(problem(scratch, "\x1F\x8B\x08 1 2 3") == "FILE is compressed; unpack it first, for example by gunzip");
}

TEST_CASE("a file counted from 1 is told of in its own rows") {
  const Scratch scratch("submatrix_files");
  const std::string path = scratch.file("h");
  io::write_file_atomically(path, market("coordinate real general", "2 2 3\n1 1 1.0\n2 2 1.0\n2 1 0.5\n"));
  const MatrixFiles files{.hamiltonian = path, .molecule = {1}, .blocks = BlockKind::atom};
  CHECK(message([&] { read_matrix_files(files, {}); }) ==
        path +
            ": not symmetric: 0.5 at row 2, column 1, but 0 at the mirrored position; the submatrix method needs a "
            "symmetric matrix, both of whose triangles are alike");
  io::write_file_atomically(path, market("coordinate pattern symmetric", "2 2 3\n1 1\n2 2\n2 1\n"));
  const MatrixSystem system = read_matrix_files(files, {});
  REQUIRE(system.notes.size() == 1);
  CHECK(system.notes[0] == path + ": a pattern, every element that it names is 1");
}
