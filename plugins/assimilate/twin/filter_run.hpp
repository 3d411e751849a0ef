#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/parallel/context.hpp"
#include "plugins/assimilate/filters/inflation.hpp"
#include "plugins/assimilate/filters/static_covariance.hpp"
#include "plugins/assimilate/twin/filter_keys.hpp"
#include "plugins/assimilate/twin/members.hpp"
#include "plugins/assimilate/twin/scores.hpp"

namespace cambium::assimilate {

/// How members begin: as samples of the climatology, or as these corrected by the first observations.
enum class Start { observations, climatology };

/// Settings common to all filters of an experiment. The referenced objects must outlive the filters.
struct Setting {
  ForecastModel& model;
  const Climatology& climatology;
  const Network& network;
  StateSpace centred;  ///< where scores are taken
  double burn_in = 0.0;
  Start start = Start::observations;
  Context& context;
  bool keep_forecasts = false;  ///< FilterRun::forecasts() of every cycle
};

/// One instant: forecasts go from `from` to `to`, where `observed` (empty in a gap) and `truth` (at centres) hold.
struct Instant {
  std::int64_t cycle = 0;
  double from = 0.0, to = 0.0;
  std::vector<double> observed, truth;
};

/// One filter over the time of an experiment, with its members distributed over the ranks. A filter without an ensemble
/// has one member.
class FilterRun {
 public:
  /// Members begin as samples of the climatology, spread over it. KeyError when it has fewer samples than members.
  FilterRun(std::string name, const FilterKeys& keys, const Setting& setting);

  /// Collective: forecast and analysis. NumericalError when the spread of the ensemble is lost.
  void step(const Instant& instant);
  /// Collective: mean of the members at centres after each of `steps` intervals, without observations, from the last
  /// analysis at `time` on. The members of the filter stay as they are.
  std::vector<std::vector<float>> forecast(double time, double interval, std::int64_t steps) const;

  const std::string& name() const { return name_; }
  const FilterKeys& keys() const { return keys_; }
  const Series& series() const { return series_; }
  const FieldErrors& errors() const { return errors_; }
  const std::vector<std::int64_t>& ranks() const { return ranks_; }
  /// Mean of the last analysis, at centres.
  const std::vector<double>& mean() const { return mean_; }
  /// Means of the forecasts that the analyses correct, at centres, one for each cycle, where the setting keeps them.
  const std::vector<std::vector<float>>& forecasts() const { return forecasts_; }

 private:
  /// At the first observations: each member is corrected with the climatological covariance by observations with noise
  /// of their own (ensembles) or as they are, so that members are samples of what is known then.
  void begin(const Instant& instant);
  void analyse_ensemble(const Instant& instant, EnsembleSlice slice);
  void analyse_single(const Instant& instant, std::vector<double> state);
  void note_innovations(const ObservedEnsemble& seen);
  void count(const Instant& instant, std::span<const double> seen);
  std::vector<double> at_centres(const std::vector<double>& state) const;
  void require_spread(double forecast, double time) const;

  std::string name_;
  FilterKeys keys_;
  const Setting& setting_;
  Members members_;
  AdaptiveInflation inflation_;  ///< of the covariance
  std::optional<StaticCovariance> covariance_;
  Network centres_;
  Series series_;
  FieldErrors errors_;
  std::vector<std::int64_t> ranks_;
  std::vector<double> mean_;
  std::vector<std::vector<float>> forecasts_;
  bool begun_ = false;
};

}  // namespace cambium::assimilate
