// What a user reads when matrices cannot be used.
#include "core/base/error.hpp"
#include "core/io/atomic_file.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/task/density_task.hpp"
#include "plugins/submatrix/task/report.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"
#include "tests/unit/scratch.hpp"

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
          ": K: not symmetric: 0.2 at row 0, column 1, but 0.1 in the mirrored place; the submatrix method needs a symmetric matrix");
  }
  SECTION("not finite") {
    m.s[5] = std::nan("");
    CHECK(m.problem(scratch) == ": S: the element at row 1, column 2 is nan; every element must be finite");
  }
  SECTION("block sizes") {
    m.basis = 4;
    CHECK(m.problem(scratch) == ": the blocks of block_sizes_atom add up to 3 functions, but the matrices have 4 rows (n_basis)");
  }
  SECTION("molecules") {
    m.molecule = {0, 0};
    CHECK(m.problem(scratch) == ": molecule_of_atom has 2 entries, block_sizes_atom 3; they must agree");
  }
  SECTION("shortened") {
    m.k.pop_back();
    CHECK(m.problem(scratch) ==
          ": /K is no CSR matrix of 3 rows: indptr has 4 entries and ends at 9, indices 9, data 8; was the file truncated?");
  }
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
        "matrices.unit is eV, but '" + input.file + "' is in Cambium's HDF5 layout, whose energies are in hartree; leave 'unit' out");
  input = {};
  input.file = "none.h5";
  CHECK(message([&] { read_matrices(input, world.context); }) == "matrix file 'none.h5' does not exist");
}

TEST_CASE("S that is not positive definite names value and block") {
  World world(MPI_COMM_SELF);
  const auto layout = std::make_shared<const BlockLayout>(std::vector<int>{1, 1, 1});
  MatrixSystem system{layout, ColumnRanges{{0, 3}}, BlockColumns(layout), BlockColumns(layout), 3, 2.0, {}, {}, "bad", {}};
  for (int c = 0; c < 3; ++c)
    for (auto* m : {&system.hamiltonian, &system.overlap}) {
      m->start_column(c);
      for (int r = 0; r < 3; ++r) *m->add_block(r) = r == c ? 1.0 : r + c == 3 ? 1.5 : 0.0;  // blocks 1 and 2 overlap too much
    }
  system.hamiltonian.finish();
  system.overlap.finish();
  DensityOptions options;
  options.electrons = 2.0;
  CHECK(message([&] { density_matrix(system, options, world.context); }) ==
        "S is not positive definite: an eigenvalue of -0.5 near block 1 (counted from 0); look for atoms that coincide there, or for "
        "functions that depend linearly on others");
  options.form = Form::local, options.solver = SolverKind::diagonalise;
  CHECK(message([&] { density_matrix(system, options, world.context); }) ==
        "S is not positive definite: the submatrix of block 1 (counted from 0) has no Cholesky factor; look for atoms that coincide there, or for "
        "functions that depend linearly on others");
}

TEST_CASE("a chemical potential in no gap and a lost electron are warned of") {
  World world(MPI_COMM_SELF);
  const Chain chain(20);
  const MatrixSystem system = chain.system(world.comm);
  const auto warned = [&](const DensityOptions& options) {
    World own(MPI_COMM_SELF);
    const auto result = density_matrix(system, options, own.context);
    describe_result(system, options, result, own.context);
    std::string all;
    for (const auto& warning : own.log.warnings()) all += warning.text + "\n";
    return all;
  };
  DensityOptions options;
  options.electrons = 40.0;
  CHECK(warned(options).empty());
  const auto levels = chain.levels();
  options.mu = levels[5] + 1e-4;
  const std::string text = warned(options);
  CHECK(text.find("lies in no gap: half an electron on either side lies within") != std::string::npos);
  CHECK(text.find("metals need an electronic temperature (temperature: 1000 K)") != std::string::npos);
  CHECK(text.find("more than 0.01 per block: eps = 1e-05 is too large, or mu is that of another charge") != std::string::npos);
}

TEST_CASE("a deck with eps of 1 or more") {
  const auto keys = deck::parse("matrices: {file: m.h5}\neps: 2\noutput: [densities]\n", "d.yaml");
  deck::Problems problems;
  deck::read<DensityTask::Params>(keys, problems);
  std::string all;
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    all = error.what();
  }
  CHECK(all.find("d.yaml:2:6: eps: found 2, expected a number > 0 and < 1 hartree") != std::string::npos);
}
