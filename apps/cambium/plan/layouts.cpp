#include "apps/cambium/plan/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cambium::train {

PlannedLayout planned(std::string name, StepSettings settings, const LayoutInputs& by) {
  PlannedLayout out{std::move(name), std::move(settings), {}, {}, true};
  out.plan = plan_step(by.model, out.settings);
  out.time = time_of(out.plan, by.operations, by.machine);
  out.fits = static_cast<double>(out.plan.held() + out.plan.in_use) <= by.machine.memory;
  return out;
}

/// Name of a preset, or the levels over which each part is sharded.
static std::string name_of(int weights, int gradients, int states, const std::vector<Mesh::Level>& levels) {
  const int all = static_cast<int>(levels.size());
  if (states == 0) return "ddp";
  if (weights == 0 && gradients == 0 && states == all) return "zero1";
  if (weights == 0 && gradients == all && states == all) return "zero2";
  if (weights == all) return "zero3";
  if (all == 3 && weights == 1 && gradients == 2 && states == 3) return "frontier";
  if (all >= 2 && weights == 1 && gradients == all) return "hpz";
  if (all >= 2 && weights == 1 && gradients == 1 && states == 1) return "hybrid";
  const auto level = [&](int depth) { return depth == 0 ? std::string("-") : levels[depth - 1].name; };
  return fmt::format("{}/{}/{}", level(weights), level(gradients), level(states));
}

/// Codecs of `as` that apply: level by level from the innermost, the last one's for all further levels.
static Codecs codecs_of(const StepSettings& as, const Partition& partition) {
  Codecs out;
  for (std::size_t k = 0; k < partition.levels.size(); ++k) {
    const auto* known = as.partition ? &as.partition->codecs.gradients : nullptr;
    out.gradients.push_back(known && !known->empty() ? (*known)[std::min(k, known->size() - 1)] : as.reduce.codec);
  }
  if (as.partition && partition.states > partition.weights) out.update = as.partition->codecs.update;
  if (as.partition && partition.weights > 0) out.gather = as.partition->codecs.gather;
  return out;
}

std::vector<PlannedLayout> layouts_of(const StepSettings& as, const LayoutInputs& by) {
  std::vector<Mesh::Level> levels;
  for (const auto& level : by.machine.filled_by(as.ranks)) levels.push_back({level.name, level.ranks});
  std::erase_if(levels, [](const auto& level) { return level.ranks == 1; });
  if (levels.empty()) levels.push_back({"world", 1});
  const int all = static_cast<int>(levels.size());
  const int most_states = by.model.elementwise ? all : 0, most_gradients = by.model.modules.empty() ? 0 : most_states;
  std::vector<PlannedLayout> out;
  for (int states = 0; states <= most_states; ++states)
    for (int gradients = 0; gradients <= std::min(states, most_gradients); ++gradients)
      for (int weights = 0; weights <= gradients; ++weights) {
        StepSettings settings = as;
        Partition partition;
        partition.levels = levels;
        partition.weights = weights;
        partition.gradients = gradients;
        partition.states = states;
        if (as.partition) {
          partition.whole_below = as.partition->whole_below;
          partition.prefetch = as.partition->prefetch;
        }
        partition.codecs = codecs_of(as, partition);
        settings.partition = std::move(partition);
        out.push_back(planned(name_of(weights, gradients, states, levels), std::move(settings), by));
      }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    if (a.fits != b.fits) return a.fits;
    return a.fits ? a.time.total() < b.time.total() : a.plan.held() < b.plan.held();
  });
  return out;
}

}  // namespace cambium::train
