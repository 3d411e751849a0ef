// How mu is put into a gap.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/submatrix/columns/edges.hpp"
#include "plugins/submatrix/density/gap_check.hpp"
#include "plugins/submatrix/density/mu_search.hpp"

namespace cambium::submatrix {

namespace {

constexpr double half_electron = 0.5;
constexpr double least_gap = 0.01;  ///< hartree; below, a metal is warned of
constexpr double much_wider = 10.0;

/// How far from the wanted number of electrons a gap is looked for.
double search_window(double electrons) { return half_electron + 1e-4 * electrons; }

}  // namespace

/// For a tried column the rows without those at the edge: with eps those of ten times eps, where submatrices follow
/// bonds those of atoms with a bond that leaves.
PrincipalIndex MuSearch::shorter(int column) const {
  if (!job_.system.bonds) return patterns_.of_column(column, 10.0 * job_.options.eps);
  const BondGraph& bonds = *job_.system.bonds;
  const std::vector<int> all = patterns_.of_column(column, job_.options.eps).blocks;
  const auto leaves = [&](int atom) {
    const auto* first = bonds.other.data() + bonds.first[atom];
    const auto* last = bonds.other.data() + bonds.first[static_cast<std::size_t>(atom) + 1];
    return std::any_of(first, last, [&](int other) { return !std::binary_search(all.begin(), all.end(), other); });
  };
  std::vector<int> kept;
  for (int atom : all)
    if (atom == column || !leaves(atom)) kept.push_back(atom);
  return principal_index(std::move(kept), *job_.system.layout, {&column, 1});
}

/// Number of electrons by which truncation may have moved the count at this mu: half of the change by shorter
/// submatrices, on the tried columns, since the error falls by more than that per decade of eps.
double MuSearch::moved_by_truncation(double mu) const {
  const auto work = solvers_.make(solvers_.krylov());
  const MatrixFunction f = [mu](double x) { return occupation(x, mu, 0.0); };
  const double eps = job_.options.eps;
  double sums[3] = {};  // columns, change, its square
  for (int column : tried_) {
    if (!job_.owns(column)) continue;
    double change = 2.0 * work->decompose(patterns_.of_column(column, eps), patterns_.columns(), eps, f).trace(f);
    change = 2.0 * work->decompose(shorter(column), patterns_.columns(), 10.0 * eps, f).trace(f) - change;
    sums[0] += 1.0;
    sums[1] += change;
    sums[2] += change * change;
  }
  job_.context.comm.sum(sums);
  const double n = sums[0], mean = sums[1] / n, spread = std::sqrt(std::max(0.0, sums[2] / n - mean * mean) / n);
  return 0.5 * (std::abs(mean) + 2.0 * spread) * job_.blocks();
}

/// With mid_gap: truncation brings some charge, so the widest gap near the wanted number is taken; at d electrons from
/// it a gap must be 1 + (d/u)^2 times as wide as one with d = 0, where u is the observed change of the count by
/// truncation, not a fraction of the electrons: states inside the gap are counted however many electrons there are. The
/// previous mu is kept if it is well inside, so that no column is solved twice.
double MuSearch::mid_gap(const ElectronCount& count) const {
  const double wanted = job_.options.electrons, most = truncation_charge(wanted);
  const double near = count.widest_gap(wanted, most, half_electron).middle();
  const auto gap = count.widest_gap(wanted, std::clamp(moved_by_truncation(near), half_electron, most), half_electron);
  if (std::abs(solvers_.mu() - gap.middle()) < 0.25 * gap.width()) return solvers_.mu();
  return std::round(gap.middle() * 1e6) * 1e-6;
}

/// The plateau of N(mu) within half an electron of the wanted number, whatever the size. Truncation that moves the
/// count further leaves that number inside a band: then it is the plateau next to it, which must be much wider, and as
/// far away only as truncation explains.
ElectronCount::Gap MuSearch::gap_of_electrons(const ElectronCount& count) const {
  const double wanted = job_.options.electrons;
  const auto own = count.gap_around_count(wanted, half_electron),
             widest = count.widest_within(wanted, search_window(wanted), half_electron);
  if (widest.width() < std::max(least_gap, much_wider * own.width())) return own;
  const double missing = count(widest.middle()) - wanted;
  return std::abs(missing) < 1.5 * half_electron || std::abs(missing) <= moved_by_truncation(widest.middle()) ? widest
                                                                                                              : own;
}

double MuSearch::canonical_mu(const ElectronCount& count) {
  const ElectronCount::Gap start{prediction_.homo, prediction_.lumo};
  if (!job_.options.predictor && job_.options.kt <= 0.0) return gap_of_electrons(count).middle();
  const double mu = count.mu_of(job_.options.electrons, half_electron, job_.options.predictor ? &start : nullptr);
  if (!job_.options.predictor) return mu;
  const int asked = count.evaluations();
  count.mu_of(job_.options.electrons, half_electron);
  job_.result.prediction = {prediction_.homo,
                            prediction_.lumo,
                            asked,
                            count.evaluations() - asked,
                            0.0,
                            job_.options.predictor->tolerance(),
                            {}};
  return job_.options.kt > 0.0 ? mu : gap_of_electrons(count).middle();
}

void MuSearch::find(const std::vector<Spectrum>& spectra) {
  const auto timer = job_.context.timing.scope("mu");
  const ElectronCount count(spectra, job_.options.kt, job_.context.comm);
  job_.result.mu = job_.options.mu ? *job_.options.mu : job_.options.mid_gap ? mid_gap(count) : canonical_mu(count);
  job_.result.electrons = count(job_.result.mu);
  job_.result.fermi_level = job_.options.kt > 0.0 && !job_.options.mu
                                ? count.fermi_level(job_.options.electrons, half_electron)
                                : job_.result.mu;
  job_.result.gap_low = job_.result.gap_high = std::numeric_limits<double>::quiet_NaN();
  if (shows_no_states(job_.options.solver)) return;
  // The gap is one of the states, whatever their occupation.
  const ElectronCount states(spectra, 0.0, job_.context.comm);
  const auto gap = states.gap_around_count(
      job_.options.kt > 0.0 && !job_.options.mu ? job_.options.electrons : states(job_.result.mu), half_electron);
  job_.result.gap_low = gap.low;
  job_.result.gap_high = gap.high;
}

}  // namespace cambium::submatrix
