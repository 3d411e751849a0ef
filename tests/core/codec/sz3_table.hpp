#pragma once
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bench/core/codec_fields.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium {

using bench::MeasuredField;

/// The fields of CAMBIUM_DATA/fields/fields.h5 that SZ3 was run on; empty, saying so, where they are not there.
inline std::vector<MeasuredField> measured_fields(const std::string& test) {
  auto list = bench::measured_fields();
  if (list.empty()) std::cout << "SKIPPED: " << test << ": CAMBIUM_DATA is not set\n";
  return list;
}

}  // namespace cambium
