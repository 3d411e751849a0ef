#pragma once
#include <cstddef>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"

namespace cambium::deepmd {

/// Keeps of the sampled configurations those on which a committee of models disagrees, as DP-GEN does.
struct Select {
  double low = 0.05, high = 0.5;  ///< eV/Å, of the largest deviation of an atom's force
  int most = 0;
  bool calibrated = false;  ///< bounds of the force error instead of deviations
  static void describe(deck::Describe<Select>& d);
};

/// Numbers of the configurations that are kept, in rising order. What was chosen by which deviation (eV/Å, one a
/// configuration, at least one) is said and stored as deviation.csv.
std::vector<std::size_t> choose(const Select& select, const std::vector<double>& deviation, Context& context);

}  // namespace cambium::deepmd
