#include "core/train/plan/plan_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.hpp"
#include "core/driver/command_line/arguments.hpp"
#include "core/driver/deck_file.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/plan/graph_plan.hpp"
#include "core/train/plan/plan_report.hpp"
#include "core/train/run/train.hpp"

namespace cambium::train {

namespace {

struct Options {
  std::string deck, machine;
  std::vector<int> ranks;
  DeckOptions deck_options;
  double samples = 0.0, operations = 0.0;
  bool json = false;
};

Train::Params train_stage_of(const ReadDeck& deck, const std::string& path, const Registry& registry) {
  for (const auto& stage : deck.deck.stages)
    if (stage.type == "train") return deck::read<Train::Params>(stage.node, &registry);
  throw InputError(fmt::format("'{}' has no stage 'train' to plan; give the deck of a training", path));
}

struct Planned {
  PlannedModel model;
  std::optional<GraphWork> graph;  ///< of a network that computes whole graphs
};

/// The network learns its sizes from the data; no weight is made.
Planned model_of(const Train::Params& params, const Registry& registry, Context& context) {
  const auto network = registry.make<Network>(params.network, context);
  const auto data = registry.make<Dataset>(params.dataset, context);
  const auto optimizer = registry.make<Optimizer>(params.optimizer, context);
  data->open(context);
  network->fit_statistics(*data, context);
  Planned out{{network->parameters(), network->modules(), network->dtype(), optimizer->states(network->dtype()),
               optimizer->elementwise(), static_cast<std::int64_t>(network->terms().size())},
              {}};
  if (const auto* graph = dynamic_cast<const WorksOnGraph*>(network.get())) out.graph = graph->graph_work();
  return out;
}

std::string deck_name(const Train::Params& params) {
  const auto keys = params.parallel ? params.parallel->preset : std::nullopt;
  if (!params.parallel) return "deck (whole)";
  return keys ? fmt::format("deck ({})", name_of(*keys)) : "deck";
}

/// What a run would refuse is not planned.
Partition planned_partition(const Train::Params& params, int ranks, const PlannedModel& model) {
  auto partition = partition_of(*params.parallel, ranks, params.reduce.codec);
  const bool splits =
      std::any_of(model.states.begin(), model.states.end(), [](const auto& s) { return s.name == "low_bits"; });
  require_codecs(partition.codecs, splits, params.direct.has_value(),
                 params.reduce.mode == ReduceParams::Mode::ordered);
  return partition;
}

nlohmann::json plan_ranks(int ranks, const Train::Params& params, const PlannedModel& model, const Machine& machine,
                          const Options& options, Context& context) {
  if (params.reduce.lossy)
    throw InputError(
        "how long messages of reduce.lossy are depends on the numbers in them; plan with reduce.codec, or with "
        "neither");
  if (params.direct)
    throw InputError("plan knows no direct weights; remove direct to plan the same training with float32 weights");
  require_ranks(params.reduce, ranks);
  StepSettings settings{params.reduce, params.accumulate, {}, ranks};
  if (params.parallel) settings.partition = planned_partition(params, ranks, model);
  if (!params.batch && options.samples <= 0.0)
    throw InputError(
        "the deck leaves batch out, which takes all samples, and plan opens no data; give --samples-per-rank");
  const double samples = options.samples > 0.0 ? options.samples * ranks : static_cast<double>(*params.batch);
  const double each = options.operations > 0.0 ? options.operations : 6.0 * static_cast<double>(model.count());
  const Comparison by{model, machine, each * std::max(1.0, samples / ranks)};
  const auto chosen = planned(deck_name(params), settings, by);
  const auto all = layouts_of(settings, by);
  for (const auto& line : plan_page(chosen, all, samples, by)) context.log.info(line);
  if (samples < ranks)
    context.log.info(fmt::format(
        "{:g} samples per step leave {:g} of {} ranks without any; raise batch, or plan with --samples-per-rank",
        samples, ranks - samples, ranks));
  auto figures = plan_figures(chosen);
  figures["best"] = plan_figures(all.front());
  return figures;
}

/// What the ranks of a graph's epoch receive and how long it takes, in every layout.
nlohmann::json plan_graph_ranks(int ranks, const GraphWork& work, const Machine& machine, Context& context) {
  const auto all = plan_graph(work, ranges_of_equal_entries(work.matrix, ranks), machine);
  for (const auto& line : graph_page(work, all)) context.log.info(line);
  auto figures = nlohmann::json::array();
  for (const auto& planned : all) figures.push_back(graph_figures(planned));
  return figures;
}

int run_plan(Registry& registry, Options& options, Context& context) {
  const auto machine = load_machine(options.machine, context.comm);
  const auto deck = read_deck(options.deck, options.deck_options, registry, context);
  const auto params = train_stage_of(deck, options.deck, registry);
  const auto planned = model_of(params, registry, context);
  const auto& model = planned.model;
  context.log.info(fmt::format("{}: model {}, {} parameters in {} arrays and {} modules, float{}, optimizer {}",
                               options.deck, params.network.type, model.count(), model.parameters.size(),
                               model.modules.size(), 8 * size_of(model.dtype), params.optimizer.type));
  context.log.info(
      options.operations > 0.0
          ? fmt::format("{:.4g} operations per sample, as given", options.operations)
          : fmt::format(
                "{:.4g} operations per sample: six per parameter, each used once; --operations-per-sample says better",
                6.0 * static_cast<double>(model.count())));
  nlohmann::json figures = {
      {"machine", machine.name}, {"parameters", model.count()}, {"plans", nlohmann::json::array()}};
  for (int ranks : options.ranks) {
    const bool whole_graph =
        planned.graph && !params.batch && options.samples <= 0.0;  // a step has no samples to count
    auto plan = whole_graph ? nlohmann::json::object() : plan_ranks(ranks, params, model, machine, options, context);
    if (planned.graph) plan["graph"] = plan_graph_ranks(ranks, *planned.graph, machine, context);
    figures["plans"].push_back(std::move(plan));
  }
  if (options.json) context.log.info(figures.dump());
  return static_cast<int>(ExitCode::done);
}

int plan(Registry& registry, std::vector<std::string> arguments, Context& context) {
  CLI::App app("Memory, bytes and time of a training on another computer", "cambium plan");
  Options options;
  app.add_option("deck", options.deck, "deck with a stage train")->required();
  app.add_option("overrides", options.deck_options.overrides, "key.path=value");
  app.add_option("--machine", options.machine, "machine file, or the name of one that came with the program: frontier")
      ->required();
  app.add_option("--ranks", options.ranks, "numbers of ranks, for example 384,9408")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  app.add_option("--samples-per-rank", options.samples, "instead of the deck's batch over the ranks")
      ->check(CLI::PositiveNumber);
  app.add_option("--operations-per-sample", options.operations,
                 "floating-point operations, forward and backward; six per parameter when absent")
      ->check(CLI::PositiveNumber);
  app.add_flag("--test-size", options.deck_options.test_size, "apply the deck's x-test notes");
  app.add_flag("--json", options.json, "print one JSON object as the last line");
  if (const auto code = answered(app, std::move(arguments), context.comm)) return *code;
  return run_plan(registry, options, context);
}

}  // namespace

Command plan_command(Registry& registry) {
  return {"core", "plan", "memory, bytes and step time of a training on another computer, and its best layout",
          [&registry](std::vector<std::string> arguments, Context& context) {
            return plan(registry, std::move(arguments), context);
          }};
}

}  // namespace cambium::train
