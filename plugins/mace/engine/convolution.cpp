#include "plugins/mace/engine/convolution.hpp"

#include <algorithm>

#include "plugins/mace/engine/lanes.hpp"

namespace cambium::mace {

template <class T>
Convolution<T>::Convolution(const std::vector<ConvolutionPath>& paths) {
  std::size_t most = 0;
  for (const auto& from : paths) {
    Path path{from.in, from.out, from.channels, from.out_stride, from.weight, from.in_components, {}, {}, {}, {}};
    auto terms = from.terms;
    std::stable_sort(terms.begin(), terms.end(),
                     [](const auto& a, const auto& b) { return a.out != b.out ? a.out < b.out : a.in < b.in; });
    for (const auto& term : terms) {
      const int at = static_cast<int>(path.factor.size());
      if (path.pairs.empty() || path.pairs.back().in != term.in || path.pairs.back().out != term.out)
        path.pairs.push_back({term.in, term.out, at, at});
      path.pairs.back().last = at + 1;
      path.harmonic.push_back(term.harmonic);
      path.factor.push_back(static_cast<T>(term.factor));
    }
    for (int out = 0; out <= from.out_components; ++out)
      path.first_of_out.push_back(static_cast<int>(
          std::find_if(path.pairs.begin(), path.pairs.end(), [&](const Pair& p) { return p.out >= out; }) -
          path.pairs.begin()));
    most = std::max(most, path.pairs.size());
    paths_.push_back(std::move(path));
  }
  factors_.resize(most);
  sums_.resize(most * native_width<T>);
}

template <class T>
void Convolution<T>::sum_factors(const Path& path, const T* harmonics) {
  for (std::size_t p = 0; p < path.pairs.size(); ++p) {
    T sum = 0;
    for (int t = path.pairs[p].first; t < path.pairs[p].last; ++t)
      sum += path.factor[static_cast<std::size_t>(t)] * harmonics[path.harmonic[static_cast<std::size_t>(t)]];
    factors_[p] = sum;
  }
}

template <class T>
void Convolution<T>::add(const T* features, const T* harmonics, const T* weights, T* out) {
  for (const Path& path : paths_) {
    sum_factors(path, harmonics);
    const T* factor = factors_.data();
    const Pair* pairs = path.pairs.data();
    const int outs = static_cast<int>(path.first_of_out.size()) - 1;
    over_channels<T>(path.channels, [&]<class P>(int k) {
      const P w = P::load(weights + path.weight + k);
      P weighted[most_components];
      for (int in = 0; in < path.in_components; ++in)
        weighted[in] = w * P::load(features + path.in + in * path.channels + k);
      for (int o = 0, p = 0; o < outs; ++o) {
        P sum = T(0);
        for (const int end = path.first_of_out[static_cast<std::size_t>(o) + 1]; p < end; ++p)
          sum = fma(P(factor[p]), weighted[pairs[p].in], sum);
        add_to(out + path.out + o * path.out_stride + k, sum);
      }
    });
  }
}

template <class T>
T Convolution<T>::add_gradient(const T* features, const T* harmonics, const T* weights, const T* slopes,
                               const T* out_gradient, T* harmonics_gradient, T* features_gradient) {
  constexpr int width = native_width<T>;
  T along[width] = {};
  for (const Path& path : paths_) {
    sum_factors(path, harmonics);
    const T* factor = factors_.data();
    const std::size_t count = path.pairs.size();
    std::fill_n(sums_.data(), count * width, T(0));
    over_channels<T>(path.channels, [&]<class P>(int k) {
      const P w = P::load(weights + path.weight + k);
      P weighted[most_components], back[most_components];
      for (int in = 0; in < path.in_components; ++in) {
        weighted[in] = w * P::load(features + path.in + in * path.channels + k);
        back[in] = T(0);
      }
      T* sum = sums_.data();
      for (std::size_t p = 0; p < count; ++p, sum += width) {
        const Pair& pair = path.pairs[p];
        const P g = P::load(out_gradient + path.out + pair.out * path.out_stride + k);
        back[pair.in] = fma(P(factor[p]), g, back[pair.in]);
        fma(weighted[pair.in], g, P::load(sum)).store(sum);
      }
      P by_weight = T(0);
      for (int in = 0; in < path.in_components; ++in) {
        by_weight = fma(P::load(features + path.in + in * path.channels + k), back[in], by_weight);
        if (features_gradient) add_to(features_gradient + path.in + in * path.channels + k, w * back[in]);
      }
      fma(by_weight, P::load(slopes + path.weight + k), P::load(along)).store(along);
    });
    for (std::size_t p = 0; p < count; ++p) {
      T sum = 0;
      for (int lane = 0; lane < width; ++lane) sum += sums_[p * width + static_cast<std::size_t>(lane)];
      for (int t = path.pairs[p].first; t < path.pairs[p].last; ++t)
        harmonics_gradient[path.harmonic[static_cast<std::size_t>(t)]] +=
            path.factor[static_cast<std::size_t>(t)] * sum;
    }
  }
  T total = 0;
  for (const T lane : along) total += lane;
  return total;
}

template class Convolution<double>;
template class Convolution<float>;

}  // namespace cambium::mace
