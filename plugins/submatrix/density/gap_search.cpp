// The part of density_matrix() that puts mu into a gap.
#include <algorithm>
#include <cmath>

#include "plugins/submatrix/density/density_step.hpp"
#include "plugins/submatrix/density/gap_check.hpp"

namespace cambium::submatrix {

namespace {

constexpr double half_electron = 0.5;
constexpr double least_gap = 0.01;  ///< hartree; below, a metal is warned of
constexpr double much_wider = 10.0;

/// How far from the wanted number of electrons a gap is looked for.
double search_window(double electrons) { return half_electron + 1e-4 * electrons; }

}  // namespace

/// The predicted mu where it is well inside the gap, so that no column is solved twice; the middle otherwise.
double DensityStep::mid_gap(const ElectronCount& count) const {
  const auto gap =
      count.widest_gap(options_.electrons, truncation_charge(options_.electrons), search_window(options_.electrons));
  if (std::abs(predicted_mu_ - gap.middle()) < 0.25 * gap.width()) return predicted_mu_;
  return std::round(gap.middle() * 1e6) * 1e-6;
}

/// Whether truncation may have moved the count by `missing` electrons at this mu: half of what a tenfold eps moves it
/// by, on the sampled columns, since the error falls by more than that from decade to decade of eps.
bool DensityStep::truncation_explains(double missing, double mu) const {
  if (options_.eps <= 0.0)
    return std::abs(missing) <= truncation_charge(options_.electrons);  // nothing to compare with
  const auto work = solver(krylov());
  const MatrixFunction f = [mu](double x) { return occupation(x, mu, 0.0); };
  double sums[3] = {};  // columns, change, its square
  for (int column : sample_) {
    if (system_.ranges.owner(column) != context_.comm.rank()) continue;
    double change = 0.0;
    for (const double eps : {options_.eps, 10.0 * options_.eps})
      change = 2.0 * work->decompose(own_index(column, eps), *columns_, eps, f).trace(f) - change;
    sums[0] += 1.0, sums[1] += change, sums[2] += change * change;
  }
  context_.comm.sum(sums);
  const double n = sums[0], mean = sums[1] / n, spread = std::sqrt(std::max(0.0, sums[2] / n - mean * mean) / n);
  return std::abs(missing) <= 0.5 * (std::abs(mean) + 2.0 * spread) * system_.layout->blocks();
}

/// The plateau of N(mu) within half an electron of the wanted number, whatever the size. Truncation that moves the
/// count further leaves that number inside a band: then it is the plateau next to it, which must be much wider, and as
/// far away only as truncation explains.
ElectronCount::Gap DensityStep::gap_of_electrons(const ElectronCount& count) const {
  const double wanted = options_.electrons;
  const auto own = count.gap_around_count(wanted, half_electron),
             widest = count.widest_within(wanted, search_window(wanted), half_electron);
  if (widest.width() < std::max(least_gap, much_wider * own.width())) return own;
  const double missing = count(widest.middle()) - wanted;
  return std::abs(missing) < 1.5 * half_electron || truncation_explains(missing, widest.middle()) ? widest : own;
}

double DensityStep::canonical_mu(const ElectronCount& count) {
  const ElectronCount::Gap start{prediction_.homo, prediction_.lumo};
  if (!options_.predictor && options_.kt <= 0.0) return gap_of_electrons(count).middle();
  const double mu = count.mu_of(options_.electrons, half_electron, options_.predictor ? &start : nullptr);
  if (!options_.predictor) return mu;
  const int asked = count.evaluations();
  count.mu_of(options_.electrons, half_electron);
  result_.prediction = {
      prediction_.homo, prediction_.lumo, asked, count.evaluations() - asked, 0.0, options_.predictor->tolerance(), {}};
  return options_.kt > 0.0 ? mu : gap_of_electrons(count).middle();
}

void DensityStep::find_mu() {
  const auto timer = context_.timing.scope("mu");
  const ElectronCount count(spectra_, options_.kt, context_.comm);
  result_.mu = options_.mu ? *options_.mu : options_.mid_gap ? mid_gap(count) : canonical_mu(count);
  result_.electrons = count(result_.mu);
  // The gap is one of the states, whatever their occupation.
  const ElectronCount states(spectra_, 0.0, context_.comm);
  const auto gap = states.gap_around_count(options_.kt > 0.0 && !options_.mu ? options_.electrons : states(result_.mu),
                                           half_electron);
  result_.gap_low = gap.low, result_.gap_high = gap.high;
}

}  // namespace cambium::submatrix
