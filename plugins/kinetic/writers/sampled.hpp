#pragma once
#include <string>
#include <vector>

#include "core/particles/grid_fields.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"
#include "plugins/kinetic/writers/moments.hpp"

namespace cambium::kinetic {

/// Expansions evaluated for programs that support cells but no modes: every cell is divided into order + 1 parts along
/// each dimension, and a part has the value at its centre.

/// Moments of every species and the fields, over configuration space: electron_density, electron_flux, ..., E, B.
/// Collective; values on rank 0 only.
GridFields sampled_moments(const Vlasov& physics);

/// Axes of the global grid.
std::vector<GridFields::Axis> sampled_axes(const ConfGrid& conf);
/// Expansions over this rank's cells, under names fit for the top of a file: electron_density, electron_flux_x, ...,
/// Ex, ...; values [..., y, x].
struct SampledBrick {
  std::vector<std::int64_t> start, shape;  ///< [..., y, x] in the global grid
  std::vector<Expansion> fields;
  TensorRef tensor(std::size_t field) const;
};
SampledBrick sampled_brick(const ConfGrid& conf, const std::vector<Expansion>& own);
/// "electron/density" is electron_density, "field/Ex" is Ex.
std::string shown_name(std::string name);

/// Axes of phase space by name: x, y, z, vx, vy, vz as far as there are dimensions. InputError, beginning with `what`,
/// for other names, names that come twice, and more than three; all of them when `names` is empty and there are at most
/// three.
std::vector<int> axes_of(const PhaseGrid& grid, const std::vector<std::string>& names, const std::string& what);

/// The distribution function of a species over one to three axes, integrated over the others. Collective: the result is
/// on rank 0.
GridFields sampled_distribution(const Species& species, const std::vector<int>& axes, const Comm& comm);

}  // namespace cambium::kinetic
