#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/grid_fields.hpp"
#include "core/particles/state.hpp"

namespace cambium::superres {

/// A snapshot of a convection run at the centres of all cells, each field by (x, z) or, in three dimensions, (x, y, z).
struct CentredFields {
  std::vector<std::string> names;           ///< p, b, u, (v,) w
  std::vector<double> x, y, z;              ///< centres; y is empty in two dimensions
  std::vector<std::vector<double>> values;  ///< in the order of `names`; p has no mean

  /// "x", ("y",) "z"
  std::vector<std::string> axes() const;
  std::vector<std::int64_t> shape() const;
};

/// The names of CentredFields.
std::vector<std::string> centred_names(bool spatial);
/// True if the state is that of a three-dimensional flow.
bool is_spatial(const State& state);

/// Collective; filled on rank 0. Velocities are means of the two faces of a cell. InputError when the state is not that
/// of a convection physics.
CentredFields centred_fields(const State& state, const Comm& comm);

/// Collective, values on rank 0: p, b, the velocity (u, w, 0) or (u, v, w) and further scalars on the cells between
/// their faces, for the output `vtkhdf`.
GridFields grid_fields_of(const State& state, const Comm& comm);

/// Subtracts the volume mean from a pressure in columns of cells with equal base, each from plate to plate with cells
/// between `faces`: a constant that no equation determines.
void remove_mean(std::span<double> p, std::span<const double> faces, std::size_t columns);

/// Host copy of a global field of the state, e.g. the faces of the cells.
std::vector<double> global_values(const State& state, const char* name);

}  // namespace cambium::superres
