#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/citation.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Layout of a model's state. All fields have the same nx x nz cells; a field may be off their centres (staggered
/// grids). Element of field f, column i, row k of a state: (f nx + i) nz + k.
struct StateSpace {
  struct Field {
    std::string name;           ///< as decks name it: "b"
    std::string doc;            ///< "buoyancy"
    std::vector<double> x, z;   ///< coordinates of its values: nx and nz, both ascending
    bool wall_below = false;    ///< row 0 is on a wall, where the value is 0, as on span_z[1]: no filter changes it
    bool wall_at_left = false;  ///< the same of column 0 and span_x[1]
    bool follows = false;       ///< determined by the others (a pressure): corrected with them, left out of scores
  };
  std::vector<Field> fields;
  std::vector<double> x, z;              ///< centres of the cells
  double period = 0.0;                   ///< along x; 0: x has ends
  std::array<double, 2> span_x, span_z;  ///< domain of observations
  std::string time_unit = {};

  std::size_t nx() const { return x.size(); }
  std::size_t nz() const { return z.size(); }
  std::size_t places() const { return nx() * nz(); }
  std::size_t elements() const { return fields.size() * places(); }
};

/// Fields at instants, read from a file: values of frame t and field f by (x, z).
struct FieldRecord {
  std::vector<std::string> names;
  std::vector<double> times, x, z;
  std::vector<std::vector<double>> values;  ///< one array (t, x, z) per name
};

/// A model as input of filters: a state as a plain array, advanced in time. An object serves one rank and keeps no
/// state between calls that affects the next one, so that it may advance the members of an ensemble in turn.
class ForecastModel {
 public:
  using Kind = ForecastModel;
  static constexpr std::string_view kind = "forecast_model";
  virtual ~ForecastModel() = default;

  virtual const StateSpace& space() const = 0;
  /// Before all others: takes parameters that the deck leaves out from the file that is the truth, if it states them.
  virtual void take_from(const std::string& /*path*/) {}
  /// A state from which a spin-up leads to the attractor; another one for each `seed` and `id`.
  virtual std::vector<double> first_state(std::uint64_t seed, std::uint64_t id) = 0;
  /// Advances a state of space().elements() values. NumericalError if it does not stay finite.
  virtual void advance(std::span<double> state, double from, double to) = 0;
  /// After an analysis: restores constraints of the equations (div u = 0).
  virtual void restore_balance(std::span<double> /*state*/) {}
  /// All fields, from a file, at its times, in x and z of space(). InputError if the model reads no files or the file
  /// is of another domain.
  virtual FieldRecord read(const std::string& path) const = 0;
  /// Estimated seconds of advance() over a unit of time.
  virtual double seconds_per_time() const = 0;
  virtual std::string summary() const = 0;
  virtual std::vector<Citation> citations() const { return {}; }
};

}  // namespace cambium
