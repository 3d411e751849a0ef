#pragma once
#include <vector>

#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Products of a neighbour's features with harmonics and radial weights of an edge, in type T, a register of channels
/// at a time.
template <class T>
class Convolution {
 public:
  Convolution() = default;
  explicit Convolution(const std::vector<ConvolutionPath>& paths);

  /// Adds the products to `out`, the sum over neighbours.
  void add(const T* features, const T* harmonics, const T* weights, T* out);
  /// Adds the gradient, given that of the sum over neighbours, with respect to harmonics and, if not null, features;
  /// returns that along the edge through the weights, whose slopes (1/Å) are given.
  T add_gradient(const T* features, const T* harmonics, const T* weights, const T* slopes, const T* out_gradient,
                 T* harmonics_gradient, T* features_gradient);

 private:
  struct Pair {
    int in, out;      ///< components
    int first, last;  ///< terms
  };
  struct Path {
    int in, out, channels, out_stride, weight, in_components;
    std::vector<Pair> pairs;        ///< by component of the result
    std::vector<int> harmonic;      ///< of each term
    std::vector<T> factor;          ///< of each term
    std::vector<int> first_of_out;  ///< first pair of each component of the result, and the end
  };
  static constexpr int most_components = 23;  ///< of a block: degree 11
  /// Sums of factors times harmonics, of each pair.
  void sum_factors(const Path& path, const T* harmonics);

  std::vector<Path> paths_;
  std::vector<T> factors_;
  std::vector<T> sums_;  ///< of each pair, a register
};

extern template class Convolution<double>;
extern template class Convolution<float>;

}  // namespace cambium::mace
