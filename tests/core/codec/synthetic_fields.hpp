#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "core/parallel/random.hpp"

namespace cambium {

/// A field of known make in one to three dimensions, and the bytes of SZ3 3.3.2 (sources 4359047, the shorter of its
/// modes: interpolation; Lorenzo of both orders and regression) at the relative bounds 1e-2, 1e-3 and 1e-4.
struct SyntheticField {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  std::size_t sz3[3];
};

namespace synthetic {

inline double noise(std::uint64_t k, std::uint64_t id) { return Random4(17, Stream::test, k, id).normal(0); }

/// Sum of 80 waves of random directions and phases, of wave numbers up to 40, amplitudes falling as k^-power.
inline double waves(double x, double y, double z, double power, std::uint64_t id) {
  double sum = 0.0;
  for (std::uint64_t w = 0; w < 80; ++w) {
    const Random4 r(18, Stream::test, w, id);
    const double k = std::exp(std::log(40.0) * (static_cast<double>(w) + 0.5) / 80.0);
    const double a = 2.0 * std::numbers::pi * r.uniform(0), c = 2.0 * r.uniform(1) - 1.0, s = std::sqrt(1.0 - c * c);
    const double phase = k * (x * s * std::cos(a) + y * s * std::sin(a) + z * c) + 6.28 * r.uniform(2);
    sum += std::pow(k, -power) * std::sin(phase);
  }
  return sum;
}

/// Sum of normally distributed steps of the seed `id`, at every index.
inline std::vector<double> walk(std::int64_t n, std::uint64_t id) {
  std::vector<double> out;
  double at = 0.0;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(at += noise(static_cast<std::uint64_t>(k), id));
  return out;
}

using Formula = std::function<double(double, double, double, std::uint64_t)>;  // of three indices and the element

inline std::vector<float> values(const std::vector<std::int64_t>& shape, const synthetic::Formula& f) {
  std::vector<std::int64_t> n(3 - shape.size(), 1);
  n.insert(n.end(), shape.begin(), shape.end());
  std::vector<float> out;
  for (std::int64_t i = 0; i < n[0]; ++i)
    for (std::int64_t j = 0; j < n[1]; ++j)
      for (std::int64_t k = 0; k < n[2]; ++k)
        out.push_back(
            static_cast<float>(f(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k), out.size())));
  return out;
}

}  // namespace synthetic

/// Smooth, oscillating, with shocks, noise, constant regions, in one, two and three dimensions.
inline std::vector<SyntheticField> synthetic_fields() {
  const auto path = synthetic::walk(40000, 1);
  const auto steps = synthetic::walk(400, 2);
  std::vector<std::vector<double>> rows;
  for (std::uint64_t j = 0; j < 48; ++j) rows.push_back(synthetic::walk(1500, 100 + j));
  const auto at = [](double index) { return static_cast<std::size_t>(index); };
  std::vector<SyntheticField> out;
  const auto add = [&](const char* name, std::vector<std::int64_t> shape, const synthetic::Formula& f) {
    out.push_back({name, shape, synthetic::values(shape, f), {}});
  };
  add("waves_2d", {180, 240}, [](double, double y, double x, auto) {
    return std::sin(0.02 * x) * std::cos(0.03 * y) + 0.3 * std::sin(0.05 * x + 0.02 * y);
  });
  add("ripples_2d", {180, 240},
      [](double, double y, double x, auto) { return std::sin(0.7 * x + 0.2 * y) * std::cos(0.4 * y); });
  add("shock_2d", {180, 240}, [](double, double y, double x, auto) {
    return std::tanh(2.0 * (x - 120 + 30 * std::sin(0.04 * y))) + 0.2 * std::sin(0.03 * y);
  });
  add("noise_2d", {180, 240}, [](double, double, double, std::uint64_t k) { return synthetic::noise(k, 3); });
  add("rough_2d", {180, 240},
      [](double, double y, double x, auto) { return synthetic::waves(x / 20, y / 20, 0, 0.8, 4); });
  add("turbulent_2d", {180, 240},
      [](double, double y, double x, auto) { return synthetic::waves(x / 40, y / 40, 0, 1.7, 5); });
  add("flat_below_2d", {180, 240},
      [](double, double y, double x, auto) { return std::max(0.3, synthetic::waves(x / 40, y / 40, 0, 2.0, 6)); });
  add("plates_2d", {180, 240}, [](double, double y, double x, auto) {
    return (y > 50 && y < 120 && x > 80 ? 1.0 : 0.0) + (y > 90 && x > 140 ? 2.5 : 0.0);
  });
  add("plane_2d", {180, 240},
      [](double, double y, double x, auto) { return 0.1 * x + 0.03 * y + 0.02 * std::sin(0.3 * x); });
  add("rows_2d", {48, 1500}, [&](double, double y, double x, auto) { return rows[at(y)][at(x)]; });
  add("walk_1d", {40000}, [&](double, double, double x, auto) { return path[at(x)]; });
  add("sines_1d", {40000},
      [](double, double, double x, auto) { return std::sin(1e-3 * x) + 0.2 * std::sin(0.013 * x); });
  add("tone_1d", {40000}, [](double, double, double x, auto) { return std::sin(0.5 * x) + 0.5 * std::sin(0.11 * x); });
  add("steps_1d", {40000}, [&](double, double, double x, auto) { return steps[at(x / 100)]; });
  add("noise_1d", {40000}, [](double, double, double, std::uint64_t k) { return synthetic::noise(k, 7); });
  add("fronts_3d", {32, 40, 40}, [](double z, double y, double x, auto) {
    return std::tanh(0.8 * (z - 14 + 5 * std::sin(0.25 * y) * std::cos(0.2 * x))) +
           0.5 * std::tanh(0.6 * (x - 20 + 4 * std::cos(0.3 * y)));
  });
  add("turbulent_3d", {32, 40, 40},
      [](double z, double y, double x, auto) { return synthetic::waves(x / 15, y / 15, z / 15, 1.7, 8); });
  constexpr std::size_t sz3[][3] = {
      {838, 1418, 3136},    {17873, 33308, 57374}, {1622, 4862, 8002},    {26030, 48805, 92440}, {6141, 22118, 41098},
      {1192, 3695, 12601},  {1459, 4455, 11000},   {327, 316, 338},       {155, 364, 940},       {12516, 35783, 67609},
      {2274, 13230, 30897}, {1002, 2896, 4984},    {18419, 37132, 70479}, {1692, 1445, 3239},    {25147, 48337, 94843},
      {5848, 13385, 30825}, {2392, 13616, 29408}};
  for (std::size_t k = 0; k < out.size(); ++k) std::copy_n(sz3[k], 3, out[k].sz3);
  return out;
}

}  // namespace cambium
