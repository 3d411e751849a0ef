#include "bench/core/bench_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/deck/node.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/run/trainer.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium {

using Json = nlohmann::json;

namespace {

struct CheckpointSettings {
  int width = 0, layers = 0, batch = 0, checkpoints = 0, every = 0, turns = 0;
  std::string preset, folder;
};

constexpr std::array<const char*, 3> kinds{"none", "plain", "asynchronous"};

std::string checkpoint_deck(const CheckpointSettings& s, const std::string& kind) {
  std::string widths;
  for (int k = 0; k < s.layers; ++k) widths += fmt::format("{}{}", k ? ", " : "", s.width);
  const std::string written = kind == "none" ? "every: 1000000000"
                                             : fmt::format("every: {}, keep: 2, transfer: per_rank, asynchronous: {}",
                                                           s.every, kind == "asynchronous");
  return fmt::format(
      "network: {{type: mlp, layers: [{}], compute: host}}\n"
      "dataset: {{type: expression, samples: {}, box: {{x: [-1, 1], y: [0, 2]}}, target: {{z: sin(3*x)*exp(-y)}}}}\n"
      "batch: {}\nsteps: {}\nlearning_rate: 1e-3\nlog_every: 1000000\ncheckpoint: {{{}}}\n"
      "parallel: {{preset: {}, persistence_threshold: 1}}\n",
      widths, 4 * s.batch, s.batch, s.checkpoints * s.every + 1, written, s.preset);
}

/// Seconds between the ends of two steps, on the slowest rank: [k] begins when step k + 1 is done, with its checkpoint.
std::vector<double> intervals_of(const CheckpointSettings& s, const std::string& kind, Context& context) {
  const auto folder = (std::filesystem::path(s.folder) / kind).string();
  io::on_root(context.comm, [&] {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  });
  Log quiet;
  Timing timing;
  Context own{context.comm, quiet, timing, context.registry, 1, folder};
  const auto keys = deck::read<train::Train::Params>(deck::parse(checkpoint_deck(s, kind), "bench"), context.registry);
  std::vector<double> times;
  train::Watch watch;
  watch.after_step = [&] { times.push_back(wall_seconds()); };
  train::Trainer trainer(keys, own, 0, watch);
  trainer.run();
  std::vector<double> out;
  for (std::size_t k = 0; k + 1 < times.size(); ++k) out.push_back(times[k + 1] - times[k]);
  context.comm.max(out);
  return out;
}

double middle_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

/// Over all turns: intervals with a checkpoint, those without, and sums from one checkpoint to the next.
struct Intervals {
  std::vector<double> with, without, periods;

  void add(const CheckpointSettings& s, std::span<const double> all) {
    for (int k = 1; k <= s.checkpoints; ++k) {
      const auto first = static_cast<std::size_t>(k * s.every - 1);  // after the step that is a multiple
      with.push_back(all[first]);
      if (k == s.checkpoints) break;
      double period = 0.0;
      for (int j = 0; j < s.every; ++j) {
        const double one = all[first + static_cast<std::size_t>(j)];
        period += one;
        if (j > 0) without.push_back(one);
      }
      periods.push_back(period);
    }
  }
};

/// True if the three trainings ended with the same weights.
bool equal_models(const CheckpointSettings& s, Context& context) {
  std::vector<train::LoadedModel> models;
  for (const char* kind : kinds)
    models.push_back(train::load_artifact((std::filesystem::path(s.folder) / kind / "model.h5").string(), context));
  const auto first = models[0].weights.values<float>();
  for (const auto& model : models)
    if (std::memcmp(model.weights.values<float>().data(), first.data(), first.size_bytes()) != 0) return false;
  return true;
}

CheckpointSettings checkpoint_settings(const BenchOptions& options) {
  CheckpointSettings s;
  s.width = options.integer("width");
  s.layers = options.integer("layers");
  s.batch = options.integer("batch");
  s.checkpoints = options.integer("checkpoints");
  s.every = options.integer("every");
  s.turns = options.integer("turns");
  s.preset = options.text("preset");
  s.folder = options.text("folder");
  for (const auto& [name, value] : {std::pair{"width", s.width},
                                    {"layers", s.layers},
                                    {"batch", s.batch},
                                    {"checkpoints", s.checkpoints},
                                    {"turns", s.turns}})
    if (value < 1) throw InputError(fmt::format("bench checkpoints: {} is {}, but must be at least 1", name, value));
  if (s.every < 2) throw InputError(fmt::format("bench checkpoints: every is {}, but must be at least 2", s.every));
  if (s.folder.empty()) s.folder = (std::filesystem::temp_directory_path() / "cambium_bench_checkpoints").string();
  return s;
}

Json measure_checkpoints(const BenchOptions& options, Context& context) {
  const auto s = checkpoint_settings(options);
  std::array<Intervals, kinds.size()> found;
  for (int turn = 0; turn < s.turns; ++turn)
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const std::size_t kind = turn % 2 ? kinds.size() - 1 - k : k;
      found[kind].add(s, intervals_of(s, kinds[kind], context));
    }
  const double step = middle_of(found[0].without), period = middle_of(found[0].periods);
  Json out;
  out["ranks"] = context.comm.size();
  out["step_ms"] = 1e3 * step;
  out["stalls"] = found[1].with.size();
  for (std::size_t k = 1; k < kinds.size(); ++k) {
    const std::string name = kinds[k];
    out[name + "_stall_percent"] = 100.0 * (middle_of(found[k].with) / step - 1.0);
    out[name + "_step_between_percent"] = 100.0 * (middle_of(found[k].without) / step - 1.0);
    out[name + "_cost_percent_of_step"] = 100.0 * (middle_of(found[k].periods) - period) / step;
  }
  std::int64_t bytes = 0;
  bool equal = false;
  io::on_root(context.comm, [&] {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(s.folder) / "asynchronous"))
      if (entry.path().string().find("restart.") != std::string::npos && entry.is_regular_file())
        bytes = std::max(bytes, static_cast<std::int64_t>(entry.file_size()));
    const Comm alone(MPI_COMM_SELF);
    Log quiet;
    Context own{const_cast<Comm&>(alone), quiet, context.timing, context.registry};
    equal = equal_models(s, own);
    std::filesystem::remove_all(s.folder);
  });
  out["largest_file_mb"] = 1e-6 * static_cast<double>(bytes);
  out["check"] = equal ? "ok: all three trainings end with the same weights" : "WRONG: the weights differ";
  return out;
}

}  // namespace

Bench bench_checkpoints() {
  return {"checkpoints",
          "the step of a training that a checkpoint follows, beside the others: written at once, and by a thread; "
          "medians over all checkpoints",
          measure_checkpoints,
          {{"width", "of the hidden layers", 512},
           {"layers", "how many", 4},
           {"batch", "samples of a step", 1024},
           {"checkpoints", "of a training", 50},
           {"every", "steps from one to the next", 10},
           {"turns", "trainings of each kind, in turns", 1},
           {"preset", "division of the model among ranks", "zero3", {"ddp", "zero1", "zero2", "zero3"}},
           {"folder", "where files are written: on the disk that is meant; a temporary one when none is given", ""}},
          {"width=128", "layers=2", "batch=256", "checkpoints=10", "every=5"}};
}

}  // namespace cambium
