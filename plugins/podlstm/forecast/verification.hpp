#pragma once
#include <string>
#include <vector>

#include "plugins/podlstm/pod/windows.hpp"

namespace cambium::podlstm {

/// Continuous ranked probability score of a normal distribution, in the unit of the truth (T. Gneiting and A. E.
/// Raftery, J. Am. Stat. Assoc. 102, 359 (2007), doi 10.1198/016214506000001437). Of deviation 0: the absolute error.
double crps_normal(double mean, double deviation, double truth);

/// Fair CRPS of an ensemble, mean |x_i - y| - sum |x_i - x_j| / (2 M (M - 1)): its expectation is the CRPS of the
/// distribution that the M >= 2 members come from (C. A. T. Ferro, Q. J. R. Meteorol. Soc. 140, 1917 (2014), doi
/// 10.1002/qj.2270). `sorted`: members in rising order.
double crps_ensemble(const std::vector<double>& sorted, double truth);

/// Quantile of sorted members at position p (M + 1): an interval of two of them covers the truth as often as it says
/// where members and truth come from one distribution, whatever M. Beyond the outermost members, these.
double quantile(const std::vector<double>& sorted, double p);

/// How well a probabilistic forecast agrees with the truth, by lead; means over windows and modes, every mode in units
/// of `scale`.
struct Verification {
  std::string name;
  std::vector<double> crps;
  std::vector<double> spread, error;  ///< root mean square of the standard deviation; of the error of the mean
  std::vector<double> coverage;       ///< share of truths in the central 90 % interval
};

/// Of normal distributions: `deviation` is (leads, modes).
Verification verify_normal(const std::string& name, const Matrix& truth, const Matrix& mean, const Matrix& deviation,
                           const std::vector<double>& scale);

/// Of ensembles: members are (windows, leads * modes) each.
Verification verify_ensemble(const std::string& name, const Matrix& truth, const std::vector<Matrix>& members,
                             const std::vector<double>& scale);

/// Root mean square of truth - forecast, (leads, modes).
Matrix error_by_lead(const Matrix& truth, const Matrix& forecast, std::int64_t modes);

/// Forecasts of the modes, or of an index, which are compared.
struct Comparison {
  std::string what, unit;  ///< "modes", or the name of the index
  std::vector<Verification> of;
  std::vector<double> correlation;  ///< of anomalies of the last one, by lead; empty where not asked for
};

/// A line for each lead: CRPS of every forecast; spread over error and coverage of the last.
std::vector<std::string> comparison_text(const Comparison& c);
/// A header, and a line for each comparison, forecast and lead.
std::string comparison_csv(const std::vector<Comparison>& of);

/// Correlation of forecast and truth after the climatology of both is taken off, by lead of a single series.
std::vector<double> anomaly_correlation(const Matrix& truth, const Matrix& forecast, const Matrix& climatology);

}  // namespace cambium::podlstm
