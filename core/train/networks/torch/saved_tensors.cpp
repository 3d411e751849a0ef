#include "core/train/networks/torch/saved_tensors.hpp"

#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/codec/sparse.hpp"

namespace cambium::train {

namespace ag = torch::autograd;

namespace {

constexpr std::int64_t smallest = 1024;  ///< elements; below, headers outweigh the saving

}  // namespace

/// Bytes allocated by Torch on this thread, plus those of encoded arrays, which are outside its allocator.
struct SavedTensors::Counter : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, std::int64_t bytes, std::int64_t, std::int64_t, c10::Device) override {
    add(static_cast<double>(bytes));
  }
  bool memoryProfilingEnabled() const override { return true; }
  void add(double bytes) {
    now += bytes;
    peak = std::max(peak, now);
  }
  double now = 0.0, peak = 0.0;
};

struct SavedTensors::Entry {
  SavedTensors* owner = nullptr;
  std::size_t slot = 0;
  torch::ScalarType type = torch::kFloat32;
  std::int64_t elements = 0;
  std::vector<std::byte> bytes;
  torch::Tensor whole;  ///< if not compressed
  double held = 0.0, plain = 0.0;
  ~Entry() { owner->hold(-held, -plain, !whole.defined()); }
};

void SavedTensors::hold(double packed, double plain, bool encoded) {
  held_ += packed;
  plain_ += plain;
  if (encoded && counter_) counter_->add(packed);
  peak_ = std::max(peak_, held_);
  plain_peak_ = std::max(plain_peak_, plain_);
}

SavedTensors::Saving::Saving(SavedTensors& to, const std::vector<torch::Tensor>& parameters) : keeping_(to) {
  to.next_ = 0;
  to.known_.clear();
  to.parameters_.clear();
  for (const auto& p : parameters) to.parameters_.push_back(p.storage().unsafeGetStorageImpl());
  to.counting_.reset();
  to.counter_ = std::make_shared<Counter>();
  to.counting_ = std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, to.counter_);
}

Keeper::Again SavedTensors::keep(const torch::Tensor& saved) {
  auto entry = pack(saved);
  if (!entry) return {};
  return [this, entry] { return unpack(*entry); };
}

std::size_t SavedTensors::slot_of(const torch::Tensor& data) {
  std::vector<std::int64_t> shape(data.sizes().begin() + (data.dim() > 1 ? 1 : 0), data.sizes().end());
  const std::size_t k = next_++;
  if (k == slots_.size()) slots_.emplace_back();
  Slot& slot = slots_[k];
  if (slot.shape != shape || slot.readers.empty()) {  // a different graph than before: discard its statistics
    slot = {};
    slot.shape = std::move(shape);
  }
  return k;
}

std::shared_ptr<SavedTensors::Entry> SavedTensors::pack(const torch::Tensor& data) {
  auto* storage = data.storage().unsafeGetStorageImpl();
  if (std::find(parameters_.begin(), parameters_.end(), storage) != parameters_.end()) return nullptr;
  const bool real = data.scalar_type() == torch::kFloat32 || data.scalar_type() == torch::kFloat64;
  if (!data.device().is_cpu() || !(real || data.scalar_type() == torch::kInt64)) return nullptr;
  auto& list = known_[storage];
  const bool small = data.numel() < smallest;
  for (const auto& k : list)
    if (!k.storage.expired() && k.offset == data.storage_offset() && k.elements == data.numel() &&
        data.is_contiguous()) {
      if (small) return nullptr;
      if (auto entry = k.entry.lock()) return entry;
    }
  const torch::NoGradGuard no_graph;
  if (small) {
    // Also gets a slot: a pass over fewer samples determines the readers of the next pass's arrays.
    if (real) slot_of(data);
    if (data.is_contiguous())
      list.push_back({c10::weak_intrusive_ptr<c10::StorageImpl>(data.storage().getWeakStorageImpl()),
                      data.storage_offset(),
                      data.numel(),
                      {}});
    return nullptr;
  }
  auto entry = std::make_shared<Entry>();
  entry->owner = this;
  entry->type = data.scalar_type();
  entry->elements = data.numel();
  entry->slot = real ? slot_of(data) : slots_.size();
  entry->plain = static_cast<double>(data.nbytes());
  encode(*entry, data.contiguous());
  hold(entry->held, entry->plain, !entry->whole.defined());
  if (data.is_contiguous())
    list.push_back({c10::weak_intrusive_ptr<c10::StorageImpl>(data.storage().getWeakStorageImpl()),
                    data.storage_offset(), data.numel(), entry});
  return entry;
}

template <class T>
static std::span<const T> span_of(const torch::Tensor& data) {
  return {data.data_ptr<T>(), static_cast<std::size_t>(data.numel())};
}

void SavedTensors::encode(Entry& entry, const torch::Tensor& data) {
  if (params_.keep != ActivationParams::Keep::compressed) {
    entry.whole = data;
    entry.held = entry.plain;
    return;
  }
  if (entry.type == torch::kInt64) {
    entry.bytes = lowp::encode_integers(span_of<std::int64_t>(data));
  } else {
    Slot& slot = slots_[entry.slot];
    slot.present = static_cast<double>(data.count_nonzero().item<std::int64_t>()) / static_cast<double>(data.numel());
    if (params_.bound > 0.0) slot.bound = params_.bound;
    // Initial bound: 1e-4 of the range.
    else if (slot.bound == 0.0)
      slot.bound = std::max(1e-4 * (data.max() - data.min()).item<double>(), 1e-30);
    const auto keep = slot.values ? lowp::Keep::values : lowp::Keep::signs;
    const auto shape = data.sizes();
    if (entry.type == torch::kFloat32)
      entry.bytes = lowp::encode_sparse(span_of<float>(data), {shape.data(), shape.size()}, slot.bound, keep);
    else
      entry.bytes = lowp::encode_sparse(span_of<double>(data), {shape.data(), shape.size()}, slot.bound, keep);
    slot.plain = entry.plain;
    slot.packed = static_cast<double>(entry.bytes.size());
  }
  entry.held = static_cast<double>(entry.bytes.capacity());
}

torch::Tensor SavedTensors::unpack(const Entry& entry) {
  if (entry.slot < slots_.size()) {
    Slot& slot = slots_[entry.slot];
    if (std::find(slot.readers.begin(), slot.readers.end(), reader_.name) == slot.readers.end()) {
      if (!slot.values)
        throw InternalError("the backward pass of " + reader_.name +
                            " reads activations of which signs alone were stored");
      slot.readers.push_back(reader_.name);
    }
    reader_.slots.push_back(entry.slot);
  }
  if (entry.whole.defined()) return entry.whole;
  const torch::NoGradGuard no_graph;
  torch::Tensor out = torch::empty({entry.elements}, torch::TensorOptions().dtype(entry.type));
  const auto n = static_cast<std::size_t>(entry.elements);
  if (entry.type == torch::kInt64)
    lowp::decode_integers(entry.bytes, {out.data_ptr<std::int64_t>(), n});
  else if (entry.type == torch::kFloat32)
    lowp::decode_sparse(entry.bytes, std::span<float>(out.data_ptr<float>(), n));
  else
    lowp::decode_sparse(entry.bytes, std::span<double>(out.data_ptr<double>(), n));
  reading_peak_ = std::max(reading_peak_, held_ + entry.plain);
  return out;
}

/// Records the gradient that arrives at a node, before the node requests its saved tensors.
struct BeforeNode : ag::FunctionPreHook {
  BeforeNode(SavedTensors& t, std::string n) : to(t), name(std::move(n)) {}
  ag::variable_list operator()(const ag::variable_list& gradients) override {
    to.reader_ = {name, 0.0, 0.0, {}};
    const bool sums = name.starts_with("Convolution") || name.starts_with("Addmm") || name.starts_with("Mm");
    if (sums && !gradients.empty() && gradients[0].defined() && gradients[0].dim() > 1) {
      const torch::NoGradGuard no_graph;
      const auto& g = gradients[0];
      to.reader_.square = g.square().mean().item<double>();
      to.reader_.terms = static_cast<double>(g.numel() / g.size(1));
    }
    return gradients;
  }
  SavedTensors& to;
  std::string name;
};

/// Relates the gradient of a node's weights, at edges that end at a parameter, to the bounds of the arrays it reads.
struct AfterNode : ag::FunctionPostHook {
  AfterNode(SavedTensors& t, std::vector<bool> w) : to(t), weights(std::move(w)) {}
  ag::variable_list operator()(const ag::variable_list& made, const ag::variable_list&) override {
    auto& reader = to.reader_;
    if (reader.terms == 0.0) return made;
    const torch::NoGradGuard no_graph;
    for (std::size_t k = 0; k < made.size() && k < weights.size(); ++k) {
      if (!weights[k] || !made[k].defined() || made[k].dim() < 2) continue;
      const double gradient = made[k].abs().mean().item<double>();
      for (const auto s : reader.slots) {
        auto& slot = to.slots_[s];
        slot.gradient = gradient;
        slot.error_per_bound = std::sqrt(reader.terms * slot.present * reader.square / 3.0);
        slot.predicted = slot.bound * slot.error_per_bound;
      }
    }
    return made;
  }
  SavedTensors& to;
  std::vector<bool> weights;
};

void SavedTensors::watch(const torch::Tensor& loss) {
  std::vector<ag::Node*> todo{loss.grad_fn().get()};
  std::set<ag::Node*> seen;
  while (!todo.empty()) {
    ag::Node* node = todo.back();
    todo.pop_back();
    if (!node || !seen.insert(node).second) continue;
    std::vector<bool> weights;
    for (const auto& edge : node->next_edges()) {
      const auto name = edge.function ? edge.function->name() : std::string();
      weights.push_back(name == "torch::autograd::AccumulateGrad" || name == "TBackward0");
      todo.push_back(edge.function.get());
    }
    if (node->name() == "torch::autograd::AccumulateGrad") continue;  // they outlive the pass
    node->add_pre_hook(std::make_unique<BeforeNode>(*this, node->name()));
    node->add_post_hook(std::make_unique<AfterNode>(*this, std::move(weights)));
  }
}

void SavedTensors::adapt() {
  if (counter_) allocated_peak_ = std::max(allocated_peak_, counter_->peak);
  counting_.reset();
  counter_.reset();
  for (auto& slot : slots_) {
    if (slot.readers.empty()) continue;
    slot.values = std::any_of(slot.readers.begin(), slot.readers.end(), [](const std::string& name) {
      return !name.starts_with("Relu") && !name.starts_with("Threshold") && !name.starts_with("MaxPool");
    });
    if (params_.bound > 0.0 || slot.error_per_bound <= 0.0 || !(slot.gradient > 0.0)) continue;
    slot.bound = params_.share * slot.gradient / slot.error_per_bound;
  }
}

std::vector<std::string> SavedTensors::report() const {
  std::vector<std::string> out;
  if (params_.keep != ActivationParams::Keep::compressed) {
    out.push_back(fmt::format(
        "activations: {:.4g} MB at most stored for the backward pass; {:.4g} MB at most with all that a pass allocates",
        1e-6 * peak_, 1e-6 * allocated_peak_));
    return out;
  }
  out.push_back(fmt::format(
      "activations: {:.4g} MB at most stored for the backward pass, {:.4g} MB without compression ({:.3g} times less); "
      "{:.4g} MB with the array that is being read, {:.4g} MB at most with all that a pass allocates",
      1e-6 * peak_, 1e-6 * plain_peak_, plain_peak_ / std::max(peak_, 1.0), 1e-6 * reading_peak_,
      1e-6 * allocated_peak_));
  out.push_back(fmt::format("{:<10}{:<26}{:>8}{:>12}{:>12}{:>8}", "", "read by", "zeros %", "bound", "MB", "ratio"));
  int number = 0;
  for (const auto& s : slots_) {
    if (s.plain == 0.0) continue;  // too small to be compressed
    std::string readers;
    for (const auto& name : s.readers) readers += (readers.empty() ? "" : " ") + name.substr(0, name.find("Backward"));
    out.push_back(fmt::format("{:<10}{:<26}{:>8.1f}{:>12}{:>12.4g}{:>8.1f}", fmt::format("array {}", ++number), readers,
                              100.0 * (1.0 - s.present), s.values ? fmt::format("{:.3g}", s.bound) : "signs",
                              1e-6 * s.plain, s.plain / std::max(s.packed, 1.0)));
  }
  return out;
}

namespace {

using Segment = std::function<torch::Tensor(const torch::Tensor&)>;

struct RecomputeBackward : ag::Node {
  Segment segment;
  ag::SavedVariable x;
  bool wanted = false;
  std::string name() const override { return "RecomputeBackward"; }
  void release_variables() override { x.reset_data(); }
  ag::variable_list apply(ag::variable_list&& gradients) override {
    torch::Tensor again = x.unpack().detach();
    again.set_requires_grad(wanted);
    const at::AutoGradMode with_graph(true);
    ag::backward({segment(again)}, {gradients[0]});
    return {wanted ? again.grad() : torch::Tensor()};
  }
};

}  // namespace

torch::Tensor recomputed(const Segment& segment, const torch::Tensor& x) {
  torch::Tensor y;
  {
    const torch::NoGradGuard no_graph;
    y = segment(x.detach());
  }
  const std::shared_ptr<RecomputeBackward> node(new RecomputeBackward, ag::deleteNode);
  node->segment = segment;
  node->wanted = x.requires_grad();
  node->x = ag::SavedVariable(x, false);
  node->set_next_edges(ag::collect_next_edges(x));
  ag::set_history(y, node);
  return y;
}

}  // namespace cambium::train
