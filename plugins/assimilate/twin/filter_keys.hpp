#pragma once
#include "core/deck/describe.hpp"

namespace cambium::assimilate {

/// Keys of one filter.
struct FilterKeys {
  enum class Type { free_run, direct_insertion, nudging, optimal_interpolation, var3d, etkf, letkf };
  Type type = Type::etkf;
  std::int64_t members = 0;
  double inflation = 1.0, localisation = 0.0, covariance_scale = 1.0, gain = 1.0, relaxation = 0.0;
  bool adaptive_inflation = false;
  bool ensemble() const { return type == Type::etkf || type == Type::letkf; }
  bool of_climatology() const { return type == Type::optimal_interpolation || type == Type::var3d; }
  static void describe(deck::Describe<FilterKeys>& d);
};

}  // namespace cambium::assimilate
