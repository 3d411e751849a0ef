#pragma once
#include <map>
#include <memory>

#include "core/deck/choice.hpp"
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/assimilate/observations/network.hpp"
#include "plugins/assimilate/twin/filter_run.hpp"
#include "plugins/assimilate/twin/truth.hpp"

namespace cambium::assimilate {

/// Stage `assimilate`: compares filters of noisy observations, evaluated against the truth that the observations were
/// generated from: a run of the model itself (a twin experiment), or the fields of an earlier run.
class Assimilate : public Task {
 public:
  struct Observed : NetworkKeys {
    double every = 0.0;
    std::vector<std::array<double, 2>> gaps;
    static void describe(deck::Describe<Observed>& d);
  };
  struct Sampling {
    std::int64_t samples = 0, runs = 0;
    double interval = 0.0;
    static void describe(deck::Describe<Sampling>& d);
  };
  struct Forecasts {
    std::int64_t after = 0, steps = 0;
    static void describe(deck::Describe<Forecasts>& d);
  };
  struct Params {
    deck::Choice<ForecastModel> model;
    std::optional<std::string> data;
    double spin_up = 0.0, burn_in = 0.0;
    std::int64_t cycles = 0;
    Observed observations;
    Sampling climatology;
    Start start = Start::observations;
    std::map<std::string, FilterKeys> filters;
    std::optional<Forecasts> forecasts;
    static void describe(deck::Describe<Params>& d);
  };
  Assimilate(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override;
  std::vector<Result> results() const override;
  std::vector<std::string> lines() const override;
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override;

 private:
  std::unique_ptr<ForecastModel> make_model(Context& context) const;
  Climatology sample(ForecastModel& model, Context& context) const;
  bool in_gap(double time) const;
  std::unique_ptr<Truth> make_truth(Context& context) const;
  std::vector<double> observe(const Network& network, std::span<const double> truth, std::int64_t cycle,
                              std::uint64_t seed) const;
  Outcome loop(Truth& truth, Context& context);
  /// Collective: the long forecast of every filter from the analyses at `time`.
  void roll_out(double time, Context& context) const;
  std::string forecast_file(const std::string& filter, const char* what) const;
  void write(const std::string& path, const Instant& last, Context& context) const;

  Params params_;
  std::unique_ptr<ForecastModel> model_;
  std::optional<Climatology> climatology_;
  std::optional<Network> network_;  ///< on the model's state
  Network of_truth_;                ///< the same on values at centres
  std::optional<Setting> setting_;
  std::vector<std::unique_ptr<FilterRun>> filters_;
  double climate_rmse_ = 0.0;  ///< deviation of the climatology from its mean
  std::int64_t done_ = 0;
};

}  // namespace cambium::assimilate
