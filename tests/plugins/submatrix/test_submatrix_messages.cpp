// What a user reads when matrices cannot be used.
#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/tasks/density_matrix.hpp"
#include "plugins/submatrix/tasks/report.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// Three atoms of one function in two molecules.
struct Small {
  std::vector<double> k{-0.5, 0.1, 0.0, 0.1, 0.3, 0.05, 0.0, 0.05, -0.4}, s{1, 0.1, 0, 0.1, 1, 0.1, 0, 0.1, 1};
  std::vector<int> sizes{1, 1, 1}, molecule{0, 0, 1}, indptr{0, 3, 6, 9};
  int basis = 3;

  std::string write(const Scratch& scratch) const {
    const std::string path = scratch.file("m.h5");
    io::write_h5_atomically(path, [&](io::File& file) {
      file.set_attribute("n_basis", basis);
      file.set_attribute("n_electrons", 4);
      file.write("block_sizes_atom", sizes);
      file.write("molecule_of_atom", molecule);
      for (const auto* m : {&k, &s}) {
        io::Group group = file.create_group(m == &k ? "K" : "S");
        group.write("data", *m);
        group.write("indices", std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2});
        group.write("indptr", indptr);
      }
    });
    return path;
  }
  std::string problem(const Scratch& scratch) const {
    const std::string path = write(scratch);
    std::string text = message([&] { read_hdf5_cell(path, BlockKind::molecule); });
    if (text.starts_with(path)) text = text.substr(path.size());
    return text;
  }
};

}  // namespace

TEST_CASE("a matrix file that is not what it should be") {
  const Scratch scratch("submatrix_messages");
  Small m;
  CHECK(m.problem(scratch) == "no error");
  SECTION("not symmetric") {
    m.k[1] = 0.2;
    CHECK(m.problem(scratch) ==
          ": K: not symmetric: 0.2 at row 0, column 1, but 0.1 at the mirrored position; the submatrix method needs a "
          "symmetric matrix, both of whose triangles are alike");
  }
  SECTION("not finite") {
    m.s[5] = std::nan("");
    CHECK(m.problem(scratch) == ": S: the element at row 1, column 2 is nan; every element must be finite");
  }
  SECTION("block sizes") {
    m.basis = 4;
    CHECK(m.problem(scratch) ==
          ": the blocks of block_sizes_atom add up to 3 functions, but the matrices have 4 rows (n_basis)");
  }
  SECTION("molecules") {
    m.molecule = {0, 0};
    CHECK(m.problem(scratch) == ": molecule_of_atom has 2 entries, block_sizes_atom 3; they must agree");
  }
  SECTION("shortened") {
    m.k.pop_back();
    CHECK(m.problem(scratch) ==
          ": /K is no CSR matrix of 3 rows: indptr has 4 entries and ends at 9, indices 9, data 8; was the file "
          "truncated?");
  }
}

namespace {

/// A chain of one function a cell: H(0) = -0.5, H(+-1) = 0.1, of which these cells are stored.
std::string chain(const Scratch& scratch, const std::vector<int>& cells, bool in_two_parts = false) {
  const std::string path = scratch.file("chain.h5");
  io::write_h5_atomically(path, [&](io::File& file) {
    file.set_attribute("n_electrons", 1);
    file.write("block_sizes_atom", std::vector<int>{1});
    file.write("molecule_of_atom", std::vector<int>{0});
    std::vector<int> r;
    for (std::size_t q = 0; q < cells.size(); ++q) {
      r.insert(r.end(), {cells[q], 0, 0});
      for (const char* name : {"K", "S"}) {
        io::Group group = file.create_group("R_0" + std::to_string(q) + "/" + name);
        const double value = name[0] == 'S' ? (cells[q] == 0 ? 1.0 : 0.0) : cells[q] == 0 ? -0.5 : 0.1;
        const std::size_t parts = in_two_parts ? 2 : 1;
        group.write("data", std::vector<double>(parts, value / static_cast<double>(parts)));
        group.write("indices", std::vector<int>(parts, 0));
        group.write("indptr", std::vector<int>{0, static_cast<int>(parts)});
      }
    }
    file.write("R", r);
  });
  return path;
}

}  // namespace

TEST_CASE("one cell of a pair or both, and elements in parts, are the same crystal") {
  const Scratch scratch("submatrix_messages");
  World world(MPI_COMM_SELF);
  for (const auto& [cells, parts] : std::vector<std::pair<std::vector<int>, bool>>{
           {{0, 1}, false}, {{0, -1}, false}, {{0, 1, -1}, false}, {{-1, 1, 0}, true}}) {
    const CellSystem cell = read_hdf5_cell(chain(scratch, cells, parts), BlockKind::atom);
    const MatrixSystem system = supercell(cell, {4, 1, 1}, world.comm);
    CHECK(system.hamiltonian.block(0, 0)[0] == -0.5);
    CHECK(system.hamiltonian.block(0, 1)[0] == 0.1);
    CHECK(system.hamiltonian.block(1, 0)[0] == 0.1);
    CHECK(system.hamiltonian.block(0, 3)[0] == 0.1);
  }
  const std::string path = chain(scratch, {0, 1, 1});
  CHECK(message([&] { read_hdf5_cell(path, BlockKind::atom); }) ==
        path + ": R holds the cell (1 0 0) twice; expected once");
}

TEST_CASE("a truncated file is refused by name") {
  const Scratch scratch("submatrix_messages");
  const std::string path = Small().write(scratch);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  CHECK(message([&] { read_hdf5_cell(path, BlockKind::molecule); }).find(path) != std::string::npos);
}

TEST_CASE("wrong unit, missing file, neither mu nor electrons") {
  const Scratch scratch("submatrix_messages");
  World world(MPI_COMM_SELF);
  MatrixInput input;
  input.file = Small().write(scratch);
  input.unit = "eV";
  CHECK(message([&] { read_matrices(input, world.context); }) ==
        "matrices.unit is eV, but '" + input.file +
            "' is in Cambium's HDF5 layout, whose energies are in hartree; leave 'unit' out");
  input = {};
  input.file = "none.h5";
  CHECK(message([&] { read_matrices(input, world.context); }) ==
        "matrix file 'none.h5' does not exist; check the path (relative paths start at the folder where the program "
        "was started)");
}

TEST_CASE("S that is not positive definite names value and block") {
  World world(MPI_COMM_SELF);
  const auto layout = std::make_shared<const BlockLayout>(std::vector<int>{1, 1, 1});
  MatrixSystem system{layout, ColumnRanges{{0, 3}}, BlockColumns(layout), BlockColumns(layout), 3, 2.0, {}, {}, "bad",
                      {}};
  for (int c = 0; c < 3; ++c)
    for (auto* m : {&system.hamiltonian, &system.overlap}) {
      m->start_column(c);
      for (int r = 0; r < 3; ++r)
        *m->add_block(r) = r == c ? 1.0 : r + c == 3 ? 1.5 : 0.0;  // blocks 1 and 2 overlap too much
    }
  system.hamiltonian.finish();
  system.overlap.finish();
  DensityOptions options;
  options.electrons = 2.0;
  CHECK(message([&] { density_matrix(system, options, world.context); }) ==
        "S is not positive definite: an eigenvalue of -0.5 near block 1 (counted from 0); look for atoms that coincide "
        "there, or for functions that depend linearly on others");
  options.form = Form::local;
  options.solver = SolverKind::diagonalise;
  CHECK(message([&] { density_matrix(system, options, world.context); }) ==
        "S is not positive definite: the submatrix of block 1 (counted from 0) has no Cholesky factor; look for atoms "
        "that coincide there, or for functions that depend linearly on others");
}

namespace {

/// What a run says beside its result, one warning a line.
std::string warnings_of(const MatrixSystem& system, const DensityOptions& options) {
  World own(MPI_COMM_SELF);
  const auto result = density_matrix(system, options, own.context);
  describe_result(system, options, result, own.context);
  std::string all;
  for (const auto& warning : own.log.warnings()) all += warning.text + "\n";
  return all;
}

}  // namespace

TEST_CASE("numbers of electrons that cannot be") {
  World world(MPI_COMM_SELF);
  const MatrixSystem system = Chain(20).system(world.comm);  // 47 functions
  DensityOptions options;
  options.electrons = 40.5;
  CHECK(message([&] { density_matrix(system, options, world.context); }) ==
        "electrons is 40.5: without temperature it must be a whole number; correct it, or add a temperature "
        "(temperature: "
        "1000 K)");
  options.kt = 0.01;
  CHECK(message([&] { density_matrix(system, options, world.context); }) == "no error");
  options.electrons = 96.0;
  CHECK(message([&] { density_matrix(system, options, world.context); }) ==
        "electrons is 96, but 47 functions hold at most 94; give the number of electrons of these matrices, without "
        "those of the cores");
  options.mu = 0.0;
  CHECK(message([&] { density_matrix(system, options, world.context); }) == "no error");
}

TEST_CASE(
    "an eps beyond every coupling, iterations that end early and Krylov spaces that do not converge are warned of") {
  World world(MPI_COMM_SELF);
  const Chain chain(20);
  const MatrixSystem system = chain.system(world.comm);
  DensityOptions options;
  options.electrons = 40.0;
  SECTION("eps") {
    options.eps = 0.5;
    options.eps_overlap = 1e-5;
    INFO(warnings_of(system, options));
    CHECK(warnings_of(system, options).starts_with("eps_filter = 0.5 hartree drops blocks that amount to "));
    CHECK(warnings_of(system, options)
              .find(": energy and density are not those of the matrices; choose a smaller eps\n") != std::string::npos);
    options.eps = 1e-3;
    CHECK(warnings_of(system, options).empty());
  }
  SECTION("bfloat16") {
    const auto levels = chain.levels();
    options.mu = 0.5 * (levels[19] + levels[20]);
    options.solver = SolverKind::newton_schulz;
    options.precision = Precision::bfloat16;
    const std::string text = warnings_of(system, options);
    CHECK(text.starts_with("bfloat16 factors end the iteration of the sign function at |X^2 - I| = "));
    CHECK(text.find(" per row, so that energies are off by some tens to hundreds of meV/atom; choose precision: "
                    "float32 or float64\n") != std::string::npos);
    options.precision = Precision::float32;
    CHECK(warnings_of(system, options).empty());
  }
  SECTION("Krylov spaces") {
    options.krylov_tolerance = 1e-18;
    const std::string text = warnings_of(Chain(80).system(world.comm), [&] {
      DensityOptions of_all = options;
      of_all.electrons = 160.0;
      of_all.eps = of_all.eps_overlap = 1e-14;
      return of_all;
    }());
    INFO(text);
    CHECK(text.find("had not converged after the last Krylov block and were diagonalised: states lie too near to mu, "
                    "or krylov_tolerance is too small; solver: diagonalise leaves out the Krylov blocks\n") !=
          std::string::npos);
  }
}

TEST_CASE("a chemical potential in no gap and a lost electron are warned of") {
  World world(MPI_COMM_SELF);
  const Chain chain(20);
  const MatrixSystem system = chain.system(world.comm);
  DensityOptions options;
  options.electrons = 40.0;
  CHECK(warnings_of(system, options).empty());
  const auto levels = chain.levels();
  options.mu = levels[5] + 1e-4;
  const std::string text = warnings_of(system, options);
  CHECK(text.find("is in no gap: half an electron on either side is within") != std::string::npos);
  CHECK(text.find("metals need an electronic temperature (temperature: 1000 K)") != std::string::npos);
  CHECK(text.find("more than 0.01 per block: eps_filter = 1e-05 is too large, or mu is that of another charge") !=
        std::string::npos);
}

TEST_CASE("a deck with eps of 1 or more") {
  const auto keys = deck::parse("matrices: {file: m.h5}\neps_filter: 2\noutput: [densities]\n", "d.yaml");
  deck::Problems problems;
  deck::read<DensityTask::Params>(keys, problems);
  std::string all;
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    all = error.what();
  }
  CHECK(all.find("d.yaml:2:13: eps_filter: found 2, expected a number > 0 and < 1 hartree") != std::string::npos);
}
