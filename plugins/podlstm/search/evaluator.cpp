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

WindowEvaluator::WindowEvaluator(const SearchTask::Params& params, const Series& series, Context& context)
    : params_(params), series_(series), context_(context),
      split_(params.data.split(context.seed).split(window_count(series.train, params.data.shape(), "training"), params.data.shape(), params.data.protocol)),
      truth_(targets(series.train.a, split_.validation, params.data.shape())),
      space_(paper_space(static_cast<int>(series.modes()) + 2 * params.network.calendar)) {}

Outcome WindowEvaluator::operator()(const Job& job, const std::function<void()>& breathe) const {
  const double start = wall_seconds();
  const auto options = params_.member(job.genome);
  const int rungs = static_cast<int>(job.thresholds.size());
  Outcome out;
  out.reward = -std::numeric_limits<double>::infinity();
  out.rungs.assign(job.thresholds.size(), std::numeric_limits<double>::quiet_NaN());
  try {
    Member member(options, trial_seed(context_.seed, space_.canonical(job.genome), job.attempt), context_);
    member.train({series_.train, params_.data.shape(), split_.rows, split_.fit}, [&](int epoch, Member& m) {
      breathe();
      const double r2 = score(truth_, m.predict(series_.train, split_.validation, params_.data.shape()), series_.modes()).r2;
      if (r2 > out.reward) out.reward = r2, out.best_epoch = epoch;
      out.epochs = epoch;
      for (int r = 0; r < rungs; ++r)
        if (epoch == options.epochs >> (rungs - r)) {
          out.rungs[static_cast<std::size_t>(r)] = out.reward;
          if (out.reward < job.thresholds[static_cast<std::size_t>(r)]) return false;
        }
      if (params_.time_limit > 0.0 && wall_seconds() - start > params_.time_limit) out.failed = true;
      return !out.failed && epoch - out.best_epoch < params_.network.patience;
    });
  } catch (const std::exception& error) {
    out.failed = true;
    context_.log.warn(std::string("a trial failed: ") + error.what());
  }
  if (!std::isfinite(out.reward)) out.failed = true;
  // Rungs behind an early end without a threshold met: the reward is what it would have been compared by.
  for (int r = 0; r < rungs; ++r)
    if (!out.failed && std::isnan(out.rungs[static_cast<std::size_t>(r)]) && out.epochs - out.best_epoch >= params_.network.patience)
      out.rungs[static_cast<std::size_t>(r)] = out.reward;
  out.seconds = wall_seconds() - start;
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
