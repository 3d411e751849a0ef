#include "plugins/mace/engine/contraction.hpp"

#include "plugins/mace/engine/lanes.hpp"

namespace cambium::mace {

template <class T>
SymmetricContraction<T>::SymmetricContraction(const Contraction& contraction, int channels) : channels_(channels) {
  constexpr int width = native_width<T>;
  for (const auto& term : contraction.terms) {
    Group next{term.degree, term.out, {0, 0}, 0, 0};
    for (int d = 0; d + 1 < term.degree; ++d) next.component[d] = term.component[d];
    const bool same = !groups_.empty() && groups_.back().degree == next.degree && groups_.back().out == next.out &&
                      groups_.back().component[0] == next.component[0] &&
                      groups_.back().component[1] == next.component[1];
    if (!same) {
      next.first = static_cast<int>(component_.size());
      groups_.push_back(next);
    }
    component_.push_back(term.component[term.degree - 1]);
    groups_.back().last = static_cast<int>(component_.size());
  }
  const std::size_t terms = component_.size(), registers = static_cast<std::size_t>((channels + width - 1) / width);
  for (const auto& from : contraction.coefficients) {
    std::vector<T> to(registers * terms * width, T(0));
    for (std::size_t t = 0; t < terms; ++t)
      for (std::size_t k = 0; k < static_cast<std::size_t>(channels); ++k)
        to[(k / width * terms + t) * width + k % width] =
            static_cast<T>(from[t * static_cast<std::size_t>(channels) + k]);
    coefficients_.push_back(std::move(to));
  }
}

template <class T>
const T* SymmetricContraction<T>::coefficients(int species, int k) const {
  constexpr int width = native_width<T>;
  return coefficients_[static_cast<std::size_t>(species)].data() +
         static_cast<std::size_t>(k / width) * component_.size() * width + k % width;
}

template <class T>
void SymmetricContraction<T>::add(int species, const T* message, T* out) const {
  constexpr int width = native_width<T>;
  over_channels<T>(channels_, [&]<class P>(int k) {
    const T* c = coefficients(species, k);
    const T* m = message + k;
    for (const Group& g : groups_) {
      P sum = T(0);
      for (int t = g.first; t < g.last; ++t, c += width)
        sum = fma(P::load(c), P::load(m + component_[static_cast<std::size_t>(t)] * channels_), sum);
      for (int d = 0; d + 1 < g.degree; ++d) sum *= P::load(m + g.component[d] * channels_);
      add_to(out + g.out + k, sum);
    }
  });
}

template <class T>
void SymmetricContraction<T>::add_gradient(int species, const T* message, const T* out_gradient,
                                           T* message_gradient) const {
  constexpr int width = native_width<T>;
  over_channels<T>(channels_, [&]<class P>(int k) {
    const T* c = coefficients(species, k);
    const T* m = message + k;
    T* to = message_gradient + k;
    for (const Group& g : groups_) {
      const P by_out = P::load(out_gradient + g.out + k);
      P a = T(1), b = T(1), sum = T(0);
      if (g.degree > 1) a = P::load(m + g.component[0] * channels_);
      if (g.degree > 2) b = P::load(m + g.component[1] * channels_);
      const P by_last = by_out * a * b;
      for (int t = g.first; t < g.last; ++t, c += width) {
        const int last = component_[static_cast<std::size_t>(t)] * channels_;
        const P coefficient = P::load(c);
        sum = fma(coefficient, P::load(m + last), sum);
        fma(by_last, coefficient, P::load(to + last)).store(to + last);
      }
      if (g.degree > 1) add_to(to + g.component[0] * channels_, by_out * b * sum);
      if (g.degree > 2) add_to(to + g.component[1] * channels_, by_out * a * sum);
    }
  });
}

template class SymmetricContraction<double>;
template class SymmetricContraction<float>;

}  // namespace cambium::mace
