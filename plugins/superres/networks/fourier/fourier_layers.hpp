#pragma once
#include <span>
#include <vector>

#include "plugins/superres/networks/fourier/spectral_transform.hpp"
#include "plugins/superres/networks/planes/plane_layers.hpp"

namespace cambium::superres {

/// Sizes of a Fourier neural operator (Li et al. 2021, arXiv:2010.08895).
struct FourierShape {
  SpectralGrid grid;
  int inputs = 0, outputs = 0;  ///< channels of the plane
  int width = 32, layers = 4;   ///< channels inside, Fourier layers
  int hidden = 64;              ///< channels of the projection
  int kernel = 1;               ///< points of the local filter in addition to the modes, along x and z, odd
};

/// "lift.w" (inputs, width) and "lift.b"; for each Fourier layer l "layers.<l>.modes" (2, modes along x, along z,
/// width, width), real parts first, "layers.<l>.w" (kernel^2 width, width), rows by offset along x, along z and
/// channel, and "layers.<l>.b"; "project.0.w" (width, hidden), "project.0.b", "project.1.w" (hidden, outputs),
/// "project.1.b". Matrices are (in, out).
std::vector<train::ParameterInfo> fourier_parameters(const FourierShape& shape);
/// First parameter of the lifting, of each Fourier layer and of both layers of the projection.
std::vector<int> fourier_modules(const FourierShape& shape);
/// Initialises with normal values of variance 1 / inputs for weights and for complex mode weights, 2 / inputs in the
/// projection, a function of (seed, parameter, element); biases are 0. `last_is_zero`: so are the last layer's weights.
void initialise_fourier(const FourierShape& shape, std::span<const TensorRef> weights, std::uint64_t seed,
                        bool last_is_zero);

/// Forward and backward passes in T, float or double. Each Fourier layer is GELU(inverse transform of (modes' weights
/// times modes) + w v + b), w a filter of kernel^2 points whose values beyond the ends are continued as those of the
/// modes, the last one without GELU; the projection has GELU after its first layer. Fields are (samples, channels, x,
/// z).
template <class T>
class FourierLayers : public PlaneLayers<T> {
 public:
  FourierLayers(const FourierShape& shape, SpectralTransform& transform, std::span<const TensorRef> weights)
      : shape_(shape), transform_(transform), weights_(weights) {}

  const std::vector<T>& forward(std::vector<T> inputs, int samples, const train::ReadyCallback& ready = {}) override;
  void backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                const train::ReadyCallback& ready) override;

 private:
  using Values = std::vector<T>;
  struct Dense {
    int parameter, in, out, kernel = 1;
    int rows() const { return kernel * kernel * in; }
  };
  Dense lifting() const { return {0, shape_.inputs, shape_.width}; }
  Dense beside(int layer) const { return {3 + 3 * layer, shape_.width, shape_.width, shape_.kernel}; }
  Dense projection(int which) const;
  std::size_t nodes() const { return static_cast<std::size_t>(shape_.grid.nodes()); }
  const T* weight(int parameter) const { return static_cast<const T*>(weights_[parameter].data); }

  /// For each offset of the filter and each point the index of the neighbour, -1 for a zero beyond the ends.
  std::vector<std::int64_t> neighbours(int kernel) const;
  Values dense(const Dense& layer, const Values& in) const;
  Values dense_backward(const Dense& layer, const Values& in, const Values& by_sum,
                        std::span<const TensorRef> gradients, bool by_input) const;
  void add_modes(int layer, const Values& in, Values& sums);
  void modes_backward(int layer, const Values& by_sum, Values& by_input, T* gradient);
  Values activated(const Values& sums) const;
  void times_slope(const Values& sums, Values& by_value) const;

  const FourierShape& shape_;
  SpectralTransform& transform_;
  std::span<const TensorRef> weights_;
  int samples_ = 0;
  std::vector<Values> inputs_, sums_;  ///< of the lifting, of each Fourier layer, of both layers of the projection
  std::vector<Values> modes_;          ///< of each Fourier layer's input: (samples, two parts, modes, width)
};

extern template class FourierLayers<double>;
extern template class FourierLayers<float>;

}  // namespace cambium::superres
