#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/io/csv.hpp"

namespace cambium::train {

/// Number of this rank's direct weights that change in a step: since the last row of the log, and in the last step.
struct Flips {
  double window = 0.0, last = 0.0;

  void add(std::int64_t changed) {
    last = static_cast<double>(changed);
    window += last;
  }
  static std::vector<io::Column> columns() {
    return {{"flips", "", "fraction of quantised weights that change in a step, mean since the last row"}};
  }
  /// Value of that column; starts a new window. `share_of` converts a number to a fraction of all direct weights.
  template <class ShareOf>
  std::vector<double> figures(std::int64_t steps, ShareOf&& share_of) {
    const double share = share_of(window) / static_cast<double>(steps);
    window = 0.0;
    return {share};
  }
  template <class ShareOf>
  std::string line(ShareOf&& share_of) const {
    return fmt::format("quantised weights: {:.3e} of them changed in the last step", share_of(last));
  }
};

}  // namespace cambium::train
