#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/timing.hpp"
#include "plugins/podlstm/tasks/search.hpp"

namespace cambium::podlstm {

SearchSpace paper_space(int features) {
  SearchSpace out;
  const GenomeSpace space;
  for (int d = 0; d < space.decisions(); ++d) out.choices.push_back(space.choices(d));
  out.canonical = [features](const Genome& g) { return graph_of({}, g, features).canonical(); };
  return out;
}

std::uint64_t trial_seed(std::uint64_t seed, const std::string& canonical, std::int32_t attempt) {
  std::uint64_t h = 1469598103934665603ULL ^ (seed * 0x9e3779b97f4a7c15ULL);  // Fowler, Noll and Vo's hash
  for (char c : canonical) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h + static_cast<std::uint64_t>(attempt);
}

/// Networks of one trial on this rank, one for each split and seed.
struct WindowEvaluator::Running {
  std::vector<std::optional<Member>> members;
  int epochs = 0;
  double start = 0.0;
};

WindowEvaluator::WindowEvaluator(const SearchTask::Params& params, const Series& series, Context& context,
                                 const Comm& group)
    : params_(params), series_(series), context_(context), group_(group),
      splits_(params.data.split(context.seed)
                  .splits(window_count(series.train, params.data.shape(), "training"), params.data.shape(),
                          params.data.protocol)),
      truth_(targets(series.train.a, validation_windows(splits_), params.data.shape())),
      space_(paper_space(static_cast<int>(series.modes()) + 2 * params.network.calendar)) {}

/// Gathers the forecasts of all networks from all ranks: sums with zeros, bitwise identical for any group.
double WindowEvaluator::reward(const Running& r) const {
  const auto seeds = static_cast<std::size_t>(params_.seeds_per_trial);
  const std::size_t size = truth_.a.size();
  std::vector<double> all(size * seeds, 0.0);
  std::size_t at = 0;
  for (std::size_t m = 0; m < r.members.size(); ++m) {
    const Split& split = splits_[m / seeds];
    const std::size_t part = split.validation.size() * static_cast<std::size_t>(truth_.cols);
    if (r.members[m])
      std::ranges::copy(r.members[m]->predict(series_.train, split.validation, params_.data.shape()).a,
                        all.begin() + static_cast<std::ptrdiff_t>(at));
    at += part;
  }
  group_.sum(all);
  Matrix forecast(truth_.rows, truth_.cols);
  double* out = forecast.a.data();
  at = 0;
  for (const Split& split : splits_) {
    const std::size_t part = split.validation.size() * static_cast<std::size_t>(truth_.cols);
    for (std::size_t i = 0; i < seeds; ++i, at += part)
      for (std::size_t e = 0; e < part; ++e) out[e] += all[at + e] / static_cast<double>(seeds);
    out += part;
  }
  return score(truth_, forecast, series_.modes()).r2;
}

/// Runs an action that may fail on a single rank of a group, and shares the error with all of them.
bool WindowEvaluator::together(const std::function<void()>& action) const {
  bool good = true;
  try {
    action();
  } catch (const std::exception& error) {
    good = false;
    context_.log.warn(std::string("a trial failed: ") + error.what());
  }
  return group_.max(good ? 0 : 1) == 0;
}

void WindowEvaluator::advance(Running& r, const Job& job, const std::function<void()>& breathe, Outcome& out) const {
  const int rungs = static_cast<int>(job.thresholds.size());
  for (int epoch = 1; epoch <= r.epochs && !out.failed && epoch - 1 - out.best_epoch < params_.network.patience;
       ++epoch) {
    const bool good = together([&] {
      for (auto& m : r.members)
        if (m) m->train_epoch(), breathe();
    });
    if (!good) return void(out.failed = true);
    const double r2 = reward(r);
    if (r2 > out.reward) {
      out.reward = r2;
      out.best_epoch = epoch;
    }
    out.epochs = epoch;
    for (int k = 0; k < rungs; ++k)
      if (epoch == r.epochs >> (rungs - k)) {
        out.rungs[k] = out.reward;
        if (out.reward < job.thresholds[k]) return;
      }
    if (params_.time_limit > 0.0) out.failed = group_.max(wall_seconds() - r.start) > params_.time_limit;
  }
}

Outcome WindowEvaluator::operator()(const Job& job, const std::function<void()>& breathe) const {
  Running r;
  r.start = wall_seconds();
  const auto options = params_.member(job.genome);
  r.epochs = options.epochs;
  Outcome out;
  out.reward = -std::numeric_limits<double>::infinity();
  out.rungs.assign(job.thresholds.size(), std::numeric_limits<double>::quiet_NaN());
  const auto seeds = static_cast<std::size_t>(params_.seeds_per_trial);
  r.members.resize(splits_.size() * seeds);
  out.failed = !together([&] {
    const auto seed = trial_seed(context_.seed, space_.canonical(job.genome), job.attempt);
    for (auto m = static_cast<std::size_t>(group_.rank()); m < r.members.size();
         m += static_cast<std::size_t>(group_.size())) {
      r.members[m].emplace(options, seed + 1000003ULL * m, context_);
      r.members[m]->start({series_.train, params_.data.shape(), splits_[m / seeds]});
    }
  });
  if (!out.failed) advance(r, job, breathe, out);
  if (!std::isfinite(out.reward)) out.failed = true;
  // Rungs after early stopping without a threshold met: use the reward that they would have been compared by.
  for (double& rung : out.rungs)
    if (!out.failed && std::isnan(rung) && out.epochs - out.best_epoch >= params_.network.patience) rung = out.reward;
  out.seconds = wall_seconds() - r.start;
  return out;
}

}  // namespace cambium::podlstm
