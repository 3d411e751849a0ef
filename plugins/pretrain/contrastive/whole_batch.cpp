#include "plugins/pretrain/contrastive/whole_batch.hpp"

#include <algorithm>

#include "core/numerics/gemm.hpp"

namespace cambium::train {

template <class T>
Exponents<T> exponents_of(const AnchorWeights& anchors, std::span<const double> own) {
  Exponents<T> out;
  for (std::size_t j = 0; j < own.size(); ++j)
    out.add(Exponent<T>(own[j], anchors.inverse_temperature[j], anchors.weight[j]), anchors.scale[j]);
  return out;
}

template <class T>
static void raise(std::vector<T>& most, std::span<const T> row) {
  for (std::size_t j = 0; j < row.size(); ++j) most[j] = std::max(most[j], row[j]);
}

template <class T>
std::array<std::vector<AnchorSums>, 2> WholeBatch<T>::look(std::span<const double> pair,
                                                           std::span<const double> first_temperature,
                                                           std::span<const double> second_temperature) {
  const auto n = static_cast<int>(samples_), width = static_cast<int>(width_);
  similarity_.resize(samples_ * samples_);
  std::array<std::vector<AnchorSums>, 2> out;
  std::vector<T> most(samples_, absent<T>);
  for (std::int64_t from = 0; from < samples_; from += rows_at_once) {
    const std::int64_t to = std::min(samples_, from + rows_at_once);
    host_gemm<T>(false, true, static_cast<int>(to - from), n, width, T(1), first_.data() + from * width_, width,
                 second_.data(), width, T(0), similarity_.data() + from * samples_, n);
    for (std::int64_t k = from; k < to; ++k) {
      const auto at = static_cast<std::size_t>(k);
      similarity_[k * (samples_ + 1)] = absent<T>;
      out[0].push_back(anchor_sums(row(k), pair[at], first_temperature[at]));
      raise(most, row(k));
    }
  }
  std::vector<double> shift;
  for (std::size_t j = 0; j < pair.size(); ++j)
    shift.push_back((std::max(static_cast<double>(most[j]), pair[j]) - pair[j]) / second_temperature[j]);
  ColumnSums<T> columns(pair, shift, second_temperature);
  for (std::int64_t k = 0; k < samples_; ++k) columns.add(row(k));
  for (std::size_t j = 0; j < pair.size(); ++j) out[1].push_back(columns.at(j));
  return out;
}

template <class T>
void WholeBatch<T>::differentiate(std::span<const double> pair, const AnchorWeights& first, const AnchorWeights& second,
                                  std::span<const double> self, std::span<T> by_first, std::span<T> by_second) const {
  const auto n = static_cast<int>(samples_), width = static_cast<int>(width_);
  const auto columns = exponents_of<T>(second, pair);
  std::vector<T> coefficients(std::min(samples_, rows_at_once) * samples_);
  for (std::int64_t from = 0; from < samples_; from += rows_at_once) {
    const std::int64_t to = std::min(samples_, from + rows_at_once);
    const auto rows = static_cast<int>(to - from);
    std::fill(coefficients.begin(), coefficients.end(), T(0));
    for (std::int64_t k = from; k < to; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const auto line = std::span(coefficients).subspan((k - from) * samples_, row(k).size());
      add_anchor(row(k), pair[at], 1.0 / first.inverse_temperature[at], first.weight[at], first.scale[at], line);
      add_seen(row(k), columns, line);
      line[at] = static_cast<T>(self[at]);
    }
    host_gemm<T>(false, false, rows, width, n, T(1), coefficients.data(), n, second_.data(), width, T(0),
                 by_first.data() + from * width_, width);
    host_gemm<T>(true, false, n, width, rows, T(1), coefficients.data(), n, first_.data() + from * width_, width,
                 from == 0 ? T(0) : T(1), by_second.data(), width);
  }
}

template Exponents<double> exponents_of(const AnchorWeights&, std::span<const double>);
template Exponents<float> exponents_of(const AnchorWeights&, std::span<const double>);
template class WholeBatch<double>;
template class WholeBatch<float>;

}  // namespace cambium::train
