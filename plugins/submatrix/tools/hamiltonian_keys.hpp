#pragma once
#include <string>
#include <vector>

#include "plugins/submatrix/tools/hsd_section.hpp"

namespace cambium::submatrix {

/// Where the input is and which atoms it has.
struct InputContext {
  std::string folder;                ///< paths of the input are from here on
  std::vector<std::string> species;  ///< of every atom
};

/// Keys of `dftb` for the block Hamiltonian = DFTB { ... }, one to a line, without indentation.
std::vector<std::string> hamiltonian_keys(HsdSection& root, const InputContext& context);

/// "300 K" for a temperature or an energy k_B T with its unit.
std::string temperature_text(const std::string& quantity);

}  // namespace cambium::submatrix
