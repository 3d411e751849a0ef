#pragma once
#include <array>
#include <vector>

#include "plugins/deepmd/model/environment.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Values and, with two planes, their tangents along a displacement of the atoms.
template <class T, int planes>
struct Planes {
  std::array<std::vector<T>, planes> plane;
  void resize(std::size_t n) {
    for (auto& p : plane) p.assign(n, T(0));
  }
};

/// Inputs of the attention from a neighbour at distance d from its centre, and the gradient back to d. c is the
/// normalised environment row, s the switch w(r), u the direction of the last three components of c.
struct NeighbourGeometry {
  CutOff cutoff;
  std::array<double, 4> inverse_deviation;

  struct Seen {
    std::array<double, 4> c;
    double s;
    std::array<double, 3> u;
  };
  Seen seen(const double d[3]) const;
  /// Tangent when d changes by `move`.
  Seen change(const double d[3], const double move[3]) const;
  /// Gradient with respect to d from the adjoints.
  std::array<double, 3> gradient(const double d[3], const Seen& bar) const;
};

/// Weights of an attention layer, matrices row-major, or storage for their gradient.
template <class T>
struct AttentionWeights {
  std::vector<T> project, project_bias;  ///< width x 3 attn
  std::vector<T> out, out_bias;          ///< attn x width
  std::vector<T> factor, shift;          ///< of the layer norm

  AttentionWeights zeros() const;
  static std::vector<AttentionWeights> of(const AttentionLayers& layers);
};

/// Descriptor se_atten of one atom from its neighbours' embeddings: attention layers and the product with the
/// environment matrix (DeePMD-kit's documentation, "Descriptor se_atten"; GatedAttentionLayer of its dpmodel). With two
/// planes values and tangents are propagated together, and the adjoint of the tangent gives the weights' gradient of
/// both.
///
/// DeePMD-kit pads the neighbours to `slots` rows with switch 0. Their only effect: each adds exp(-20) to the
/// denominator of a softmax. Here their number, which may be negative, enters that sum, so that energies stay
/// continuous when a neighbour crosses the cut-off. In host memory.
template <class T, int planes>
class AttendedAtom {
 public:
  /// `layers` must outlive this object.
  AttendedAtom(const AttentionLayers& layers, int width, int axis, int slots);

  void resize(int neighbours);
  Planes<T, planes> c, s, u, g;  ///< filled by the caller: neighbours x 4, 1, 3 and `width`

  void forward(const std::vector<AttentionWeights<T>>& weights);
  /// Writes the last plane of the descriptor; rows of D are channels, or with `by_axis` the axis.
  void descriptor(bool by_axis, T* d) const;
  /// Backpropagates from the descriptor's planes to those of the neighbours: g_bar, and with one plane c_bar, s_bar and
  /// u_bar. With two, adds the weights' gradient to `gradients`.
  void backward(const std::vector<AttentionWeights<T>>& weights, bool by_axis, std::array<const T*, planes> d_bar,
                std::vector<AttentionWeights<T>>* gradients);
  Planes<T, planes> c_bar, s_bar, u_bar, g_bar;

 private:
  using Matrix = Planes<T, planes>;
  /// Intermediate values of a layer that backward() needs.
  struct Layer {
    Matrix x, qkv, inverse_length;  ///< input; queries, keys and values in a row; of each of these three
    Matrix products, softmax, weights;
    Matrix mixed, normal, inverse_deviation;  ///< weighted values; normalised output
  };
  void project(Layer& layer, const AttentionWeights<T>& w);
  void weigh(Layer& layer) const;
  void combine(Layer& layer, const AttentionWeights<T>& w, Matrix& y) const;
  Matrix combine_adjoint(const Layer& layer, const AttentionWeights<T>& w, const Matrix& y_bar,
                         AttentionWeights<T>* gradient) const;
  void weigh_adjoint(const Layer& layer, const Matrix& mixed_bar, Matrix& qkv_bar);
  void project_adjoint(const Layer& layer, const AttentionWeights<T>& w, Matrix& qkv_bar, AttentionWeights<T>* gradient,
                       Matrix& x_bar) const;

  const AttentionLayers& shape_;
  int width_, axis_, slots_, n_ = 0;
  std::vector<Layer> layers_;
  Matrix y_, a_;  ///< attended embeddings; their product with the environment, 4 x width
};

}  // namespace cambium::deepmd
