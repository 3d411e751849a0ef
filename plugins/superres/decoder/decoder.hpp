#pragma once
#include <memory>
#include <span>

#include "plugins/superres/decoder/jet_activation.hpp"
#include "plugins/superres/decoder/latent_cells.hpp"

namespace cambium::superres {

/// Sizes of the continuous decoder (Jiang et al. 2020, "ImNet"): every hidden layer takes the previous layer and,
/// again, the input: three relative coordinates and the latent vector.
struct DecoderShape {
  int latent = 32;
  std::vector<int> widths{512, 256, 128, 64, 32};
  int outputs = 4;
  /// The first components of a latent vector are spline coefficients of the outputs themselves, to which the decoder
  /// adds (Blend::spline).
  bool carries = false;
  Activation activation = Activation::softplus;
  /// For factorised layers (with_ranks): the first factor has no activation function, the second does not take the
  /// input. Empty if no layer is factorised.
  std::vector<bool> plain, blind;

  /// The same with each layer (the output layer last) factorised with this rank, 0 for an unfactorised one.
  DecoderShape with_ranks(std::span<const std::int64_t> ranks) const;

  int vector() const { return latent + (carries ? outputs : 0); }
  int input() const { return 3 + vector(); }
  int layers() const { return static_cast<int>(widths.size()) + 1; }
  int width(int layer) const { return layer < layers() - 1 ? widths[layer] : outputs; }
  /// Columns of a layer's weights (width, columns): those of the previous layer, then those of the input. The output
  /// layer does not take the input.
  int hidden_columns(int layer) const { return layer == 0 ? 0 : widths[layer - 1]; }
  int columns(int layer) const { return hidden_columns(layer) + (sees_input(layer) ? input() : 0); }
  bool sees_input(int layer) const { return blind.empty() ? layer < layers() - 1 : !blind[layer]; }
  bool is_plain(int layer) const { return !plain.empty() && plain[layer]; }
  std::int64_t parameters() const;
  /// Multiplications of one decoding with all its streams: derivatives of the input are constant, so the streams after
  /// the value pass only through columns of hidden layers.
  std::int64_t multiplications(int streams) const;
};

/// Values of the forward pass stored for the backward pass; memory is reused by the next call.
template <class T>
struct DecoderTape {
  std::vector<T> z;  ///< (chunk, layer, streams, rows, width) before the activation function
};

/// Values and derivatives of the decoded field in one pass: jets instead of nested differentiation. Points are
/// processed in chunks whose streams fit into the caches, and each layer is one product for all streams. T: float or
/// double.
template <class T>
class Decoder {
 public:
  /// Weights and biases, alternating, layer by layer.
  using Weights = std::span<const T* const>;
  using Gradients = std::span<T* const>;

  Decoder(DecoderShape shape, JetBasis basis) : shape_(std::move(shape)), basis_(std::move(basis)) {}

  /// out (streams, points, outputs) from latent vectors (nodes, vector()). `plain`, if given, is added to the decoding
  /// of every corner before blending: (streams, rows, outputs). Without a tape nothing is stored.
  void forward(const DecoderQuery<T>& query, const T* latents, Weights weights, const T* plain, T* out,
               DecoderTape<T>* tape) const;
  /// Adds to the gradients of latent vectors and weights, from `g` = the gradient with respect to out.
  void backward(const DecoderQuery<T>& query, const T* latents, Weights weights, const DecoderTape<T>& tape, const T* g,
                T* latent_gradients, Gradients gradients) const;
  /// Only the matrix products of forward(), on memory of the same sizes: a lower bound of its time.
  void products_only(const DecoderQuery<T>& query, Weights weights) const;

  const DecoderShape& shape() const { return shape_; }
  const JetBasis& basis() const { return basis_; }

 private:
  struct Chunk;
  std::int64_t tape_stride(int rows) const;
  void after(int layer, std::int64_t count, const T* z, T* a) const;
  void blend_latents(Chunk& chunk, const T* latents) const;
  void unblend_latents(const Chunk& chunk, const T* by_input, T* latent_gradients) const;
  void input_forward(const Chunk& chunk, int layer, Weights weights, T* z) const;
  void input_backward(const Chunk& chunk, int layer, const T* g, Weights weights, Gradients gradients,
                      T* input_gradient) const;
  void layer_forward(const Chunk& chunk, int layer, const T* a, Weights weights, T* z) const;
  void layer_backward(const Chunk& chunk, int layer, const T* a, const T* g, Weights weights, Gradients gradients,
                      T* input_gradient, T* below) const;
  void blend(const Chunk& chunk, const T* y, const T* plain, T* out) const;
  void blend_back(const Chunk& chunk, const T* g, T* gy) const;
  Chunk chunk_of(const DecoderQuery<T>& query, const T* latents, std::int64_t first) const;

  DecoderShape shape_;
  JetBasis basis_;
};

}  // namespace cambium::superres
