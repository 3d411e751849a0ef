#pragma once
// A small flow and windows of it, for the tests of networks; no Torch.
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres::testing {

inline const std::vector<std::string> boussinesq{"dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0",
                                                 "dt(u) + u*dx(u) + w*dz(u) + dx(p) - P*(dxx(u) + dzz(u)) = 0",
                                                 "dx(u) + dz(w) = 0"};

inline std::string state_of(std::array<int, 3> grid, bool wraps) {
  return nlohmann::json{
      {"grid", grid}, {"wraps", wraps}, {"mean", {0.1, 0.2, -0.1, 0.0}}, {"deviation", {0.5, 2.0, 1.5, 0.8}}}
      .dump();
}

/// A periodic flow, seen whole, and places in it with made-up values.
inline FieldData flow() {
  FieldData data;
  data.file = "test";
  data.names = flow_fields;
  data.period = 2.0;
  data.axis = {{{0.0, 0.5, 1.2}, {0.1, 0.6, 1.1, 1.6}, {0.02, 0.1, 0.3, 0.62, 0.9}}};
  data.values.resize(4);
  for (std::size_t f = 0; f < 4; ++f)
    for (double t : data.axis[0])
      for (double x : data.axis[1])
        for (double z : data.axis[2])
          data.values[f].push_back(std::sin(1.0 + t + f) * std::cos(M_PI * x + f) * z * (1.1 - z));
  return data;
}

inline std::vector<train::SamplePtr> batch(int samples = 2) {
  const Windows windows(flow(), {3, 4, 5}, {1, 1, 1});
  std::vector<train::SamplePtr> out;
  for (int s = 0; s < samples; ++s) {
    std::vector<double> points;
    std::vector<float> values;
    for (int p = 0; p < 6; ++p) {
      points.insert(points.end(), {0.1 + 0.17 * p, 0.7 + 0.4 * (s % 2) + 0.3 * p, 0.03 + 0.14 * p});
      for (int f = 0; f < 4; ++f) values.push_back(static_cast<float>(std::cos(p + 3 * f + s)));
    }
    out.push_back(windows.sample({0, s % 2, 0}, points, values, s));
  }
  return out;
}

}  // namespace cambium::superres::testing
