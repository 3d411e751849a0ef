#include "core/train/weights/divided/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/key_error.hpp"
#include "core/base/timing.hpp"
#include "core/train/kinds/works_by_module.hpp"
#include "core/train/weights/divided/grouping.hpp"

namespace cambium::train {

void Exchanges::waited_since(double start) { exposed_ += wall_seconds() - start; }

lowp::RoundingAddress Exchanges::address(int group, int purpose) const {
  auto out = address_;
  out.tensor = static_cast<std::uint64_t>(group) * 4 + static_cast<std::uint64_t>(purpose);
  return out;
}

static bool splits(const std::vector<Optimizer::StateInfo>& states) {
  return std::any_of(states.begin(), states.end(), [](const auto& s) { return s.name == "low_bits"; });
}

static bool sends_nodes(const DivideSettings& settings, int ranks) {
  return settings.ordered && !std::has_single_bit(static_cast<unsigned>(ranks));
}

/// Encoded messages do not overlap with computation, nor do those of nodes.
static DivideSettings settled(DivideSettings settings, const Codecs& codecs, int ranks) {
  if (codecs.any() || sends_nodes(settings, ranks)) settings.overlap = false;
  return settings;
}

DividedParts::DividedParts(const Partition& how, const Comm& comm, Network& network, const Optimizer& optimizer,
                           const DivideSettings& more)
    : by_module(works_by_module(network)), partition(how), mesh(comm, how.levels),
      settings(settled(more, how.codecs, comm.size())), by_nodes(sends_nodes(more, comm.size())),
      memory(how.limit, by_module), form{network.dtype(), network.dtype(), nullptr},
      infos(optimizer.states(network.dtype())), served_state(optimizer.served_state()) {
  if (settings.direct) require_direct(network, optimizer);
  refuse(network, optimizer);
  if (splits(infos) && !network.modules().empty()) form.kept = DType::bf16;
  if (codes_updates()) infos.push_back({"main", form.real});
  make_groups(network);
  make_storage();
}

void DividedParts::refuse(const Network& network, const Optimizer& optimizer) const {
  if (partition.gradients > 0 && network.modules().empty())
    throw KeyError("train.parallel.modules", "parallel",
                   "this network does not announce which of its weights it uses next, so that its weights and "
                   "gradients cannot be sharded; shard the states alone (parallel: {preset: zero1})");
  if (!optimizer.by_tensor())
    throw KeyError("train.parallel.optimizer", "parallel",
                   "this optimizer needs scalar products over all weights, which parallel partitions into groups; "
                   "remove parallel, or take another optimizer");
  if (partition.states > 0 && !optimizer.elementwise() && partition.codecs.update != WeightCodec::none)
    throw KeyError("train.parallel.update_codec", "parallel.update_codec",
                   "parallel.update_codec stores exact weights in shards, but this optimizer needs full tensors; "
                   "remove update_codec, or take adam, adamw or sgd");
  require_codecs(partition.codecs, splits(infos), settings.direct.has_value(), settings.ordered);
}

void DividedParts::make_groups(const Network& network) {
  const auto parameters = network.parameters();
  const int n = static_cast<int>(parameters.size());
  module_first = network.modules();
  auto [lists, modules] = group_tensors(parameters, module_first, partition.whole_below, settings.group_elements);
  if (!module_first.empty()) module_first.push_back(n);
  const std::int64_t parts = parts_of(mesh, static_cast<int>(mesh.levels().size()));
  // A scale in messages covers 128 values: all of one tensor, because gradients of different tensors differ by orders
  // of magnitude.
  if (partition.codecs.any())
    layout = std::make_unique<FlatLayout>(parameters, lists, lowp::wire_piece * parts, lowp::wire_piece);
  else
    layout = std::make_unique<FlatLayout>(parameters, lists, group_padding(settings.direct ? 4 * parts : parts));
  if (settings.direct) form.packed = std::make_unique<PackedWeights>(*layout, settings.direct->grid());
  group_of.assign(n, 0);
  for (std::size_t g = 0; g < lists.size(); ++g) {
    DividedGroup group;
    group.number = static_cast<int>(g);
    group.whole = {layout->groups()[g].begin, layout->groups()[g].end};
    group.module = modules[g];
    group.weights_depth = group.module < 0 ? 0 : partition.weights;
    for (int k : lists[g]) group_of[k] = static_cast<int>(g);
    group.tensors = std::move(lists[g]);
    groups.push_back(std::move(group));
  }
}

void DividedParts::make_storage() {
  std::int64_t all_weights = 0, best = 0, all_gradients = 0, all_states = 0;
  for (auto& g : groups) {
    const Interval mine = stepped(g);
    g.shard = std::make_unique<FlatLayout>(*layout, mine.begin, mine.end);
    g.weights_at = all_weights;
    g.best_at = best;
    g.gradients_at = all_gradients;
    g.states_at = all_states;
    all_weights += form.bytes(share(g, g.weights_depth));
    best += form.bytes(mine);
    all_gradients += share(g, partition.gradients).size();
    all_states += mine.size();
  }
  weights = Block(memory, Held::weights, all_weights);
  gradients = Block(memory, Held::gradients, all_gradients * size_of(form.kept));
  for (const auto& info : infos) states.emplace_back(memory, Held::states, all_states * size_of(info.dtype));
  if (settings.average) average = Block(memory, Held::states, all_states * size_of(form.real));
}

std::byte* DividedParts::stepped_weights_of(const DividedGroup& g) {
  return weights_of(g) + form.bytes({share(g, g.weights_depth).begin, stepped(g).begin});
}

std::byte* DividedParts::stepped_gradients_of(const DividedGroup& g) {
  return gradients_of(g) + (stepped(g).begin - share(g, partition.gradients).begin) * size_of(form.kept);
}

Block* DividedParts::served() {
  if (settings.average) return &average;
  return served_state ? &states[*served_state] : nullptr;
}

std::vector<FlatBuffer> DividedParts::optimizer_states(const DividedGroup& g) {
  std::vector<FlatBuffer> out;
  for (std::size_t k = 0; k < infos.size() - (codes_updates() ? 1 : 0); ++k)
    out.push_back(FlatBuffer::on(*g.shard, infos[k].dtype, state_of(g, k)));
  return out;
}

std::vector<TensorRef> DividedParts::views() const {
  std::vector<TensorRef> out;
  for (const auto& tensor : layout->tensors()) {
    TensorRef view;
    view.dtype = form.real;
    for (auto extent : tensor.info.shape) view.shape[view.rank++] = extent;
    for (std::int64_t stride = 1, k = view.rank - 1; k >= 0; stride *= view.shape[k--]) view.stride[k] = stride;
    out.push_back(view);
  }
  return out;
}

void DividedParts::place(std::vector<TensorRef>& views, const DividedGroup& g, std::byte* data) const {
  for (int k : g.tensors) {
    const auto tensor = static_cast<std::size_t>(k);
    views[tensor].data =
        data ? data + (layout->tensors()[tensor].offset - g.whole.begin) * size_of(form.real) : nullptr;
  }
}

std::vector<std::string> DividedParts::memory_report() const {
  const auto mb = [](double bytes) { return 1e-6 * bytes; };
  const double n = static_cast<double>(layout->parameters());
  std::int64_t state_bytes = settings.average ? size_of(form.real) : 0;
  for (const auto& info : infos) state_bytes += size_of(info.dtype);
  struct Row {
    const char* name;
    Held kind;
    double bytes;
    int depth;
  };
  const double kept = static_cast<double>(size_of(form.kept)),
               on_grids = form.packed ? static_cast<double>(form.packed->linear_numbers()) / n : 0.0;
  const Row rows[] = {{"weights", Held::weights,
                       kept - on_grids * (form.packed ? kept - form.packed->bits() / 8.0 : 0.0), partition.weights},
                      {"gradients", Held::gradients, kept, partition.gradients},
                      {"states", Held::states, static_cast<double>(state_bytes), partition.states}};
  std::vector<std::string> out{fmt::format("{:<18}{:>14}{:>10}{:>12}{:>12}", "memory per rank", "B/parameter", "ranks",
                                           "formula MB", "held MB")};
  double formula = 0.0, held = 0.0;
  for (const auto& row : rows) {
    const std::int64_t parts = parts_of(mesh, row.depth);
    const double f = row.bytes * n / static_cast<double>(parts), h = static_cast<double>(memory.now(row.kind));
    formula += f;
    held += h;
    out.push_back(fmt::format("{:<18}{:>14.4g}{:>10}{:>12.4f}{:>12.4f}", row.name, row.bytes, parts, mb(f), mb(h)));
  }
  out.push_back(
      fmt::format("{:<18}{:>14.3f}{:>10}{:>12.4f}{:>12.4f}", "together", formula / n, "", mb(formula), mb(held)));
  out.push_back(fmt::format(
      "in addition, at most: {:.4f} MB of modules in use, {:.4f} MB received, {:.4f} MB in {}; {:.4f} MB at one time",
      mb(static_cast<double>(memory.peak(Held::windows))), mb(static_cast<double>(memory.peak(Held::messages))),
      mb(static_cast<double>(memory.peak(Held::copies))),
      by_module ? "copies (best model, checkpoints)" : "full copies (initial weights, validation, checkpoints, export)",
      mb(mesh.world().max(static_cast<double>(memory.peak())))));
  if (form.packed)
    out.push_back(fmt::format("weights: {} of {} parameters in {:g} bits, the others in 32",
                              form.packed->linear_numbers(), layout->parameters(), form.packed->bits()));
  return out;
}

}  // namespace cambium::train
