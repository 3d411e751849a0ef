#pragma once
#include <vector>

#include "plugins/podlstm/forecast/lim.hpp"

namespace cambium::podlstm {

/// Deviations of ensemble members from the forecast of a LIM due to its noise, in `windows` forecasts, one matrix
/// (windows, leads * modes) per member, in the series' unit: x(h + 1) = exp(L) x(h) + noise of covariance
/// error_covariance(1), from x(0) = 0. Random numbers are addressed by seed, window, member, lead and mode, so a window
/// has the same members on any rank.
std::vector<Matrix> noise_members(const LinearInverseModel& model, std::int64_t members, std::int64_t windows,
                                  std::int64_t leads, std::uint64_t seed);

/// Standard deviation of the LIM's forecast errors implied by its noise, (leads, modes), in the series' unit.
Matrix noise_deviation(const LinearInverseModel& model, std::int64_t leads);

/// Inflation factors (leads, modes) of a LIM's noise that make its standard deviation equal to the root mean square
/// error in the validation windows; `forecast`: of these windows, by models fitted to the others.
Matrix spread_factors(const LimOptions& options, const Matrix& forecast, const Stretch& s,
                      const std::vector<Split>& splits, const WindowShape& shape);

/// Members around a mean: mean(w, h, k) + factor(h, k) * deviation.
std::vector<Matrix> around(const Matrix& mean, std::vector<Matrix> deviations, const Matrix& factors);

}  // namespace cambium::podlstm
