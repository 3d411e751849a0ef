#include "plugins/pretrain/search/float_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/pack.hpp"

namespace cambium::pretrain {

constexpr std::int64_t float_lanes = native_width<float>;
using F = Pack<float, native_width<float>>;

FloatRows::FloatRows(std::int64_t r, std::int64_t c)
    : rows(r), columns(c), stride((c + float_lanes - 1) / float_lanes * float_lanes),
      values(static_cast<std::size_t>(r * stride), 0.0f) {}

void FloatRows::make_unit(std::int64_t k) {
  float* const of = row(k);
  double sum = 0.0;
  for (std::int64_t c = 0; c < columns; ++c) sum += static_cast<double>(of[c]) * static_cast<double>(of[c]);
  const double by = sum > 0.0 ? 1.0 / std::sqrt(sum) : 0.0;
  for (std::int64_t c = 0; c < columns; ++c) of[c] = static_cast<float>(of[c] * by);
}

FloatRows FloatRows::unit(const Matrix& of) {
  FloatRows out(of.rows, of.columns);
  for (std::int64_t k = 0; k < of.rows; ++k) {
    std::transform(of.row(k).begin(), of.row(k).end(), out.row(k), [](double x) { return static_cast<float>(x); });
    out.make_unit(k);
  }
  return out;
}

FloatRows spread_rows(const FloatRows& rows, std::int64_t count) {
  FloatRows out(std::min(count, rows.rows), rows.columns);
  for (std::int64_t k = 0; k < out.rows; ++k) std::copy_n(rows.row(k * rows.rows / out.rows), rows.stride, out.row(k));
  return out;
}

float row_product(const float* a, const float* b, std::int64_t stride) {
  F even(0.0f), odd(0.0f);
  std::int64_t k = 0;
  for (; k + 2 * float_lanes <= stride; k += 2 * float_lanes) {
    even = fma(F::load(a + k), F::load(b + k), even);
    odd = fma(F::load(a + k + float_lanes), F::load(b + k + float_lanes), odd);
  }
  if (k < stride) even = fma(F::load(a + k), F::load(b + k), even);
  return sum(even + odd);
}

Entries::Entries(std::int64_t q, std::int64_t n)
    : queries(q), count(n), number(static_cast<std::size_t>(q * n), -1), similarity(number.size(), 0.0f) {}

void MostSimilar::put(float similarity, std::int64_t number) {
  const std::pair here{-similarity, number};
  if (room_ == 0 || (full() && !(here < found_.front()))) return;
  if (full()) std::pop_heap(found_.begin(), found_.end()), found_.pop_back();
  found_.push_back(here);
  std::push_heap(found_.begin(), found_.end());
}

std::vector<std::pair<float, std::int64_t>> MostSimilar::taken() {
  std::sort_heap(found_.begin(), found_.end());
  auto out = std::move(found_);
  found_.clear();
  return out;
}

void MostSimilar::take_into(Entries& out, std::int64_t query) {
  auto at = static_cast<std::size_t>(query * out.count);
  for (const auto& [minus, number] : taken()) {
    out.number[at] = number;
    out.similarity[at++] = -minus;
  }
}

}  // namespace cambium::pretrain
