#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// Parameters whose names match a pattern, with their own keys, like the parameter groups of torch.optim.
struct ParameterGroup {
  std::string match;  ///< * matches any characters, ? one character
  double rate = 1.0;
  std::optional<double> weight_decay;
  bool freeze = false;
  static void describe(deck::Describe<ParameterGroup>& d) {
    d("match", &ParameterGroup::match,
      "pattern of parameter names, as /weights of model.h5 lists them; * matches any characters, ? one")
        .example("\"*.bias\"");
    d("rate", &ParameterGroup::rate, "factor on the learning rate of these parameters").non_negative().def(1.0);
    d("weight_decay", &ParameterGroup::weight_decay, "weight decay of these parameters; default: the optimizer's")
        .non_negative();
    d("freeze", &ParameterGroup::freeze,
      "exclude these parameters from training; their gradients do not count in the norm that clip bounds")
        .def(false);
  }
};

using ParameterGroups = std::vector<ParameterGroup>;

/// Settings of an optimizer for one tensor.
struct TensorKeys {
  double rate = 1.0;          ///< factor of the learning rate
  double weight_decay = 0.0;  ///< none for biases and norms, unless their group sets one
  bool freeze = false;        ///< the tensor is not updated
};

/// Settings of the first group that matches the parameter's name, else the optimizer's own.
TensorKeys keys_of(const ParameterInfo& parameter, std::span<const ParameterGroup> groups, double weight_decay);

/// Calls f(first, count) for the runs of elements that are trained: the entire buffer unless a group is frozen.
template <class F>
void for_each_trained(const FlatLayout& layout, std::span<const ParameterGroup> groups, F&& f) {
  if (std::none_of(groups.begin(), groups.end(), [](const auto& group) { return group.freeze; }))
    return f(std::int64_t{0}, layout.size());
  for (const auto& tensor : layout.tensors())
    if (!keys_of(tensor.info, groups, 0.0).freeze) f(tensor.offset, tensor.elements);
}

/// KeyError about `optimizer.groups` when a pattern matches none of these names.
void require_matches(std::span<const ParameterGroup> groups, std::span<const ParameterInfo> parameters);

namespace detail {

/// Descriptions of the key weight_decay, and of that of an optimizer without groups.
constexpr const char* coupled_decay =
    "beta: adds beta times the weight to its gradient; not of biases and norms, unless groups give them one";
constexpr const char* decoupled_decay =
    "beta: each step shrinks the weight by rate times beta; not biases and norms, unless groups give them one";
constexpr const char* coupled_decay_without_groups =
    "beta: adds beta times the weight to its gradient; not of biases and norms";
constexpr const char* decoupled_decay_without_groups =
    "beta: each step shrinks the weight by rate times beta; not biases and norms";

/// Error message for decay rates; empty if valid.
std::string betas_problem(const std::array<double, 2>& betas);

template <class P>
void describe_groups(deck::Describe<P>& d) {
  d("groups", &P::groups,
    "parameters with a learning rate or weight decay of their own, by patterns of their names; the first pattern that "
    "fits holds")
      .def({});
}

/// Calls f.operator()<T>(k, keys) for every tensor that is not frozen, in T, the type of the weights.
template <class F>
void for_each_tensor(const FlatBuffer& weights, const ParameterGroups& groups, double weight_decay, F&& f) {
  const auto& tensors = weights.layout().tensors();
  with_real(weights.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < tensors.size(); ++k)
      if (const auto keys = keys_of(tensors[k].info, groups, weight_decay); !keys.freeze)
        f.template operator()<T>(k, keys);
  });
}

}  // namespace detail

}  // namespace cambium::train
