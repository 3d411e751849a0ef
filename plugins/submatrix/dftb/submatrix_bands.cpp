#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "plugins/submatrix/density/spin_density.hpp"
#include "plugins/submatrix/dftb/bands.hpp"
#include "plugins/submatrix/submatrices/inverse_root.hpp"

namespace cambium::submatrix {

namespace {

class SubmatrixSolver : public BandSolver {
 public:
  SubmatrixSolver(const DftbIntegrals& integrals, const ElectronNumbers& electrons, const FillingKeys& filling,
                  const SubmatrixKeys& keys, Context& context)
      : integrals_(integrals), electrons_(electrons), keys_(keys), context_(context),
        layout_(std::make_shared<const BlockLayout>(integrals.functions)) {
    options_.eps = options_.eps_overlap = keys.eps;
    options_.kt = boltzmann_hartree * filling.temperature;
    options_.electrons = electrons.all;
    if (keys.purification) options_.purification = PurificationOptions{.threshold = keys.eps};
  }

  Bands solve(const ChannelPotentials& potential, bool weighted) override;

 private:
  /// Own block columns of sum over images of `values` + (V_a + V_b)/2 S.
  BlockColumns columns(const std::vector<double>& values, const std::vector<double>* potential) const;
  MatrixSystem system(const ChannelPotentials& potential) const;
  /// Adds `factor` times the blocks of own atoms.
  void add_pairs(const BlockColumns& matrix, double factor, std::vector<double>& out) const;
  /// NumericalError if purification did not converge.
  void require_converged(const DensityResult& found) const;
  /// NumericalError if at 0 K states at mu are partly filled, or the gap at mu is that of a number of electrons which
  /// is off by more than truncation explains; a warning if truncation may decide what is occupied. `gap` in hartree.
  void require_gap(double electrons_off, double gap) const;
  /// D and W of a channel with `factor` electrons in each state.
  void add_channel(const DensityResult& found, double factor, Bands& out) const;
  Bands of_both_spins(const DensityResult& found) const;
  Bands of_channels(const SpinDensity& found) const;

  const DftbIntegrals& integrals_;
  ElectronNumbers electrons_;
  SubmatrixKeys keys_;
  Context& context_;
  std::shared_ptr<const BlockLayout> layout_;
  DensityOptions options_;
};

BlockColumns SubmatrixSolver::columns(const std::vector<double>& values, const std::vector<double>* potential) const {
  BlockColumns out(layout_);
  const int rank = context_.comm.rank();
  for (int a = integrals_.ranges.begin(rank); a < integrals_.ranges.end(rank); ++a) {
    std::map<int, std::vector<double>> blocks;
    const int width = integrals_.functions[a];
    for (auto e = integrals_.pairs.first[a]; e < integrals_.pairs.first[a + 1]; ++e) {
      const int b = integrals_.pairs.pair[e].other, rows = integrals_.functions[b];
      auto& block = blocks[b];
      block.resize(static_cast<std::size_t>(rows * width), 0.0);
      const auto shift = [&](int i, int j) {
        if (!potential) return 0.0;
        return 0.5 * ((*potential)[static_cast<std::size_t>(most_shells * a + shell_of(i))] +
                      (*potential)[static_cast<std::size_t>(most_shells * b + shell_of(j))]);
      };
      for (int i = 0; i < width; ++i)
        for (int j = 0; j < rows; ++j) {
          const auto from = static_cast<std::size_t>(integrals_.offset[e] + i * rows + j);
          block[static_cast<std::size_t>(j * width + i)] += values[from] + shift(i, j) * integrals_.s[from];
        }
    }
    out.start_column(a);
    for (const auto& [row, block] : blocks) out.add_block(row, block.data());
  }
  out.finish();
  return out;
}

MatrixSystem SubmatrixSolver::system(const ChannelPotentials& potential) const {
  MatrixSystem out{layout_,
                   integrals_.ranges,
                   columns(integrals_.h, &potential[0]),
                   columns(integrals_.s, nullptr),
                   layout_->blocks(),
                   electrons_.all,
                   {},
                   {},
                   "dftb",
                   {}};
  if (electrons_.polarised) out.hamiltonian_down = columns(integrals_.h, &potential[1]);
  return out;
}

void SubmatrixSolver::add_pairs(const BlockColumns& matrix, double factor, std::vector<double>& out) const {
  for (const int a : matrix.columns())
    for (auto e = integrals_.pairs.first[a]; e < integrals_.pairs.first[a + 1]; ++e) {
      const int b = integrals_.pairs.pair[e].other, rows = integrals_.functions[b], width = integrals_.functions[a];
      const double* block = matrix.block(b, a);
      for (int i = 0; block && i < width; ++i)
        for (int j = 0; j < rows; ++j)
          out[static_cast<std::size_t>(integrals_.offset[e] + i * rows + j)] += factor * block[j * width + i];
    }
}

void SubmatrixSolver::add_channel(const DensityResult& found, double factor, Bands& out) const {
  add_pairs(found.density, factor, out.density.emplace_back(integrals_.h.size(), 0.0));
  if (!found.energy_weighted) return;
  out.weighted.resize(integrals_.h.size(), 0.0);
  add_pairs(*found.energy_weighted, factor, out.weighted);
}

void SubmatrixSolver::require_converged(const DensityResult& found) const {
  // Charges of the first cycles may leave no gap.
  if (!options_.energy_weighted || !found.purification || found.purification->converged) return;
  throw NumericalError(fmt::format(
      "dftb: purification ended after {} iterations at an idempotency error of {:.1e} per atom: there is no "
      "gap at this number of electrons; write solver: submatrix with a filling.temperature, or solver: "
      "dense",
      found.purification->iterations, found.purification->idempotency));
}

void SubmatrixSolver::require_gap(double electrons_off, double gap) const {
  // Charges of the first cycles may leave no gap.
  if (!options_.energy_weighted || options_.kt > 0.0 || options_.purification) return;
  constexpr double rounding = 1e-6, narrow = 0.01;  // hartree
  const double explained = 0.5 + 1e-4 * electrons_.all;
  if (gap < rounding || std::abs(electrons_off) > explained)
    throw NumericalError(
        fmt::format("dftb: at 0 K solver submatrix finds no gap at {:.10g} electrons: states at the Fermi level are "
                    "partly filled, and D is off by {:+.3g} electrons; add filling: {{temperature: 1000 K}}, or write "
                    "solver: dense",
                    electrons_.all, electrons_off));
  if (gap < narrow)
    context_.log.warn(
        "dftb: the gap of the submatrices is below 0.01 hartree, so that truncation may decide what is occupied; "
        "metals need an electronic temperature, for example filling: {temperature: 1000 K}");
}

Bands SubmatrixSolver::of_both_spins(const DensityResult& found) const {
  require_converged(found);
  require_gap(found.electrons - electrons_.all, found.gap_high - found.gap_low);
  Bands out;
  out.mu = out.mu_down = found.fermi_level;
  out.electrons = found.electrons;
  // The small charge that truncation leaves does not enter times mu.
  out.band_energy = found.energy + found.mu * (electrons_.all - found.electrons);
  out.entropy_term = found.entropy_term;
  out.homo = found.gap_low;
  out.lumo = found.gap_high;
  if (options_.sample > 0) out.error = found.error;
  out.mean_dimension = found.columns.mean_dimension;
  add_channel(found, 2.0, out);
  return out;
}

Bands SubmatrixSolver::of_channels(const SpinDensity& found) const {
  const DensityResult &up = found.channel[0], &down = found.channel[1];
  require_converged(up);
  require_converged(down);
  Bands out;
  out.mu = up.fermi_level;
  out.mu_down = down.fermi_level;
  out.electrons = found.electrons();
  out.band_energy = found.energy();
  out.homo = std::max(up.gap_low, down.gap_low);
  out.lumo = std::min(up.gap_high, down.gap_high);
  if (electrons_.unpaired) {
    const double off_up = up.electrons - 0.5 * (electrons_.all + *electrons_.unpaired),
                 off_down = down.electrons - 0.5 * (electrons_.all - *electrons_.unpaired);
    require_gap(off_up, up.gap_high - up.gap_low);
    require_gap(off_down, down.gap_high - down.gap_low);
    out.band_energy -= up.mu * off_up + down.mu * off_down;
  } else {
    require_gap(found.electrons() - electrons_.all, out.lumo - out.homo);
    out.band_energy += up.mu * (electrons_.all - found.electrons());
  }
  out.entropy_term = found.entropy_term();
  if (options_.sample > 0) {
    out.error = up.error;
    if (!found.together) {
      out.error->energy_change += down.error.energy_change;
      out.error->margin = std::hypot(up.error.margin, down.error.margin);
    }
  }
  out.mean_dimension = up.columns.mean_dimension;
  add_channel(up, 1.0, out);
  add_channel(down, 1.0, out);
  return out;
}

Bands SubmatrixSolver::solve(const ChannelPotentials& potential, bool weighted) {
  const MatrixSystem system = this->system(potential);
  Timing own;  // its sections would break up that of the caller
  Context step{context_.comm, context_.log, own};
  step.seed = context_.seed;
  if (!options_.root) options_.root = std::make_shared<const RootResult>(overlap_root(system, options_, step));
  options_.energy_weighted = weighted;
  options_.sample = weighted ? keys_.error_sample : 0;
  if (electrons_.polarised) return of_channels(spin_density(system, options_, electrons_.unpaired, step));
  return of_both_spins(density_matrix(system, options_, step));
}

}  // namespace

std::unique_ptr<BandSolver> make_submatrix_solver(const DftbIntegrals& integrals, const ElectronNumbers& electrons,
                                                  const FillingKeys& filling, const SubmatrixKeys& keys,
                                                  Context& context) {
  return std::make_unique<SubmatrixSolver>(integrals, electrons, filling, keys, context);
}

}  // namespace cambium::submatrix
