#include "core/train/networks/torch/scripted_loss.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::train {

namespace F = torch::nn::functional;

std::size_t ScriptedLoss::outputs_for(std::size_t targets) const {
  return !module_ && choice_.kind == Kind::gaussian_nll ? 2 * targets : targets;
}

std::vector<std::string> ScriptedLoss::terms(const std::vector<std::string>& targets) const {
  if (module_) return {"loss"};
  constexpr const char* names[] = {"mse", "l1", "huber", "cross_entropy", "gaussian_nll"};
  const std::string name = names[static_cast<int>(choice_.kind)];
  if (targets.size() == 1) return {name};
  std::vector<std::string> out;
  for (const auto& target : targets) out.push_back(name + "_" + target);
  return out;
}

torch::Tensor shaped_as(const NamedTensor& output, const NamedTensor& target) {
  const auto long_axes = [](const torch::Tensor& t) {
    std::vector<std::int64_t> out;
    std::copy_if(t.sizes().begin(), t.sizes().end(), std::back_inserter(out), [](auto n) { return n != 1; });
    return out;
  };
  if (output.second.sizes() == target.second.sizes()) return target.second;
  if (long_axes(output.second) == long_axes(target.second)) return target.second.reshape(output.second.sizes());
  throw InputError(fmt::format(
      "the module's output '{}' has the shape ({}), but the field '{}' has ({}), samples first; name other "
      "targets, or let the module give their shape",
      output.first, fmt::join(output.second.sizes(), ", "), target.first, fmt::join(target.second.sizes(), ", ")));
}

torch::Tensor ScriptedLoss::one(const NamedTensor* output, const NamedTensor& target) const {
  const torch::Tensor& y = output->second;
  const auto samples = static_cast<double>(target.second.size(0));
  if (choice_.kind == Kind::cross_entropy) {
    const auto options = F::CrossEntropyFuncOptions().reduction(torch::kSum).label_smoothing(choice_.label_smoothing);
    torch::Tensor classes = target.second;
    if (classes.dim() == y.dim() && classes.size(classes.dim() - 1) == 1) classes = classes.squeeze(-1);
    return F::cross_entropy(y, classes, options) * (samples / static_cast<double>(classes.numel()));
  }
  const torch::Tensor right = shaped_as(*output, target);
  const double share = samples / static_cast<double>(y.numel());
  if (choice_.kind == Kind::l1) return (y - right).abs().sum() * share;
  if (choice_.kind == Kind::huber)
    return F::huber_loss(y, right, F::HuberLossFuncOptions().reduction(torch::kSum).delta(choice_.delta)) * share;
  if (choice_.kind == Kind::mse) return (y - right).square().sum() * share;
  constexpr double least_variance = 1e-6;  // as in PyTorch
  const torch::Tensor variance = shaped_as(*output, output[1]);
  // The lower bound passes gradients through, as in PyTorch.
  const torch::Tensor bounded = variance + (variance.detach().clamp_min(least_variance) - variance.detach());
  return 0.5 * (bounded.log() + (y - right).square() / bounded).sum() * share;
}

torch::Tensor ScriptedLoss::of_module(const std::vector<NamedTensor>& outputs,
                                      const std::vector<NamedTensor>& targets) const {
  std::vector<torch::Tensor> arguments;
  for (const auto& output : outputs) arguments.push_back(output.second);
  for (const auto& target : targets) arguments.push_back(target.second);
  const auto found = module_->forward(arguments);
  if (found[0].second.numel() != 1)
    throw InputError(fmt::format("{}: gives {} values; a loss is one, the mean over the batch", module_->name(),
                                 found[0].second.numel()));
  return found[0].second.reshape({}) * static_cast<double>(targets[0].second.size(0));
}

std::vector<torch::Tensor> ScriptedLoss::sums(const std::vector<NamedTensor>& outputs,
                                              const std::vector<NamedTensor>& targets) const {
  if (module_) return {of_module(outputs, targets)};
  const std::size_t each = outputs_for(1);
  std::vector<torch::Tensor> out;
  for (std::size_t k = 0; k < targets.size(); ++k) out.push_back(one(&outputs[each * k], targets[k]));
  return out;
}

}  // namespace cambium::train
