#pragma once
#include <string>

#include "core/io/provenance.hpp"
#include "plugins/submatrix/datasets/exact_levels.hpp"

namespace cambium::submatrix {

/// Content of a file of the stage local_spectra. Datasets: columns, homo, lumo (for each Hamiltonian), moments (block
/// columns of all of them x count), band_energy; attributes: window (2), functions. Hartree.
struct SpectraFile {
  Window window;
  int functions = 0;  ///< of each block
  int count = 0;      ///< moments of each block column
  std::vector<LevelSample> samples;
};

void write_spectra(const std::string& path, const SpectraFile& spectra, const io::Provenance& provenance);
/// InputError for a file that is none of these.
SpectraFile read_spectra(const std::string& path);

}  // namespace cambium::submatrix
