#pragma once
#include <string>
#include <vector>

#include "core/plugin/potential.hpp"
#include "core/plugin/result.hpp"
#include "plugins/submatrix/density/spin_density.hpp"

namespace cambium::submatrix {

/// Plan of the calculation. Collective.
std::vector<std::string> describe_system(const MatrixSystem& system, const DensityOptions& options, const Comm& comm);
/// Warns if mu had to be found at zero temperature and the count, `electrons`, is off by more than half an electron;
/// returns whether it is. `bonds`: submatrices are by reach, not by eps.
bool warn_of_count(const DensityOptions& options, double electrons, bool bonds, Log& log);
/// The same where the number asked for is odd, which no gap of states with two electrons each has: no eps helps. Warns
/// if the count is off by more than 0.01.
bool warn_of_odd_count(const DensityOptions& options, double electrons, Log& log);
/// Warns of causes of low accuracy: dropped blocks that are not small compared with the gap, iterations that ended
/// early, Krylov spaces that did not converge.
void warn_of_accuracy(const DensityOptions& options, const DensityResult& result, Log& log);
/// Run summary: energy, electrons, mu, errors, sizes. Collective; warns through the log.
std::vector<std::string> describe_result(const MatrixSystem& system, const DensityOptions& options,
                                         const DensityResult& result, Context& context);
/// The same page for `options.purification`.
std::vector<std::string> describe_purification(const MatrixSystem& system, const DensityOptions& options,
                                               const DensityResult& result, Context& context);
/// Warns if a purification did not converge, or lost electrons.
void warn_of_purification(const DensityOptions& options, const DensityResult& result, Log& log);
std::string polynomial_name(Polynomial polynomial);
/// E of the result compared with the reference of the matrices, if there is one.
void add_reference(const MatrixSystem& system, const DensityOptions& options, const DensityResult& result,
                   std::vector<std::string>& out);
/// Two lines on result.error: what is printed is computed less exact, in meV/atom.
std::vector<std::string> describe_error(const MatrixSystem& system, const DensityOptions& options,
                                        const DensityResult& result);
/// Energy, electrons, mu and the error estimate as data; the same as in the lines.
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
