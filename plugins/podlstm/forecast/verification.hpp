#pragma once
#include <string>
#include <vector>

#include "plugins/podlstm/pod/windows.hpp"

namespace cambium::podlstm {

/// Continuous ranked probability score of a normal distribution, in the unit of the truth (T. Gneiting and A. E.
/// Raftery, J. Am. Stat. Assoc. 102, 359 (2007), doi 10.1198/016214506000001437). For deviation 0: the absolute error.
double crps_normal(double mean, double deviation, double truth);

/// Fair CRPS of an ensemble, mean |x_i - y| - sum |x_i - x_j| / (2 M (M - 1)): its expectation is the CRPS of the
/// distribution of the M >= 2 members (C. A. T. Ferro, Q. J. R. Meteorol. Soc. 140, 1917 (2014), doi 10.1002/qj.2270).
/// `sorted`: members in ascending order.
double crps_ensemble(const std::vector<double>& sorted, double truth);

/// Quantile of sorted members at position p (M + 1): intervals between two of them have nominal coverage for any M, if
/// members and truth have the same distribution. Clamped to the outermost members.
double quantile(const std::vector<double>& sorted, double p);

/// Verification of a probabilistic forecast by lead; means over windows and modes, every mode in units of `scale`.
struct Verification {
  std::string name;
  std::vector<double> crps;
  std::vector<double> spread, error;  ///< root mean square of the standard deviation; of the error of the mean
  std::vector<double> coverage;       ///< fraction of truths in the central 90 % interval
};

/// For normal distributions: `deviation` is (leads, modes).
Verification verify_normal(const std::string& name, const Matrix& truth, const Matrix& mean, const Matrix& deviation,
                           const std::vector<double>& scale);

/// For ensembles: members are (windows, leads * modes) each.
Verification verify_ensemble(const std::string& name, const Matrix& truth, const std::vector<Matrix>& members,
                             const std::vector<double>& scale);

/// Root mean square of truth - forecast, (leads, modes).
Matrix error_by_lead(const Matrix& truth, const Matrix& forecast, std::int64_t modes);

/// Forecasts of the modes, or of an index, to be compared.
struct Comparison {
  std::string what, unit;  ///< "modes", or the name of the index
  std::vector<Verification> of;
  std::vector<double> correlation;  ///< of anomalies of the last one, by lead; empty unless requested
};

/// One line per lead: CRPS of every forecast; spread over error and coverage of the last one.
std::vector<std::string> comparison_text(const Comparison& c);
/// A header, and one line per comparison, forecast and lead.
std::string comparison_csv(const std::vector<Comparison>& of);

/// Anomaly correlation of forecast and truth, with the climatology subtracted from both, by lead of a single series.
std::vector<double> anomaly_correlation(const Matrix& truth, const Matrix& forecast, const Matrix& climatology);

}  // namespace cambium::podlstm
