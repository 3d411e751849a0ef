#include <cmath>
#include <limits>

#include "core/base/timing.hpp"
#include "plugins/podlstm/search/search_task.hpp"

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

/// The networks of one trial: for every split its seeds.
struct WindowEvaluator::Running {
  std::vector<Member> members;
  int epochs = 0;
  double start = 0.0;
};

WindowEvaluator::WindowEvaluator(const SearchTask::Params& params, const Series& series, Context& context)
    : params_(params), series_(series), context_(context),
      splits_(params.data.split(context.seed).splits(window_count(series.train, params.data.shape(), "training"), params.data.shape(), params.data.protocol)),
      truth_(targets(series.train.a, validation_windows(splits_), params.data.shape())),
      space_(paper_space(static_cast<int>(series.modes()) + 2 * params.network.calendar)) {}

double WindowEvaluator::reward(const Running& r) const {
  const auto seeds = static_cast<std::size_t>(params_.seeds_per_trial);
  Matrix forecast(0, truth_.cols);
  for (std::size_t k = 0; k < splits_.size(); ++k) {
    Matrix mean;
    for (std::size_t i = 0; i < seeds; ++i) {
      const Matrix part = r.members[k * seeds + i].predict(series_.train, splits_[k].validation, params_.data.shape());
      if (i == 0) mean = Matrix(part.rows, part.cols);
      for (std::size_t e = 0; e < part.a.size(); ++e) mean.a[e] += part.a[e] / static_cast<double>(seeds);
    }
    forecast.a.insert(forecast.a.end(), mean.a.begin(), mean.a.end()), forecast.rows += mean.rows;
  }
  return score(truth_, forecast, series_.modes()).r2;
}

void WindowEvaluator::advance(Running& r, const Job& job, const std::function<void()>& breathe, Outcome& out) const {
  const int rungs = static_cast<int>(job.thresholds.size());
  for (int epoch = 1; epoch <= r.epochs && !out.failed && epoch - 1 - out.best_epoch < params_.network.patience; ++epoch) {
    for (auto& m : r.members) m.train_epoch(), breathe();
    const double r2 = reward(r);
    if (r2 > out.reward) out.reward = r2, out.best_epoch = epoch;
    out.epochs = epoch;
    for (int k = 0; k < rungs; ++k)
      if (epoch == r.epochs >> (rungs - k)) {
        out.rungs[static_cast<std::size_t>(k)] = out.reward;
        if (out.reward < job.thresholds[static_cast<std::size_t>(k)]) return;
      }
    if (params_.time_limit > 0.0 && wall_seconds() - r.start > params_.time_limit) out.failed = true;
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
  try {
    const auto seed = trial_seed(context_.seed, space_.canonical(job.genome), job.attempt);
    for (const auto& split : splits_)
      for (int k = 0; k < params_.seeds_per_trial; ++k) {
        r.members.emplace_back(options, seed + 1000003ULL * r.members.size(), context_);
        r.members.back().start({series_.train, params_.data.shape(), split});
      }
    advance(r, job, breathe, out);
  } catch (const std::exception& error) {
    out.failed = true;
    context_.log.warn(std::string("a trial failed: ") + error.what());
  }
  if (!std::isfinite(out.reward)) out.failed = true;
  // Rungs behind an early end without a threshold met: the reward is what it would have been compared by.
  for (double& rung : out.rungs)
    if (!out.failed && std::isnan(rung) && out.epochs - out.best_epoch >= params_.network.patience) rung = out.reward;
  out.seconds = wall_seconds() - r.start;
  return out;
}

std::int64_t replay(const std::string& path, const SearchSpace& space, const SearchOptions& options, const Evaluate& evaluate,
                    Context& context) {
  const auto trials = read_trials(path);
  std::int64_t differ = 0;
  for (std::size_t k = 0; k < trials.size(); ++k) {
    if (static_cast<int>(k) % context.comm.size() != context.comm.rank()) continue;
    const Trial& t = trials[k];
    const std::vector<Trial> known(trials.begin(), trials.begin() + t.known);
    bool same = propose(space, options.strategy, t.number, known) == t.genome;
    if (same && t.copy_of < 0 && !t.failed) {
      const Outcome o = evaluate({t.number, t.attempts, t.genome, thresholds_of(known, options)}, [] {});
      same = o.reward == t.reward && o.best_epoch == t.best_epoch && o.epochs == t.epochs;
    }
    differ += same ? 0 : 1;
  }
  return context.comm.sum(differ);
}

}  // namespace cambium::podlstm
