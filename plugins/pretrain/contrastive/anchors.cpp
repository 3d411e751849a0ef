#include "plugins/pretrain/contrastive/anchors.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::train {

namespace {

template <class T>
constexpr std::size_t lanes = native_width<T>;
template <class T>
using Lanes = Pack<T, native_width<T>>;

template <class T>
double largest(std::span<const T> values, double found) {
  using P = Lanes<T>;
  std::size_t k = 0;
  P most(absent<T>);
  for (; k + lanes<T> <= values.size(); k += lanes<T>) most = max(most, P::load(values.data() + k));
  for (int lane = 0; lane < static_cast<int>(lanes<T>); ++lane)
    found = std::max(found, static_cast<double>(most[lane]));
  for (; k < values.size(); ++k) found = std::max(found, static_cast<double>(values[k]));
  return found;
}

/// Calls one(k, width) for full registers, then for single elements.
template <class T, class One>
CAMBIUM_HF void for_registers(std::size_t from, std::size_t to, const One& one) {
  std::size_t k = from;
  for (; k + lanes<T> <= to; k += lanes<T>) one(k, Lanes<T>());
  for (; k < to; ++k) one(k, Pack<T, 1>());
}

template <class P, class T>
CAMBIUM_HF P argument(const T* s, const Exponent<T>& e) {
  const P x = P::load(s);
  return fma(x, P(e.inverse), fma(x, P(e.inverse_rest), P(-e.offset)));
}

template <class P, class T>
CAMBIUM_HF P argument(const T* s, const Exponents<T>& e, std::size_t k) {
  const P x = P::load(s + k);
  return fma(x, P::load(e.inverse.data() + k),
             fma(x, P::load(e.inverse_rest.data() + k), -P::load(e.offset.data() + k)));
}

}  // namespace

template <class T>
AnchorSums anchor_sums(std::span<const T> similarities, double own, double temperature) {
  constexpr std::size_t at_once = 1024;  // summed in the precision T
  AnchorSums out;
  const double inverse = 1.0 / temperature;
  out.shift = (largest(similarities, own) - own) * inverse;
  const Exponent<T> exponent(own, inverse, out.shift);
  double weighted = 0.0;
  for (std::size_t from = 0; from < similarities.size(); from += at_once) {
    Lanes<T> sums(T(0)), products(T(0));
    Pack<T, 1> last(T(0)), last_product(T(0));
    for_registers<T>(from, std::min(similarities.size(), from + at_once), [&](std::size_t k, auto kind) {
      using P = decltype(kind);
      const P d = argument<P>(similarities.data() + k, exponent), e = exponential(d);
      if constexpr (P::width == 1 && lanes < T >> 1) {
        last = last + e;
        last_product = fma(e, d, last_product);
      } else {
        sums = sums + e;
        products = fma(e, d, products);
      }
    });
    out.sum += static_cast<double>(sum(sums)) + static_cast<double>(last[0]);
    weighted += static_cast<double>(sum(products)) + static_cast<double>(last_product[0]);
  }
  out.sum *= exponent.factor;
  weighted *= exponent.factor;
  out.weighted = weighted + out.shift * out.sum;
  return out;
}

template <class T>
void add_anchor(std::span<const T> s, double own, double temperature, double weight, double scale, std::span<T> out) {
  const Exponent<T> exponent(own, 1.0 / temperature, weight);
  const T factor = static_cast<T>(scale * exponent.factor);
  for_registers<T>(0, s.size(), [&](std::size_t k, auto kind) {
    using P = decltype(kind);
    fma(P(factor), exponential(argument<P>(s.data() + k, exponent)), P::load(out.data() + k)).store(out.data() + k);
  });
}

template <class T>
void add_seen(std::span<const T> s, const Exponents<T>& anchors, std::span<T> out) {
  for_registers<T>(0, s.size(), [&](std::size_t k, auto kind) {
    using P = decltype(kind);
    const P e = exponential(argument<P>(s.data(), anchors, k));
    fma(P::load(anchors.factor.data() + k), e, P::load(out.data() + k)).store(out.data() + k);
  });
}

template <class T>
ColumnSums<T>::ColumnSums(std::span<const double> own, std::span<const double> shift,
                          std::span<const double> temperature)
    : shift_(shift.begin(), shift.end()), sum_(own.size(), 0.0), weighted_(own.size(), 0.0), part_(own.size(), T(0)),
      weighted_part_(own.size(), T(0)) {
  for (std::size_t j = 0; j < own.size(); ++j) exponents_.add(Exponent<T>(own[j], 1.0 / temperature[j], shift[j]), 1.0);
}

template <class T>
void ColumnSums<T>::add(std::span<const T> row) {
  for_registers<T>(0, row.size(), [&](std::size_t k, auto kind) {
    using P = decltype(kind);
    const P d = argument<P>(row.data(), exponents_, k), e = exponential(d);
    (P::load(part_.data() + k) + e).store(part_.data() + k);
    fma(e, d, P::load(weighted_part_.data() + k)).store(weighted_part_.data() + k);
  });
  if (++rows_ == rows_at_once) flush();
}

template <class T>
void ColumnSums<T>::flush() {
  for (std::size_t j = 0; j < sum_.size(); ++j) {
    sum_[j] += static_cast<double>(part_[j]);
    weighted_[j] += static_cast<double>(weighted_part_[j]);
    part_[j] = weighted_part_[j] = T(0);
  }
  rows_ = 0;
}

template <class T>
AnchorSums ColumnSums<T>::at(std::size_t column) {
  if (rows_ > 0) flush();
  const auto factor = static_cast<double>(exponents_.factor[column]);
  const double sum = sum_[column] * factor;
  return {shift_[column], sum, weighted_[column] * factor + shift_[column] * sum};
}

#define CAMBIUM_ANCHORS(T)                                                                    \
  template AnchorSums anchor_sums(std::span<const T>, double, double);                        \
  template void add_anchor(std::span<const T>, double, double, double, double, std::span<T>); \
  template void add_seen(std::span<const T>, const Exponents<T>&, std::span<T>);              \
  template class ColumnSums<T>;
CAMBIUM_ANCHORS(double)
CAMBIUM_ANCHORS(float)
#undef CAMBIUM_ANCHORS

}  // namespace cambium::train
