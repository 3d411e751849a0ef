#include "core/train/networks/torch/operator_regions.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/base/recorder.hpp"

namespace cambium::train {

namespace {

constexpr std::array matrix{"mm",     "addmm",       "bmm",  "baddbmm", "matmul",
                            "linear", "convolution", "conv", "einsum",  "lstm"};
constexpr std::array movement{"copy_", "clone",  "cat",     "index",      "gather", "scatter",
                              "slice", "select", "permute", "view",       "empty",  "expand",
                              "fill_", "zero_",  "reshape", "contiguous", "pad",    "to"};
constexpr std::array reductions{"sum", "mean", "max", "min", "norm", "all", "any", "cumsum", "var"};
constexpr std::array transcendental{"exp", "log", "tanh", "sigmoid", "softmax",  "gelu", "silu",
                                    "sin", "cos", "sqrt", "erf",     "softplus", "pow"};

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* word) { return name.find(word) != std::string_view::npos; });
}

/// Classifies by name; the order matters for names with several of these words.
WorkKind kind_of(std::string_view name) {
  if (holds(matrix, name)) return WorkKind::matrix;
  if (holds(transcendental, name)) return WorkKind::transcendental;
  if (holds(movement, name)) return WorkKind::movement;
  if (holds(reductions, name)) return WorkKind::reduction;
  return WorkKind::elementwise;
}

double last(const at::Tensor& t, int from_end) { return static_cast<double>(t.size(t.dim() - from_end)); }

/// Operations of products that follow from their operands: 2 m n k of mm, addmm, bmm, baddbmm. Those of a convolution
/// follow from its output, which is not known yet.
Amount amount_of(std::string_view name, const at::RecordFunction& call) {
  const bool plain = name == "aten::mm" || name == "aten::bmm",
             adding = name == "aten::addmm" || name == "aten::baddbmm";
  if (!plain && !adding) return {};
  const auto inputs = call.inputs();
  const std::size_t first = adding ? 1 : 0;
  if (inputs.size() < first + 2 || !inputs[first].isTensor() || !inputs[first + 1].isTensor()) return {};
  const at::Tensor &a = inputs[first].toTensor(), &b = inputs[first + 1].toTensor();
  if (a.dim() < 2 || b.dim() < 2) return {};
  const double batch = a.dim() > 2 ? static_cast<double>(a.size(0)) : 1.0, m = last(a, 2), k = last(a, 1),
               n = last(b, 1);
  const auto size = static_cast<double>(a.element_size());
  return {2.0 * batch * m * n * k, batch * size * (m * k + k * n + m * n), static_cast<int>(a.element_size())};
}

/// Operators call each other; inner ones count for the outer.
std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& call) {
  if (Recorder* found = recorder(); found && !found->closed()) {
    const std::string_view name = call.name();
    found->enter(name, kind_of(name), amount_of(name, call));
  }
  return nullptr;
}

void end(const at::RecordFunction&, at::ObserverContext*) {
  if (Recorder* found = recorder(); found && !found->closed()) found->leave();
}

void listen(bool on) {
  static std::optional<at::CallbackHandle> handle;
  if (on && !handle)
    handle = at::addGlobalCallback(
        at::RecordFunctionCallback(begin, end).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  if (!on && handle) {
    at::removeCallback(*handle);
    handle.reset();
  }
}

}  // namespace

void observe_operators() {
  static const bool once = [] {
    add_region_source(listen);
    return true;
  }();
  (void)once;
}

}  // namespace cambium::train
