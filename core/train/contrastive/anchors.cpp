#include "core/train/contrastive/anchors.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/pack.hpp"
#include "core/base/pack_math.hpp"

namespace cambium::train {

namespace {

constexpr std::size_t lanes = native_width<double>;
using P = Pack<double, native_width<double>>;

double largest(std::span<const double> values, std::size_t from, std::size_t to, double found) {
  std::size_t k = from;
  P most(found);
  for (; k + lanes <= to; k += lanes) most = max(most, P::load(values.data() + k));
  for (int lane = 0; lane < static_cast<int>(lanes); ++lane) found = std::max(found, most[lane]);
  for (; k < to; ++k) found = std::max(found, values[k]);
  return found;
}

void add_range(std::span<const double> s, std::size_t from, std::size_t to, double own, double inverse,
               AnchorSums& out) {
  std::size_t k = from;
  P sums(0.0), weighted(0.0);
  for (; k + lanes <= to; k += lanes) {
    const P d = (P::load(s.data() + k) - P(own)) * P(inverse);
    const P e = exp(d - P(out.shift));
    sums += e;
    weighted = fma(e, d, weighted);
  }
  out.sum += sum(sums);
  out.weighted += sum(weighted);
  for (; k < to; ++k) {
    const double d = (s[k] - own) * inverse, e = std::exp(d - out.shift);
    out.sum += e, out.weighted += e * d;
  }
}

}  // namespace

AnchorSums anchor_sums(std::span<const double> similarities, std::size_t self, double own, double temperature) {
  AnchorSums out;
  const double inverse = 1.0 / temperature;
  double most = largest(similarities, 0, self, own);
  most = largest(similarities, self + 1, similarities.size(), most);
  out.shift = (most - own) * inverse;
  add_range(similarities, 0, self, own, inverse, out);
  add_range(similarities, self + 1, similarities.size(), own, inverse, out);
  return out;
}

void add_anchor(std::span<const double> s, double own, double temperature, double weight, double scale,
                std::span<double> out) {
  const double inverse = 1.0 / temperature;
  std::size_t k = 0;
  for (; k + lanes <= s.size(); k += lanes) {
    const P e = exp((P::load(s.data() + k) - P(own)) * P(inverse) - P(weight));
    fma(P(scale), e, P::load(out.data() + k)).store(out.data() + k);
  }
  for (; k < s.size(); ++k) out[k] += scale * std::exp((s[k] - own) * inverse - weight);
}

void add_seen(std::span<const double> s, std::span<const double> own, std::span<const double> inverse,
              std::span<const double> weight, std::span<const double> scale, std::span<double> out) {
  std::size_t k = 0;
  for (; k + lanes <= s.size(); k += lanes) {
    const auto at = [k](std::span<const double> x) { return P::load(x.data() + k); };
    const P e = exp((at(s) - at(own)) * at(inverse) - at(weight));
    fma(at(scale), e, P::load(out.data() + k)).store(out.data() + k);
  }
  for (; k < s.size(); ++k) out[k] += scale[k] * std::exp((s[k] - own[k]) * inverse[k] - weight[k]);
}

}  // namespace cambium::train
