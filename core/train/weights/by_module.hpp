#pragma once
#include <functional>
#include <span>

#include "core/base/tensor_ref.hpp"
#include "core/train/weights/grid.hpp"

namespace cambium::train {

struct Pass;

/// Interface of sharded weights of a network that WorksByModule: replaces operations on complete weights, while a rank
/// stores at most its shard and one group of tensors. All functions are collective.
class ByModule {
 public:
  /// Writes initial weights to the views that have memory.
  using Fill = std::function<void(std::span<const TensorRef> views)>;
  /// Receives a tensor by index; valid only during the call.
  using Put = std::function<void(std::size_t tensor, const TensorRef& numbers)>;
  virtual ~ByModule() = default;

  /// Weights::start(), and Weights::start_on().
  virtual void start(const Fill& fill) = 0;
  virtual void start_on(std::span<const Grid> grids, const Fill& fill) = 0;
  /// Weights::whole() for forward passes: every rank makes the same number of passes, with Pass::ready.
  virtual void forward(const std::function<void(const Pass&)>& use) = 0;
  /// Weights::whole(), or whole_best() if `best`, tensor by tensor in any order, on every rank.
  virtual void each_tensor(bool best, const Put& put) = 0;
};

}  // namespace cambium::train
