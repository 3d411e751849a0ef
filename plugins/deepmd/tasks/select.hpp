#pragma once
#include <cstddef>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"

namespace cambium::deepmd {

/// Selects the sampled configurations on which the models of a committee disagree, as DP-GEN does.
struct Select {
  double low = 0.05, high = 0.5;  ///< eV/Å, of the largest deviation of an atom's force
  int most = 0;
  bool calibrated = false;  ///< bounds of the force error instead of deviations
  static void describe(deck::Describe<Select>& d);
};

/// Indices of the selected configurations, in ascending order. Logs the selection and stores it with the deviations
/// (eV/Å, one per configuration, at least one) in deviation.csv.
std::vector<std::size_t> choose(const Select& select, const std::vector<double>& deviation, Context& context);

}  // namespace cambium::deepmd
