#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/train/networks/attention/attention.hpp"
#include "core/train/networks/transformer/transformer.hpp"

namespace cambium::train {

/// Number of parameter arrays: two embeddings, six of each block, two of the head.
struct TransformerShape {
  int layers, width, heads, hidden, positions;
  static constexpr int per_block = 6;
  int first_of_block(int l) const { return 2 + per_block * l; }
  int first_of_head() const { return 2 + per_block * layers; }
};

/// Forward and backward passes in T. Rows are positions, samples one after the other; weights of products are n_in x
/// n_out.
template <class T>
class TransformerPass {
 public:
  /// `features` are the random ones of all blocks, one block after the other, for attention that has some; `coded`
  /// weights replace full ones in forward().
  TransformerPass(const TransformerShape& shape, const Transformer::Params& params, std::span<const TensorRef> weights,
                  std::span<const double> features = {}, const CodedWeights* coded = nullptr);

  /// -log of the chance of every byte but the first of `samples` texts of positions + 1 bytes, in nats. Keeps what
  /// backward() needs.
  std::vector<double> forward(std::span<const std::uint8_t> bytes, int samples, const ReadyCallback& ready = {});
  /// The byte that the last forward() gives the largest chance at each place.
  std::vector<std::uint8_t> likeliest() const;
  /// Adds `weight` times the gradient of the sum over samples of the mean over positions, or of the sum with the weight
  /// of each place where `places` says it.
  void backward(double weight, std::span<const double> places, std::span<const TensorRef> gradients,
                const ReadyCallback& ready);

 private:
  /// What a block keeps from its forward pass.
  struct Block {
    std::vector<T> x, inverse1, entered1, qkv, attention, mixed, between, inverse2, entered2, up, hidden;
  };

  void block_forward(int l);
  std::unique_ptr<Attention<T>> attention_of(int l) const;
  void attend(int l);
  void block_backward(int l, std::span<const TensorRef> gradients, const ReadyCallback& ready);
  void attend_backward(int l, const std::vector<T>& by_mixed, std::vector<T>& by_qkv);
  void head_backward(double weight, std::span<const double> places, std::span<const TensorRef> gradients,
                     const ReadyCallback& ready);
  void embedding_backward(std::span<const TensorRef> gradients, const ReadyCallback& ready);

  /// y = x W (+ y where `add`), W parameter k; `inside` a block, where weights may be rounded.
  void multiply(const std::vector<T>& x, int k, int n_in, int n_out, std::vector<T>& y, bool add, bool inside);
  /// Adds to the gradient of W and returns by_x.
  std::vector<T> multiply_backward(const std::vector<T>& x, int k, int n_in, int n_out, std::vector<T> by_y,
                                   T* by_weight, bool inside);
  /// What enters a product: rounded as the parameters say.
  void enter(std::vector<T>& x, int width, bool inside) const;
  const T* weights_of(int k, bool inside);
  const T* raw(int k) const { return static_cast<const T*>(weights_[static_cast<std::size_t>(k)].data); }

  TransformerShape shape_;
  const Transformer::Params& params_;
  std::span<const TensorRef> weights_;  ///< memory stands behind those of a module while it is in use
  std::span<const double> features_;
  const CodedWeights* coded_;
  int rows_ = 0, samples_ = 0;
  std::vector<std::uint8_t> inputs_, targets_;
  std::vector<Block> blocks_;
  std::vector<T> x_, last_inverse_, last_entered_, probabilities_, by_x_, rounded_;
};

extern template class TransformerPass<double>;
extern template class TransformerPass<float>;

}  // namespace cambium::train
