#include "core/train/low_rank/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/base/error.hpp"
#include "core/deck/resolve.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/run_directory.hpp"
#include "core/train/low_rank/pass_times.hpp"
#include "core/train/low_rank/smaller_network.hpp"
#include "core/train/run/trainer.hpp"

namespace cambium::train {

namespace fs = std::filesystem;

static ArtifactInfo info_of(const LoadedModel& whole, const Assembled& factors, const Context& context) {
  ArtifactInfo info = whole.info;
  info.grids.clear();  // products of factors are on no grid
  const auto* entry = context.registry->find(Network::kind, info.type);
  info.config = deck::resolved(factors.keys, entry->schema, *context.registry);
  std::erase_if(info.card, [](const auto& figure) { return figure.name.starts_with("validation_"); });
  return info;
}

Comparison::Comparison(const CompressKeys& keys, LoadedModel& whole, const Samples& samples, Dataset& data,
                       Context& context)
    : keys_(keys), whole_(whole), samples_(samples), data_(data), context_(context),
      costs_(measure_costs(whole, keys.model, {samples.chosen_by, samples.timed}, keys.multiple,
                           keys.multiplications.has_value(), context)),
      ways_(costs_, whole, samples.timed, context) {
  table_.layers = costs_.layers;
  table_.samples = std::ssize(samples.judged_by);
  table_.batch = std::ssize(samples.timed);
  table_.counted = costs_.counted;
  const double share = keys.multiplications ? *keys.multiplications : keys.budget.value_or(1.0);
  table_.wanted = keys.latency ? *keys.latency : share * costs_.seconds;
  whole_seconds_ = costs_.seconds;
  if (!costs_.counted) return;
  whole_seconds_ = pass_times(*whole.network, whole.weights, *whole.network, whole.weights, samples.timed).seconds;
  context.comm.broadcast(std::span(&whole_seconds_, 1));
}

std::vector<Way> Comparison::ways() {
  const double wanted = table_.wanted;
  std::vector<Way> out{ways_.by_table(wanted)};
  if (out[0].choice.empty()) {
    out[0] = ways_.least();
    table_.problem =
        costs_.counted
            ? fmt::format("no ranks bring a pass to {:.4g} multiplications: the least possible is {:.4g} of {:.4g}",
                          wanted, out[0].seconds, costs_.seconds)
            : fmt::format("no ranks bring a pass to {:.4g} ms: the least possible is {:.4g} of {:.4g} ms", 1e3 * wanted,
                          1e3 * out[0].seconds, 1e3 * costs_.seconds);
    return out;
  }
  if (keys_.choose != CompressKeys::Choose::table || std::ranges::count(keys_.against, "search") > 0) {
    out.push_back(ways_.by_search(wanted, samples_.chosen_by, keys_.search));
    if (out.back().choice.empty()) out.pop_back();
  }
  return out;
}

/// Measured on rank 0, for a network whose cost was counted in multiplications.
double Comparison::seconds_of(Network& network, FlatBuffer& weights) {
  double share = pass_times(*whole_.network, whole_.weights, network, weights, samples_.timed).share;
  context_.comm.broadcast(std::span(&share, 1));
  return share * whole_seconds_;
}

void Comparison::judge(const Way& way) {
  auto model = assemble(whole_, costs_.ranks(way.choice), context_);
  chosen_by_[way.key] = loss_of(*model.network, model.weights, samples_.chosen_by, table_.batch);
  const auto ranks = costs_.ranks(way.choice);
  table_.rows.push_back({way.name, loss_of(*model.network, model.weights, samples_.judged_by, table_.batch),
                         costs_.counted ? seconds_of(*model.network, model.weights) : way.seconds,
                         costs_.counted ? 0.0 : way.predicted, way.time_over, multiplications_of(costs_.layers, ranks),
                         ranks});
}

const Way& Comparison::chosen_of(const std::vector<Way>& ways) const {
  const auto found = std::find_if(ways.begin(), ways.end(), [](const Way& way) { return way.key == "search"; });
  if (found == ways.end() || keys_.choose == CompressKeys::Choose::table) return ways[0];
  if (keys_.choose == CompressKeys::Choose::search) return *found;
  return chosen_by_.at("search") < chosen_by_.at("table") ? *found : ways[0];
}

Context Comparison::context_of(const std::string& folder) const {
  Context own = context_;
  if (folder.empty()) return own;
  own.run_directory = (fs::path(context_.run_directory) / folder).string();
  own.resume = false;
  io::on_root(context_.comm, [&] {
    refuse_link(own.run_directory);
    fs::create_directories(own.run_directory);
  });
  return own;
}

Task::Outcome Comparison::train(const deck::Node& network, std::int64_t steps, double rate,
                                const std::string& start_from, Context& context) {
  auto keys = deck::read<Train::Params>(
      deck::parse(fmt::format("{{network: mlp, dataset: hdf5, steps: {}, batch: {}, learning_rate: {{type: cosine, "
                              "start: {:e}, stop: {:e}}}, log: {}}}",
                              steps, keys_.fine_tune->batch, rate, 0.01 * rate, std::max<std::int64_t>(1, steps / 10)),
                  "compress.fine_tune"));
  keys.network = {whole_.info.type, network};
  keys.dataset = keys_.dataset;
  keys.start_from = start_from;
  Trainer trainer(keys, context);
  const auto outcome = trainer.run();
  work_ = trainer.work();
  if (context.run_directory == context_.run_directory) exported_ = trainer.files();
  citations_ = trainer.citations();
  return outcome;
}

/// Formats of the network, as a training writes them.
void Comparison::export_model(Assembled& factors, Context& context) {
  std::string names;
  io::on_root(context.comm, [&] {
    for (const auto& name : factors.network->export_model(context.run_directory, factors.weights.views(), context))
      names += name + "\n";
  });
  context.comm.broadcast(names);
  std::istringstream lines(names);
  for (std::string name; std::getline(lines, name);) exported_.push_back(name);
}

Task::Outcome Comparison::train_on(const Way& way, const std::string& folder) {
  auto factors = assemble(whole_, costs_.ranks(way.choice), context_);
  auto own = context_of(folder);
  const auto in = [&](const char* name) { return (fs::path(own.run_directory) / name).string(); };
  write_artifact(in(keys_.fine_tune ? "factors.h5" : "model.h5"), info_of(whole_, factors, own), factors.weights, own);
  if (!keys_.fine_tune) {
    export_model(factors, own);
    return Task::Outcome::done;
  }
  const auto outcome =
      train(factors.keys, keys_.fine_tune->steps, keys_.fine_tune->learning_rate, in("factors.h5"), own);
  if (outcome == Task::Outcome::stopped_early) return outcome;
  const auto row =
      std::find_if(table_.rows.begin(), table_.rows.end(), [&](const auto& its) { return its.name == way.name; });
  auto trained = *row;
  trained.name += ", trained on";
  trained.loss = trained_loss(folder);
  table_.rows.push_back(trained);
  return outcome;
}

double Comparison::trained_loss(const std::string& folder) {
  auto tuned = load_artifact((fs::path(context_.run_directory) / folder / "model.h5").string(), context_);
  return loss_of(*tuned.network, tuned.weights, samples_.judged_by, table_.batch);
}

Task::Outcome Comparison::train_smaller(const Way& chosen) {
  auto products = assemble(whole_, costs_.ranks(chosen.choice), context_);
  const auto network =
      smaller_network(whole_, products, baselines_time, costs_.counted, data_, samples_.timed, context_);
  if (!network) {
    context_.log.warn("no smaller network of this type is as fast as required; it is left out");
    return Task::Outcome::done;
  }
  double before = 0.0;
  for (const auto& figure : whole_.info.card)
    if (figure.name == "step") before = figure.value;
  const auto steps = keys_.from_scratch.steps.value_or(static_cast<std::int64_t>(before) + keys_.fine_tune->steps);
  folders_.emplace_back("smaller");
  auto own = context_of("smaller");
  context_.log.info(fmt::format("smaller network from scratch, {} steps: {}", steps, own.run_directory));
  const auto outcome = train(network->keys, steps, keys_.from_scratch.learning_rate, "", own);
  if (outcome == Task::Outcome::stopped_early) return outcome;
  double seconds = network->time_over * chosen.seconds;
  if (costs_.counted) {
    auto trained = load_artifact((fs::path(own.run_directory) / "model.h5").string(), context_);
    seconds = seconds_of(*trained.network, trained.weights);
  }
  table_.rows.push_back(
      {"smaller, from scratch", trained_loss("smaller"), seconds, 0.0, network->time_over, network->multiplications});
  return outcome;
}

CompressTable Comparison::run() {
  const std::vector<std::int64_t> none(costs_.layers.size(), 0);
  table_.rows.push_back({"whole", loss_of(*whole_.network, whole_.weights, samples_.judged_by, table_.batch),
                         whole_seconds_, 0.0, 0.0, multiplications_of(costs_.layers, none)});
  auto all = ways();
  for (const auto& way : all) judge(way);
  const Way best = chosen_of(all);
  if (table_.problem.empty()) {
    for (const auto& baseline : ways_.baselines(best)) {
      judge(baseline);
      all.push_back(baseline);
    }
    all.push_back(ways_.whole());
  }
  table_.ranks = costs_.ranks(best.choice);
  table_.chosen = best.name;
  std::vector<Way> trained{best};
  for (const auto& way : all)
    if (way.key != best.key && std::ranges::count(keys_.against, way.key) > 0) trained.push_back(way);
  for (const auto& way : trained) {
    const bool baseline = way.key != best.key;
    if (baseline) folders_.push_back(way.key);
    if (train_on(way, baseline ? way.key : "") == Task::Outcome::stopped_early) {
      table_.stopped = true;
      return table_;
    }
  }
  const auto final = std::find_if(table_.rows.begin(), table_.rows.end(), [&](const auto& row) {
    return row.name == best.name + (keys_.fine_tune ? ", trained on" : "");
  });
  const double share = final->loss / table_.rows[0].loss;
  if (std::ranges::count(keys_.against, "smaller") > 0 && table_.problem.empty() &&
      train_smaller(best) == Task::Outcome::stopped_early)
    table_.stopped = true;
  if (table_.problem.empty() && keys_.accept && !(share <= *keys_.accept))
    table_.problem =
        fmt::format("the loss is {:.4g} times that of the full network, more than accept ({:g})", share, *keys_.accept);
  return table_;
}

}  // namespace cambium::train
