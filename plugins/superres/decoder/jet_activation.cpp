#include "plugins/superres/decoder/jet_activation.hpp"

#include <algorithm>

#include "core/base/pack_math.hpp"

namespace cambium::superres {
namespace {

constexpr int tile = 128;  ///< elements at a time: all streams of a tile fit into the L1 cache
constexpr int most_derivatives = JetBasis::highest_order + 2;

template <class T>
struct Derivatives {
  alignas(64) T of[most_derivatives][tile];
};

template <class T>
void tanh_of(const T* x, T scale, T* out) {
  constexpr int width = 64 / static_cast<int>(sizeof(T));
  using P = Pack<T, width>;
  for (int k = 0; k < tile; k += width) tanh(P::load(x + k) * P(scale)).store(out + k);
}

/// log(1 + e) for 0 <= e <= 1 as 2 artanh(e/(2 + e)); the series is truncated below half a unit in the last place.
template <class T>
T log1p_series(T e) {
  constexpr int terms = sizeof(T) == 8 ? 17 : 8;
  const T u = e / (T(2) + e), u2 = u * u;
  T sum = T(1) / T(2 * terms + 1);
#pragma GCC unroll 20
  for (int k = terms - 1; k >= 0; --k) sum = sum * u2 + T(1) / T(2 * k + 1);
  return T(2) * u * sum;
}

template <class T>
void tanh_derivatives(const T* z, Derivatives<T>& d) {
  tanh_of(z, T(1), d.of[0]);
  for (int k = 0; k < tile; ++k) {
    const T t = d.of[0][k], d1 = T(1) - t * t;
    d.of[1][k] = d1;
    d.of[2][k] = T(-2) * t * d1;
    d.of[3][k] = d1 * (T(6) * t * t - T(2));
    d.of[4][k] = d1 * t * (T(16) - T(24) * t * t);
  }
}

template <class T>
void softplus_derivatives(const T* z, Derivatives<T>& d) {
  tanh_of(z, T(0.5), d.of[0]);
  for (int k = 0; k < tile; ++k) {
    const T t = d.of[0][k], s = T(0.5) + T(0.5) * t, size = std::max(t, -t), s1 = T(0.25) * (T(1) - t * t);
    d.of[0][k] = std::max(z[k], T(0)) + log1p_series((T(1) - size) / (T(1) + size));
    d.of[1][k] = s;
    d.of[2][k] = s1;
    d.of[3][k] = -t * s1;
    d.of[4][k] = s1 * (T(1) - T(6) * s1);
  }
}

template <class T>
void swish_derivatives(const T* z, Derivatives<T>& d) {
  tanh_of(z, T(0.5), d.of[0]);
  for (int k = 0; k < tile; ++k) {
    const T t = d.of[0][k], x = z[k], s = T(0.5) + T(0.5) * t, s1 = T(0.25) * (T(1) - t * t), s2 = -t * s1;
    const T s3 = s1 * (T(1) - T(6) * s1), s4 = s2 * (T(1) - T(12) * s1);
    d.of[0][k] = x * s;
    d.of[1][k] = s + x * s1;
    d.of[2][k] = T(2) * s1 + x * s2;
    d.of[3][k] = T(3) * s2 + x * s3;
    d.of[4][k] = T(4) * s3 + x * s4;
  }
}

template <class T>
void derivatives(Activation sigma, const T* z, Derivatives<T>& d) {
  switch (sigma) {
    case Activation::softplus:
      return softplus_derivatives(z, d);
    case Activation::tanh:
      return tanh_derivatives(z, d);
    case Activation::swish:
      return swish_derivatives(z, d);
  }
}

/// A tile of elements of all streams that are processed together; a short last tile is padded with zeros.
template <class T>
struct Tile {
  std::vector<T> values;
  explicit Tile(int streams) : values(static_cast<std::size_t>(streams) * tile, T(0)) {}
  T* stream(int s) { return &values[static_cast<std::size_t>(s) * tile]; }
  void load(const T* from, std::int64_t count, std::int64_t at, int streams) {
    const auto n = std::min<std::int64_t>(tile, count - at);
    for (int s = 0; s < streams; ++s) {
      std::copy_n(from + s * count + at, n, stream(s));
      if (n < tile) std::fill(stream(s) + n, stream(s) + tile, T(0));
    }
  }
  void store(T* to, std::int64_t count, std::int64_t at, int streams) {
    for (int s = 0; s < streams; ++s)
      std::copy_n(stream(s), std::min<std::int64_t>(tile, count - at), to + s * count + at);
  }
};

/// out += c a b, c a b e, ... over a tile.
template <class T>
void add_product(T c, const T* a, const T* const* factors, std::size_t n, T* out) {
  switch (n) {
    case 0:
      for (int k = 0; k < tile; ++k) out[k] += c * a[k];
      return;
    case 1:
      for (int k = 0; k < tile; ++k) out[k] += c * a[k] * factors[0][k];
      return;
    case 2:
      for (int k = 0; k < tile; ++k) out[k] += c * a[k] * factors[0][k] * factors[1][k];
      return;
    case 3:
      for (int k = 0; k < tile; ++k) out[k] += c * a[k] * factors[0][k] * factors[1][k] * factors[2][k];
      return;
    default:
      for (int k = 0; k < tile; ++k) out[k] += c * a[k] * factors[0][k] * factors[1][k] * factors[2][k] * factors[3][k];
  }
}

}  // namespace

template <class T>
void activate(Activation sigma, const JetBasis& basis, std::int64_t count, const T* z, T* a) {
  const int streams = basis.size();
  Tile<T> in(streams), out(streams);
  Derivatives<T> d;
  for (std::int64_t at = 0; at < count; at += tile) {
    in.load(z, count, at, streams);
    derivatives(sigma, in.stream(0), d);
    std::fill(out.values.begin(), out.values.end(), T(0));
    for (int s = 0; s < streams; ++s)
      for (const auto& term : basis.chain(s)) {
        const T* factors[JetBasis::highest_order];
        for (std::size_t k = 0; k < term.factors.size(); ++k) factors[k] = in.stream(term.factors[k]);
        add_product(static_cast<T>(term.coefficient), d.of[term.order], factors, term.factors.size(), out.stream(s));
      }
    out.store(a, count, at, streams);
  }
}

template <class T>
void activate_back(Activation sigma, const JetBasis& basis, std::int64_t count, const T* z, T* g) {
  const int streams = basis.size();
  Tile<T> in(streams), gradient(streams), out(streams);
  Derivatives<T> d;
  for (std::int64_t at = 0; at < count; at += tile) {
    in.load(z, count, at, streams);
    gradient.load(g, count, at, streams);
    derivatives(sigma, in.stream(0), d);
    std::fill(out.values.begin(), out.values.end(), T(0));
    for (int s = 0; s < streams; ++s)
      for (const auto& term : basis.chain(s)) {
        const std::size_t n = term.factors.size();
        const T c = static_cast<T>(term.coefficient);
        const T* factors[JetBasis::highest_order + 1];
        factors[0] = gradient.stream(s);
        for (std::size_t k = 0; k < n; ++k) factors[k + 1] = in.stream(term.factors[k]);
        add_product(c, d.of[term.order + 1], factors, n + 1, out.stream(0));
        for (std::size_t k = 0; k < n; ++k) {  // with respect to the k-th factor: product of all others
          const T* others[JetBasis::highest_order + 1];
          std::size_t m = 0;
          for (std::size_t j = 0; j <= n; ++j)
            if (j != k + 1) others[m++] = factors[j];
          add_product(c, d.of[term.order], others, m, out.stream(term.factors[k]));
        }
      }
    out.store(g, count, at, streams);
  }
}

template void activate(Activation, const JetBasis&, std::int64_t, const float*, float*);
template void activate(Activation, const JetBasis&, std::int64_t, const double*, double*);
template void activate_back(Activation, const JetBasis&, std::int64_t, const float*, float*);
template void activate_back(Activation, const JetBasis&, std::int64_t, const double*, double*);

}  // namespace cambium::superres
