#pragma once
#include <vector>

#include "plugins/superres/networks/axial/axial_attention.hpp"
#include "plugins/superres/networks/planes/plane_layers.hpp"

namespace cambium::superres {

/// Vision transformer with axial attention: patches are embedded as rows; each layer adds attention along x and along
/// z, with shared queries, keys, values and output matrix (McCabe et al. 2024, arXiv:2310.02994), and a feed-forward
/// part with GELU, both pre-normalised by a layer norm; the projection gives the points of each patch.
template <class T>
class AxialLayers : public PlaneLayers<T> {
 public:
  AxialLayers(const AxialShape& shape, std::span<const TensorRef> weights) : shape_(shape), weights_(weights) {}
  const std::vector<T>& forward(std::vector<T> inputs, int samples, const train::ReadyCallback& ready) override;
  void backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                const train::ReadyCallback& ready) override;

 private:
  using Values = std::vector<T>;
  /// Normalised rows, and the inverse standard deviation of each.
  struct Norm {
    Values scaled, inverse;
  };
  struct Layer {
    Norm norm1, norm2;
    Values first, qkv, mixed, second, sums, bent;
    std::vector<AxialAttention<T>> attention;
  };
  int rows() const { return samples_ * shape_.tokens(0) * shape_.tokens(1); }
  const T* weight(int parameter) const { return static_cast<const T*>(weights_[parameter].data); }

  /// Copies between planes (samples, channels, x, z) and rows of patches (rows, channels patch points).
  template <class F>
  void each_point(int channels, const F& tell) const;
  Values dense(int parameter, int in, int out, const Values& x) const;
  Values dense_backward(int parameter, int in, int out, const Values& x, const Values& by_y,
                        std::span<const TensorRef> gradients, bool by_x = true) const;
  Values normed(int parameter, const Values& x, Norm& norm) const;
  /// Adds to by_x.
  void norm_backward(int parameter, const Norm& norm, const Values& by_y, std::span<const TensorRef> gradients,
                     Values& by_x) const;
  void add_positions(Values& x) const;
  void positions_backward(const Values& by_x, std::span<const TensorRef> gradients) const;
  void layer_forward(int first, Layer& layer, Values& x) const;
  void layer_backward(int first, const Layer& layer, std::span<const TensorRef> gradients, Values& by_x) const;

  const AxialShape& shape_;
  std::span<const TensorRef> weights_;
  int samples_ = 0;
  Values patches_, last_, output_;
  Norm norm_;
  std::vector<Layer> layers_;
};

extern template class AxialLayers<double>;
extern template class AxialLayers<float>;

}  // namespace cambium::superres
