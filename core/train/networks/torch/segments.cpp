#include "core/train/networks/torch/segments.hpp"

#include <ATen/SequenceNumber.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/error.hpp"
#include "core/train/networks/torch/torch_batch.hpp"

namespace cambium::train {

namespace ag = torch::autograd;

ParameterViews::ParameterViews(std::vector<torch::Tensor> parameters)
    : parameters_(std::move(parameters)), weights_(parameters_.size()), gradients_(parameters_.size()) {
  for (const auto& p : parameters_)
    hidden_.push_back(
        torch::full({1}, std::numeric_limits<double>::quiet_NaN(), p.options().requires_grad(false)).expand(p.sizes()));
}

void ParameterViews::show_weights(std::size_t k, const TensorRef& memory) {
  if (weights_[k] == memory.data) return;
  parameters_[k].set_data(tensor_on(memory));
  weights_[k] = memory.data;
}

void ParameterViews::show_gradient(std::size_t k, const TensorRef& memory) {
  if (gradients_[k] == memory.data) return;
  parameters_[k].mutable_grad() = tensor_on(memory);
  gradients_[k] = memory.data;
}

void ParameterViews::hide_weights(std::size_t k) {
  if (parameters_[k].data_ptr() == hidden_[k].data_ptr()) return;
  parameters_[k].set_data(hidden_[k]);
  weights_[k] = nullptr;
}

void ParameterViews::hide_gradient(std::size_t k) {
  parameters_[k].mutable_grad().reset();
  gradients_[k] = nullptr;
}

Segments::Segments(ParameterViews& views, std::vector<std::string> names, std::vector<int> first, Tell tell)
    : views_(views), names_(std::move(names)), first_(std::move(first)), tell_(std::move(tell)) {
  first_.push_back(static_cast<int>(views.size()));
}

void Segments::begin(std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
                     const ReadyCallback& ready) {
  weights_ = weights;
  gradients_ = gradients;
  ready_ = &ready;
  now_ = -1;
  made_.clear();
  by_storage_.clear();
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (weights[k].data == nullptr) views_.hide_weights(k);
}

/// Some weights are always present: small ones, and those that are not sharded.
void Segments::open(int segment) {
  for (const auto k : parameters_of(segment)) {
    views_.show_weights(k, weights_[k]);
    by_storage_[views_.parameters()[k].storage().unsafeGetStorageImpl()] = k;
  }
}

void Segments::close(int segment) {
  for (const auto k : parameters_of(segment)) {
    by_storage_.erase(views_.parameters()[k].storage().unsafeGetStorageImpl());
    if (!gradients_.empty() && gradients_[k].data == nullptr) views_.hide_gradient(k);
  }
  ready_->release(segment);
  for (const auto k : parameters_of(segment))
    if (weights_[k].data == nullptr) views_.hide_weights(k);
}

void Segments::enter(int segment) {
  if (!under_way() || segment == now_) return;
  if (segment < now_ || segment >= count())
    throw InternalError(
        fmt::format("a network enters its segment {} after '{}'; segments come in the order of segments()", segment,
                    names_[std::max(now_, 0)]));
  while (now_ < segment) {
    if (now_ >= 0) close(now_);
    ready_->forward(++now_);
    made_.push_back(at::sequence_number::peek());
    open(now_);
  }
}

/// Hook before a node of the graph runs, that is, before it requests its saved tensors.
struct BeforeSegment : ag::FunctionPreHook {
  BeforeSegment(Segments& s, int k) : to(s), segment(k) {}
  ag::variable_list operator()(const ag::variable_list& gradients) override {
    to.reach(segment);
    return gradients;
  }
  Segments& to;
  int segment;
};

void Segments::end_forward() {
  enter(count() - 1);
  close(now_);
  now_ = count();
}

void Segments::turn(const torch::Tensor& loss) {
  end_forward();
  std::vector<ag::Node*> todo;
  if (loss.defined() && loss.grad_fn()) todo.push_back(loss.grad_fn().get());
  std::set<ag::Node*> seen;
  while (!todo.empty()) {
    ag::Node* node = todo.back();
    todo.pop_back();
    if (!node || !seen.insert(node).second) continue;
    for (const auto& edge : node->next_edges()) todo.push_back(edge.function.get());
    if (node->name() == "torch::autograd::AccumulateGrad")
      continue;  // they outlive the pass, and run right after their input node
    const auto after = std::upper_bound(made_.begin(), made_.end(), node->sequence_nr());
    node->add_pre_hook(
        std::make_unique<BeforeSegment>(*this, std::max(0, static_cast<int>(after - made_.begin()) - 1)));
  }
}

void Segments::finish(int segment) {
  for (const auto k : parameters_of(segment) | std::views::reverse) tell_(k);
  close(segment);
}

/// Opens this segment for the backward pass, and any skipped ones after it without nodes.
void Segments::reach(int segment) {
  if (segment > now_)
    throw InternalError(fmt::format("the backward pass comes back to the segment '{}'", names_[segment]));
  while (now_ > segment) {
    if (now_ < count()) finish(now_);
    ready_->backward(--now_);
    open(now_);
    for (const auto k : parameters_of(now_)) views_.show_gradient(k, gradients_[k]);
  }
}

void Segments::end() {
  reach(0);
  finish(0);
  for (std::size_t k = 0; k < gradients_.size(); ++k)
    if (gradients_[k].data == nullptr) views_.hide_gradient(k);
}

Keeper::Again Segments::keep(const torch::Tensor& saved) {
  const auto found = by_storage_.find(saved.storage().unsafeGetStorageImpl());
  if (found == by_storage_.end()) return {};
  return [this, k = found->second, sizes = saved.sizes().vec(), strides = saved.strides().vec(),
          offset = saved.storage_offset()] {
    const torch::NoGradGuard no_graph;
    return views_.parameters()[k].detach().as_strided(sizes, strides, offset);
  };
}

}  // namespace cambium::train
