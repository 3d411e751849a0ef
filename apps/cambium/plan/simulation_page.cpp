#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/cambium/plan/simulation_plan.hpp"
#include "core/parallel/memory.hpp"

namespace cambium {

namespace {

double share(double part, const StepSeconds& time) { return 100.0 * part / time.total(); }

std::string row_of(const PlannedRanks& p) {
  if (!p.refused.empty()) return fmt::format("{:>8}   {}", p.ranks, p.refused);
  return fmt::format(
      "{:>8}{:>12.5g}{:>11.4g}{:>7.1f}{:>7.1f}{:>7.1f}{:>8.1f}{:>11.4g}{:>10.4g}{:>11.4g}{:>10.4g}  {}{}", p.ranks,
      p.cost.items, p.time.total(), share(p.time.work, p.time), share(p.time.neighbours, p.time),
      share(p.time.collectives, p.time), 100.0 * p.efficiency, 1e-6 * p.cost.memory, p.cost.sent_messages(),
      1e-3 * p.cost.sent(), 1e-3 * p.cost.received(), p.cost.parts, p.fits ? "" : ", too large");
}

void add_table(const SimulationPlan& plan, std::vector<std::string>& out) {
  out.push_back(fmt::format("{:>8}{:>12}{:>11}{:>7}{:>7}{:>7}{:>8}{:>11}{:>10}{:>11}{:>10}  {}", "", "", "", "work",
                            "near", "all", "effi-", "memory", "messages", "sent", "received", ""));
  out.push_back(fmt::format("{:>8}{:>12}{:>11}{:>7}{:>7}{:>7}{:>8}{:>11}{:>10}{:>11}{:>10}  {}", "ranks",
                            plan.item + "s", "step s", "%", "%", "%", "ciency", "MB", "", "kB", "kB", "parts"));
  for (const auto& p : plan.plans) out.push_back(row_of(p));
}

double seconds_of_one(const StepMessages& messages, int ranks, const Machine& machine) {
  StepCost one;
  one.messages = {messages};
  const auto time = seconds_of(one, 1.0, ranks, machine);
  return time.neighbours + time.collectives;
}

/// The kind of message that takes longest.
const StepMessages* longest(const PlannedRanks& p, const Machine& machine) {
  const StepMessages* most = nullptr;
  double longest_yet = 0.0;
  for (const auto& m : p.cost.messages)
    if (const double seconds = seconds_of_one(m, p.ranks, machine); seconds > longest_yet) {
      most = &m;
      longest_yet = seconds;
    }
  return most;
}

void add_messages(const PlannedRanks& p, const Machine& machine, std::vector<std::string>& out) {
  out.push_back("");
  out.push_back(fmt::format("messages of a step on {} ranks", p.ranks));
  out.push_back(
      fmt::format("  {:<30}{:>8}{:>10}{:>12}{:>12}{:>12}", "", "rounds", "messages", "sent kB", "received kB", "s"));
  for (const auto& m : p.cost.messages)
    out.push_back(fmt::format("  {:<30}{:>8.3g}{:>10.4g}{:>12.5g}{:>12.5g}{:>12.4g}", m.name, m.rounds, m.messages,
                              1e-3 * m.sent, 1e-3 * m.received, seconds_of_one(m, p.ranks, machine)));
}

/// The last number of ranks tried before the efficiency drops below the threshold, and the limiting cause.
void add_sensible(const SimulationPlan& plan, const Machine& machine, std::vector<std::string>& out) {
  const PlannedRanks* last = nullptr;
  const PlannedRanks* next = nullptr;
  for (const auto& p : plan.tried) {
    next = &p;
    if (!p.refused.empty() || p.efficiency < sensible_efficiency) break;
    last = &p;
    next = nullptr;
  }
  out.push_back("");
  if (!last) {
    out.push_back(
        "no number of ranks makes sense: work is less than half of a step from the first; take a larger problem");
    return;
  }
  std::string line =
      fmt::format("largest sensible number of ranks: {}, efficiency {:.0f} %", last->ranks, 100.0 * last->efficiency);
  if (next && !next->refused.empty()) {
    line += fmt::format("; {}: {}", next->ranks, next->refused);
  } else if (next) {
    const auto* most = longest(*next, machine);
    line += fmt::format("; at {} it is {:.0f} %, and the longest wait is for {}", next->ranks, 100.0 * next->efficiency,
                        most ? most->name : "the busiest rank");
  }
  out.push_back(line);
}

}  // namespace

std::vector<std::string> simulation_page(const SimulationPlan& plan, const Machine& machine) {
  std::vector<std::string> out;
  out.push_back(fmt::format("{}: {}, {}", plan.deck, plan.physics, plan.summary));
  out.push_back(
      plan.asked.rate > 0.0
          ? fmt::format("{:.4g} {}-steps/s of a rank, as given", plan.asked.rate, plan.item)
          : fmt::format("work: operations and memory traffic at the speed of a device, which is the least that a step "
                        "takes; --rate, the {}-steps/s of one rank in the summary of a run, is more accurate",
                        plan.item));
  out.push_back("");
  out.push_back(fmt::format("on {}, {}; figures of the busiest rank and of one step", machine.name,
                            plan.asked.weak ? fmt::format("the deck's {:.6g} {}s on every rank", plan.items, plan.item)
                                            : fmt::format("{:.6g} {}s in all", plan.items, plan.item)));
  add_table(plan, out);
  for (auto p = plan.plans.rbegin(); p != plan.plans.rend(); ++p)
    if (p->refused.empty() && p->ranks > 1) {
      add_messages(*p, machine, out);
      break;
    }
  for (const auto& p : plan.plans)
    if (p.refused.empty() && !p.fits)
      out.push_back(fmt::format("{} ranks keep {} each, a device has {}: use more ranks, or a smaller problem", p.ranks,
                                bytes_text(p.cost.memory), bytes_text(machine.memory)));
  if (!plan.asked.weak) add_sensible(plan, machine, out);
  return out;
}

nlohmann::json simulation_figures(const SimulationPlan& plan, const Machine& machine) {
  nlohmann::json out = {{"machine", machine.name}, {"physics", plan.physics}, {"item", plan.item},
                        {"items", plan.items},     {"rate", plan.asked.rate}, {"weak", plan.asked.weak}};
  out["plans"] = nlohmann::json::array();
  for (const auto& p : plan.plans) {
    nlohmann::json row = {{"ranks", p.ranks}, {"refused", p.refused}};
    if (p.refused.empty()) {
      double collectives = 0.0;
      auto exchanges = nlohmann::json::array();
      for (const auto& m : p.cost.messages) {
        if (m.pattern != StepMessages::Pattern::neighbours) collectives += m.rounds;
        exchanges.push_back({{"name", m.name},
                             {"rounds", m.rounds},
                             {"messages", m.messages},
                             {"sent", m.sent},
                             {"received", m.received},
                             {"seconds", seconds_of_one(m, p.ranks, machine)}});
      }
      row.update({{"items", p.cost.items},
                  {"memory", p.cost.memory},
                  {"messages", p.cost.sent_messages()},
                  {"collectives", collectives},
                  {"exchanges", std::move(exchanges)},
                  {"sent", p.cost.sent()},
                  {"received", p.cost.received()},
                  {"work_seconds", p.time.work},
                  {"step_seconds", p.time.total()},
                  {"efficiency", p.efficiency},
                  {"fits", p.fits},
                  {"parts", p.cost.parts}});
    }
    out["plans"].push_back(std::move(row));
  }
  int sensible = 0;
  for (const auto& p : plan.tried) {
    if (!p.refused.empty() || p.efficiency < sensible_efficiency) break;
    sensible = p.ranks;
  }
  out["largest_sensible"] = sensible;
  return out;
}

}  // namespace cambium
