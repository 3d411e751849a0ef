#include "core/train/kinds/term_sums.hpp"

#include <cmath>
#include <limits>

namespace cambium::train {

double reported(const TermInfo& info, const TermSum& sum) {
  if (sum.count == 0.0) return std::numeric_limits<double>::quiet_NaN();
  const double mean = sum.sum / sum.count;
  return info.report == TermInfo::Report::root_mean ? std::sqrt(mean) : mean;
}

std::span<double> numbers_of(std::span<TermSum> table) {
  static_assert(sizeof(TermSum) == 2 * sizeof(double));
  return {reinterpret_cast<double*>(table.data()), 2 * table.size()};
}

std::vector<TermSum> add_rows(std::span<const TermSum> table, std::size_t terms) {
  std::vector<TermSum> out(terms);
  for (std::size_t k = 0; k < table.size(); ++k) {
    out[k % terms].sum += table[k].sum;
    out[k % terms].count += table[k].count;
  }
  return out;
}

double weighted_loss(std::span<const double> weights, std::span<const TermSum> sums) {
  double loss = 0.0;
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k].count > 0.0) loss += weights[k] * sums[k].sum / sums[k].count;
  return loss;
}

}  // namespace cambium::train
