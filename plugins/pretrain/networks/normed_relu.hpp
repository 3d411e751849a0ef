#pragma once
#include <cstdint>
#include <vector>

namespace cambium::pretrain {

/// Group normalisation (Wu and He, ECCV 2018) and a ReLU of one field, [cell][channel]:
///   out = max(0, scale_c (y - mean_g) / deviation_g + shift_c) [+ beside]
/// for each channel c of group g; mean and standard deviation over all cells and channels of a group, with `epsilon`
/// added to the variance. T: float or double.
template <class T>
class NormedRelu {
 public:
  struct Shape {
    std::int64_t cells, channels, groups;
    double epsilon = 1e-5;
  };
  NormedRelu(const Shape& shape, const T* scale, const T* shift);

  /// For each group: its mean and the inverse of its standard deviation.
  std::int64_t moments() const { return 2 * shape_.groups; }
  /// `beside` may be null.
  void forward(const T* y, const T* beside, T* moments, T* out);
  struct Gradients {
    T *scale, *shift, *bias;  ///< [channel]; bias: of the convolution
  };
  /// dy from the derivative by `out`; adds to the rest.
  void backward(const T* y, const T* moments, const T* dout, T* dy, const Gradients& add);

 private:
  std::int64_t group_of(std::int64_t channel) const { return channel * shape_.groups / shape_.channels; }
  void set_factors(const T* moments);

  Shape shape_;
  std::vector<T> scale_, shift_;
  std::vector<T> centre_, rate_;    ///< of each channel: mean and inverse standard deviation of its group
  std::vector<T> factor_, offset_;  ///< factor y + offset: before the ReLU
  std::vector<T> sums_, products_;  ///< of each channel
};

}  // namespace cambium::pretrain
