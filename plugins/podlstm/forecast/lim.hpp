#pragma once
#include <optional>

#include "plugins/podlstm/forecast/forecaster.hpp"
#include "plugins/podlstm/forecast/table.hpp"

namespace cambium::podlstm {

struct LimOptions {
  int harmonics = 3;         ///< of the year, subtracted
  double period = 365.2425;  ///< of the year, d
  std::int64_t lag = 1;      ///< tau_0, in times of the series
  double ridge = 0.3;        ///< towards independent modes, in units of a mode's variance
};

/// Linear inverse model, dx/dt = L x + noise of covariance Q (C. Penland and P. D. Sardeshmukh, J. Climate 8, 1999
/// (1995), doi 10.1175/1520-0442(1995)008<1999:TOGOTS>2.0.CO;2), of the residual of the annual harmonics, with every
/// mode in units of its standard deviation. G(tau) = C(tau) C(0)^-1, L = log(G(tau_0)) / tau_0, a forecast is exp(L h)
/// x, and 0 = L C(0) + C(0) L^T + Q. With `ridge` r, G is D + (C(tau) - D C(0)) (C(0) + r 1)^-1, where D is the
/// diagonal of the modes' own autocorrelations: in the limit of large r, damped persistence of each mode. The unit of
/// time is the sampling interval of the series.
class LinearInverseModel : public Forecaster {
 public:
  explicit LinearInverseModel(const LimOptions& options) : options_(options) {}
  std::string name() const override;
  /// Growing modes are replaced by a decay over all times. KeyError if G(tau_0) has no real logarithm.
  void fit(const FitData& data) override;
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const override;

  std::int64_t modes() const { return std::ssize(scale_); }
  const std::vector<double>& scale() const { return scale_; }  ///< standard deviation of each mode, in its unit
  /// Annual harmonics on the given days: (times, modes), in the series' unit.
  Matrix climatology(const std::vector<double>& days) const;
  Matrix propagator(double lead) const;           ///< exp(L lead)
  Matrix dynamics() const;                        ///< L, per time
  const Matrix& noise() const { return noise_; }  ///< Q per time, positive semidefinite
  /// Negative eigenvalues of L C(0) + C(0) L^T that were set to zero for Q, per time.
  const std::vector<double>& removed() const { return removed_; }
  /// Their fraction of Q's trace; the others are reduced by the same amount.
  double removed_share() const { return removed_share_; }
  /// Covariance of the forecast error due to the noise: integral of exp(L s) Q exp(L^T s) from 0 to `lead`.
  Matrix error_covariance(double lead) const;
  /// 1/e time of the slowest mode of L, in times of the series.
  double longest_decay() const;

 private:
  Matrix standardised(const Stretch& s) const;
  void find_noise(const Matrix& covariance);
  LimOptions options_;
  Matrix factors_;  ///< of the harmonics
  std::vector<double> scale_;
  GeneralEigen rates_;  ///< of L
  Matrix noise_;
  std::vector<double> removed_;
  double removed_share_ = 0.0;
};

/// Lag and ridge of a LIM, chosen by validation.
struct LimChoice {
  LimOptions options;
  double r2 = 0.0;  ///< of the validation windows
};

/// The best pair of lag and ridge by the blocked protocol, without any test years. None if no pair gives a LIM.
std::optional<LimChoice> choose_lim(LimOptions options, const std::vector<std::int64_t>& lags,
                                    const std::vector<double>& ridges, const Series& series, const WindowShape& shape,
                                    const SplitOptions& split);

/// One line of the tau test: for a linear process driven by white noise, L and Q do not depend on the lag used to
/// estimate them.
struct TauLine {
  std::int64_t lag = 0;
  std::optional<double> dynamics, noise;  ///< Frobenius norm of L and trace of Q, per time; none without a LIM
  double decay = 0.0;                     ///< longest_decay(), times
  std::size_t negative = 0;               ///< eigenvalues of Q
  double removed_share = 0.0;
};
std::vector<TauLine> tau_test(LimOptions options, const FitData& data, std::int64_t most);
std::vector<std::string> tau_text(const std::vector<TauLine>& lines, double days);

}  // namespace cambium::podlstm
