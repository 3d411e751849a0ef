#include "core/train/low_rank/cost_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

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
        "model: '{}' holds a {}, whose layers cannot become products; networks that can have a key 'ranks': mlp, "
        "transformer, conv_net, flow_unet, meshfree_flow_net, cosmoflow",
        path, type));
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
  constexpr double enough = 0.1;  // s of each
  constexpr int fewest = 7, most = 200;
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

/// Layers that are not worth a product, and as many candidates of the others as can be looked at.
static std::vector<std::vector<std::int64_t>> candidates_of(const std::vector<FactorLayer>& layers,
                                                            std::int64_t multiple) {
  constexpr double least = 0.005;                      // of all multiplications
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
    all += w.values[k] * w.values[k], lost += d * d;
  }
  return all > 0.0 ? 1.0 - lost / all : 1.0;
}

namespace {

/// Measures one candidate after the other.
class Measurement {
 public:
  Measurement(LoadedModel& whole, const CostSamples& samples, CostTable& out, Context& context)
      : whole_(whole), samples_(samples), out_(out), context_(context) {
    whole_loss_ = out.loss = loss_of(*whole.network, whole.weights, samples.chosen_by, std::ssize(samples.timed));
  }
  RankCandidate of(std::size_t layer, std::int64_t rank) {
    RankCandidate out{rank};
    if (rank == 0) return out;
    const auto& its = out_.layers[layer];
    const auto w = read_layer(its, whole_.weights);
    const auto product = multiplied(factors_of(w, rank), its.outputs, its.inputs, its.taps);
    out.kept = share_kept(w, product);
    write_layer(product, its, whole_.weights);
    out.loss = loss_of(*whole_.network, whole_.weights, samples_.chosen_by, std::ssize(samples_.timed)) - whole_loss_;
    out.loss = std::max(out.loss, 0.0);
    write_layer(w, its, whole_.weights);
    out.seconds = time_share(layer, rank) - 1.0;
    return out;
  }

 private:
  double time_share(std::size_t layer, std::int64_t rank) {
    const auto& its = out_.layers[layer];
    const Shape shape{its.inputs, its.outputs, its.taps, its.places, rank};
    if (const auto found = shares_.find(shape); found != shares_.end()) return found->second;
    std::vector<std::int64_t> ranks(out_.layers.size(), 0);
    ranks[layer] = rank;
    auto trial = assemble(whole_, ranks, context_);
    const auto times = pass_times(*whole_.network, whole_.weights, *trial.network, trial.weights, samples_.timed);
    out_.seconds = std::min(out_.seconds, times.seconds);
    return shares_[shape] = times.share;
  }
  using Shape = std::array<std::int64_t, 5>;
  LoadedModel& whole_;
  const CostSamples& samples_;
  CostTable& out_;
  Context& context_;
  double whole_loss_ = 0.0;
  std::map<Shape, double> shares_;
};

}  // namespace

/// What several layers save together is less than the sum of what each saves alone, since calls and copies remain: all
/// savings times one factor, the median over some networks whose layers all have equal shares.
static void calibrate(CostTable& table, LoadedModel& whole, std::span<const SamplePtr> timed, Context& context) {
  std::vector<double> factors;
  for (const double at : {0.15, 0.4, 0.65}) {
    std::vector<std::size_t> choice;
    for (const auto& list : table.candidates)
      choice.push_back(static_cast<std::size_t>(at * static_cast<double>(list.size() - 1)));
    const double saved = table.predicted(choice) - table.seconds;
    if (saved >= 0.0) continue;
    auto trial = assemble(whole, table.ranks(choice), context);
    const double share = pass_times(*whole.network, whole.weights, *trial.network, trial.weights, timed).share;
    factors.push_back((share - 1.0) * table.seconds / saved);
  }
  if (factors.empty()) return;
  std::sort(factors.begin(), factors.end());
  const double factor = std::clamp(factors[factors.size() / 2], 0.4, 1.2);
  context.log.info(fmt::format("layers together save {:.3g} of what they save alone", factor));
  for (auto& list : table.candidates)
    for (auto& candidate : list) candidate.seconds *= factor;
}

CostTable measure_costs(LoadedModel& whole, const std::string& path, const CostSamples& samples, std::int64_t multiple,
                        Context& context) {
  CostTable out;
  out.layers = factor_layers(*whole.network, whole.info.type, path);
  out.seconds = std::numeric_limits<double>::infinity();
  const auto candidates = candidates_of(out.layers, multiple);
  Measurement measurement(whole, samples, out, context);
  for (std::size_t l = 0; l < out.layers.size(); ++l) {
    auto& list = out.candidates.emplace_back();
    for (const auto rank : candidates[l]) list.push_back(measurement.of(l, rank));
  }
  if (!std::isfinite(out.seconds))
    out.seconds = pass_times(*whole.network, whole.weights, *whole.network, whole.weights, samples.timed).seconds;
  settle(out);
  calibrate(out, whole, samples.timed, context);
  for (std::size_t l = 0; l < out.layers.size(); ++l)
    for (const auto& candidate : out.candidates[l])
      if (candidate.rank > 0)
        context.log.info(fmt::format("layer {:<20} rank {:>5}: loss {:+.4g}, time {:+.4g} ms, {:.4g} of its squares",
                                     out.layers[l].name, candidate.rank, candidate.loss, 1e3 * candidate.seconds,
                                     candidate.kept));
  return out;
}

}  // namespace cambium::train
