#include "core/io/structures/pdb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/constants.hpp"
#include "core/particles/elements.hpp"

namespace cambium::io {
namespace {

/// Columns 13 to 16: the symbol of an element ends in column 14.
std::string name_columns(const std::string& symbol) {
  const std::string name = symbol.substr(0, 4);
  return fmt::format("{:<4}", atomic_number(symbol) > 0 && name.size() == 1 ? " " + name : name);
}

/// A value in eight columns, with up to three decimals as space permits.
std::string coordinate(double x) {
  for (int decimals = 3; decimals > 0; --decimals)
    if (const auto text = fmt::format("{:8.{}f}", x, decimals); text.size() == 8) return text;
  return fmt::format("{:8.0f}", x).substr(0, 8);
}

std::string cell_line(const std::array<double, 9>& cell) {
  const auto dot = [&](int a, int b) {
    return cell[3 * a] * cell[3 * b] + cell[3 * a + 1] * cell[3 * b + 1] + cell[3 * a + 2] * cell[3 * b + 2];
  };
  const auto angle = [&](int a, int b) {
    const double cosine = dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
    return 180.0 / constants::pi * std::acos(std::clamp(cosine, -1.0, 1.0));
  };
  return fmt::format("CRYST1{:9.3f}{:9.3f}{:9.3f}{:7.2f}{:7.2f}{:7.2f} P 1           1\n", std::sqrt(dot(0, 0)),
                     std::sqrt(dot(1, 1)), std::sqrt(dot(2, 2)), angle(1, 2), angle(0, 2), angle(0, 1));
}

}  // namespace

std::string pdb_text(const Frame& f) {
  std::string text = cell_line(f.cell);
  auto out = std::back_inserter(text);
  for (std::int64_t i = 0; i < f.size(); ++i) {
    const std::string& symbol = f.species.at(f.type[i]).symbol;
    const std::string element = atomic_number(symbol) > 0 ? symbol : "";  // as MDAnalysis' table of masses has it
    fmt::format_to(out, "ATOM  {:5} {} SYS A   1    ", (i + 1) % 100000, name_columns(symbol));
    for (int k = 0; k < 3; ++k) text += coordinate(f.position[3 * i + k] - f.origin[k]);
    fmt::format_to(out, "  1.00  0.00          {:>2}\n", element);
  }
  return text + "END\n";
}

}  // namespace cambium::io
