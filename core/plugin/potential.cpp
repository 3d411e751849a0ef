#include "core/plugin/potential.hpp"

#include "core/base/error.hpp"

namespace cambium {

void refuse_open_boundaries(const Potential& potential, bool periodic) {
  if (periodic || !potential.needs_periodic_cell()) return;
  throw InputError(
      "the structure is not periodic along all three cell vectors, but the potential sums over all images of a "
      "periodic cell (coulomb with method mesh or ewald, dftb with periodic: true) or needs its mean density "
      "(lennard_jones or sutton_chen with tail: true); give a periodic cell, for a molecule one with empty space, or "
      "take a form for open boundaries (coulomb with method: dsf, dftb with periodic: false, tail: false)");
}

}  // namespace cambium
