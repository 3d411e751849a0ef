// Prediction of a model: where to look for mu, and which block columns are not what it expects.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/gather.hpp"
#include "plugins/submatrix/columns/edges.hpp"
#include "plugins/submatrix/density/mu_search.hpp"

namespace cambium::submatrix {

/// A few Krylov blocks of every own block column are all the input that the model needs.
void MuSearch::ask_predictor() {
  if (job_.options.groups.by != GroupBy::none || job_.options.form == Form::local)
    throw InternalError("a predictor is for single block columns of an orthogonal Hamiltonian");
  KrylovOptions few;
  few.first = few.most = job_.options.predictor->krylov_blocks();
  few.tolerance = 0.0;
  few.fall_back = false;
  const auto solver = job_.system.bonds ? make_saturated_lanczos(*job_.system.bonds, few)
                                        : make_lanczos<double>(job_.system.layout->blocks(), few);
  std::vector<Spectrum> local;
  int functions = job_.system.layout->size(0);
  for (int column : patterns_.matrix().columns()) {
    if (job_.system.layout->size(column) != functions) functions = 0;  // which no model was trained on
    local.push_back(solver->decompose(patterns_.of_column(column, job_.options.eps), patterns_.columns(),
                                      job_.options.eps, [](double) { return 0.0; }));
    job_.result.flops += solver->report().flops;
  }
  prediction_ =
      job_.options.predictor->predict(local, static_cast<int>(job_.context.comm.min(functions)), job_.context.comm);
  if (prediction_.lumo < prediction_.homo) std::swap(prediction_.homo, prediction_.lumo);
  solvers_.set_mu(0.5 * (prediction_.homo + prediction_.lumo));
}

/// Band energies at zero temperature, which is what models are trained on.
void MuSearch::judge(const std::vector<Spectrum>& spectra) {
  const Comm& comm = job_.context.comm;
  auto& report = *job_.result.prediction;
  const double mu = job_.result.mu;
  double sums[2] = {0.0, static_cast<double>(spectra.size())};
  std::vector<double> own;  // column, energy, prediction
  for (std::size_t k = 0; k < spectra.size(); ++k) {
    const double energy = 2.0 * spectra[k].trace([mu](double x) { return x * occupation(x, mu, 0.0); }),
                 difference = energy - prediction_.energy[k];
    sums[0] += difference * difference;
    if (std::abs(difference) > report.tolerance)
      own.insert(own.end(), {static_cast<double>(patterns_.groups()[k].front()), energy, prediction_.energy[k]});
  }
  comm.sum(sums);
  report.energy_difference = std::sqrt(sums[0] / sums[1]);
  const auto all = all_gather(own, comm);
  for (std::size_t k = 0; k < all.size(); k += 3)
    report.suspects.push_back({static_cast<int>(all[k]), all[k + 1], all[k + 2]});
}

}  // namespace cambium::submatrix
