#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/train/networks/torch/scripted_module.hpp"

namespace cambium::train {

/// Loss of a module's outputs, by its PyTorch name or by a module. All are means over the batch and over the values of
/// a sample, as with PyTorch's `reduction="mean"`.
class ScriptedLoss {
 public:
  enum class Kind { mse, l1, huber, cross_entropy, gaussian_nll };
  struct Choice {
    Kind kind = Kind::mse;
    double delta = 1.0, label_smoothing = 0.0;
  };
  /// `module`: null, or a module called with outputs and targets that returns a scalar.
  ScriptedLoss(const Choice& choice, std::shared_ptr<const ScriptedModule> module)
      : choice_(choice), module_(std::move(module)) {}

  bool classifies() const { return !module_ && choice_.kind == Kind::cross_entropy; }
  /// Number of outputs compared with `targets` fields: two each for gaussian_nll, mean and variance.
  std::size_t outputs_for(std::size_t targets) const;
  /// One name for each term.
  std::vector<std::string> terms(const std::vector<std::string>& targets) const;
  /// Each term times the samples of the batch. Targets are float for regression, int64 for classes. InputError if
  /// shapes do not match.
  std::vector<torch::Tensor> sums(const std::vector<NamedTensor>& outputs,
                                  const std::vector<NamedTensor>& targets) const;

 private:
  torch::Tensor one(const NamedTensor* output, const NamedTensor& target) const;
  torch::Tensor of_module(const std::vector<NamedTensor>& outputs, const std::vector<NamedTensor>& targets) const;

  Choice choice_;
  std::shared_ptr<const ScriptedModule> module_;
};

/// `target` in the shape of `output`, if they differ only in axes of length 1. InputError otherwise.
torch::Tensor shaped_as(const NamedTensor& output, const NamedTensor& target);

}  // namespace cambium::train
