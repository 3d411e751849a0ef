#include "bench/deepmd/bench_train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/reduce/reducer.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"

namespace cambium::deepmd {

using Json = nlohmann::json;

namespace {

struct TrainSettings {
  std::string system, peer;
  std::int64_t frame = 0;
  double seconds = 4.0;
  int turns = 3;
  bool shared_memory = true;
  std::optional<double> interpolation;
};

/// A training run of one frame per rank and step, without the trainer's log and files.
class Stepper {
 public:
  Stepper(const TrainSettings& settings, DType precision, train::Dataset& data, bool overlap, Context& context)
      : network_(params(settings, precision), context), mesh_(context.comm), adam_({}, context) {
    network_.fit_statistics(data, context);
    layout_ = std::make_unique<train::FlatLayout>(network_.parameters(), 1000000);
    train::ReduceParams reduce;
    reduce.overlap = overlap;
    reduce.shared_memory = settings.shared_memory;
    reducer_ = train::make_reducer(reduce, mesh_, *layout_, precision);
    weights_ = train::FlatBuffer(*layout_, precision);
    gradients_ = reducer_->make_buffer(*layout_, precision);
    states_ = train::make_states(adam_, *layout_, precision);
    network_.initialise(weights_.views(), 1);
    samples_ = data.read(std::span(&settings.frame, 1));
  }

  double step() {
    const double start = wall_seconds();
    const std::clock_t start_cpu = std::clock();
    std::vector<train::TermSum> terms(2);
    const auto prefactors = network_.term_weights(0, 1.0);
    reducer_->begin(gradients_, 1);
    reducer_->next_slice();
    network_.gradient(samples_, weights_.views(), prefactors, gradients_.views(), terms,
                      [&](int tensor) { reducer_->ready(tensor); });
    computed_ = wall_seconds() - start;
    reducer_->finish();
    train::scale(gradients_, 1.0 / mesh_.world().size());
    adam_.step({weights_, gradients_, states_, 1e-3, ++steps_});
    rmse_ = std::sqrt(terms[1].sum);
    if (steps_ == 1) first_rmse_ = rmse_;
    cpu_ = std::min(cpu_, static_cast<double>(std::clock() - start_cpu) / CLOCKS_PER_SEC);
    return wall_seconds() - start;
  }
  /// Fastest step within some seconds, the same number of steps on every rank.
  double fastest(double seconds) {
    double best = step();
    const auto n = static_cast<int>(std::max(4.0, mesh_.world().min(seconds / best)));
    for (int k = 0; k < n; ++k) {
      double slowest[] = {step(), computed_};  // the sum has brought the ranks together at the start of a step
      mesh_.world().max(slowest);
      best = std::min(best, slowest[0]);
      all_ += slowest[0];
      late_ += slowest[1] - computed_;
    }
    return best;
  }
  double cpu_seconds() const { return cpu_; }  ///< least of any step
  double first_rmse() const { return first_rmse_; }
  /// Fractions of the time of all steps, mean over ranks: waiting for gradients with nothing left to compute, and the
  /// part of it in which the slower rank was still computing its own.
  double exposed_share() const { return mesh_.world().sum(reducer_->exposed_seconds()) / mesh_.world().size() / all_; }
  double late_share() const { return mesh_.world().sum(late_) / mesh_.world().size() / all_; }
  void export_to(const std::string& folder, Context& context) {
    network_.export_model(folder, weights_.views(), context);
  }

 private:
  static DeepPotentialNetwork::Params params(const TrainSettings& settings, DType precision) {
    DeepPotentialNetwork::Params p;
    p.interpolation = settings.interpolation;
    p.type_map = {"O", "H"};
    p.sel = {46, 92};
    p.precision = precision;
    p.statistics_frames = 20;
    return p;
  }
  DeepPotentialNetwork network_;
  train::Mesh mesh_;
  train::Adam adam_;
  std::unique_ptr<train::FlatLayout> layout_;
  std::unique_ptr<train::Reducer> reducer_;
  train::FlatBuffer weights_, gradients_;
  std::vector<train::FlatBuffer> states_;
  std::vector<train::SamplePtr> samples_;
  std::int64_t steps_ = 0;
  double rmse_ = 0.0, first_rmse_ = 0.0, cpu_ = 1e9, computed_ = 0.0, all_ = 0.0, late_ = 0.0;
};

/// Output of the reference script; an empty object if there is no Python with PyTorch.
Json run_peer(const std::string& model, const TrainSettings& s) {
  if (!std::filesystem::exists(s.peer)) return Json::object();
  const auto python = python_with({"torch", "h5py"});
  if (!python) return Json::object();
  const ChildOutput peer = output_of({"env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", *python, s.peer, model,
                                      s.system, std::to_string(s.frame), "--seconds", fmt::format("{}", s.seconds)});
  return peer.status == 0 ? Json::parse(peer.text, nullptr, false) : Json::object();
}

/// Keeps the minimum of each reference time over all turns.
void keep_least(Json& least, const Json& turn) {
  if (!turn.is_object() || !turn.contains("ms_float32")) return;
  if (least.empty()) least = turn;
  for (const char* name : {"ms_float32", "ms_float64", "cpu_ms_float32", "cpu_ms_float64"})
    least[name] = std::min(least[name].get<double>(), turn[name].get<double>());
}

TrainSettings settings_of(const BenchOptions& options) {
  TrainSettings s;
  const char* data = std::getenv("CAMBIUM_DATA");
  s.system = options.text("system");
  if (data && s.system.empty()) s.system = std::string(data) + "/deepmd/water/data_0";
  if (s.system.empty() || !std::filesystem::exists(s.system))
    throw InputError("bench train: name a deepmd/npy system of water with system=FOLDER, or set CAMBIUM_DATA");
  s.peer = options.text("peer");
  s.frame = options.integer("frame");
  if (const double given = options.number("interpolation"); given >= 0.0) s.interpolation = given;
  s.shared_memory = options.yes("shared_memory");
  s.seconds = options.number("seconds");
  s.turns = std::max(1, options.integer("turns"));
  return s;
}

/// One rank compared with the reference implementation, on rank 0.
void single_rank(const TrainSettings& s, train::Dataset& data, Context& alone, Json& out) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("cambium_bench_train_{}", wall_seconds())).string();
  std::filesystem::create_directories(folder);
  Stepper single(s, DType::f32, data, true, alone), exact(s, DType::f64, data, true, alone);
  exact.export_to(folder, alone);
  double ms32 = 1e9, ms64 = 1e9;
  Json peer = Json::object();
  for (int turn = 0; turn < s.turns; ++turn) {  // a machine that other work slows for a while slows both
    ms32 = std::min(ms32, 1e3 * single.fastest(s.seconds));
    ms64 = std::min(ms64, 1e3 * exact.fastest(s.seconds));
    keep_least(peer, run_peer(folder + "/model.dp", s));
  }
  out["turns"] = s.turns;
  out["ms_float32"] = ms32;
  out["ms_float64"] = ms64;
  out["cpu_ms_float32"] = 1e3 * single.cpu_seconds();
  out["cpu_ms_float64"] = 1e3 * exact.cpu_seconds();
  out["frames_per_s_float32"] = 1e3 / ms32;
  out["frames_per_s_float64"] = 1e3 / ms64;
  std::filesystem::remove_all(folder);
  if (peer.empty()) {
    out["check"] = "no peer: studies/train_pytorch.py, or a python3 with torch and h5py, was not found";
    return;
  }
  for (const char* name : {"float32", "float64"}) {
    const double theirs = peer[std::string("cpu_ms_") + name], ours = out[std::string("cpu_ms_") + name];
    out[std::string("pytorch_ms_") + name] = peer[std::string("ms_") + name];
    out[std::string("pytorch_cpu_ms_") + name] = theirs;
    out[std::string("ratio_pytorch_") + name] = theirs / ours;
  }
  out["pytorch"] = peer["torch"];
  const double d64 = std::abs(exact.first_rmse() - peer["force_rmse_float64"].get<double>());
  const double d32 = std::abs(single.first_rmse() - peer["force_rmse_float32"].get<double>());
  out["check"] = fmt::format(
      "{}: force RMSE on the same weights {:.6f} eV/Å, differs from PyTorch's by {:.1e} (float64) and {:.1e} (float32)",
      d64 < 1e-5 && d32 < 1e-5 ? "ok" : "WRONG", exact.first_rmse(), d64, d32);
}

}  // namespace

static Json measure_train(const BenchOptions& options, Context& context) {
  const TrainSettings s = settings_of(options);
  DeepmdNpy data({{s.system}}, context);
  data.open(context);
  Json out;
  const Comm self(MPI_COMM_SELF);
  Log quiet;
  Context alone{const_cast<Comm&>(self), quiet, context.timing, context.registry};
  alone.comm.barrier();
  io::on_root(context.comm, [&] { single_rank(s, data, alone, out); });
  const int ranks = context.comm.size();
  if (ranks == 1) return out;
  Context silent{context.comm, quiet, context.timing, context.registry};
  Stepper overlapped(s, DType::f32, data, true, silent), plain(s, DType::f32, data, false, silent);
  const double with = overlapped.fastest(s.seconds), without = plain.fastest(s.seconds);
  out["ranks_ms_float32"] = 1e3 * with;
  out["ranks_frames_per_s_float32"] = ranks / with;
  const double exposed[] = {overlapped.exposed_share(), plain.exposed_share(), overlapped.late_share(),
                            plain.late_share()};
  if (context.comm.root()) {
    const double ratio = ranks / with * 1e-3 * out["ms_float32"].get<double>();
    out[ranks == 2 ? "two_rank_ratio" : fmt::format("ratio_{}_ranks", ranks)] = ratio;
    out["no_overlap_ratio"] = without / with;
    out["exposed_share"] = exposed[0];
    out["exposed_share_no_overlap"] = exposed[1];
    out["late_rank_share"] = exposed[2];
    out["late_rank_share_no_overlap"] = exposed[3];
  }
  return out;
}

Bench bench_train() {
  return {
      "train",
      "training the water example's Deep Potential, beside PyTorch where it is installed",
      measure_train,
      {{"system", "folder of a deepmd/npy system of water; deepmd/water/data_0 in CAMBIUM_DATA when none is given", ""},
       {"frame", "which of its frames", 0},
       {"seconds", "for each measurement", 4.0},
       {"turns", "measurements of both sides, one after the other, of which the fastest of each counts", 3},
       {"interpolation",
        "tolerance of the tabulated embedding networks; 0: not tabulated, below 0: as a deck without it", -1.0},
       {"shared_memory", "ranks of a node exchange gradients through shared memory", true},
       {"peer", "script that times PyTorch", "studies/train_pytorch.py"}},
      {"seconds=0.7", "peer=none"}};
}

}  // namespace cambium::deepmd
