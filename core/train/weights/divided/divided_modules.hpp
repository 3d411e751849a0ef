#pragma once
#include "core/train/weights/by_module.hpp"
#include "core/train/weights/divided/divided_step.hpp"
#include "core/train/weights/divided/whole_copies.hpp"

namespace cambium::train {

/// Module-wise access to a sharded model: gathers one group of tensors at a time, exactly; groups of small tensors stay
/// in memory during a forward pass.
class DividedModules : public ByModule {
 public:
  /// All arguments must outlive this.
  DividedModules(DividedParts& parts, WholeCopies& copies, DividedStep& step)
      : parts_(parts), copies_(copies), step_(step) {}

  void start(const Fill& fill) override;
  void start_on(std::span<const Grid> grids, const Fill& fill) override;
  void forward(const std::function<void(const Pass&)>& use) override;
  void each_tensor(bool best, const Put& put) override;

 private:
  void start(const Fill& fill, bool on_grids);

  DividedParts& parts_;
  WholeCopies& copies_;
  DividedStep& step_;
};

}  // namespace cambium::train
