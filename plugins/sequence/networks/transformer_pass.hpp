#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/train/networks/attention/attention.hpp"
#include "plugins/sequence/networks/transformer.hpp"

namespace cambium::sequence {

/// A matrix of the network by its first parameter: full, or factorised into that and the next one.
struct Product {
  int first, n_in, n_out;
  int rank = 0;  ///< factor rank; 0: full
};

/// Indices of the parameter arrays: two embeddings; for each block two gains and four matrices; a gain and a matrix of
/// the head. A factorised matrix has two.
struct TransformerShape {
  enum Matrix { qkv, out, up, down };
  int layers, width, heads, hidden, positions;
  std::vector<std::int64_t> ranks = {};  ///< of the four matrices of each block, then of the head; empty: all full

  int rank(int number) const { return ranks.empty() ? 0 : static_cast<int>(ranks[number]); }
  /// Number of parameters of the first `count` matrices.
  int arrays(int count) const;
  int first_of_block(int l) const { return 2 + 2 * l + arrays(4 * l); }
  int first_of_head() const { return first_of_block(layers); }
  int norm1(int l) const { return first_of_block(l); }
  int norm2(int l) const { return 2 + 2 * l + 1 + arrays(4 * l + 2); }
  Product matrix(int l, Matrix m) const;
  Product head(int bytes) const { return {first_of_head() + 1, width, bytes, rank(4 * layers)}; }
};

/// Forward and backward passes in T. Rows are positions, sample by sample; weights of products are n_in x n_out.
template <class T>
class TransformerPass {
 public:
  /// `features` are the random features of all blocks, one after the other, for attention that uses them; `coded`
  /// weights replace full ones in forward().
  TransformerPass(const TransformerShape& shape, const Transformer::Params& params, std::span<const TensorRef> weights,
                  std::span<const double> features = {}, const train::CodedWeights* coded = nullptr);

  /// -log of the probability of every byte but the first of `samples` texts of positions + 1 bytes, in nats. For
  /// bidirectional attention, of every byte of texts with as many bytes as positions; those with a nonzero mark in
  /// `masked` are masked. Stores what backward() needs.
  std::vector<double> forward(std::span<const std::uint8_t> bytes, int samples, const train::ReadyCallback& ready = {},
                              std::span<const double> masked = {});
  /// Most likely byte at each position in the last forward().
  std::vector<std::uint8_t> likeliest() const;
  /// Adds `weight` times the gradient of the sum over samples of the mean over positions, or, if `places` is given, of
  /// the sum weighted by it.
  void backward(double weight, std::span<const double> places, std::span<const TensorRef> gradients,
                const train::ReadyCallback& ready);

 private:
  /// Activations that a block stores in its forward pass.
  struct Block {
    std::vector<T> x, inverse1, entered1, qkv, attention, mixed, between, inverse2, entered2, up, hidden;
    std::vector<T> inside[4];  ///< between the factors of its matrices
  };

  /// Sets the input and the target bytes.
  void take(std::span<const std::uint8_t> bytes, std::span<const double> masked);
  void embed();
  std::vector<double> losses();
  void slopes_of_logits(double weight, std::span<const double> places);
  void block_forward(int l);
  std::unique_ptr<train::Attention<T>> attention_of(int l) const;
  void attend(int l);
  void block_backward(int l, std::span<const TensorRef> gradients, const train::ReadyCallback& ready);
  void attend_backward(int l, const std::vector<T>& by_mixed, std::vector<T>& by_qkv);
  void head_backward(double weight, std::span<const double> places, std::span<const TensorRef> gradients,
                     const train::ReadyCallback& ready);
  void embedding_backward(std::span<const TensorRef> gradients, const train::ReadyCallback& ready);

  /// y = x W (+ y if `add`); `inside` a block, where weights may be rounded. Stores the intermediate values of a
  /// factorised W in `between`.
  void multiply(const std::vector<T>& x, const Product& w, std::vector<T>& between, std::vector<T>& y, bool add,
                bool inside);
  void multiply_one(const std::vector<T>& x, int k, int n_in, int n_out, std::vector<T>& y, bool add, bool inside);
  /// Adds to the gradient of W and returns by_x.
  std::vector<T> multiply_backward(const std::vector<T>& x, const Product& w, const std::vector<T>& between,
                                   std::vector<T> by_y, std::span<const TensorRef> gradients,
                                   const train::ReadyCallback& ready, bool inside);
  std::vector<T> one_backward(const std::vector<T>& x, int k, int n_in, int n_out, std::vector<T> by_y, T* by_weight,
                              bool inside);
  /// Rounds the operand of a product as the parameters specify.
  void enter(std::vector<T>& x, int width, bool inside) const;
  const T* weights_of(int k, bool inside);
  const T* raw(int k) const { return static_cast<const T*>(weights_[k].data); }

  TransformerShape shape_;
  const Transformer::Params& params_;
  std::span<const TensorRef> weights_;  ///< those of a module are allocated only while it is in use
  std::span<const double> features_;
  const train::CodedWeights* coded_;
  int rows_ = 0, samples_ = 0;
  std::vector<int> inputs_;
  std::vector<std::uint8_t> targets_;
  std::vector<Block> blocks_;
  std::vector<T> x_, last_inverse_, last_entered_, head_between_, probabilities_, by_x_, rounded_;
};

extern template class TransformerPass<double>;
extern template class TransformerPass<float>;

}  // namespace cambium::sequence
