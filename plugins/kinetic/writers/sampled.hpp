#pragma once
#include <string>
#include <vector>

#include "core/state/grid_fields.hpp"
#include "plugins/kinetic/vlasov/vlasov.hpp"
#include "plugins/kinetic/writers/moments.hpp"

namespace cambium::kinetic {

/// Expansions evaluated where programs that know cells and nothing of modes can show them: every cell is cut into order
/// + 1 parts along each dimension, and a part has the value at its centre.

/// Moments of every species and the fields, over configuration space: electron_density, electron_flux, ..., E, B. The
/// same on every rank. Collective.
GridFields sampled_moments(const Vlasov& physics);

/// The same, a component at a time, under the names of expansions_of() made fit for the top of a file:
/// electron_density, electron_flux_x, ..., Ex, ...; values [..., y, x].
/// Collective.
struct SampledMoments {
  std::vector<GridFields::Axis> axes;
  std::vector<Expansion> fields;
};
SampledMoments sampled_components(const Vlasov& physics);
/// "electron/density" is electron_density, "field/Ex" is Ex.
std::string shown_name(std::string name);

/// Axes of phase space by name: x, y, z, vx, vy, vz as far as there are dimensions. InputError, beginning with `what`,
/// for other names, names that come twice, and more than three; all of them when `names` is empty and there are at most
/// three.
std::vector<int> axes_of(const PhaseGrid& grid, const std::vector<std::string>& names, const std::string& what);

/// The distribution function of a species over one to three axes, integrated over the others. Collective: whole on rank
/// 0.
GridFields sampled_distribution(const Species& species, const std::vector<int>& axes, const Comm& comm);

}  // namespace cambium::kinetic
