#include "core/train/low_rank/compress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/base/error.hpp"
#include "core/deck/resolve.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/run/trainer.hpp"

namespace cambium::train {

namespace fs = std::filesystem;

void Compress::FineTune::describe(deck::Describe<FineTune>& d) {
  d("steps", &FineTune::steps, "of Adam").at_least(1).def(1000);
  d("batch", &FineTune::batch, "samples per step").at_least(1).def(32);
  d("learning_rate", &FineTune::learning_rate, "first one; it falls to a hundredth by half a cosine")
      .positive()
      .def(1e-3);
}

void Compress::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file that a train stage wrote: an mlp or a conv_net")
      .example("\"{run}/train/model.h5\"");
  d("dataset", &Params::dataset, "samples by whose loss ranks are chosen, and to train on");
  d("validation", &Params::validation, "samples that networks are judged by; the data set when absent");
  d("budget", &Params::budget, "time of a pass, as a share of the whole network's, measured here").positive();
  d("latency", &Params::latency, "time of a pass over `batch` samples, instead of budget").unit("s").positive();
  d("samples", &Params::samples, "of each data set, by which losses are compared").at_least(1).def(256);
  d("batch", &Params::batch, "samples of a pass whose time is measured").at_least(1).def(32);
  d("multiple", &Params::multiple, "ranks above this are multiples of it").at_least(1).def(8);
  d("fine_tune", &Params::fine_tune, "training of the products; none when absent");
  d("accept", &Params::accept,
    "largest loss at the end, as a multiple of the whole network's; above it the stage ends with exit code 4, its "
    "model being there")
      .positive();
  d.check([](const Params& p) -> std::string {
    return p.budget.has_value() == p.latency.has_value() ? "give one of: budget, latency" : "";
  });
}

Compress::Compress(const Params& params, Context&) : params_(params) {}
Compress::~Compress() = default;

void Compress::check(Context& context) {
  context.registry->make<Dataset>(params_.dataset, context);
  if (params_.validation) context.registry->make<Dataset>(*params_.validation, context);
  context.log.info(fmt::format("model {} in {}", params_.model,
                               params_.budget ? fmt::format("{:g} of its time", *params_.budget)
                                              : fmt::format("{:g} ms", 1e3 * *params_.latency)));
}

void Compress::examine(Check& check) {
  check.require_written_by(params_.model, {"network *"});
  const deck::Node& keys = check.stage().keys;
  check.reads(keys["model"]), check.reads(params_.dataset.node);
  const auto promise = check.written_before(params_.model);
  check.will_write(
      {"model.h5", promise ? promise->by : "network *", promise ? promise->holds : std::vector<std::string>{}});
  check.will_write({"compress.csv", "stage compress"});
  if (params_.fine_tune)
    for (const char* name : {"factors.h5", "training.csv", "training.h5"}) check.will_write({name, "stage compress"});
  if (check.waits(params_.model) || !check.small())
    return check.not_looked_at(fmt::format("the model: '{}' is still to be written", params_.model));
  const auto model = load_artifact(params_.model, check.context());
  factor_layers(*model.network, model.info.type, params_.model);
}

/// Samples evenly spaced over a data set.
static std::vector<SamplePtr> spread(const deck::Choice<Dataset>& choice, std::int64_t wanted, const LoadedModel& model,
                                     const std::string& path, Context& context) {
  const auto data = context.registry->make<Dataset>(choice, context);
  data->open(context);
  if (data->size() == 0) throw InputError("the data set is empty: there is nothing to choose ranks by");
  require_fields(model.info, path, *data);
  std::vector<std::int64_t> ids;
  const std::int64_t count = std::min(wanted, data->size());
  for (std::int64_t k = 0; k < count; ++k) ids.push_back(k * data->size() / count);
  return data->read(ids);
}

struct Compress::Samples {
  std::vector<SamplePtr> chosen_by, judged_by, timed;
};

/// Times differ from rank to rank: what rank 0 found holds for all.
static std::vector<std::size_t> agreed(const std::vector<std::size_t>& choice, const Comm& comm) {
  std::string text;
  for (const auto c : choice) text += fmt::format("{} ", c);
  comm.broadcast(text);
  std::istringstream in(text);
  std::vector<std::size_t> out;
  for (std::size_t c; in >> c;) out.push_back(c);
  return out;
}

static std::vector<std::size_t> fastest(const CostTable& table) {
  std::vector<std::size_t> out;
  for (const auto& list : table.candidates)
    out.push_back(static_cast<std::size_t>(
        std::min_element(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; }) -
        list.begin()));
  return out;
}

static ArtifactInfo info_of(const LoadedModel& whole, const Assembled& factors, const Context& context) {
  ArtifactInfo info = whole.info;
  const auto* entry = context.registry->find(Network::kind, info.type);
  info.config = deck::resolved(factors.keys, entry->schema, *context.registry);
  std::erase_if(info.card, [](const auto& figure) { return figure.name.starts_with("validation_"); });
  return info;
}

Task::Outcome Compress::train_on(const LoadedModel& whole, const Assembled& factors, Context& context) {
  const auto in = [&](const char* name) { return (fs::path(context.run_directory) / name).string(); };
  write_artifact(in(params_.fine_tune ? "factors.h5" : "model.h5"), info_of(whole, factors, context), factors.weights,
                 context);
  if (!params_.fine_tune) return Outcome::done;
  const auto& tune = *params_.fine_tune;
  auto keys = deck::read<Train::Params>(
      deck::parse(fmt::format("{{network: mlp, dataset: hdf5, steps: {}, batch: {}, learning_rate: {{type: cosine, "
                              "start: {:e}, stop: {:e}}}, log: {}}}",
                              tune.steps, tune.batch, tune.learning_rate, 0.01 * tune.learning_rate,
                              std::max<std::int64_t>(1, tune.steps / 10)),
                  "compress.fine_tune"));
  keys.network = {whole.info.type, factors.keys};
  keys.dataset = params_.dataset;
  keys.start_from = in("factors.h5");
  Trainer trainer(keys, context);
  const auto outcome = trainer.run();
  work_ = trainer.work(), citations_ = trainer.citations();
  return outcome;
}

CompressTable Compress::compressed(LoadedModel& whole, const Samples& samples, Context& context) {
  const auto costs = measure_costs(whole, params_.model, samples.chosen_by, samples.timed, params_.multiple, context);
  const double wanted = params_.latency ? *params_.latency : *params_.budget * costs.seconds;
  auto choice = agreed(choose_ranks(costs.candidates, wanted - costs.seconds), context.comm);
  std::string problem;
  if (choice.empty()) {
    choice = agreed(fastest(costs), context.comm);
    problem = fmt::format("no ranks bring a pass to {:.4g} ms: the least possible is {:.4g} of {:.4g} ms", 1e3 * wanted,
                          1e3 * costs.predicted(choice), 1e3 * costs.seconds);
  }
  CompressTable out;
  out.layers = costs.layers, out.ranks = costs.ranks(choice);
  out.samples = std::ssize(samples.judged_by), out.batch = std::ssize(samples.timed);
  const auto judge = [&](const std::string& name, Assembled& model, const std::vector<std::size_t>& by) {
    const double share = pass_times(*whole.network, whole.weights, *model.network, model.weights, samples.timed).share;
    const double seconds = share * costs.seconds;
    out.rows.push_back({name, loss_of(*model.network, model.weights, samples.judged_by, out.batch), seconds,
                        costs.predicted(by), multiplications_of(costs.layers, costs.ranks(by))});
  };
  const std::vector<std::int64_t> none(costs.layers.size(), 0);
  out.rows.push_back({"whole", loss_of(*whole.network, whole.weights, samples.judged_by, out.batch), costs.seconds, 0.0,
                      multiplications_of(costs.layers, none)});
  if (const auto equal = agreed(equal_shares(costs, wanted), context.comm); !equal.empty()) {
    auto rival = assemble(whole, costs.ranks(equal), context);
    judge("equal shares", rival, equal);
  }
  auto factors = assemble(whole, out.ranks, context);
  judge("chosen ranks", factors, choice);
  if (train_on(whole, factors, context) == Outcome::stopped_early) {
    out.stopped = true;
    return out;
  }
  if (params_.fine_tune) {
    auto tuned = load_artifact((fs::path(context.run_directory) / "model.h5").string(), context);
    out.rows.push_back(out.rows.back());
    out.rows.back().name = "chosen ranks, trained on";
    out.rows.back().loss = loss_of(*tuned.network, tuned.weights, samples.judged_by, out.batch);
  }
  const double share = out.rows.back().loss / out.rows[0].loss;
  if (problem.empty() && params_.accept && !(share <= *params_.accept))
    problem = fmt::format("the loss is {:.4g} times that of the whole network, more than accept ({:g})", share,
                          *params_.accept);
  out.problem = problem;
  return out;
}

Task::Outcome Compress::run(Context& context) {
  auto whole = load_artifact(params_.model, context);
  factor_layers(*whole.network, whole.info.type, params_.model);
  Samples samples;
  samples.chosen_by = spread(params_.dataset, params_.samples, whole, params_.model, context);
  samples.judged_by = params_.validation ? spread(*params_.validation, params_.samples, whole, params_.model, context)
                                         : samples.chosen_by;
  samples.timed = samples.chosen_by;
  samples.timed.resize(std::min(samples.timed.size(), static_cast<std::size_t>(params_.batch)));
  citations_ = whole.network->citations();
  const auto table = compressed(whole, samples, context);
  lines_ = table.lines();
  io::on_root(context.comm, [&] { table.write((fs::path(context.run_directory) / "compress.csv").string()); });
  if (table.problem.empty()) return table.stopped ? Outcome::stopped_early : Outcome::done;
  for (const auto& line : lines_) context.log.info(line);
  throw NumericalError(fmt::format("{}; '{}' has the best that was found: allow more, or train it on for longer",
                                   table.problem, (fs::path(context.run_directory) / "model.h5").string()));
}

std::vector<std::string> Compress::files() const {
  std::vector<std::string> out{"model.h5", "compress.csv"};
  if (params_.fine_tune) out.insert(out.end(), {"factors.h5", "training.csv", "training.h5"});
  return out;
}

}  // namespace cambium::train
