#include "plugins/mace/engine/linear.hpp"

#include <algorithm>

#include "core/numerics/gemm.hpp"

namespace cambium::mace {

template <class T>
Linear<T>::Linear(const LinearMap& map) : inputs_(map.inputs), outputs_(map.outputs) {
  for (const auto& p : map.parts)
    parts_.push_back(
        {p.in, p.out, p.in_channels, p.out_channels, p.components, std::vector<T>(p.weight.begin(), p.weight.end())});
}

template <class T>
void Linear<T>::apply(int rows, const T* in, T* out) const {
  for (const Part& p : parts_)
    for (int m = 0; m < p.components; ++m)
      host_gemm(false, false, rows, p.out_channels, p.in_channels, T(1), in + p.in + m * p.in_channels, inputs_,
                p.weight.data(), p.out_channels, T(1), out + p.out + m * p.out_channels, outputs_);
}

template <class T>
void Linear<T>::apply_transposed(int rows, const T* out, T* in) const {
  for (const Part& p : parts_)
    for (int m = 0; m < p.components; ++m)
      host_gemm(false, true, rows, p.in_channels, p.out_channels, T(1), out + p.out + m * p.out_channels, outputs_,
                p.weight.data(), p.out_channels, T(1), in + p.in + m * p.in_channels, inputs_);
}

template <class T>
SpeciesLinear<T>::SpeciesLinear(const std::vector<LinearMap>& maps) : maps_(maps.begin(), maps.end()) {}

template <class T>
template <class F>
void SpeciesLinear<T>::by_species(int rows, const int* species, int from_width, const T* from, int to_width, T* to,
                                  const F& f) {
  if (std::count(species, species + rows, species[0]) == rows)
    return f(maps_[static_cast<std::size_t>(species[0])], rows, from, to);
  const auto n = static_cast<std::size_t>(from_width), m = static_cast<std::size_t>(to_width);
  for (std::size_t s = 0; s < maps_.size(); ++s) {
    from_.clear();
    for (int i = 0; i < rows; ++i)
      if (species[i] == static_cast<int>(s)) from_.insert(from_.end(), from + i * n, from + (i + 1) * n);
    const std::size_t count = from_.size() / n;
    to_.assign(count * m, T(0));
    if (count > 0) f(maps_[s], static_cast<int>(count), from_.data(), to_.data());
    const T* one = to_.data();
    for (int i = 0; i < rows; ++i) {
      if (species[i] != static_cast<int>(s)) continue;
      for (std::size_t k = 0; k < m; ++k) to[i * m + k] += *one++;
    }
  }
}

template <class T>
void SpeciesLinear<T>::apply(int rows, const int* species, const T* in, T* out) {
  if (rows == 0) return;
  by_species(rows, species, maps_[0].inputs(), in, maps_[0].outputs(), out,
             [](const Linear<T>& map, int n, const T* from, T* to) { map.apply(n, from, to); });
}

template <class T>
void SpeciesLinear<T>::apply_transposed(int rows, const int* species, const T* out, T* in) {
  if (rows == 0) return;
  by_species(rows, species, maps_[0].outputs(), out, maps_[0].inputs(), in,
             [](const Linear<T>& map, int n, const T* from, T* to) { map.apply_transposed(n, from, to); });
}

template class Linear<double>;
template class Linear<float>;
template class SpeciesLinear<double>;
template class SpeciesLinear<float>;

}  // namespace cambium::mace
