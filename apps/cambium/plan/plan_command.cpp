#include "apps/cambium/plan/plan_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "apps/cambium/plan/graph_plan.hpp"
#include "apps/cambium/plan/plan_report.hpp"
#include "apps/cambium/plan/simulation_plan.hpp"
#include "apps/cambium/plan/trial_data.hpp"
#include "core/base/error.hpp"
#include "core/plugin/arguments.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/deck_file.hpp"
#include "core/train/run/train.hpp"

namespace cambium::train {

namespace {

struct Options {
  std::string deck, machine;
  std::vector<int> ranks, nodes;  ///< one of both
  DeckOptions deck_options;
  double samples = 0.0, operations = 0.0;  ///< of trainings
  double rate = 0.0;                       ///< of simulations
  bool weak = false, make_data = false;
  std::optional<int> stage;  ///< from 1
  bool json = false;
};

bool can_be_planned(const deck::Choice<Task>& stage) { return stage.type == "train" || stage.type == "simulate"; }

/// Index (from 0) of the requested stage, else of the first that can be planned.
std::size_t stage_of(const ReadDeck& deck, const Options& options) {
  const auto& stages = deck.deck.stages;
  if (options.stage) {
    const auto count = static_cast<int>(stages.size());
    if (*options.stage > count)
      throw InputError(fmt::format("--stage {}: '{}' has {} stage{}; give a number from 1 to {}", *options.stage,
                                   options.deck, count, count == 1 ? "" : "s", count));
    const auto& stage = stages[*options.stage - 1];
    if (can_be_planned(stage)) return *options.stage - 1;
    throw InputError(
        fmt::format("--stage {}: a stage '{}' cannot be planned; give the number of a stage 'train' or "
                    "'simulate', or leave --stage out",
                    *options.stage, stage.type));
  }
  for (std::size_t k = 0; k < stages.size(); ++k)
    if (can_be_planned(stages[k])) return k;
  throw InputError(fmt::format(
      "'{}' has no stage 'train' or 'simulate' to plan; give the deck of a training or of a simulation", options.deck));
}

struct Planned {
  PlannedModel model;
  std::optional<GraphWork> graph;  ///< of a network that computes full graphs
};

/// The network infers its sizes from the data; no weight is allocated.
Planned model_of(const Train::Params& params, const deck::Choice<Dataset>& dataset, const Registry& registry,
                 Context& context) {
  const auto network = registry.make<Network>(params.network, context);
  const auto data = registry.make<Dataset>(dataset, context);
  const auto optimizer = registry.make<Optimizer>(params.optimizer, context);
  data->open(context);
  network->fit_statistics(*data, context);
  Planned out{{network->parameters(), network->modules(), network->dtype(), optimizer->states(network->dtype()),
               optimizer->elementwise(), static_cast<std::int64_t>(network->terms().size())},
              {}};
  if (params.average) out.model.states.push_back({"average", network->dtype()});  // stored with the optimizer states
  if (const WorksOnGraph* graph = network->traits().graph) out.graph = graph->graph_work();
  return out;
}

std::string deck_name(const Train::Params& params) {
  const auto keys = params.parallel ? params.parallel->preset : std::nullopt;
  if (!params.parallel) return "deck (replicated)";
  return keys ? fmt::format("deck ({})", name_of(*keys)) : "deck";
}

/// Layouts that a run would refuse are not planned.
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
        "the length of messages of reduce.lossy depends on the values in them; plan with reduce.codec, or with "
        "neither");
  if (params.direct)
    throw InputError(
        "plan does not support quantized_training; remove it to plan the same training with float32 weights");
  require_ranks(params.reduce, ranks);
  StepSettings settings{params.reduce, params.accumulate, {}, ranks};
  if (params.parallel) settings.partition = planned_partition(params, ranks, model);
  if (!params.batch && options.samples <= 0.0)
    throw InputError(
        "the deck leaves batch out, which takes all samples, and plan opens no data; give --samples-per-rank");
  const double samples = options.samples > 0.0 ? options.samples * ranks : static_cast<double>(*params.batch);
  const double each = options.operations > 0.0 ? options.operations : 6.0 * static_cast<double>(model.count());
  const LayoutInputs by{model, machine, each * std::max(1.0, samples / ranks)};
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

/// Data received by the ranks in an epoch of a graph, and its duration, in every layout.
nlohmann::json plan_graph_ranks(int ranks, const GraphWork& work, const Machine& machine, Context& context) {
  const auto all = plan_graph(work, ranges_of_equal_entries(work.matrix, ranks), machine);
  for (const auto& line : graph_page(work, all)) context.log.info(line);
  auto figures = nlohmann::json::array();
  for (const auto& planned : all) figures.push_back(graph_figures(planned));
  return figures;
}

int run_simulation_plan(const Simulate::Params& params, const Machine& machine, const Options& options,
                        Context& context) {
  if (options.samples > 0.0 || options.operations > 0.0)
    throw InputError(
        "--samples-per-rank and --operations-per-sample are for trainings, and a stage 'simulate' is planned; give "
        "--rate, or --stage with the number of a stage 'train'");
  context.dry_run = true;
  const auto plan =
      plan_simulation(params, options.deck, {options.ranks, options.rate, options.weak}, machine, context);
  for (const auto& line : simulation_page(plan, machine)) context.log.info(line);
  if (options.json) context.log.info(simulation_figures(plan, machine).dump());
  return static_cast<int>(ExitCode::done);
}

int run_training_plan(const Train::Params& params, const Planned& planned, const Machine& machine,
                      const Options& options, Context& context) {
  const auto& model = planned.model;
  context.log.info(fmt::format("{}: model {}, {} parameters in {} arrays and {} modules, float{}, optimizer {}",
                               options.deck, params.network.type, model.count(), model.parameters.size(),
                               model.modules.size(), 8 * size_of(model.dtype), params.optimizer.type));
  context.log.info(options.operations > 0.0 ? fmt::format("{:.4g} operations per sample, as given", options.operations)
                                            : fmt::format("{:.4g} operations per sample: six per parameter, each used "
                                                          "once; --operations-per-sample is more accurate",
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

Planned planned_model(const ReadDeck& deck, std::size_t stage, Registry& registry, const Options& options,
                      Context& context) {
  if (options.rate > 0.0 || options.weak)
    throw InputError(
        "--rate and --weak are for simulations, and a stage 'train' is planned; give --operations-per-sample and "
        "--samples-per-rank, or --stage with the number of a stage 'simulate'");
  const auto params_of = [&](const ReadDeck& read) {
    return deck::read<Train::Params>(read.deck.stages[stage].node, &registry);
  };
  if (options.make_data) {
    if (stage == 0)
      throw InputError(
          "--make-data: no stage precedes the training, so that nothing makes its data; leave --make-data out");
    const TrialData data(options.deck, options.deck_options, stage, registry, context);
    return model_of(params_of(data.deck()), params_of(data.small()).dataset, registry, context);
  }
  const auto params = params_of(deck);
  try {
    return model_of(params, params.dataset, registry, context);
  } catch (const InputError& error) {
    if (stage == 0) throw;
    throw InputError(
        fmt::format("{}\n  (where an earlier stage writes these data: --make-data makes them at the deck's test size)",
                    error.what()));
  }
}

int run_plan(Registry& registry, Options& options, Context& context) {
  const auto machine = load_machine(options.machine, context.comm);
  for (const int nodes : options.nodes) options.ranks.push_back(nodes * machine.ranks_per_node());
  const auto deck = read_deck(options.deck, options.deck_options, registry, context);
  const auto stage = stage_of(deck, options);
  const auto& chosen = deck.deck.stages[stage];
  if (chosen.type == "simulate")
    return run_simulation_plan(deck::read<Simulate::Params>(chosen.node, &registry), machine, options, context);
  return run_training_plan(deck::read<Train::Params>(chosen.node, &registry),
                           planned_model(deck, stage, registry, options, context), machine, options, context);
}

int plan(Registry& registry, std::vector<std::string> arguments, Context& context) {
  CLI::App app("Memory, messages and time of a training or a simulation on another computer", "cambium plan");
  Options options;
  app.add_option("deck", options.deck, "deck with a stage train or simulate")->required();
  app.add_option("overrides", options.deck_options.overrides, "key.path=value");
  app.add_option("--machine", options.machine,
                 "machine file, or the name of one of `cambium list machines`, such as frontier")
      ->required();
  auto* size = app.add_option_group("size", "of the computer: one of both");
  size->require_option(1);
  for (const auto& [name, numbers, text] :
       {std::tuple{"--ranks", &options.ranks, "numbers of ranks, one on each device, for example 384,9408"},
        std::tuple{"--nodes", &options.nodes, "numbers of nodes, all devices of each, for example 48,1176"}})
    size->add_option(name, *numbers, text)->delimiter(',')->allow_extra_args(false)->check(CLI::PositiveNumber);
  app.add_option("--samples-per-rank", options.samples, "of a training: instead of the deck's batch over the ranks")
      ->check(CLI::PositiveNumber);
  app.add_option("--operations-per-sample", options.operations,
                 "of a training: floating-point operations, forward and backward; six per parameter when absent")
      ->check(CLI::PositiveNumber);
  app.add_option("--rate", options.rate,
                 "of a simulation: what one rank does in a second, as the summary of a run prints (atom-steps/s)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--weak", options.weak, "of a simulation: the deck's problem is that of one rank, and grows with them");
  app.add_flag("--make-data", options.make_data,
               "of a training on what earlier stages write: run these at the deck's test size, in a temporary folder, "
               "for the shapes of the data");
  app.add_option("--stage", options.stage, "number of the stage, from 1; the first that can be planned when absent")
      ->check(CLI::PositiveNumber);
  app.add_flag("--test-size", options.deck_options.test_size, "apply the deck's x-test notes");
  app.add_flag("--json", options.json, "print one JSON object as the last line");
  if (const auto code = answered(app, std::move(arguments), context.comm)) return *code;
  return run_plan(registry, options, context);
}

}  // namespace

Command plan_command(Registry& registry) {
  return {"core", "plan",
          "memory, messages and step time of a training or a simulation on another computer, and what is best",
          [&registry](std::vector<std::string> arguments, Context& context) {
            return plan(registry, std::move(arguments), context);
          }};
}

}  // namespace cambium::train
