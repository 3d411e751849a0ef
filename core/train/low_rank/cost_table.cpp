#include "core/train/low_rank/cost_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/low_rank/time_table.hpp"

namespace cambium::train {

Assembled assemble(LoadedModel& whole, std::span<const std::int64_t> ranks, Context& context) {
  Assembled out;
  std::vector<deck::Node> numbers;
  for (const auto rank : ranks) numbers.push_back(deck::Node::scalar(fmt::format("{}", rank)));
  out.keys = deck::parse(whole.info.config, "/model/config")
                 .without([](std::string_view key) { return key == "ranks"; })  // its name in files of 0.1
                 .with("factor_ranks", deck::Node::list(std::move(numbers)));
  out.network = context.registry->make<Network>(whole.info.type, out.keys, context);
  out.network->restore(whole.info.state);
  out.layout = std::make_unique<FlatLayout>(out.network->parameters(), 1'000'000);
  out.weights = FlatBuffer(*out.layout, out.network->dtype());
  const HasFactors* before = whole.network->traits().factors;
  const HasFactors* after = out.network->traits().factors;
  if (!before || !after) throw InternalError("assemble: the network has no factors");
  fill_factors(before->factor_layers(), whole.weights, after->factor_layers(), out.weights);
  return out;
}

std::vector<FactorLayer> factor_layers(Network& network, const std::string& type, const std::string& path) {
  const HasFactors* has = network.traits().factors;
  if (!has)
    throw KeyError(
        "compress.model.layers", "model",
        fmt::format("model: '{}' holds a {}, whose layers cannot become products; networks that can have a "
                    "key 'factor_ranks': mlp, "
                    "transformer, conv_net, flow_unet, meshfree_flow_net, cosmoflow, mesh_graph_net, stacked_lstm, "
                    "deep_potential",
                    path, type));
  auto layers = has->factor_layers();
  for (const auto& layer : layers)
    if (layer.rank > 0)
      throw KeyError("compress.model.product", "model",
                     fmt::format("model: layer {} of '{}' is a product already; give the model that it was made from, "
                                 "whose layers are full",
                                 layer.name, path));
  return layers;
}

double loss_of(Network& network, FlatBuffer& weights, std::span<const SamplePtr> samples, std::int64_t batch) {
  FlatBuffer scratch(weights.layout(), weights.dtype());
  const auto infos = network.terms();
  const auto by = network.term_weights(0, 1.0);
  std::vector<TermSum> sums(infos.size());
  const auto views = weights.views(), gradients = scratch.views();
  for (std::size_t at = 0; at < samples.size(); at += static_cast<std::size_t>(batch))
    network.gradient(samples.subspan(at, std::min(samples.size() - at, static_cast<std::size_t>(batch))), views, by,
                     gradients, sums, [](int) {});
  double loss = 0.0;
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k].count > 0.0) loss += by[k] * sums[k].sum / sums[k].count;
  return loss;
}

std::vector<std::int64_t> CostTable::ranks(const std::vector<std::size_t>& choice) const {
  std::vector<std::int64_t> out;
  for (std::size_t l = 0; l < choice.size(); ++l) out.push_back(candidates[l][choice[l]].rank);
  return out;
}

double CostTable::predicted(const std::vector<std::size_t>& choice) const {
  double sum = seconds;
  for (std::size_t l = 0; l < choice.size(); ++l) sum += candidates[l][choice[l]].seconds;
  return sum;
}

/// Excludes layers too small to factor; limits the number of candidates of the others to what can be measured.
static std::vector<std::vector<std::int64_t>> candidates_of(const std::vector<FactorLayer>& layers,
                                                            std::int64_t multiple) {
  constexpr double least = 0.005;                      // fraction of all multiplications
  constexpr std::size_t all = 160, few = 4, most = 9;  // candidates
  double sum = 0.0;
  for (const auto& layer : layers) sum += static_cast<double>(layer.multiplications(0));
  const auto matters = [&](const FactorLayer& layer) {
    return static_cast<double>(layer.multiplications(0)) >= least * sum;
  };
  const auto count = static_cast<std::size_t>(std::count_if(layers.begin(), layers.end(), matters));
  const std::size_t each = std::clamp(all / std::max<std::size_t>(count, 1), few, most);
  std::vector<std::vector<std::int64_t>> out;
  for (const auto& layer : layers)
    out.push_back(matters(layer) ? candidate_ranks(layer, multiple, each) : std::vector<std::int64_t>{0});
  return out;
}

static double share_kept(const LayerWeights& w, const LayerWeights& product) {
  double all = 0.0, lost = 0.0;
  for (std::size_t k = 0; k < w.values.size(); ++k) {
    const double d = w.values[k] - product.values[k];
    all += w.values[k] * w.values[k];
    lost += d * d;
  }
  return all > 0.0 ? 1.0 - lost / all : 1.0;
}

/// A candidate with its loss, measured with its product in the full network.
static RankCandidate candidate_of(CostTable& table, std::size_t layer, std::int64_t rank, LoadedModel& whole,
                                  const CostSamples& samples) {
  RankCandidate out{rank};
  if (rank == 0) return out;
  const auto& its = table.layers[layer];
  const auto w = read_layer(its, whole.weights);
  const auto product = multiplied(factors_of(w, rank), its.outputs, its.inputs, its.taps);
  out.kept = share_kept(w, product);
  write_layer(product, its, whole.weights);
  out.loss = loss_of(*whole.network, whole.weights, samples.chosen_by, std::ssize(samples.timed)) - table.loss;
  out.loss = std::max(out.loss, 0.0);
  write_layer(w, its, whole.weights);
  return out;
}

/// Times differ between ranks: all use those of rank 0.
static void share_times(CostTable& table, const Comm& comm) {
  std::vector<double> seconds{table.seconds};
  for (const auto& list : table.candidates)
    for (const auto& candidate : list) seconds.push_back(candidate.seconds);
  comm.broadcast(std::span(seconds));
  std::size_t k = 0;
  table.seconds = seconds[k++];
  for (auto& list : table.candidates)
    for (auto& candidate : list) candidate.seconds = seconds[k++];
}

void count_multiplications(CostTable& table) {
  table.counted = true;
  table.seconds = 0.0;
  for (std::size_t l = 0; l < table.layers.size(); ++l) {
    const auto& layer = table.layers[l];
    table.seconds += static_cast<double>(layer.multiplications(0));
    for (auto& candidate : table.candidates[l])
      candidate.seconds = static_cast<double>(layer.multiplications(candidate.rank) - layer.multiplications(0));
  }
}

CostTable measure_costs(LoadedModel& whole, const std::string& path, const CostSamples& samples, std::int64_t multiple,
                        bool counted, Context& context) {
  CostTable out;
  out.layers = factor_layers(*whole.network, whole.info.type, path);
  out.loss = loss_of(*whole.network, whole.weights, samples.chosen_by, std::ssize(samples.timed));
  const auto candidates = candidates_of(out.layers, multiple);
  for (std::size_t l = 0; l < out.layers.size(); ++l) {
    auto& list = out.candidates.emplace_back();
    for (const auto rank : candidates[l]) list.push_back(candidate_of(out, l, rank, whole, samples));
  }
  const auto timer = [&](std::span<const std::int64_t> ranks) {
    auto trial = assemble(whole, ranks, context);
    return pass_times(*whole.network, whole.weights, *trial.network, trial.weights, samples.timed);
  };
  if (counted) {
    count_multiplications(out);
    return out;
  }
  measure_times(out, timer, context.log);
  share_times(out, context.comm);
  for (std::size_t l = 0; l < out.layers.size(); ++l)
    for (const auto& candidate : out.candidates[l])
      if (candidate.rank > 0)
        context.log.info(fmt::format("layer {:<20} rank {:>5}: loss {:+.4g}, time {:+.4g} ms, {:.4g} of its squares",
                                     out.layers[l].name, candidate.rank, candidate.loss, 1e3 * candidate.seconds,
                                     candidate.kept));
  return out;
}

}  // namespace cambium::train
