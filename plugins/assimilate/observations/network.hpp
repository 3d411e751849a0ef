#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/forecast_model.hpp"

namespace cambium::assimilate {

/// One observed value: a weighted sum of elements of the state, located at (x, z).
struct Observation {
  std::size_t field = 0;  ///< of the state space
  double x = 0.0, z = 0.0;
  std::vector<std::pair<std::size_t, double>> row;  ///< of the observation operator H: element, weight
  double deviation = 0.0;                           ///< standard deviation of its error
};

/// Observation network, the same at all times. H is linear.
struct Network {
  std::vector<Observation> list;
  std::size_t size() const { return list.size(); }
  /// Applies H to the state; `out` has size() elements.
  void apply(std::span<const double> state, std::span<double> out) const;
};

enum class Operator { points, blocks };

/// Keys of the observations.
struct NetworkKeys {
  std::vector<std::string> fields;
  std::array<std::int64_t, 2> stride{1, 1};
  std::vector<std::array<double, 2>> positions;
  Operator operation = Operator::points;
  std::optional<std::array<double, 2>> between_x, between_z;
  std::optional<double> error, relative_error;
};

/// Fields of the state space that `keys` name, all of them when it names none. KeyError for one that the model lacks.
std::vector<std::size_t> observed_fields(const NetworkKeys& keys, const StateSpace& space);

/// Observations of the chosen fields: at every stride-th cell centre, or at given positions by linear interpolation
/// between centres, whose values are interpolated from the field's own grid points; or area-weighted means over blocks
/// of stride cells. `scale`: standard deviation of every field of the space; relative_error is relative to it. KeyError
/// when a position is outside the domain, a field is unknown or nothing is observed.
Network make_network(const NetworkKeys& keys, const StateSpace& space, std::span<const double> scale);

/// All fields at the centres of all cells, in the order of the state: p = space.elements().
Network centres(const StateSpace& space);
/// State space of the values of centres().
StateSpace centred(StateSpace space);

/// Distance of two positions; the shorter way around if x is periodic.
double distance(const StateSpace& space, double x1, double z1, double x2, double z2);

}  // namespace cambium::assimilate
