#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/train/kinds/network.hpp"
#include "core/train/kinds/tables.hpp"

namespace cambium::relate {

/// Inputs of a network for some samples, in T.
template <class T>
struct Inputs {
  int samples = 0;
  std::vector<T> numbers;             ///< samples x dense features, centred and scaled
  std::vector<std::int64_t> lengths;  ///< of the bags, samples x columns
};

/// Forward and backward pass of one network in T.
template <class T>
class Passes {
 public:
  virtual ~Passes() = default;
  /// One output for each sample; stores the data that backward() needs.
  virtual std::vector<T> forward(std::span<const TensorRef> weights, train::TableRows& rows, Inputs<T> inputs) = 0;
  /// Adds the gradients of weights and rows, given the derivative of the loss by each output. Calls rows.ready() as
  /// early as possible.
  virtual void backward(std::span<const TensorRef> weights, std::vector<T> by_output,
                        std::span<const TensorRef> gradients, train::TableRows& rows,
                        const train::ReadyCallback& ready) = 0;
};

/// Sizes of a dlrm: widths of a row and of the bottom and top layers, and the number of columns.
struct DlrmShape {
  std::int64_t width = 16, numbers = 0, columns = 0;
  std::vector<std::int64_t> bottom, top;  ///< hidden widths
  bool wide = false;
  bool has_bottom() const { return numbers > 0; }
  std::int64_t row_width() const { return width + (wide ? 1 : 0); }
  std::int64_t vectors() const { return columns + (has_bottom() ? 1 : 0); }
  std::int64_t interactions() const { return vectors() * (vectors() - 1) / 2; }
  std::vector<std::int64_t> bottom_widths() const;
  std::vector<std::int64_t> top_widths() const;
};
template <class T>
std::unique_ptr<Passes<T>> make_dlrm(const DlrmShape& shape);

/// Sizes of a factorization machine: width of a row without its weight (may be 0), numbers of dense features and
/// columns.
struct FactorsShape {
  std::int64_t width = 16, numbers = 0, columns = 0;
};
/// The weights are the bias, a weight for each dense feature, and, if width > 0, a vector for each.
template <class T>
std::unique_ptr<Passes<T>> make_factors(const FactorsShape& shape);

/// Sizes of an affinity network: width of a row without its constant, and of the hidden layers.
struct AffinityShape {
  std::int64_t width = 32;
  std::vector<std::int64_t> layers;
  std::vector<std::int64_t> widths() const;
};
template <class T>
std::unique_ptr<Passes<T>> make_affinity(const AffinityShape& shape);

}  // namespace cambium::relate
