#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::task_bench {

enum class Dependence {
  trivial,
  no_comm,
  stencil_1d,
  stencil_1d_periodic,
  dom,
  tree,
  fft,
  all_to_all,
  nearest,
  spread,
  random_nearest
};

/// All patterns by their published names.
struct DependenceName {
  const char* name;
  Dependence dependence;
};
std::span<const DependenceName> dependence_names();

/// A graph of steps x width points; a point reads points of the step before (Slaughter et al., SC20, table 2).
struct Pattern {
  Dependence dependence = Dependence::stencil_1d;
  std::int64_t width = 4, steps = 4;
  std::int64_t radix = 3, period = 3;  ///< of nearest, spread, random_nearest; of spread and random_nearest
  double fraction = 0.25;              ///< of the neighbours that random_nearest keeps
  std::int64_t graph = 0;              ///< its index among the concurrent ones

  /// Points that exist at a step: offset(t) to offset(t) + points(t) - 1.
  std::int64_t offset(std::int64_t step) const;
  std::int64_t points(std::int64_t step) const;
  bool exists(std::int64_t step, std::int64_t point) const {
    return point >= offset(step) && point < offset(step) + points(step);
  }
  /// Patterns repeat: at step t points depend by set number set_at(t) of sets().
  std::int64_t sets() const;
  std::int64_t set_at(std::int64_t step) const;
  /// Points of the step before on which `point` depends by a set, whether or not they exist there.
  std::vector<std::int64_t> of_set(std::int64_t set, std::int64_t point) const;
  /// Those that exist; none at the first step.
  std::vector<std::int64_t> inputs(std::int64_t step, std::int64_t point) const;

  std::int64_t tasks() const;
  std::int64_t dependencies() const;
  /// Describes an invalid parameter; empty if there is none.
  std::string problem() const;
};

}  // namespace cambium::task_bench
