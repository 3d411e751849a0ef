#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/deck/describe.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// Components as formulas of x, y, z, t.
struct FieldFormulas {
  std::vector<std::string> E, B;
  static void describe(deck::Describe<FieldFormulas>& d);
};

/// Coefficients of a formula of x, y, z, and t if it has that variable, at one time in the cells of `grid`.
std::vector<double> project_conf(const ConfGrid& grid, const Formula& formula, double time);

/// Electric and magnetic fields that are given, not solved for.
class ExternalField {
 public:
  ExternalField() = default;
  ExternalField(const ConfGrid& grid, const FieldFormulas& formulas, const std::map<std::string, double>& parameters);

  /// A charged species, and how many velocity dimensions it has.
  struct Felt {
    std::string species;
    int vdim;
  };
  /// E along x, y, z accelerates along the same velocity; B turns the two others into each other. InputError for a
  /// component that is not zero and that no species has the velocities for, a warning where only some do.
  void require_felt(const std::vector<Felt>& by, Log& log) const;
  /// For initial fields, which may be waves in vacuum, too: a warning in either case.
  void warn_of_unfelt(const std::vector<Felt>& by, Log& log) const;
  /// Coefficients of component c (0..2 electric, 3..5 magnetic) at a time, empty when the component is not given.
  const std::vector<double>& at(int c, double time);

 private:
  ConfGrid grid_;
  Formula formula_[6];
  bool zero_[6] = {true, true, true, true, true, true};  ///< absent, or the constant 0
  std::vector<double> values_[6];
  double time_[6] = {-1e300, -1e300, -1e300, -1e300, -1e300, -1e300};
};

}  // namespace cambium::kinetic
