#include "apps/cambium/plan/plan_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cambium::train {

static double gb(double bytes) { return 1e-9 * bytes; }

static std::string parts_text(const PlannedLayout& layout) {
  if (!layout.settings.partition) return fmt::format("{:>9}{:>11}{:>8}", 1, 1, 1);
  const auto& p = *layout.settings.partition;
  const auto ranks = [&](int depth) {
    std::int64_t n = 1;
    for (int k = 0; k < depth; ++k) n *= p.levels[k].ranks;
    return n;
  };
  return fmt::format("{:>9}{:>11}{:>8}", ranks(p.weights), ranks(p.gradients), ranks(p.states));
}

static std::string layout_line(const PlannedLayout& l, double samples) {
  const double step = l.time.total();
  return fmt::format("{:<20}{}{:>14.4f}{:>13.4g}{:>10.1f}{:>13.4g}{}", l.name, parts_text(l),
                     gb(static_cast<double>(l.plan.held() + l.plan.in_use)), step, 100.0 * l.time.waited() / step,
                     samples / step, l.fits ? "" : "   too large");
}

static void add_detail(const PlannedLayout& l, const LayoutInputs& by, std::vector<std::string>& out) {
  const auto line = [&](const char* name, double bytes) {
    out.push_back(fmt::format("{:<20}{:>14.6f}", name, gb(bytes)));
  };
  out.push_back("");
  out.push_back(fmt::format("{}: memory per rank, GB", l.name));
  line("  weights", static_cast<double>(l.plan.weights));
  line("  gradients", static_cast<double>(l.plan.gradients));
  line("  states", static_cast<double>(l.plan.states));
  line("  in use, at most", static_cast<double>(l.plan.in_use));
  out.push_back(fmt::format("  of {:.4g} GB; activations and the data come on top", gb(by.machine.memory)));
  out.push_back(
      fmt::format("{:<20}{:>10}{:>8}{:>10}{:>16}{:>13}", "per step and rank", "level", "ranks", "calls", "MB", "s"));
  for (const auto& e : l.plan.exchanges)
    out.push_back(fmt::format("  {:<18}{:>10}{:>8}{:>10}{:>16.6f}{:>13.4g}", e.collective, e.level, e.ranks, e.calls,
                              1e-6 * e.bytes, seconds_of(e.pattern, e.sent, e.calls, e.ranks, e.stride, by.machine)));
  const auto& t = l.time;
  out.push_back("step time, s");
  const std::pair<const char*, double> rows[] = {{"forward", t.forward},          {"backward", t.backward},
                                                 {"gather weights", t.gather},    {"reduce, not hidden", t.exposed},
                                                 {"optimizer", t.optimizer},      {"gather after", t.update},
                                                 {"encode and decode", t.coding}, {"together", t.total()}};
  bool codes = false;
  for (const auto& e : l.plan.exchanges) codes = codes || e.coded > 0;
  for (const auto& [name, seconds] : rows)
    if (codes || std::string_view(name) != "encode and decode")
      out.push_back(fmt::format("  {:<20}{:>12.4g}{:>8.1f} %", name, seconds, 100.0 * seconds / t.total()));
  out.push_back(fmt::format("  (reducing takes {:.4g} s, of which {:.4g} s overlap with the backward pass)", t.reduce,
                            t.reduce - t.exposed));
  if (codes && by.machine.coding == 0.0)
    out.push_back(
        "  (messages are encoded at no cost: the machine file does not give `coding`, the float32 that a device "
        "encodes per second)");
}

std::vector<std::string> plan_page(const PlannedLayout& chosen, const std::vector<PlannedLayout>& all, double samples,
                                   const LayoutInputs& by) {
  std::vector<std::string> out;
  std::string mesh;
  for (const auto& level : by.machine.filled_by(chosen.settings.ranks))
    mesh += fmt::format("{}{} {}", mesh.empty() ? "" : " x ", level.name, level.ranks);
  out.push_back("");
  out.push_back(
      fmt::format("{} ranks on {} ({}), {:g} samples per step", chosen.settings.ranks, by.machine.name, mesh, samples));
  out.push_back(fmt::format("{:<20}{:>9}{:>11}{:>8}{:>14}{:>13}{:>10}{:>13}", "sharding", "weights", "gradients",
                            "states", "GB/rank", "step s", "wait %", "samples/s"));
  out.push_back(layout_line(chosen, samples));
  constexpr std::size_t shown = 6;
  for (std::size_t k = 0; k < all.size() && k < shown; ++k) out.push_back(layout_line(all[k], samples));
  if (all.size() > shown) out.push_back(fmt::format("({} slower or larger ones are left out)", all.size() - shown));
  if (!all.empty()) {
    const auto& best = all.front();
    if (!best.fits)
      out.push_back("no layout fits: use more ranks, or devices with more memory");
    else if (chosen.fits && best.time.total() >= chosen.time.total())
      out.push_back("best: the deck's own layout");
    else
      out.push_back(fmt::format("best: {}, {:.3g} times as fast as the deck's", best.name,
                                chosen.time.total() / best.time.total()));
  }
  add_detail(chosen, by, out);
  return out;
}

nlohmann::json plan_figures(const PlannedLayout& layout) {
  nlohmann::json out = {{"layout", layout.name},
                        {"ranks", layout.settings.ranks},
                        {"fits", layout.fits},
                        {"weights", layout.plan.weights},
                        {"gradients", layout.plan.gradients},
                        {"states", layout.plan.states},
                        {"in_use", layout.plan.in_use},
                        {"step_seconds", layout.time.total()},
                        {"waited_seconds", layout.time.waited()}};
  out["exchanges"] = nlohmann::json::array();
  for (const auto& e : layout.plan.exchanges)
    out["exchanges"].push_back(
        {{"collective", e.collective}, {"level", e.level}, {"calls", e.calls}, {"bytes", e.bytes}});
  return out;
}

}  // namespace cambium::train
