// Hamiltonians and overlaps.
#include <fstream>

#include "plugins/submatrix/datasets/spectra_file.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/matrices/matrix_file.hpp"
#include "plugins/submatrix/matrices/matrix_files.hpp"
#include "tests/fuzz/subjects.hpp"

namespace fuzz {

namespace fs = std::filesystem;

/// A small cell in the layout of HDF5, as write_small_cell.hpp of the tests of the plugin would do by hand.
static void write_cell(const std::string& path) {
  auto file = cambium::io::File::create(path);
  const std::vector<int> functions{2, 1, 1, 2, 1, 1}, molecule{0, 0, 0, 1, 1, 1}, numbers{8, 1, 1, 8, 1, 1};
  file.write("block_sizes_atom", functions);
  file.write("molecule_of_atom", molecule);
  file.write("atomic_numbers", numbers);
  std::vector<double> x(18);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.7 * static_cast<double>(k);
  file.write("coordinates_angstrom", x);
  file.write("cell_angstrom", std::vector<double>{20, 0, 0, 0, 20, 0, 0, 0, 20});
  file.set_attribute("n_electrons", 8.0);
  file.set_attribute("n_basis", 8);
  file.set_attribute("ref_band_energy", -4.0);
  file.set_attribute("homo", -0.5);
  file.set_attribute("lumo", 0.5);
  for (const std::string name : {"K", "S"}) {
    std::vector<std::int64_t> indptr{0};
    std::vector<int> indices;
    std::vector<double> data;
    for (int row = 0; row < 8; ++row) {
      for (int column = row; column < std::min(8, row + 3); ++column) {
        indices.push_back(column);
        data.push_back(column == row ? (name == "S" ? 1.0 : row % 4 ? 0.5 : -0.5) : 0.01);
      }
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
    file.write("/" + name + "/indptr", indptr);
    file.write("/" + name + "/indices", indices);
    file.write("/" + name + "/data", data);
  }
  file.close();
}

void submatrix_subjects(const Places& places, std::vector<Subject>& out) {
  using namespace cambium::submatrix;
  const fs::path inputs = places.source / "inputs/submatrix", small = places.made / "small_cell";
  fs::create_directories(small);
  if (!fs::exists(small / "small.h5")) write_cell((small / "small.h5").string());
  out.push_back({"cell_h5", Subject::Form::h5, small, "small.h5",
                 [] {
                   read_hdf5_cell("small.h5", BlockKind::molecule);
                   read_hdf5_reference("small.h5", {1, 1, 1});
                   return 0;
                 },
                 100});
  out.push_back({"water_h5", Subject::Form::h5, folder_with(places, "water_h5", inputs / "h2o32.h5"), "h2o32.h5",
                 [] {
                   read_hdf5_cell("h2o32.h5", BlockKind::molecule);
                   read_hdf5_reference("h2o32.h5", {1, 1, 1});
                   return 0;
                 },
                 6});
  for (const std::string name : {"o2_ks_up.csr", "o2_s.csr"})
    out.push_back({"csr:" + name, Subject::Form::text, folder_with(places, name, inputs / name), name,
                   [name] {
                     read_matrix_file(name);
                     return 0;
                   },
                   30});
  const fs::path market = places.made / "market";
  fs::create_directories(market);
  std::ofstream(market / "a.mtx")
      << "%%MatrixMarket matrix coordinate real symmetric\n% made\n3 3 4\n1 1 0.5\n2 2 0.5\n3 3 0.5\n2 1 0.1\n";
  out.push_back({"matrix_market", Subject::Form::text, market, "a.mtx",
                 [] {
                   read_matrix_files({.hamiltonian = "a.mtx", .molecule = {1, 2}}, {});
                   return 0;
                 },
                 60});
  const fs::path spectra = places.made / "spectra";
  fs::create_directories(spectra);
  if (!fs::exists(spectra / "spectra.h5")) {
    SpectraFile file;
    file.window = {-1.0, 1.0};
    file.functions = 2;
    file.count = 3;
    for (int k = 0; k < 2; ++k) file.samples.push_back({2, 2, -0.1, 0.1, {1, 2, 3, 4, 5, 6}, {-1.0, -2.0}});
    write_spectra((spectra / "spectra.h5").string(), file, {});
  }
  out.push_back({"spectra", Subject::Form::h5, spectra, "spectra.h5",
                 [] {
                   read_spectra("spectra.h5");
                   return 0;
                 },
                 50});
}

}  // namespace fuzz
