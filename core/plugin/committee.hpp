#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/particles/given_axes.hpp"
#include "core/plugin/physics.hpp"

namespace cambium {

/// Disagreement of a committee of models; Zhang et al., Phys. Rev. Materials 3, 023804 (2019). Standard deviations are
/// those of the population (normalised by the number of models).
struct Deviation {
  double force_max = 0.0, force_min = 0.0, force_mean = 0.0;    ///< eV/Å, over atoms: |standard deviation of F_i|
  double virial_max = 0.0, virial_min = 0.0, virial_rms = 0.0;  ///< eV/atom, over the nine components
  double force_bound = 0.0;  ///< eV/Å: error that the force of the atom with force_max is bounded by; calibrated ones
};

/// Several models of one potential that are evaluated together, and their disagreement.
class Committee {
 public:
  virtual ~Committee() = default;
  /// The axes for which the deviation of the virial's components is taken.
  virtual void set_axes(const GivenAxes& axes) = 0;
  /// Columns of the thermo table, and their values of the last compute() with totals requested.
  virtual std::vector<Observable> observables() const = 0;
  virtual void measure(std::span<double> values) const = 0;
  /// For all evaluations of the run.
  virtual std::vector<Result> results() const = 0;
  /// True when deviation().force_bound is a bound of the error, by a calibration on held-out frames.
  virtual bool calibrated() const { return false; }
  /// For the last compute() with totals requested.
  virtual const Deviation& deviation() const = 0;
};

}  // namespace cambium
