#pragma once
#include <string>
#include <vector>

#include "core/plugin/potential.hpp"
#include "core/plugin/result.hpp"
#include "plugins/submatrix/density/spin_density.hpp"

namespace cambium::submatrix {

/// Plan, before it is carried out. Collective.
std::vector<std::string> describe_system(const MatrixSystem& system, const DensityOptions& options, const Comm& comm);
/// Warns where mu was to be found without temperature and the count, `electrons`, is off by more than half an electron,
/// and says whether it is. `bonds`: submatrices are by reach, not by eps.
bool warn_of_count(const DensityOptions& options, double electrons, bool bonds, Log& log);
/// Warns of what makes a result less than it seems: dropped blocks that are not small beside the gap, iterations that
/// ended early, Krylov spaces that did not converge.
void warn_of_accuracy(const DensityOptions& options, const DensityResult& result, Log& log);
/// The end-of-run page: energy, electrons, mu, errors, sizes. Collective; warns through the log.
std::vector<std::string> describe_result(const MatrixSystem& system, const DensityOptions& options,
                                         const DensityResult& result, Context& context);
/// The same page for `options.purification`.
std::vector<std::string> describe_purification(const MatrixSystem& system, const DensityOptions& options,
                                               const DensityResult& result, Context& context);
std::string polynomial_name(Polynomial polynomial);
/// E of the result beside the reference of the matrices, if there is one.
void add_reference(const MatrixSystem& system, const DensityOptions& options, const DensityResult& result,
                   std::vector<std::string>& out);
/// Two lines on result.error: what is printed is computed less exact, in meV/atom.
std::vector<std::string> describe_error(const MatrixSystem& system, const DensityOptions& options,
                                        const DensityResult& result);
/// Energy, electrons, mu and the estimate of the error as data; all of it stands in the lines, too.
std::vector<Result> results_of(const MatrixSystem& system, const DensityOptions& options, const DensityResult& result);
std::vector<Result> results_of(const SpinDensity& spins);
/// Collective. Writes what `wanted` names into the run directory and returns the names.
std::vector<std::string> write_results(const MatrixSystem& system, const DensityOptions& options,
                                       const DensityResult& result, const std::vector<std::string>& wanted,
                                       Context& context);
/// The same for two spin channels: charges.csv also has the spin of each atom, matrices are density_up.h5,
/// density_down.h5 and so on.
std::vector<std::string> describe_spins(const MatrixSystem& system, const DensityOptions& options,
                                        const SpinDensity& spins, Context& context);
std::vector<std::string> write_spins(const MatrixSystem& system, const DensityOptions& options,
                                     const SpinDensity& spins, const std::vector<std::string>& wanted,
                                     Context& context);
std::vector<Citation> citations();
std::vector<Citation> purification_citations();

}  // namespace cambium::submatrix
