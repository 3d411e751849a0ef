#include "apps/cambium/bench/bench_compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/child.hpp"
#include "core/base/text.hpp"

namespace cambium {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

std::vector<std::string> separated(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

double number_of(const std::string& key, const std::string& value, double least, double most) {
  const auto number = parse_number(value);
  if (number && *number >= least && *number <= most) return *number;
  throw InputError(fmt::format("bench compare: {} is '{}'; give a number from {:g} to {:g}", key, value, least, most));
}

/// The object in the last line of a bench's output; else `failed` with its message.
nlohmann::json figures_of(const ChildOutput& output) {
  std::istringstream in(output.text);
  std::string last, line;
  while (std::getline(in, line))
    if (!line.empty()) last = line;
  nlohmann::json figures = nlohmann::json::parse(last, nullptr, false);
  if (output.status == 0 && figures.is_object()) return figures;
  return {{"failed", fmt::format("exit code {}{}{}", output.status, last.empty() ? "" : ": ", last)}};
}

nlohmann::json one_turn(const std::string& program, const Bench& bench, int ranks) {
  std::vector<std::string> words;
  if (ranks > 1) words = {"mpirun", "--oversubscribe", "-np", std::to_string(ranks)};
  words.insert(words.end(), {program, "bench", bench.name});
  words.insert(words.end(), bench.turn.begin(), bench.turn.end());
  words.emplace_back("--json");
  return figures_of(output_of(words));
}

std::string text_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "";
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "SLOWER";
    case Verdict::unclear:
      break;
  }
  return "unclear: more turns";
}

bool sound(const nlohmann::json& figures) {
  return !figures.contains("check") || figures["check"].get<std::string>().starts_with("ok");
}

/// Benches or checks that the new build lost compared with the old one; empty if none.
std::string lost(const std::vector<nlohmann::json>& before, const std::vector<nlohmann::json>& after) {
  for (std::size_t k = 0; k < after.size(); ++k) {
    if (before[k].contains("failed")) continue;
    if (after[k].contains("failed")) return "the new build fails: " + after[k]["failed"].get<std::string>();
    if (sound(before[k]) && !sound(after[k])) return "the new build's check: " + after[k]["check"].get<std::string>();
  }
  return {};
}

struct Comparison {
  std::vector<std::string> slower;
  int figures = 0;
};

void compare_one(const Bench& bench, const ComparisonOptions& o, Comparison& all, Log& log) {
  std::vector<nlohmann::json> before, after;
  for (int turn = 0; turn < o.turns; ++turn) {
    const bool old_first = turn % 2 == 0;
    for (int side = 0; side < 2; ++side) {
      const bool is_old = (side == 0) == old_first;
      (is_old ? before : after).push_back(one_turn(is_old ? o.old_program : o.new_program, bench, o.ranks));
    }
  }
  log.info(fmt::format("--- {} {}: {} turns", bench.name, fmt::join(bench.turn, " "), o.turns));
  if (before.front().contains("failed"))
    log.info(fmt::format("the old build fails: {}", before.front()["failed"].get<std::string>()));
  if (const auto text = lost(before, after); !text.empty()) {
    log.info(text);
    all.slower.push_back(fmt::format("{} ({})", bench.name, text));
  }
  for (const auto& figure : paired(before, after)) {
    const Verdict verdict = figure.verdict(o.limit);
    ++all.figures;
    log.info(fmt::format("{:<40}{:>12.4g}{:>12.4g}   time {:.3f} paired, {:.3f} best  {}", figure.name,
                         median(figure.before), median(figure.after), figure.paired_ratio(), figure.best_ratio(),
                         text_of(verdict)));
    if (verdict == Verdict::slower)
      all.slower.push_back(fmt::format("{} {} ({:.2f} times)", bench.name, figure.name, figure.paired_ratio()));
  }
}

}  // namespace

ComparisonOptions ComparisonOptions::read(std::span<const std::string> words) {
  ComparisonOptions out;
  std::vector<std::string> programs;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos)
      programs.push_back(word);
    else if (key == "names")
      out.names = separated(value);
    else if (key == "turns")
      out.turns = static_cast<int>(number_of(key, value, 1, 1000));
    else if (key == "ranks")
      out.ranks = static_cast<int>(number_of(key, value, 1, 1e6));
    else if (key == "limit")
      out.limit = number_of(key, value, 0, 10);
    else {
      const std::vector<std::string> keys{"names", "turns", "ranks", "limit"};
      const auto meant = nearest(key, keys);
      throw InputError(fmt::format("bench compare has no option '{}'{} It takes names=a,b turns=5 ranks=1 limit=0.03",
                                   key, meant ? fmt::format("; did you mean '{}'?", *meant) : "."));
    }
  }
  if (programs.size() != 2)
    throw InputError(
        "bench compare takes two programs: `cambium bench compare OLD NEW`, for example bench compare old/bin/cambium "
        "build/bin/cambium");
  out.old_program = programs[0];
  out.new_program = programs[1];
  return out;
}

double PairedFigure::paired_ratio() const {
  std::vector<double> ratios;
  for (std::size_t k = 0; k < before.size(); ++k)
    ratios.push_back(better_when(name) == Better::higher ? before[k] / after[k] : after[k] / before[k]);
  return median(std::move(ratios));
}

double PairedFigure::best_ratio() const {
  if (better_when(name) == Better::higher)
    return *std::max_element(before.begin(), before.end()) / *std::max_element(after.begin(), after.end());
  return *std::min_element(after.begin(), after.end()) / *std::min_element(before.begin(), before.end());
}

Verdict PairedFigure::verdict(double limit) const {
  const double pair = paired_ratio(), best = best_ratio();
  if (pair > 1.0 + limit && best > 1.0 + limit) return Verdict::slower;
  if (pair < 1.0 - limit && best < 1.0 - limit) return Verdict::faster;
  return std::abs(pair - 1.0) <= limit || std::abs(best - 1.0) <= limit ? Verdict::same : Verdict::unclear;
}

std::vector<PairedFigure> paired(const std::vector<nlohmann::json>& before, const std::vector<nlohmann::json>& after) {
  std::vector<PairedFigure> out;
  if (before.empty()) return out;
  for (const auto& [name, first] : numbers_of(before.front())) {
    if (better_when(name) == Better::neither) continue;
    PairedFigure figure{name, {}, {}};
    for (std::size_t k = 0; k < before.size(); ++k) {
      const auto old_numbers = numbers_of(before[k]), new_numbers = numbers_of(after[k]);
      const auto b = old_numbers.find(name), a = new_numbers.find(name);
      if (b == old_numbers.end() || a == new_numbers.end() || b->second <= 0.0 || a->second <= 0.0) break;
      figure.before.push_back(b->second);
      figure.after.push_back(a->second);
    }
    if (figure.before.size() == before.size()) out.push_back(std::move(figure));
  }
  return out;
}

ExitCode bench_compare(std::span<const Bench> benches, const ComparisonOptions& options, Context& context) {
  if (context.comm.size() > 1)
    throw InputError(
        "bench compare starts the programs itself: call it without mpirun, ranks=2 gives each turn two ranks");
  Comparison all;
  std::vector<std::string> known;
  for (const auto& bench : benches) known.push_back(bench.name);
  for (const auto& name : options.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(fmt::format("there is no bench '{}'{}", name, suggestion(name, known)));
  for (const auto& bench : benches) {
    const bool named = std::find(options.names.begin(), options.names.end(), bench.name) != options.names.end();
    if (named || (options.names.empty() && !bench.turn.empty())) compare_one(bench, options, all, context.log);
  }
  context.log.info(fmt::format("{} figures compared; {} slower by more than {:g} %{}{}", all.figures, all.slower.size(),
                               100.0 * options.limit, all.slower.empty() ? "" : ": ", fmt::join(all.slower, ", ")));
  return all.slower.empty() ? ExitCode::done : ExitCode::numerical_failure;
}

}  // namespace cambium
