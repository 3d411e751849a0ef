// Coherent units for evaluating an expression.
#include <fmt/format.h>

#include <cmath>

#include "core/base/text.hpp"
#include "core/deck/expression_parser.hpp"

namespace cambium::deck {

CoherentUnits::CoherentUnits(std::span<const Unit> declared) : declared_(declared.begin(), declared.end()) {
  const char* metal[] = {"angstrom", "ps", "g/mol", "K", "e"};
  std::vector<std::array<double, 6>> rows;  // sum_k a_k log(scale_k) = a_5, in echelon form
  std::vector<std::size_t> pivots;
  auto add = [&](const Unit& unit) {
    std::array<double, 6> row{};
    for (std::size_t k = 0; k < 5; ++k) row[k] = unit.dimension.exponent[k];
    row[5] = std::log(unit.factor);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double share = row[pivots[r]] / rows[r][pivots[r]];
      for (std::size_t k = 0; k < 6; ++k) row[k] -= share * rows[r][k];
    }
    std::size_t pivot = 0;
    while (pivot < 5 && std::abs(row[pivot]) < 1e-9) ++pivot;
    if (pivot == 5) return;  // linearly dependent on earlier ones; if it disagrees, its values are converted
    rows.push_back(row);
    pivots.push_back(pivot);
  };
  for (const auto& unit : declared_) add(unit);
  for (const char* name : metal) add(unit_of(name));
  for (std::size_t r = rows.size(); r-- > 0;) {
    double rest = rows[r][5];
    for (std::size_t k = 0; k < 5; ++k)
      if (k != pivots[r]) rest -= rows[r][k] * log_scale_[k];
    log_scale_[pivots[r]] = rest / rows[r][pivots[r]];
  }
}

double CoherentUnits::factor(Dimension dimension) const {
  if (dimension.none()) return 1.0;
  for (const auto& unit : declared_)
    if (unit.dimension == dimension) return unit.factor;
  double log_factor = 0.0;
  for (std::size_t k = 0; k < 5; ++k) log_factor += dimension.exponent[k] * log_scale_[k];
  return std::exp(log_factor);
}

double CoherentUnits::conversion(Unit unit) const {
  const double ratio = unit.factor / factor(unit.dimension);
  // The logarithms cost some digits; decimal ratios, which most are, get them back.
  const double decimal = *parse_number(fmt::format("{:.10g}", ratio));
  return std::abs(decimal - ratio) < 1e-13 * std::abs(ratio) ? decimal : ratio;
}

}  // namespace cambium::deck
