#include "core/train/low_rank/smaller_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "core/deck/former_names.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/low_rank/equal_time.hpp"
#include "core/train/low_rank/pass_times.hpp"

namespace cambium::train {

static deck::Node narrow(const deck::Node& width, std::int64_t multiple, double share) {
  if (width.is_list()) {
    std::vector<deck::Node> items;
    for (const auto& item : width.items()) items.push_back(narrow(item, multiple, share));
    return deck::Node::list(std::move(items));
  }
  const double whole = std::stod(width.text());
  if (whole == 0.0) return width;
  const double wanted = share * whole / static_cast<double>(multiple);
  return deck::Node::scalar(fmt::format("{}", multiple * std::max<std::int64_t>(1, std::lround(wanted))));
}

deck::Node narrowed(const deck::Node& keys, const std::vector<HasFactors::WidthKey>& widths, double share) {
  deck::Node out =
      keys.without([](std::string_view key) { return key == "ranks"; }).with("factor_ranks", deck::Node::list({}));
  for (const auto& width : widths)
    if (keys.has(width.key)) out = out.with(width.key, narrow(keys[width.key], width.multiple, share));
  return out;
}

deck::Node with_widths(deck::Node keys, const std::vector<HasFactors::WidthKey>& widths) {
  for (const auto& width : widths) {
    if (width.widths.empty() || (keys.has(width.key) && keys[width.key].size() > 0)) continue;
    std::vector<deck::Node> items;
    for (const auto own : width.widths) items.push_back(deck::Node::scalar(fmt::format("{}", own)));
    keys = keys.with(width.key, deck::Node::list(std::move(items)));
  }
  return keys;
}

namespace {

/// A width in the keys of a network.
struct Width {
  std::string key;
  std::optional<std::size_t> item;  ///< index if the key holds a list
  std::int64_t multiple = 1;

  std::int64_t of(const deck::Node& keys) const { return std::stoll((item ? keys[key][*item] : keys[key]).text()); }
  deck::Node with(const deck::Node& keys, std::int64_t width) const {
    const auto number = deck::Node::scalar(fmt::format("{}", width));
    if (!item) return keys.with(key, number);
    auto items = keys[key].items();
    items[*item] = number;
    return keys.with(key, deck::Node::list(std::move(items)));
  }
};

std::vector<Width> widths_of(const deck::Node& keys, const std::vector<HasFactors::WidthKey>& names) {
  std::vector<Width> out;
  for (const auto& name : names) {
    const auto& [key, multiple] = std::tie(name.key, name.multiple);
    if (!keys.has(key)) continue;
    if (!keys[key].is_list()) out.push_back({key, std::nullopt, multiple});
    for (std::size_t k = 0; keys[key].is_list() && k < keys[key].size(); ++k) out.push_back({key, k, multiple});
  }
  return out;
}

}  // namespace

static double multiplications_of(Network& network) {
  double sum = 0.0;
  for (const auto& layer : network.traits().factors->factor_layers())
    sum += static_cast<double>(layer.multiplications(layer.rank));
  return sum;
}

/// Keys of a model file under their current names; the file may be from an earlier version.
static deck::Node present_keys(const ArtifactInfo& info, const Context& context) {
  const auto* type = context.registry->find(Network::kind, info.type);
  if (!type) throw InternalError("a loaded network has no type");
  deck::Problems hints;
  return deck::present_names(deck::parse(info.config, "/model/config"), type->schema, context.registry, hints);
}

std::optional<SmallerNetwork> smaller_network(LoadedModel& whole, Assembled& chosen, double most, bool counted,
                                              Dataset& data, std::span<const SamplePtr> timed, Context& context) {
  const auto made = [&](const deck::Node& keys) {
    auto network = context.registry->make<Network>(whole.info.type, keys, context);
    network->fit_statistics(data, context);
    return network;
  };
  const auto time_of = [&](const deck::Node& keys) {
    const auto network = made(keys);
    if (counted) return multiplications_of(*network) / multiplications_of(*chosen.network);
    const FlatLayout layout(network->parameters(), 1'000'000);
    FlatBuffer weights(layout, network->dtype());
    network->initialise(weights.views(), 1);
    double time = pass_times(*chosen.network, chosen.weights, *network, weights, timed).share;
    context.comm.broadcast(std::span(&time, 1));  // all ranks use the time of rank 0
    return time;
  };
  std::optional<SmallerNetwork> best;
  const auto take_widest = [&](std::size_t count, const std::function<deck::Node(std::size_t)>& keys) {
    if (const auto found = last_within(count, most, [&](std::size_t k) { return time_of(keys(k)); }))
      best = SmallerNetwork{keys(found->index), found->time};
  };
  const auto names = whole.network->traits().factors->width_keys();
  const auto keys = with_widths(present_keys(whole.info, context), names);
  take_widest(256, [&](std::size_t k) { return narrowed(keys, names, static_cast<double>(k + 1) / 257.0); });
  if (!best) return best;
  for (const auto& width : widths_of(keys, names)) {
    const auto from = best->keys;
    const auto its = width.of(from);
    take_widest(static_cast<std::size_t>((width.of(keys) - its) / width.multiple), [&](std::size_t k) {
      return width.with(from, its + width.multiple * static_cast<std::int64_t>(k + 1));
    });
  }
  const auto network = made(best->keys);
  best->multiplications = multiplications_of(*network);
  return best;
}

}  // namespace cambium::train
