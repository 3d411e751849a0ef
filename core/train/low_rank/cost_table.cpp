#include "core/train/low_rank/cost_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/low_rank/decompose.hpp"

namespace cambium::train {

Assembled assemble(LoadedModel& whole, std::span<const std::int64_t> ranks, Context& context) {
  Assembled out;
  std::vector<deck::Node> numbers;
  for (const auto rank : ranks) numbers.push_back(deck::Node::scalar(fmt::format("{}", rank)));
  out.keys = deck::parse(whole.info.config, "/model/config").with("ranks", deck::Node::list(std::move(numbers)));
  out.network = context.registry->make<Network>(whole.info.type, out.keys, context);
  out.network->restore(whole.info.state);
  out.layout = std::make_unique<FlatLayout>(out.network->parameters(), 1'000'000);
  out.weights = FlatBuffer(*out.layout, out.network->dtype());
  const auto* before = dynamic_cast<const HasFactors*>(whole.network.get());
  const auto* after = dynamic_cast<const HasFactors*>(out.network.get());
  if (!before || !after) throw InternalError("assemble: the network has no factors");
  fill_factors(before->factor_layers(), whole.weights, after->factor_layers(), out.weights);
  return out;
}

std::vector<FactorLayer> factor_layers(const Network& network, const std::string& type, const std::string& path) {
  const auto* has = dynamic_cast<const HasFactors*>(&network);
  if (!has)
    throw InputError(fmt::format(
        "model: '{}' holds a {}, whose layers cannot become products; the networks that can are mlp and conv_net", path,
        type));
  auto layers = has->factor_layers();
  for (const auto& layer : layers)
    if (layer.rank > 0)
      throw InputError(
          fmt::format("model: layer {} of '{}' is a product already; give the model that it was made from, whose "
                      "layers are whole",
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

namespace {

double one_pass(Network& network, std::span<const TensorRef> weights, std::span<const SamplePtr> samples) {
  std::vector<TermSum> metrics(network.metrics().size());
  const auto begin = std::chrono::steady_clock::now();
  network.evaluate(samples, weights, metrics);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

PassTimes pass_times(Network& one, FlatBuffer& its, Network& other, FlatBuffer& its_own,
                     std::span<const SamplePtr> samples) {
  constexpr double enough = 0.05;  // s of each
  constexpr int fewest = 15, most = 200;
  const auto a = its.views(), b = its_own.views();
  one_pass(one, a, samples), one_pass(other, b, samples);  // buffers are made
  PassTimes out;
  std::vector<double> shares;
  double spent = 0.0;
  for (int k = 0; k < most && (k < fewest || spent < enough); ++k) {
    const double now = one_pass(one, a, samples);
    out.seconds = std::min(out.seconds, now), spent += now;
    shares.push_back(one_pass(other, b, samples) / now);
  }
  std::nth_element(shares.begin(), shares.begin() + std::ssize(shares) / 2, shares.end());
  out.share = shares[shares.size() / 2];
  return out;
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

/// From shares as they were measured to times: they do not fall with the rank, and all layers together save no more
/// than there is.
static void settle(CostTable& table) {
  double most_saved = 0.0;
  for (auto& list : table.candidates) {
    std::vector<double> shares;
    for (const auto& candidate : list)
      if (candidate.rank > 0) shares.push_back(candidate.seconds);
    make_rising(shares);
    for (std::size_t k = 0; k < shares.size(); ++k) list[k].seconds = shares[k];
    if (!shares.empty()) most_saved += std::max(-shares.front(), 0.0);
  }
  constexpr double all = 0.98;
  const double scale = table.seconds * std::min(1.0, all / std::max(most_saved, all));
  for (auto& list : table.candidates)
    for (auto& candidate : list) candidate.seconds *= scale;
}

CostTable measure_costs(LoadedModel& whole, const std::string& path, std::span<const SamplePtr> samples,
                        std::span<const SamplePtr> timed, std::int64_t multiple, Context& context) {
  CostTable out;
  out.layers = factor_layers(*whole.network, whole.info.type, path);
  const auto batch = std::ssize(timed);
  out.loss = loss_of(*whole.network, whole.weights, samples, batch);
  out.seconds = std::numeric_limits<double>::infinity();
  for (std::size_t l = 0; l < out.layers.size(); ++l) {
    auto& list = out.candidates.emplace_back();
    for (const auto rank : candidate_ranks(out.layers[l], multiple)) {
      list.push_back({rank, 0.0, 0.0});
      if (rank == 0) continue;
      std::vector<std::int64_t> ranks(out.layers.size(), 0);
      ranks[l] = rank;
      auto trial = assemble(whole, ranks, context);
      const auto times = pass_times(*whole.network, whole.weights, *trial.network, trial.weights, timed);
      out.seconds = std::min(out.seconds, times.seconds);
      list.back().seconds = times.share - 1.0;
      list.back().loss = std::max(loss_of(*trial.network, trial.weights, samples, batch) - out.loss, 0.0);
    }
  }
  if (!std::isfinite(out.seconds))
    out.seconds = pass_times(*whole.network, whole.weights, *whole.network, whole.weights, timed).seconds;
  settle(out);
  for (std::size_t l = 0; l < out.layers.size(); ++l)
    for (const auto& candidate : out.candidates[l])
      if (candidate.rank > 0)
        context.log.info(fmt::format("layer {:<20} rank {:>5}: loss {:+.4g}, time {:+.4g} ms", out.layers[l].name,
                                     candidate.rank, candidate.loss, 1e3 * candidate.seconds));
  return out;
}

}  // namespace cambium::train
