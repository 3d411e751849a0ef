#include "bench/podlstm/bench_search.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/child.hpp"
#include "core/base/timing.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "core/train/kinds/batch_plan.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/tune/search.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"

namespace cambium::podlstm {

using namespace tune;

using Json = nlohmann::json;

namespace {

constexpr std::int64_t windows = 329, times = 8, modes = 5, batch = 64;
constexpr int epochs = 20;

/// CPU time of this process: one thread and no waiting, so other load on the machine matters less.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Genomes drawn like those of a random search.
std::vector<Genome> genomes(int n) {
  const GenomeSpace space;
  std::vector<Genome> out;
  for (int k = 0; k < n; ++k) {
    auto& g = out.emplace_back();
    for (int d = 0; d < space.decisions(); ++d)
      g.push_back(static_cast<int>(
          Random4(1, Stream::search, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(d)).uniform(0) *
          space.choices(d)));
  }
  return out;
}

/// Overlapping windows of waves with a year's and other periods, in [0, 1].
std::vector<float> series() {
  std::vector<float> out;
  for (std::int64_t t = 0; t < windows + 2 * times - 1; ++t)
    for (int k = 0; k < modes; ++k)
      out.push_back(static_cast<float>(
          0.5 + 0.3 * std::sin(0.12 * (1 + 0.7 * k) * static_cast<double>(t) + k) +
          0.05 * Random4(2, Stream::example_field, static_cast<std::uint64_t>(t), static_cast<std::uint64_t>(k))
                     .normal(0)));
  return out;
}

std::vector<train::SamplePtr> samples(const std::vector<float>& a) {
  std::vector<train::SamplePtr> out;
  for (std::int64_t i = 0; i < windows; ++i) {
    auto s = std::make_shared<train::Sample>();
    s->fields["window"] = io::tensor_of(a.data() + i * modes, {times, modes});
    s->fields["target"] = io::tensor_of(a.data() + (i + times) * modes, {times, modes});
    out.push_back(std::move(s));
  }
  return out;
}

struct Timed {
  double seconds = 0.0, loss = 0.0;
};

/// One evaluation; the input of the reference script goes into `group`, if given.
Timed train_one(const Genome& genome, const std::vector<train::SamplePtr>& all, io::Group* group, Context& context) {
  const double start = processor_seconds();
  StackedLstm net({genome, Cell::lstm, Head::recurrent}, times, modes, times, modes);
  train::FlatLayout layout(net.parameters(), std::int64_t{1} << 40);
  train::FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
  net.initialise(weights.views(), 1);
  double writing = 0.0;
  if (group) {
    const double before = processor_seconds();
    group->write("genome", std::vector<int>(genome.begin(), genome.end()));
    for (std::size_t k = 0; k < layout.tensors().size(); ++k) group->write(fmt::format("{:03}", k), weights.views()[k]);
    writing = processor_seconds() - before;
  }
  train::AdamW optimizer(train::AdamW::Params{{0.9, 0.999, 1e-8, 0.0}}, context);
  auto states = train::make_states(optimizer, layout, DType::f32);
  std::int64_t step = 0;
  train::TermSum loss;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto order = train::epoch_order(1, epoch, windows);
    loss = {};
    for (std::int64_t first = 0; first < windows; first += batch) {
      std::vector<train::SamplePtr> part;
      for (std::int64_t i = first; i < std::min(windows, first + batch); ++i) part.push_back(all[order[i]]);
      gradients.zero();
      const double weight = 1.0 / static_cast<double>(part.size());
      net.gradient(part, weights.views(), {&weight, 1}, gradients.views(), {&loss, 1}, {});
      optimizer.step({weights, gradients, states, 1e-3, ++step});
    }
  }
  return {processor_seconds() - start - writing, loss.sum / loss.count};
}

/// Seconds and losses of the reference script, or null with a reason in the log.
Json run_peer(const std::string& script, const std::string& file, Context& context) {
  if (!std::filesystem::exists(script))
    return context.log.info(fmt::format("no peer: '{}' is not there (peer=PATH)", script)), Json();
  const auto python = python_with({"torch", "h5py"});
  if (!python)
    return context.log.info("no peer: there is no python3 with torch and h5py (CAMBIUM_PYTHON names one)"), Json();
  const ChildOutput peer = output_of({"env", "OMP_NUM_THREADS=1", *python, script, file});
  if (peer.status == 0) return Json::parse(peer.text);
  return context.log.info(fmt::format("no peer: {} ended with exit code {}", script, peer.status)), Json();
}

void time_training(const BenchOptions& options, Json& out, Context& context) {
  const int n = options.integer("networks"), repeat = options.integer("repeat");
  const auto a = series();
  const auto all = samples(a);
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("cambium-bench-search-{}.h5", ::getpid())).string();
  std::vector<double> losses;
  double seconds = 0.0;
  {
    io::File file = io::File::create(path);
    file.write("series", io::tensor_of(a.data(), {std::ssize(a) / modes, modes}));
    for (int epoch = 0; epoch < epochs; ++epoch)
      file.write(fmt::format("order/{:03}", epoch), train::epoch_order(1, epoch, windows));
    file.set_attribute("repeat", repeat);
    int k = 0;
    for (const auto& genome : genomes(n)) {
      auto group = file.create_group(fmt::format("network/{:03}", k++));
      double best = 1e300;
      for (int r = 0; r < repeat; ++r) {
        const Timed t = train_one(genome, all, r == 0 ? &group : nullptr, context);
        best = std::min(best, t.seconds);
        if (r == 0) losses.push_back(t.loss);
      }
      seconds += best;
    }
    file.close();
  }
  out["evaluations_per_hour"] = 3600.0 * n / seconds;
  const Json peer = run_peer(options.text("peer"), path, context);
  std::filesystem::remove(path);
  out["check"] = "no peer";
  if (peer.is_null()) return;
  double theirs = 0.0, worst = 0.0;
  for (std::size_t k = 0; k < losses.size(); ++k) {
    theirs += peer["seconds"][k].get<double>();
    worst = std::max(worst, std::abs(peer["loss"][k].get<double>() / losses[k] - 1.0));
  }
  out["pytorch_evaluations_per_hour"] = 3600.0 * n / theirs;
  out["ratio_pytorch"] = theirs / seconds;
  out["pytorch"] = peer["version"];
  out["check"] =
      fmt::format("{}: losses after {} epochs from the same weights and batches differ from PyTorch's by {:.1e}",
                  worst < 1e-2 ? "ok" : "WRONG", epochs, worst);
}

/// Workers that only wait, by lengths that differ by a factor of five.
double utilisation(bool synchronous, double mean_seconds, Context& context) {
  SearchSpace space;
  space.choices.assign(14, 7);
  space.canonical = [](const Genome& g) { return genome_text(g); };
  SearchOptions o;
  o.strategy.strategy = Strategy::random;
  o.trials = 60 * (context.comm.size() - 1);
  o.root_evaluates = false;
  o.synchronous = synchronous;
  o.log_every = 1 << 20;
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("cambium-bench-journal-{}.h5", ::getpid())).string();
  std::optional<Journal> journal;
  if (context.comm.root()) journal.emplace(path, "bench", context);
  Search search(
      space, o, journal ? &*journal : nullptr,
      [&](const Job& job, const auto&) {
        const double start = wall_seconds();
        std::this_thread::sleep_for(
            std::chrono::duration<double>(mean_seconds * (1.0 + 4.0 * ((job.number * 7) % 11) / 10.0) / 3.0));
        Outcome out;
        out.seconds = wall_seconds() - start;
        return out;
      },
      context);
  tasks::WorkGroups groups(context.comm, 1);
  search.run(groups);
  std::filesystem::remove(path);
  return search.report().utilisation();
}

}  // namespace

static Json measure_search(const BenchOptions& options, Context& context) {
  Json out;
  out["ranks"] = context.comm.size();
  if (context.comm.size() == 1) {
    time_training(options, out, context);
    return out;
  }
  const double seconds = options.number("trial_seconds");
  out["utilisation"] = utilisation(false, seconds, context);
  out["utilisation_synchronous"] = utilisation(true, seconds, context);
  out["check"] =
      out["utilisation"] > out["utilisation_synchronous"] ? "ok: busier than in rounds" : "WRONG: rounds are busier";
  return out;
}

Bench bench_search() {
  return {"search",
          "networks evaluated per hour beside PyTorch; on more ranks, how busy workers are",
          measure_search,
          {{"networks", "that one rank trains", 6},
           {"repeat", "trainings of each, of which the fastest counts", 3},
           {"peer", "script that times PyTorch", "studies/podlstm_torch.py"},
           {"trial_seconds", "mean length of a trial on more ranks", 0.3}},
          {"networks=3", "peer=none"}};
}

}  // namespace cambium::podlstm
