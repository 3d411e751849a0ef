#pragma once
#include <functional>
#include <span>

#include "core/base/tensor_ref.hpp"
#include "core/train/weights/grid.hpp"

namespace cambium::train {

struct Pass;

/// Interface of divided weights of a network that WorksByModule: what else would be done with whole weights, while no
/// rank holds more than its share and one group of tensors. All is collective.
class ByModule {
 public:
  /// Writes first weights to the views that have memory.
  using Fill = std::function<void(std::span<const TensorRef> views)>;
  /// A tensor by its number, for as long as the call takes.
  using Put = std::function<void(std::size_t tensor, const TensorRef& numbers)>;
  virtual ~ByModule() = default;

  /// Weights::start(), and Weights::start_on().
  virtual void start(const Fill& fill) = 0;
  virtual void start_on(std::span<const Grid> grids, const Fill& fill) = 0;
  /// Weights::whole(), for forward passes: every rank makes as many, with Pass::ready.
  virtual void forward(const std::function<void(const Pass&)>& use) = 0;
  /// Weights::whole(), or whole_best() where `best`, tensor after tensor in any order, on every rank.
  virtual void each_tensor(bool best, const Put& put) = 0;
};

}  // namespace cambium::train
