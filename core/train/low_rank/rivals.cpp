#include "core/train/low_rank/rivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plugin/registry.hpp"
#include "core/train/low_rank/compress_table.hpp"
#include "core/train/low_rank/pass_times.hpp"

namespace cambium::train {

std::vector<std::size_t> equal_shares(const CostTable& table, double seconds) {
  std::size_t most = 0;
  for (const auto& list : table.candidates) most = std::max(most, list.size());
  // Lists are as long as a layer has different ranks: the k-th of `most` shares is the nearest of a shorter list.
  for (std::size_t k = most; k-- > 0;) {
    std::vector<std::size_t> choice;
    for (const auto& list : table.candidates)
      choice.push_back(most > 1 ? (k * (list.size() - 1) + (most - 1) / 2) / (most - 1) : 0);
    if (table.predicted(choice) <= seconds) return choice;
  }
  return {};
}

std::vector<std::size_t> equal_energy(const CostTable& table, double seconds) {
  std::vector<double> shares;
  for (const auto& list : table.candidates)
    for (const auto& candidate : list) shares.push_back(candidate.kept);
  std::sort(shares.rbegin(), shares.rend());
  for (const double share : shares) {
    std::vector<std::size_t> choice;
    for (const auto& list : table.candidates) {
      const auto enough =
          std::find_if(list.begin(), list.end(), [&](const auto& candidate) { return candidate.kept >= share; });
      choice.push_back(static_cast<std::size_t>((enough == list.end() ? enough - 1 : enough) - list.begin()));
    }
    if (table.predicted(choice) <= seconds) return choice;
  }
  return {};
}

std::vector<std::size_t> fastest(const CostTable& table) {
  std::vector<std::size_t> out;
  for (const auto& list : table.candidates)
    out.push_back(static_cast<std::size_t>(
        std::min_element(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; }) -
        list.begin()));
  return out;
}

static deck::Node narrow(const deck::Node& width, std::int64_t multiple, double share) {
  if (width.is_list()) {
    std::vector<deck::Node> items;
    for (const auto& item : width.items()) items.push_back(narrow(item, multiple, share));
    return deck::Node::list(std::move(items));
  }
  const double wanted = share * std::stod(width.text()) / static_cast<double>(multiple);
  return deck::Node::scalar(fmt::format("{}", multiple * std::max<std::int64_t>(1, std::lround(wanted))));
}

deck::Node narrowed(const deck::Node& keys, const std::vector<HasFactors::WidthKey>& widths, double share) {
  deck::Node out = keys.with("ranks", deck::Node::list({}));
  for (const auto& [key, multiple] : widths)
    if (keys.has(key)) out = out.with(key, narrow(keys[key], multiple, share));
  return out;
}

std::optional<SmallerNetwork> smaller_network(LoadedModel& whole, double time_share, Dataset& data,
                                              std::span<const SamplePtr> timed, Context& context) {
  const auto keys = deck::parse(whole.info.config, "/model/config");
  const auto widths = dynamic_cast<const HasFactors&>(*whole.network).width_keys();
  const auto with = [&](double share) {
    SmallerNetwork out{narrowed(keys, widths, share)};
    const auto network = context.registry->make<Network>(whole.info.type, out.keys, context);
    network->fit_statistics(data, context);
    const FlatLayout layout(network->parameters(), 1'000'000);
    FlatBuffer weights(layout, network->dtype());
    network->initialise(weights.views(), 1);
    out.time_share = pass_times(*whole.network, whole.weights, *network, weights, timed).share;
    const auto layers = dynamic_cast<const HasFactors&>(*network).factor_layers();
    out.multiplications = multiplications_of(layers, std::vector<std::int64_t>(layers.size(), 0));
    // What rank 0 measured holds for all.
    out.time_share = context.comm.max(context.comm.rank() == 0 ? out.time_share : 0.0);
    return out;
  };
  constexpr int halvings = 8;
  double low = 0.01, high = 1.0;
  std::optional<SmallerNetwork> best;
  for (int k = 0; k < halvings; ++k) {
    const double middle = 0.5 * (low + high);
    auto trial = with(middle);
    if (trial.time_share <= time_share)
      low = middle, best = std::move(trial);
    else
      high = middle;
  }
  return best;
}

}  // namespace cambium::train
