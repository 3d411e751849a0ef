#include "core/train/weights/divided/divided_modules.hpp"

#include "core/train/weights/weights.hpp"

namespace cambium::train {

void DividedModules::start(const Fill& fill) { start(fill, false); }

void DividedModules::start_on(std::span<const Grid> grids, const Fill& fill) {
  auto& packed = parts_.form.packed;
  const auto steps = packed ? steps_on(grids, packed->limit()) : std::vector<double>();
  const bool fits = packed && steps.size() == packed->steps().size();
  if (fits) packed->set_steps(steps);
  start(fill, fits);
}

/// Like DividedWeights::start(), group by group: the grid of a matrix follows from its own values, unless given.
void DividedModules::start(const Fill& fill, bool on_grids) {
  auto views = parts_.views();
  auto& packed = parts_.form.packed;
  for (const auto& g : parts_.groups) {
    Block window(parts_.memory, Held::windows, g.whole.size() * size_of(parts_.form.real));
    parts_.place(views, g, window.data());
    fill(views);
    if (packed && !on_grids)
      for (const int k : g.tensors) {
        const auto& view = views[static_cast<std::size_t>(k)];
        packed->fix_grid(static_cast<std::size_t>(k),
                         {static_cast<const float*>(view.data), static_cast<std::size_t>(view.elements())},
                         parts_.settings.direct->range);
      }
    parts_.place(views, g, nullptr);
    copies_.take_weights(g, window.data());
    if (!packed) step_.start(g, window.data());
  }
}

void DividedModules::forward(const std::function<void(const Pass&)>& use) {
  auto views = parts_.views();
  std::vector<Block> windows(parts_.groups.size());
  const auto open = [&](int module) {
    for (const auto& g : parts_.groups) {
      if (g.module != module) continue;
      auto& window = windows[static_cast<std::size_t>(g.number)];
      window = copies_.served(g);
      parts_.place(views, g, window.data());
    }
  };
  const auto close = [&](int module) {
    for (const auto& g : parts_.groups) {
      if (g.module != module) continue;
      windows[static_cast<std::size_t>(g.number)] = {};
      parts_.place(views, g, nullptr);
    }
  };
  constexpr int small_tensors = -1;
  open(small_tensors);
  const auto none = [](int) {};
  use({views, {}, ReadyCallback(none, open, none, close)});
}

void DividedModules::each_tensor(bool best, const Put& put) {
  auto views = parts_.views();
  for (const auto& g : parts_.groups) {
    auto window = best ? copies_.best(g) : copies_.served(g);
    parts_.place(views, g, window.data());
    for (const int k : g.tensors) put(static_cast<std::size_t>(k), views[static_cast<std::size_t>(k)]);
    parts_.place(views, g, nullptr);
  }
}

}  // namespace cambium::train
