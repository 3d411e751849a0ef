#include "plugins/pretrain/tasks/select_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/archive/streams.hpp"
#include "plugins/pretrain/features/combinations.hpp"
#include "plugins/pretrain/features/encode.hpp"
#include "plugins/pretrain/features/scaled_parameters.hpp"
#include "plugins/pretrain/features/table.hpp"
#include "plugins/pretrain/tasks/made_runs.hpp"
#include "plugins/pretrain/tasks/same_parameters.hpp"

namespace cambium::pretrain {

namespace fs = std::filesystem;

void SelectRuns::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model,
    "model file of a field_encoder trained with positive: parameters; default: only parameters are compared")
      .example("\"{run}/train/model.h5\"");
  d("archive", &Params::archive, "archive of existing runs with their parameters");
  d("candidates", &Params::candidates, "values of each parameter, all combinations of which could be run")
      .example("{rayleigh: [1e4, 1e5, 1e6]}");
  d("choose", &Params::choose, "number of runs to select").at_least(1).def(10);
  d("batch", &Params::batch, "samples encoded at a time").at_least(1).def(64);
  d("run", &Params::run,
    "stage executed for every selected run, with its parameters as the stage's keys; it must write fields")
      .example("{type: simulate, physics: rayleigh_benard, output: [{type: fields}]}");
  d("by", &Params::by, "selection method whose runs are executed")
      .options({{"encoder", By::encoder}, {"gaps", By::gaps}, {"chance", By::chance}})
      .def(By::encoder);
  d.check([](const Params& p) -> std::string {
    if (p.run && p.by == By::encoder && !p.model)
      return "by is encoder, but there is no 'model'; give one, or by: gaps";
    if (p.candidates.empty()) return "'candidates' names no parameter";
    std::int64_t count = 1;
    for (const auto& [name, values] : p.candidates)
      if (std::set<double>(values.begin(), values.end()).size() < values.size())
        return fmt::format("candidates.{} has a value twice; the same run would be chosen twice: give each once", name);
    for (const auto& [name, values] : p.candidates) count *= std::ssize(values);
    if (count >= p.choose) return "";
    return fmt::format("choose is {}, but there are {} candidates; give more values, or choose fewer", p.choose, count);
  });
}

void SelectRuns::examine(Check& check) {
  for (const char* name : {"candidates.csv", "chosen.csv"}) check.will_write({name, {Origin::stage, "select_runs"}});
  if (params_.run) check.will_write({"made.csv", {Origin::stage, "select_runs"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.archive, context);
  context.log.info(fmt::format("{} of {} runs, chosen by their distance to what is known", params_.choose,
                               combinations(params_.candidates).rows));
  if (params_.run) check_runs(*params_.run, parameters_of(combinations(params_.candidates).row(0)), context);
  if (params_.model) check.require_written_by("model", *params_.model, {{Origin::network}});
}

std::vector<std::string> SelectRuns::files() const {
  std::vector<std::string> out{"candidates.csv", "chosen.csv"};
  if (params_.run) out.push_back("made.csv");
  return out;
}

std::map<std::string, double> SelectRuns::parameters_of(std::span<const double> candidate) const {
  std::map<std::string, double> out;
  std::size_t column = 0;
  for (const auto& [name, values] : params_.candidates) out[name] = candidate[column++];
  return out;
}

Task::Outcome SelectRuns::make(const Choice& choice, const Matrix& candidates, Context& context) const {
  std::vector<std::map<std::string, double>> runs;
  for (const auto k : choice.order) runs.push_back(parameters_of(candidates.row(k)));
  return make_runs(*params_.run, runs, context);
}

namespace {

double distance_of(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

/// Distance of each row to the nearest known one.
std::vector<double> distances(const Matrix& rows, const Matrix& known) {
  std::vector<double> out(rows.rows, std::numeric_limits<double>::infinity());
  for (std::int64_t k = 0; k < rows.rows; ++k)
    for (std::int64_t j = 0; j < known.rows; ++j) out[k] = std::min(out[k], distance_of(rows.row(k), known.row(j)));
  return out;
}

}  // namespace

/// Farthest-point selection: each is the farthest from the known ones and those already selected.
static std::pair<std::vector<std::int64_t>, std::vector<double>> farthest(const Matrix& rows,
                                                                          std::vector<double> distance,
                                                                          std::int64_t count) {
  std::pair<std::vector<std::int64_t>, std::vector<double>> out;
  for (std::int64_t n = 0; n < count; ++n) {
    const auto next = std::max_element(distance.begin(), distance.end()) - distance.begin();
    out.first.push_back(next);
    out.second.push_back(distance[next]);
    for (std::int64_t k = 0; k < rows.rows; ++k) {
      auto& d = distance[k];
      d = std::min(d, distance_of(rows.row(k), rows.row(next)));
    }
    distance[next] = -1.0;
  }
  return out;
}

void SelectRuns::write(const Matrix& candidates, const std::vector<double>& distance,
                       const std::vector<Choice>& choices, Context& context) {
  std::string names;
  for (const auto& [name, values] : params_.candidates) names += name + ",";
  const auto row = [&](std::int64_t k) {
    std::string out;
    for (const double x : candidates.row(k)) out += number_text(x) + ",";
    return out;
  };
  std::string all = names + "distance\n", chosen = "method,order," + names + "distance\n";
  for (std::int64_t k = 0; k < candidates.rows; ++k) all += row(k) + number_text(distance[k]) + "\n";
  for (const auto& choice : choices)
    for (std::size_t n = 0; n < choice.order.size(); ++n)
      chosen +=
          fmt::format("{},{},{}{}\n", choice.method, n + 1, row(choice.order[n]), number_text(choice.distance[n]));
  io::on_root(context.comm, [&] {
    io::write_file_atomically((fs::path(context.run_directory) / "candidates.csv").string(), all);
    io::write_file_atomically((fs::path(context.run_directory) / "chosen.csv").string(), chosen);
  });
  for (const auto& choice : choices) {
    lines_.push_back(fmt::format("chosen by {}:", choice.method));
    std::size_t column = 0;
    for (const auto& [name, values] : params_.candidates) {
      std::string list;
      for (const auto k : choice.order) list += (list.empty() ? "" : ", ") + number_text(candidates.row(k)[column]);
      lines_.push_back(fmt::format("  {} = [{}]", name, list));
      ++column;
    }
  }
  if (!params_.run) lines_.push_back("to run them: cambium sweep DECK --zip --over \"KEY=[...]\" for each parameter");
}

Task::Outcome SelectRuns::run(Context& context) {
  lines_.clear();
  citations_.clear();
  const auto archive = context.registry->make<train::Dataset>(params_.archive, context);
  archive->open(context);
  const Table known = read_table(*archive);
  const Matrix could = combinations(params_.candidates);
  if (known.parameters.columns != could.columns || known.parameters.empty())
    throw KeyError(
        "select_runs.candidates.parameters", "candidates",
        fmt::format("candidates name {} parameters, but the archive's runs have {}; give both the same 'parameters'",
                    could.columns, known.parameters.columns));
  require_names(*archive, params_.candidates, "candidates");
  std::vector<Choice> choices;
  std::vector<double> distance;
  if (params_.model) {
    LoadedEncoder encoder(*params_.model, context);
    const Matrix vectors = encoder.vectors_of(params_.candidates);
    distance = distances(vectors, encoder.vectors_of(*archive, params_.batch).field);
    auto [order, far] = farthest(vectors, distance, params_.choose);
    choices.push_back({"the encoder", order, far});
    citations_ = encoder.citations();
  }
  const auto [scaled, scaled_known] = comparable(could, known.parameters);
  const auto gaps = distances(scaled, scaled_known);
  if (distance.empty()) distance = gaps;
  auto [order, far] = farthest(scaled, gaps, params_.choose);
  choices.push_back({"gaps in the parameters", order, far});
  std::vector<std::pair<double, std::int64_t>> keys;
  for (std::int64_t k = 0; k < could.rows; ++k)
    keys.emplace_back(Random4(context.seed, draws_stream, static_cast<std::uint64_t>(k), 1u << 20).uniform(0), k);
  std::sort(keys.begin(), keys.end());
  Choice random{"chance", {}, {}};
  for (std::int64_t n = 0; n < params_.choose; ++n) {
    random.order.push_back(keys[n].second);
    random.distance.push_back(distance[random.order.back()]);
  }
  choices.push_back(std::move(random));
  write(could, distance, choices, context);
  work_ = {could.rows, "candidate"};
  if (!params_.run) return Outcome::done;
  const std::size_t back = params_.by == By::chance ? 1 : params_.by == By::gaps ? 2 : 3;  // in the list of choices
  return make(choices[choices.size() - back], could, context);
}

}  // namespace cambium::pretrain
