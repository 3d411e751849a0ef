#pragma once
#include <array>
#include <vector>

namespace cambium::superres {

/// Order of differentiation of a function of (t, x, z) along each axis.
using MultiIndex = std::array<int, 3>;

inline int order_of(const MultiIndex& a) { return a[0] + a[1] + a[2]; }

/// Streams of a jet: a set of derivatives that contains every lower one, the value first, and the rules for passing
/// them through an activation function and through products.
class JetBasis {
 public:
  static constexpr int highest_order = 3;

  /// coefficient * sigma^(order)(z_0) * product of streams of z: a term of one derivative of sigma(z) (Faa di Bruno).
  struct ChainTerm {
    int order;  ///< of the derivative of sigma
    double coefficient;
    std::vector<int> factors;  ///< streams of z, none of them the value
    bool operator==(const ChainTerm&) const = default;
  };
  /// A term of one derivative of a product f g: coefficient * f_left * g_right (Leibniz).
  struct ProductTerm {
    int left, right;
    double coefficient;
  };

  /// Smallest basis that contains these derivatives. InternalError beyond the third order.
  explicit JetBasis(const std::vector<MultiIndex>& wanted);

  int size() const { return static_cast<int>(streams_.size()); }
  int order() const { return order_of(streams_.back()); }
  const MultiIndex& operator[](int stream) const { return streams_[stream]; }
  /// Position of a derivative, or -1.
  int find(const MultiIndex& derivative) const;
  const std::vector<ChainTerm>& chain(int stream) const { return chain_[stream]; }
  const std::vector<ProductTerm>& product(int stream) const { return product_[stream]; }

 private:
  std::vector<MultiIndex> streams_;  ///< by order
  std::vector<std::vector<ChainTerm>> chain_;
  std::vector<std::vector<ProductTerm>> product_;
};

}  // namespace cambium::superres
