#include "plugins/pretrain/search/centres.hpp"

#include <algorithm>

#include "core/base/pack.hpp"
#include "plugins/pretrain/search/row_products.hpp"

namespace cambium::pretrain {

namespace {

constexpr std::int64_t lanes = native_width<float>;
using F = Pack<float, native_width<float>>;

/// Index of the first of the largest values; `n` fills full registers.
std::int64_t first_largest(const float* values, std::int64_t n) {
  F most = F::load(values);
  for (std::int64_t k = lanes; k < n; k += lanes) most = max(most, F::load(values + k));
  float largest = most[0];
  for (int k = 1; k < static_cast<int>(lanes); ++k) largest = std::max(largest, most[k]);
  std::int64_t at = 0;
  while (at + 1 < n && values[at] != largest) ++at;
  return at;
}

}  // namespace

std::vector<std::int64_t> nearest_centres(const FloatRows& rows, const FloatRows& centres, const Comm& comm) {
  constexpr std::int64_t block = 64;
  const RowProducts products(centres);
  const std::int64_t width = (centres.rows + lanes - 1) / lanes * lanes;
  std::vector<float> similar(block * width, -2.0f);  // unchanged in the padding
  std::vector<double> out(rows.rows, 0.0);
  for (std::int64_t from = comm.rank() * block; from < rows.rows; from += comm.size() * block) {
    const std::int64_t n = std::min(block, rows.rows - from);
    products.with(rows.row(from), n, similar.data(), width);
    for (std::int64_t k = 0; k < n; ++k)
      out[from + k] = static_cast<double>(first_largest(similar.data() + k * width, width));
  }
  comm.sum(out);
  return {out.begin(), out.end()};
}

FloatRows centres_of(const FloatRows& rows, std::int64_t count, const Comm& comm) {
  constexpr int rounds = 8;
  constexpr std::int64_t rows_of_a_centre = 40;
  const FloatRows sample = spread_rows(rows, rows_of_a_centre * count);
  FloatRows centres = spread_rows(rows, count);
  for (int round = 0; round < rounds; ++round) {
    const auto nearest = nearest_centres(sample, centres, comm);
    FloatRows sums(centres.rows, centres.columns);
    std::vector<bool> kept(centres.rows, false);
    for (std::int64_t k = 0; k < sample.rows; ++k) {
      const auto list = nearest[k];
      kept[list] = true;
      float* const to = sums.row(list);
      for (std::int64_t c = 0; c < rows.columns; ++c) to[c] += sample.row(k)[c];
    }
    for (std::int64_t l = 0; l < centres.rows; ++l)
      if (kept[l]) {
        sums.make_unit(l);
        std::copy_n(sums.row(l), sums.stride, centres.row(l));
      }
  }
  return centres;
}

}  // namespace cambium::pretrain
