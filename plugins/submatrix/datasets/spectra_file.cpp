#include "plugins/submatrix/datasets/spectra_file.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/base/error.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/model_seal.hpp"

namespace cambium::submatrix {

void write_spectra(const std::string& path, const SpectraFile& spectra, const io::Provenance& provenance) {
  std::vector<int> columns;
  std::vector<double> homo, lumo, moments, energy;
  for (const auto& s : spectra.samples) {
    columns.push_back(s.columns);
    homo.push_back(s.homo);
    lumo.push_back(s.lumo);
    moments.insert(moments.end(), s.moments.begin(), s.moments.end());
    energy.insert(energy.end(), s.energy.begin(), s.energy.end());
  }
  io::write_sealed_h5(path, [&](io::File& file) {
    io::write_provenance(file, provenance);
    file.set_attribute(
        "description",
        "local spectra of block columns: Chebyshev moments, band energies, levels of each Hamiltonian; hartree");
    file.set_attribute("window", std::vector<double>{spectra.window.low, spectra.window.high});
    file.set_attribute("functions", spectra.functions);
    io::follow_cf(file);
    io::write_dimension(file, "hamiltonian", std::ssize(columns));
    io::write_dimension(file, "block_column", std::ssize(energy));
    io::write_dimension(file, "moment", spectra.count);
    auto add = [&](io::Dataset array, const char* unit, const char* meaning, const std::vector<std::string>& along) {
      io::labelled(array, unit, meaning);
      file.attach_scales(array.path(), along);
    };
    add(file.write("columns", columns), "", "block columns of each Hamiltonian", {"hamiltonian"});
    add(file.write("homo", homo), "hartree", "highest occupied level", {"hamiltonian"});
    add(file.write("lumo", lumo), "hartree", "lowest empty level", {"hamiltonian"});
    add(file.write("band_energy", energy), "hartree", "band energy of each block column", {"block_column"});
    add(file.write("moments", io::tensor_of(moments.data(), {std::ssize(energy), spectra.count})), "",
        "Chebyshev moments of each block column's local spectrum", {"block_column", "moment"});
  });
}

SpectraFile read_spectra(const std::string& path) {
  io::require_sound_model(path);
  const io::File file = io::File::open(path);
  if (!file.exists("moments") || !file.has_attribute("window"))
    throw InputError(
        fmt::format("'{}' was not written by a stage local_spectra: it has no moments of local spectra", path));
  SpectraFile out;
  const auto window = file.attribute<std::vector<double>>("window");
  out.functions = file.attribute<int>("functions");
  const auto shape = file.dataset("moments").shape();
  if (window.size() != 2 || shape.size() != 2)
    throw InputError(fmt::format(
        "{}: a window of {} values and moments along {} dimensions, expected 2 and 2; was the file changed?", path,
        window.size(), shape.size()));
  out.window = {window[0], window[1]};
  out.count = static_cast<int>(shape[1]);
  const auto columns = file.read<std::vector<int>>("columns");
  const auto homo = file.read<std::vector<double>>("homo"), lumo = file.read<std::vector<double>>("lumo"),
             moments = file.read<std::vector<double>>("moments"),
             energy = file.read<std::vector<double>>("band_energy");
  for (int n : columns)
    if (n < 0) throw InputError(fmt::format("{}: a Hamiltonian of {} block columns; was the file changed?", path, n));
  const std::int64_t all = std::accumulate(columns.begin(), columns.end(), std::int64_t{0});
  if (all != std::ssize(energy) || all * out.count != std::ssize(moments) || columns.size() != homo.size() ||
      columns.size() != lumo.size())
    throw InputError(fmt::format("{}: {} block columns, but {} band energies and {} moments; was the file truncated?",
                                 path, all, energy.size(), moments.size()));
  std::ptrdiff_t at = 0;
  for (std::size_t s = 0; s < columns.size(); at += columns[s], ++s) {
    const auto next = at + columns[s];
    out.samples.push_back({columns[s],
                           out.functions,
                           homo[s],
                           lumo[s],
                           {moments.begin() + at * out.count, moments.begin() + next * out.count},
                           {energy.begin() + at, energy.begin() + next}});
  }
  return out;
}

}  // namespace cambium::submatrix
