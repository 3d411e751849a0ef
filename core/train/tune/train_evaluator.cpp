#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/summary/stage_summary.hpp"
#include "core/train/run/trainer.hpp"
#include "core/train/tune/tune.hpp"

namespace cambium::tune {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Records the rungs of successive halving reached at step `step` of `steps`; false if the trial ends at one of them.
bool climb(std::vector<double>& rungs, const std::vector<double>& thresholds, std::int64_t step, std::int64_t steps,
           double reward) {
  for (std::size_t k = 0; k < rungs.size(); ++k)
    if (std::isnan(rungs[k]) && step >= steps >> (rungs.size() - k)) {
      rungs[k] = reward;
      if (reward < thresholds[k]) return false;
    }
  return true;
}

}  // namespace

std::string trial_folder(const Context& context, std::int64_t number) {
  return (std::filesystem::path(context.run_directory) / "trials" / fmt::format("{:04}", number)).string();
}

void TrainEvaluator::train(const Job& job, Context& own, const std::function<void()>& breathe, Outcome& out) const {
  auto keys = deck::read<train::Train::Params>(params_.train.at(job.genome), own.registry);
  const int models = std::exchange(keys.models, 1);
  keys.seed = static_cast<std::int64_t>(keys.seed.value_or(static_cast<std::int64_t>(own.seed))) +
              1000003LL * (job.attempt - 1);
  const double start = wall_seconds();
  double sum = 0.0;
  std::int64_t best_step = 0;
  for (int member = 0; member < models; ++member) {
    train::Watch watch;
    watch.after_step = breathe;
    watch.after_validation = [&](std::int64_t step, std::int64_t steps, double best) {
      out.epochs = static_cast<std::int32_t>(step);
      breathe();
      if (params_.time_limit > 0.0 && group_.max(wall_seconds() - start) > params_.time_limit)
        return out.failed = true, false;
      return climb(out.rungs, job.thresholds, step, steps, -best);
    };
    train::Trainer trainer(keys, own, member, std::move(watch));
    trainer.run();
    print_stage_summary(stage_summary_of(trainer), own);
    sum += trainer.progress().best_metric;
    best_step = trainer.progress().best_step;
    if (out.failed) throw InputError(fmt::format("longer than time_limit, {:g} s", params_.time_limit));
  }
  out.reward = -sum / models;
  out.best_epoch = static_cast<std::int32_t>(best_step);
}

Outcome TrainEvaluator::operator()(const Job& job, const std::function<void()>& breathe) const {
  Outcome out;
  out.rungs.assign(job.thresholds.size(), unknown);
  const double start = wall_seconds();
  Log log(nullptr, group_.root());
  Timing timing;
  const auto folder = trial_folder(context_, job.number);
  try {
    io::on_root(group_, [&] {
      if (job.attempt == 1) std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
    });
    log.tee((std::filesystem::path(folder) / "log.txt").string());
    log.info(
        fmt::format("trial {}, attempt {}: {}", job.number, job.attempt, deck::to_line(params_.train.at(job.genome))));
    Context own{
        group_, log, timing, context_.registry, context_.seed, folder, context_.resolved_deck, context_.command_line};
    train(job, own, breathe, out);
  } catch (const std::exception& error) {
    out.failed = true;
    log.info(std::string("failed: ") + error.what());
    context_.log.warn(fmt::format("trial {} failed: {}", job.number, error.what()));
  }
  if (!std::isfinite(out.reward)) out.failed = true;
  out.seconds = wall_seconds() - start;
  return out;
}

}  // namespace cambium::tune
