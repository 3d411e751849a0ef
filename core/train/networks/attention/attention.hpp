#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/citation.hpp"
#include "core/deck/describe.hpp"

namespace cambium::train {

/// The block `attention` of a network.
struct AttentionParams {
  enum class Type { softmax, two_pass, linear, favor };
  Type type = Type::softmax;
  std::optional<int> features;  ///< only for favor
  static void describe(deck::Describe<AttentionParams>& d);
};

/// Publication of an attention type other than softmax.
Citation citation_of(AttentionParams::Type type);

/// Queries, keys and values of one head: row i of each begins at offset i * stride.
template <class T>
struct HeadRows {
  T *query, *key, *value;
  int stride;
};

struct HeadShape {
  int positions, width;  ///< rows, elements per row
  bool causal;           ///< a query attends to the keys up to its own position, else to all of them
};

/// Output and derivatives of one attention head. Row i of the output is the mean of values, weighted by the attention
/// of query i to its keys. Owns scratch memory: one object per thread.
template <class T>
class Attention {
 public:
  virtual ~Attention() = default;
  /// Values that forward() stores for backward().
  virtual std::int64_t kept() const = 0;
  /// Scratch values currently allocated by this object.
  virtual std::int64_t scratch() const = 0;
  /// Rows of `out` are out_stride apart; `kept` has room for kept() values.
  virtual void forward(const HeadRows<const T>& in, T* out, int out_stride, T* kept) = 0;
  /// With the same `in` and `kept` as forward(); rows of `by_in` must be zero on entry.
  virtual void backward(const HeadRows<const T>& in, const T* kept, const T* by_out, int out_stride,
                        const HeadRows<T>& by_in) = 0;
};

/// `features` are the rows of random_features() for favor, empty for the other types.
///   softmax   softmax(q k / sqrt(n)), all weights at once: stores positions^2 values
///   two_pass  the same up to rounding, by blocks of keys with running maximum and sum (Milakov and Gimelshein 2018);
///             the backward pass recomputes weights, stores positions (n + 1) values (Dao et al. 2022)
///   linear    phi(q) phi(k), phi(x) = elu(x) + 1 (Katharopoulos et al. 2020), by sums over keys
///   favor     the same with positive random features of exp(q k / sqrt(n)) (Choromanski et al. 2021)
template <class T>
std::unique_ptr<Attention<T>> make_attention(AttentionParams::Type type, const HeadShape& shape,
                                             std::span<const double> features = {});

extern template std::unique_ptr<Attention<double>> make_attention(AttentionParams::Type, const HeadShape&,
                                                                  std::span<const double>);
extern template std::unique_ptr<Attention<float>> make_attention(AttentionParams::Type, const HeadShape&,
                                                                 std::span<const double>);

}  // namespace cambium::train
