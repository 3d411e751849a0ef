#pragma once
#include <vector>

#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// A LinearMap in type T (double or float), for many atoms at once: contiguous rows.
template <class T>
class Linear {
 public:
  Linear() = default;
  explicit Linear(const LinearMap& map);
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  void apply(int rows, const T* in, T* out) const;             ///< adds
  void apply_transposed(int rows, const T* out, T* in) const;  ///< adds

 private:
  struct Part {
    int in, out, in_channels, out_channels, components;
    std::vector<T> weight;  ///< [in channel][out channel]
  };
  int inputs_ = 0, outputs_ = 0;
  std::vector<Part> parts_;
};

/// A linear map for each species.
template <class T>
class SpeciesLinear {
 public:
  SpeciesLinear() = default;
  explicit SpeciesLinear(const std::vector<LinearMap>& maps);
  /// `species`: of each row.
  void apply(int rows, const int* species, const T* in, T* out);             ///< adds
  void apply_transposed(int rows, const int* species, const T* out, T* in);  ///< adds

 private:
  /// Calls f(map, rows, from, to) for the rows of each species, gathered unless they are contiguous.
  template <class F>
  void by_species(int rows, const int* species, int from_width, const T* from, int to_width, T* to, const F& f);

  std::vector<Linear<T>> maps_;
  std::vector<T> from_, to_;
};

extern template class Linear<double>;
extern template class Linear<float>;
extern template class SpeciesLinear<double>;
extern template class SpeciesLinear<float>;

}  // namespace cambium::mace
