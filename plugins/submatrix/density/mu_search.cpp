#include "plugins/submatrix/density/mu_search.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

MuSearch::MuSearch(const DensityJob& job, const SubmatrixPatterns& patterns, SolverChoice& solvers)
    : job_(job), patterns_(patterns), solvers_(solvers) {
  // With two channels every other tried column is one of spin down.
  const int channels = job.system.channels, sites = job.blocks() / channels,
            count = std::min(sites, std::max(job.options.sample, 4));
  for (int k = 0; k < count; ++k)
    tried_.push_back(channels * static_cast<int>((2 * static_cast<std::int64_t>(k) + 1) * sites / (2 * count)) +
                     k % channels);
}

/// Middle of the widest gap whose even number of electrons below it is within a quarter of `electrons`.
static double middle_of_widest_gap(const ElectronCount& count, double electrons) {
  ElectronCount::Gap best{0.0, -1.0};
  const int nearest = static_cast<int>(std::round(0.5 * electrons)), reach = std::max(1, nearest / 4);
  for (int pairs = std::max(1, nearest - reach); pairs <= nearest + reach; ++pairs) {
    const auto gap = count.gap_around_count(2.0 * pairs, 0.5);
    if (gap.width() > best.width()) best = gap;
  }
  return best.middle();
}

/// The sample's fraction of the electrons is about its fraction of the functions. A wrong guess only costs time.
double MuSearch::sampled_mu(const std::vector<int>& mine) const {
  KrylovOptions options;
  options.first = job_.options.mid_gap ? 40 : 12;  // 12 blocks see a gap of some eV
  const auto guess = solvers_.make(options);
  std::vector<Spectrum> spectra;
  double functions = 0.0;
  for (int column : mine) {
    spectra.push_back(guess->decompose(patterns_.of_column(column, job_.options.eps), patterns_.columns(),
                                       job_.options.eps, [](double) { return 0.0; }));
    functions += job_.system.layout->size(column);
  }
  const double electrons =
      job_.options.electrons * job_.context.comm.sum(functions) / static_cast<double>(job_.system.layout->dimension());
  const ElectronCount count(spectra, 0.0, job_.context.comm);
  const double mu = job_.options.mid_gap ? count.widest_gap(electrons, 0.1 * electrons, 5e-3 * electrons).middle()
                                         : middle_of_widest_gap(count, electrons);
  // Sums depend on the number of ranks in their last digits; what follows must not.
  return std::round(mu * 1e6) * 1e-6;
}

void MuSearch::predict() {
  const auto timer = job_.context.timing.scope("columns");
  std::vector<int> mine;
  for (int column : tried_)
    if (job_.system.ranges.owner(column) == job_.context.comm.rank()) mine.push_back(column);
  if (job_.options.mu) {
    solvers_.set_mu(*job_.options.mu);
  } else if (job_.options.predictor) {
    ask_predictor();
  } else if (job_.options.mu_guess) {
    solvers_.set_mu(*job_.options.mu_guess);
  } else {
    solvers_.set_mu(sampled_mu(mine));
  }
  if (job_.options.solver != SolverKind::lanczos) return;
  const auto trial = solvers_.make(solvers_.krylov());
  int converged = 0, fallen = 0;
  for (int column : mine) {
    trial->decompose(patterns_.of_column(column, job_.options.eps), patterns_.columns(), job_.options.eps,
                     [this](double x) { return occupation(x, solvers_.mu(), job_.options.kt); });
    int& most = trial->report().fell_back ? fallen : converged;
    most = std::max(most, trial->report().steps);
  }
  // If no sampled column converges, checks before the last block waste time.
  const int blocks = job_.context.comm.max(converged), last = job_.context.comm.max(fallen);
  solvers_.expect(blocks > 0 ? blocks : last);
}

}  // namespace cambium::submatrix
