#include <algorithm>
#include <map>

#include "plugins/submatrix/density/density_matrix.hpp"
#include "plugins/submatrix/dftb/bands.hpp"
#include "plugins/submatrix/submatrices/inverse_root.hpp"

namespace cambium::submatrix {

namespace {

class SubmatrixSolver : public BandSolver {
 public:
  SubmatrixSolver(const DftbIntegrals& integrals, double electrons, const FillingKeys& filling,
                  const SubmatrixKeys& keys, Context& context)
      : integrals_(integrals), keys_(keys), context_(context),
        layout_(std::make_shared<const BlockLayout>(integrals.functions)) {
    options_.eps = options_.eps_overlap = keys.eps;
    options_.kt = boltzmann_hartree * filling.temperature;
    options_.electrons = electrons;
  }

  Bands solve(const std::vector<double>& potential, bool weighted) override;

 private:
  /// Own block columns of sum over images of `values` + (V_a + V_b)/2 S.
  BlockColumns columns(const std::vector<double>& values, const std::vector<double>* potential) const;
  /// Blocks of own atoms, of both spins.
  std::vector<double> pairs_of(const BlockColumns& matrix) const;

  const DftbIntegrals& integrals_;
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
      const double v = potential ? 0.5 * ((*potential)[a] + (*potential)[b]) : 0.0;
      for (int i = 0; i < width; ++i)
        for (int j = 0; j < rows; ++j) {
          const auto from = static_cast<std::size_t>(integrals_.offset[e] + i * rows + j);
          block[static_cast<std::size_t>(j * width + i)] += values[from] + v * integrals_.s[from];
        }
    }
    out.start_column(a);
    for (const auto& [row, block] : blocks) out.add_block(row, block.data());
  }
  out.finish();
  return out;
}

std::vector<double> SubmatrixSolver::pairs_of(const BlockColumns& matrix) const {
  std::vector<double> out(integrals_.h.size(), 0.0);
  for (const int a : matrix.columns())
    for (auto e = integrals_.pairs.first[a]; e < integrals_.pairs.first[a + 1]; ++e) {
      const int b = integrals_.pairs.pair[e].other, rows = integrals_.functions[b], width = integrals_.functions[a];
      const double* block = matrix.block(b, a);
      for (int i = 0; block && i < width; ++i)
        for (int j = 0; j < rows; ++j)
          out[static_cast<std::size_t>(integrals_.offset[e] + i * rows + j)] = 2.0 * block[j * width + i];
    }
  return out;
}

Bands SubmatrixSolver::solve(const std::vector<double>& potential, bool weighted) {
  MatrixSystem system{layout_,
                      integrals_.ranges,
                      columns(integrals_.h, &potential),
                      columns(integrals_.s, nullptr),
                      layout_->blocks(),
                      options_.electrons,
                      {},
                      {},
                      "dftb",
                      {}};
  Timing own;  // its sections would break up that of the caller
  Context step{context_.comm, context_.log, own};
  step.seed = context_.seed;
  if (!options_.root) options_.root = std::make_shared<const RootResult>(overlap_root(system, options_, step));
  options_.energy_weighted = weighted;
  options_.sample = weighted ? keys_.error_sample : 0;
  const DensityResult found = density_matrix(system, options_, step);
  Bands out;
  out.mu = found.fermi_level;
  out.electrons = found.electrons;
  // The small charge that truncation leaves does not enter times mu.
  out.band_energy = found.energy + found.mu * (options_.electrons - found.electrons);
  out.entropy_term = found.entropy_term;
  out.homo = found.gap_low;
  out.lumo = found.gap_high;
  out.density = pairs_of(found.density);
  if (weighted && found.energy_weighted) out.weighted = pairs_of(*found.energy_weighted);
  if (options_.sample > 0) out.error = found.error;
  out.mean_dimension = found.columns.mean_dimension;
  return out;
}

}  // namespace

std::unique_ptr<BandSolver> make_submatrix_solver(const DftbIntegrals& integrals, double electrons,
                                                  const FillingKeys& filling, const SubmatrixKeys& keys,
                                                  Context& context) {
  return std::make_unique<SubmatrixSolver>(integrals, electrons, filling, keys, context);
}

}  // namespace cambium::submatrix
