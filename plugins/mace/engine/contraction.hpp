#pragma once
#include <vector>

#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Symmetric contraction of messages in type T, a register of channels at a time. Terms that differ only in their last
/// component share the product of the others.
template <class T>
class SymmetricContraction {
 public:
  SymmetricContraction() = default;
  SymmetricContraction(const Contraction& contraction, int channels);
  /// Adds the contraction of the message [component][channel] of an atom of a species.
  void add(int species, const T* message, T* out) const;
  /// Adds the gradient with respect to the message, given that with respect to the result.
  void add_gradient(int species, const T* message, const T* out_gradient, T* message_gradient) const;

 private:
  struct Group {
    int degree, out;
    int component[2];  ///< shared by the terms: degree - 1
    int first, last;   ///< terms
  };
  /// Coefficients of the first term for channel k; terms follow at a stride of one register.
  const T* coefficients(int species, int k) const;

  int channels_ = 0;
  std::vector<Group> groups_;
  std::vector<int> component_;                ///< last one of each term
  std::vector<std::vector<T>> coefficients_;  ///< of each species: [register][term][lane]
};

extern template class SymmetricContraction<double>;
extern template class SymmetricContraction<float>;

}  // namespace cambium::mace
