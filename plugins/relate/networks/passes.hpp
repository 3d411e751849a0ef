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
  std::vector<T> numbers;             ///< samples x numbers, centred and scaled
  std::vector<std::int64_t> lengths;  ///< of the bags, samples x columns
};

/// The two passes of one network in T.
template <class T>
class Passes {
 public:
  virtual ~Passes() = default;
  /// One output for each sample; what backward() needs is kept.
  virtual std::vector<T> forward(std::span<const TensorRef> weights, train::TableRows& rows, Inputs<T> inputs) = 0;
  /// Adds the gradients of weights and rows of a loss whose derivative by each output is given. rows.ready() comes as
  /// early as it can.
  virtual void backward(std::span<const TensorRef> weights, std::vector<T> by_output,
                        std::span<const TensorRef> gradients, train::TableRows& rows,
                        const train::ReadyCallback& ready) = 0;
};

/// Widths of what is multiplied in a dlrm: of a row, of the layers below and above, and how many columns there are.
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

/// For factors: the width of a row beside its own weight, 0 for none, and how many numbers and columns there are.
struct FactorsShape {
  std::int64_t width = 16, numbers = 0, columns = 0;
};
/// Its weights are the bias, a weight for each number, and where width > 0 a vector for each number.
template <class T>
std::unique_ptr<Passes<T>> make_factors(const FactorsShape& shape);

/// For an affinity: the width of a row beside its own constant, and of the hidden layers.
struct AffinityShape {
  std::int64_t width = 32;
  std::vector<std::int64_t> layers;
  std::vector<std::int64_t> widths() const;
};
template <class T>
std::unique_ptr<Passes<T>> make_affinity(const AffinityShape& shape);

}  // namespace cambium::relate
