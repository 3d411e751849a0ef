#include "core/train/weights/divided/sharded_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/train/weights/divided/grouping.hpp"

namespace cambium::train {

static bool splits(const std::vector<Optimizer::StateInfo>& states) {
  return std::any_of(states.begin(), states.end(), [](const auto& s) { return s.name == "low_bits"; });
}

ShardedModel::ShardedModel(const Partition& partition, const Mesh& mesh, const Network& network,
                           const Optimizer& optimizer, const Settings& settings)
    : partition_(partition), mesh_(mesh), memory_(partition.limit), wires_{mesh, traffic_, memory_},
      real_(network.dtype()), kept_(real_), ordered_(settings.ordered), overlap_(settings.overlap),
      group_elements_(settings.group_elements), infos_(optimizer.states(network.dtype())), direct_(settings.direct) {
  if (direct_) require_direct(network, optimizer);
  refuse(network, optimizer);
  if (splits(infos_) && !network.modules().empty()) kept_ = DType::bf16;
  if (partition_.codecs.any()) overlap_ = false;
  if (partition_.codecs.update != WeightCodec::none) infos_.push_back({"main", real_});
  make_groups(network, settings);
  make_storage();
}

void ShardedModel::refuse(const Network& network, const Optimizer& optimizer) const {
  if (partition_.gradients > 0 && network.modules().empty())
    throw InputError(
        "this network does not say which of its weights it is about to use, so that its weights and gradients cannot "
        "be divided; divide the states alone (parallel: {preset: zero1})");
  if (partition_.states > 0 && !optimizer.elementwise())
    throw InputError(
        "this optimizer needs the norms of whole tensors, so that its states cannot be divided; take adam, adamw, sgd "
        "or their split forms, or parallel: {preset: ddp}");
  require_codecs(partition_.codecs, splits(infos_), direct_.has_value(), ordered_);
}

void ShardedModel::make_groups(const Network& network, const Settings& settings) {
  const auto parameters = network.parameters();
  const int n = static_cast<int>(parameters.size());
  module_first_ = network.modules();
  auto [lists, modules] = group_tensors(parameters, module_first_, partition_.whole_below, settings.group_elements);
  if (!module_first_.empty()) module_first_.push_back(n);
  const std::int64_t parts = parts_of(mesh_, static_cast<int>(mesh_.levels().size()));
  // A scale on the wire serves 128 numbers: those of one tensor, because gradients of different tensors differ by
  // orders of magnitude.
  if (partition_.codecs.any())
    layout_ = std::make_unique<FlatLayout>(parameters, lists, lowp::wire_piece * parts, lowp::wire_piece);
  else
    layout_ = std::make_unique<FlatLayout>(parameters, lists, group_padding(direct_ ? 4 * parts : parts));
  if (direct_) packed_ = std::make_unique<PackedWeights>(*layout_, direct_->grid());
  group_of_.assign(static_cast<std::size_t>(n), 0);
  for (std::size_t g = 0; g < lists.size(); ++g) {
    Group group;
    group.whole = {layout_->groups()[g].begin, layout_->groups()[g].end};
    group.module = modules[g];
    group.weights_depth = group.module < 0 ? 0 : partition_.weights;
    for (int k : lists[g]) group_of_[static_cast<std::size_t>(k)] = static_cast<int>(g);
    group.tensors = std::move(lists[g]);
    groups_.push_back(std::move(group));
  }
  for (auto& g : groups_)
    if (g.weights_depth > 0) divided_.insert(divided_.begin(), &g);  // groups stand in the order of the backward pass
}

void ShardedModel::make_storage() {
  std::int64_t weights = 0, best = 0, gradients = 0, states = 0;
  for (auto& g : groups_) {
    const Interval mine = share(g, partition_.states);
    g.shard = std::make_unique<FlatLayout>(*layout_, mine.begin, mine.end);
    g.weights_at = weights, g.best_at = best, g.gradients_at = gradients, g.states_at = states;
    weights += kept_bytes(share(g, g.weights_depth));
    best += kept_bytes(mine);
    gradients += share(g, partition_.gradients).size();
    states += mine.size();
  }
  weights_ = Block(memory_, Held::weights, weights);
  gradients_ = Block(memory_, Held::gradients, gradients * size_of(kept_));
  for (const auto& info : infos_) states_.emplace_back(memory_, Held::states, states * size_of(info.dtype));
  // Views have the tensors' shapes; their memory comes and goes.
  for (auto* views : {&weight_views_, &gradient_views_}) {
    for (const auto& tensor : layout_->tensors()) {
      TensorRef view;
      view.dtype = real_;
      for (auto extent : tensor.info.shape) view.shape[view.rank++] = extent;
      for (std::int64_t stride = 1, k = view.rank - 1; k >= 0; stride *= view.shape[k--]) view.stride[k] = stride;
      views->push_back(view);
    }
  }
}

std::byte* ShardedModel::weights_shard(Group& g) {
  return weights_of(g) + kept_bytes({share(g, g.weights_depth).begin, share(g, partition_.states).begin});
}

std::byte* ShardedModel::gradients_shard(Group& g) {
  return gradients_of(g) + (share(g, partition_.states).begin - share(g, partition_.gradients).begin) * size_of(kept_);
}

std::vector<std::string> ShardedModel::memory_report() const {
  const auto mb = [](double bytes) { return 1e-6 * bytes; };
  const double n = static_cast<double>(layout_->parameters());
  std::int64_t state_bytes = 0;
  for (const auto& info : infos_) state_bytes += size_of(info.dtype);
  struct Row {
    const char* name;
    Held kind;
    double bytes;
    int depth;
  };
  const double kept = static_cast<double>(size_of(kept_)),
               on_grids = packed_ ? static_cast<double>(packed_->linear_numbers()) / n : 0.0;
  const Row rows[] = {
      {"weights", Held::weights, kept - on_grids * (packed_ ? kept - packed_->bits() / 8.0 : 0.0), partition_.weights},
      {"gradients", Held::gradients, kept, partition_.gradients},
      {"states", Held::states, static_cast<double>(state_bytes), partition_.states}};
  std::vector<std::string> out{fmt::format("{:<18}{:>14}{:>10}{:>12}{:>12}", "memory per rank", "B/parameter", "ranks",
                                           "formula MB", "held MB")};
  double formula = 0.0, held = 0.0;
  for (const auto& row : rows) {
    const std::int64_t parts = parts_of(mesh_, row.depth);
    const double f = row.bytes * n / static_cast<double>(parts), h = static_cast<double>(memory_.now(row.kind));
    formula += f, held += h;
    out.push_back(fmt::format("{:<18}{:>14.4g}{:>10}{:>12.4f}{:>12.4f}", row.name, row.bytes, parts, mb(f), mb(h)));
  }
  out.push_back(
      fmt::format("{:<18}{:>14.3f}{:>10}{:>12.4f}{:>12.4f}", "together", formula / n, "", mb(formula), mb(held)));
  out.push_back(fmt::format(
      "at most beside these: {:.4f} MB of modules in use, {:.4f} MB received, {:.4f} MB in whole copies (first "
      "weights, validation, checkpoints, export)",
      mb(static_cast<double>(memory_.peak(Held::windows))), mb(static_cast<double>(memory_.peak(Held::messages))),
      mb(static_cast<double>(memory_.peak(Held::copies)))));
  if (packed_)
    out.push_back(fmt::format("weights: {} of {} parameters in {:g} bits, the others in 32", packed_->linear_numbers(),
                              layout_->parameters(), packed_->bits()));
  return out;
}

}  // namespace cambium::train
