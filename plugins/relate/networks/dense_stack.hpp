#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::relate {

/// Fully connected layers y = max(0, x W + b) in T, W inputs x outputs, samples x width row by row; ReLU after the last
/// one only if `rectify_last`. Its parameters have the indices `first` and following: a matrix and a vector for each
/// layer.
template <class T>
class DenseStack {
 public:
  DenseStack(std::vector<std::int64_t> widths, bool rectify_last, std::size_t first)
      : widths_(std::move(widths)), rectify_last_(rectify_last), first_(first) {}

  /// The result is stored with all data that backward() needs.
  const std::vector<T>& forward(std::span<const TensorRef> weights, std::vector<T> input, int samples);
  /// Adds the gradients of the weights, reports which are ready, and returns the gradient by the inputs.
  std::vector<T> backward(std::span<const TensorRef> weights, std::vector<T> by_output,
                          std::span<const TensorRef> gradients, const train::ReadyCallback& ready);

 private:
  std::size_t layers() const { return widths_.size() - 1; }
  bool rectifies(std::size_t layer) const { return rectify_last_ || layer + 1 < layers(); }

  std::vector<std::int64_t> widths_;
  bool rectify_last_;
  std::size_t first_;
  int samples_ = 0;
  std::vector<std::vector<T>> values_;  ///< inputs of each layer, then the outputs
};

/// "name.<l>.w" and "name.<l>.b" of layers of these widths, added to `out`.
void add_parameters(const std::string& name, const std::vector<std::int64_t>& widths,
                    std::vector<train::ParameterInfo>& out);

extern template class DenseStack<double>;
extern template class DenseStack<float>;

}  // namespace cambium::relate
