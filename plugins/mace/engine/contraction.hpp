#pragma once
#include <vector>

#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// The symmetric contraction of messages in numbers of type T, a register of channels at a time. Terms that differ by
/// their last component alone share the product of the others.
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
    int component[2];  ///< those that the terms share: degree - 1
    int first, last;   ///< terms
  };
  /// Of the first term and the channel k; terms follow each other at the distance of a register.
  const T* coefficients(int species, int k) const;

  int channels_ = 0;
  std::vector<Group> groups_;
  std::vector<int> component_;                ///< last one of each term
  std::vector<std::vector<T>> coefficients_;  ///< of each species: [register][term][lane]
};

extern template class SymmetricContraction<double>;
extern template class SymmetricContraction<float>;

}  // namespace cambium::mace
