#pragma once
// A parameter set of formulas: no real element has it. Atoms H (s), C (s, p) and X (s, p, d).
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace cambium::test {

/// Of the integrals dd sigma .. ss of one pair, H (false) or S (true): a (1 + b r) exp(-c r).
struct SetFormula {
  double a, b, c;
  double value(double r) const { return a * (1.0 + b * r) * std::exp(-c * r); }
  double slope(double r) const { return a * (b - c * (1.0 + b * r)) * std::exp(-c * r); }
};

inline int shells_of(const std::string& symbol) { return symbol == "H" ? 0 : symbol == "C" ? 1 : 2; }

/// Integral i of the file a-b; 0 where an atom has no such shell.
inline SetFormula set_formula(const std::string& a, const std::string& b, int i, bool overlap) {
  constexpr int low[10] = {2, 2, 2, 1, 1, 1, 1, 0, 0, 0}, high[10] = {2, 2, 2, 2, 2, 1, 1, 2, 1, 0};
  constexpr double scale[10] = {-0.05, 0.03, -0.01, -0.06, 0.03, 0.12, -0.06, -0.08, 0.13, -0.18};
  if (low[i] > shells_of(a) || high[i] > shells_of(b)) return {0.0, 0.0, 1.0};
  const double size =
      0.7 + (low[i] == high[i] ? 0.1 : 0.13) * shells_of(a) + (low[i] == high[i] ? 0.1 : 0.16) * shells_of(b);
  return {(overlap ? -1.4 : 1.3) * scale[i] * size, 0.35, 0.62 + 0.03 * shells_of(a) * shells_of(b)};
}

/// Spline repulsion strength (4 - r)^3 from 2 bohr on, and an exponential below.
inline std::string set_spline(double strength) {
  const auto c = [&](double x) {  // strength (4 - r)^3 about x
    const double y = 4.0 - x;
    return std::array<double, 4>{strength * y * y * y, -3.0 * strength * y * y, 3.0 * strength * y, -strength};
  };
  // exp(-a1 r + a2) + a3 with the value and the slope at 2 bohr
  const double a1 = 1.5, value = 8.0 * strength, slope = -12.0 * strength, e = -slope / a1;
  std::string out = fmt::format("Spline\n3 4.0\n{} {:.17g} {:.17g}\n", a1, std::log(e) + a1 * 2.0, value - e);
  for (double x : {2.0, 2.7}) {
    const auto k = c(x);
    out += fmt::format("{} {} {:.17g} {:.17g} {:.17g} {:.17g}\n", x, x == 2.0 ? 2.7 : 3.3, k[0], k[1], k[2], k[3]);
  }
  const auto k = c(3.3);
  return out + fmt::format("3.3 4.0 {:.17g} {:.17g} {:.17g} {:.17g} 0 0\n", k[0], k[1], k[2], k[3]);
}

inline std::string set_file(const std::string& a, const std::string& b, int points = 400, double spacing = 0.02) {
  const std::map<std::string, std::string> atom{{"H", "0 0 -0.24 0 0 0 0.42 0 0 1"},
                                                {"C", "0.0, -0.19, -0.50, 0.0, 2*0.36 0.365 0 2 2"},
                                                {"X", "-0.02 -0.11 -0.40 0 0.2 0.25 0.31 0 2 2"}};
  std::string out = fmt::format("{}, {}, remark\n", spacing, points + 1);
  if (a == b) out += atom.at(a) + "\n";
  out += "12.01, 0.01 -0.002 6*0.0 3.5, 10*0.0,\n";
  for (int k = 1; k <= points; ++k) {
    for (bool overlap : {false, true})
      for (int i = 0; i < 10; ++i) out += fmt::format(" {:.17g}", set_formula(a, b, i, overlap).value(spacing * k));
    out += "\n";
  }
  return out + set_spline(0.02 + 0.01 * (shells_of(a) + shells_of(b)));
}

/// Writes the files of all pairs and returns the folder.
inline std::string write_set(const std::string& folder, int points = 400) {
  std::filesystem::create_directories(folder);
  for (const char* a : {"H", "C", "X"})
    for (const char* b : {"H", "C", "X"})
      std::ofstream(std::filesystem::path(folder) / (std::string(a) + "-" + b + ".skf")) << set_file(a, b, points);
  return folder;
}

}  // namespace cambium::test
