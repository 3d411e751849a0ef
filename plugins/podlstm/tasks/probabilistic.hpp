#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/podlstm/forecast/ensemble_members.hpp"
#include "plugins/podlstm/forecast/lim_forecast.hpp"
#include "plugins/podlstm/forecast/verification.hpp"
#include "plugins/podlstm/pod/pod_maps.hpp"

namespace cambium::podlstm {

/// An index of the field: the mean over a box.
struct IndexKeys {
  std::string name;
  std::vector<double> lat, lon;
  static void describe(deck::Describe<IndexKeys>& d);
};

/// All choices made before the test years are evaluated.
struct ProbabilisticChoice {
  LimChoice lim;
  std::optional<ResidualKeys> keys;
  ResidualChoice residual;
  Matrix factors;  ///< of the noise, (leads, modes)
};

/// Collective. LIM, correction by networks if `keys` requests them, and inflation factors of the noise, by the blocked
/// protocol.
ProbabilisticChoice choose_probabilistic(const LimChoice& lim, const std::optional<ResidualKeys>& keys,
                                         const Series& series, const WindowShape& shape, const SplitOptions& split,
                                         Context& context);

/// Ensemble forecasts by a LIM, its noise and networks, fitted to the training years.
class ProbabilisticForecast {
 public:
  ProbabilisticForecast(const ProbabilisticChoice& choice, const Series& series, const WindowShape& shape,
                        std::int64_t members, Context& context);
  std::string name() const { return forecast_.name(); }
  const LinearInverseModel& model() const { return forecast_.model(); }
  /// Members for windows, and their mean as predicted by the models.
  std::vector<Matrix> members(const Stretch& s, const std::vector<std::int64_t>& starts, std::uint64_t seed,
                              Matrix& mean) const;
  /// Evaluation on the test years: table row with spread and interval, and scores compared with climatology and
  /// persistence of the modes and of every index.
  TableRow test(const std::vector<BoxMean>& indices, std::vector<Comparison>& comparisons) const;

 private:
  /// Members, truth and baseline forecasts, in training and test years.
  struct Beside {
    std::string name;
    Matrix test, train;
  };
  std::vector<Beside> rivals(const std::vector<std::int64_t>& train, const std::vector<std::int64_t>& test) const;
  Matrix issued(const Stretch& s, const std::vector<std::int64_t>& starts, bool anomalies) const;
  Comparison of_index(const BoxMean& index, const std::vector<std::int64_t>& test, const std::vector<Matrix>& members,
                      const Matrix& mean) const;
  const ProbabilisticChoice& choice_;
  const Series& series_;
  WindowShape shape_;
  std::int64_t members_;
  Context& context_;
  LimForecast forecast_;
};

/// InputError if an axis of the maps or an index has the name of another array of ahead.nc.
void require_names_ahead(const PodMaps& maps, const std::vector<BoxMean>& indices);

/// Writes forecasts beyond the last date to ahead.nc in the run directory: members of the coefficients, and fields with
/// their spread and indices if `maps` has the modes.
void write_ahead(const ProbabilisticForecast& forecast, const Series& series, const WindowShape& shape,
                 std::int64_t times, const PodMaps* maps, const std::vector<BoxMean>& indices, Context& context);

}  // namespace cambium::podlstm
