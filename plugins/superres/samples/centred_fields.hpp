#pragma once
#include <array>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/grid_fields.hpp"
#include "core/particles/state.hpp"

namespace cambium::superres {

/// One instant of a convection run at the centres of all cells, each field by (x, z).
struct CentredFields {
  static constexpr std::array<const char*, 4> names{"p", "b", "u", "w"};
  std::vector<double> x, z;                   ///< centres
  std::array<std::vector<double>, 4> values;  ///< in the order of `names`; p has no mean
};

/// Collective; filled on rank 0. Velocities are means of the two faces of a cell. InputError when the state is not that
/// of a convection physics.
CentredFields centred_fields(const State& state, const Comm& comm);

/// Collective, values on rank 0: p, b, the velocity (u, w, 0) and further scalars on the cells between their faces, for
/// the output `vtkhdf`.
GridFields grid_fields_of(const State& state, const Comm& comm);

/// Takes the volume mean from a pressure by (x, z) on cells of equal width between the faces along z: a constant that
/// no equation determines.
void remove_mean(std::span<double> p, std::span<const double> faces, std::size_t nx);

/// Host copy of a global field of the state, e.g. the faces of the cells.
std::vector<double> global_values(const State& state, const char* name);

}  // namespace cambium::superres
