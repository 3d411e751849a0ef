// The parts of density_matrix() that ask a model: where to look for mu, and which block columns are not what it
// expects.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/submatrix/columns/edges.hpp"
#include "plugins/submatrix/density/density_step.hpp"

namespace cambium::submatrix {

/// A few Krylov blocks of every own block column tell the model all that it wants to know.
void DensityStep::ask_predictor() {
  if (options_.groups.by != GroupBy::none || options_.form == Form::local)
    throw InternalError("a predictor is for single block columns of an orthogonal Hamiltonian");
  KrylovOptions few;
  few.first = few.most = options_.predictor->krylov_blocks();
  few.tolerance = 0.0, few.fall_back = false;
  const auto solver =
      system_.bonds ? make_saturated_lanczos(*system_.bonds, few) : make_lanczos<double>(system_.layout->blocks(), few);
  std::vector<Spectrum> local;
  int functions = system_.layout->size(0);
  for (int column : hamiltonian_->columns()) {
    if (system_.layout->size(column) != functions) functions = 0;  // which no model was trained on
    local.push_back(
        solver->decompose(own_index(column, options_.eps), *columns_, options_.eps, [](double) { return 0.0; }));
    result_.flops += solver->report().flops;
  }
  prediction_ = options_.predictor->predict(local, static_cast<int>(context_.comm.min(functions)), context_.comm);
  if (prediction_.lumo < prediction_.homo) std::swap(prediction_.homo, prediction_.lumo);
  predicted_mu_ = 0.5 * (prediction_.homo + prediction_.lumo);
}

/// Band energies at zero temperature, which is what models are trained on.
void DensityStep::judge_columns() {
  const Comm& comm = context_.comm;
  auto& report = *result_.prediction;
  const double mu = result_.mu;
  double sums[2] = {0.0, static_cast<double>(spectra_.size())};
  std::vector<double> own, all;  // column, energy, prediction
  for (std::size_t k = 0; k < spectra_.size(); ++k) {
    const double energy = 2.0 * spectra_[k].trace([mu](double x) { return x * occupation(x, mu, 0.0); }),
                 difference = energy - prediction_.energy[k];
    sums[0] += difference * difference;
    if (std::abs(difference) > report.tolerance)
      own.insert(own.end(), {static_cast<double>(groups_[k].front()), energy, prediction_.energy[k]});
  }
  comm.sum(sums);
  report.energy_difference = std::sqrt(sums[0] / sums[1]);
  std::vector<int> count, first{0};
  for (auto n : comm.all_gather(std::ssize(own)))
    count.push_back(static_cast<int>(n)), first.push_back(first.back() + count.back());
  all.resize(static_cast<std::size_t>(first.back()));
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.data(), count.data(), first.data(),
                 MPI_DOUBLE, comm.handle());
  for (std::size_t k = 0; k < all.size(); k += 3)
    report.suspects.push_back({static_cast<int>(all[k]), all[k + 1], all[k + 2]});
}

}  // namespace cambium::submatrix
