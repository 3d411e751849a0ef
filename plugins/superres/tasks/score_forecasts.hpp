#pragma once
#include <map>
#include <memory>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/superres/evaluate/forecast_files.hpp"
#include "plugins/superres/evaluate/forecasters.hpp"

namespace cambium::superres {

/// Errors of one method: of single steps for each field, and of forecasts by their lead, means over all starts. A row
/// from files may have only one of the two.
struct ForecastScores {
  bool steps = false, leads = false;  ///< which of them are known
  std::array<double, 4> one_step{};
  std::vector<double> by_lead;   ///< mean over fields and runs; lead 0 is the first forecast frame
  double steps_below_one = 0.0;  ///< frames until the error of a forecast exceeds that of its mean, mean over runs
  double seconds = 0.0;          ///< of one core for one frame of the long forecasts; NaN: unknown
};

/// Stage `score_forecasts`: VRMSE of forecasts by persistence, by the solver and by networks, of one step and by
/// windows of lead, as The Well (Ohana et al. 2024) compares its baselines.
class ScoreForecasts : public Task {
 public:
  struct Params {
    std::vector<std::string> data, methods;
    double rayleigh = 0.0;
    std::optional<double> prandtl;
    Wall plates = Wall::no_slip;
    int history = 4, frames = 0, every = 1, horizon = 30, coarse = 4, finer = 2;
    std::vector<std::array<int, 2>> windows;
    bool allow_other_parameters = false;
    std::map<std::string, std::string> models, corrections;
    std::map<std::string, ForecastFiles> forecasts;
    std::optional<bool> periodic;
    static void describe(deck::Describe<Params>& d);
  };
  ScoreForecasts(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return {"scores.csv", "leads.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Models {
    std::map<std::string, train::LoadedModel> forecasts;
    std::map<std::string, NetworkCorrection> corrections;
  };
  /// The runs to forecast, with what the solver must know of them, and their b minus that of rayleigh_benard.
  struct Runs {
    std::vector<FieldData> flows;
    std::vector<Convected> equations;
    std::vector<double> shifts;
  };
  Runs read();
  /// Loads the models and checks that they were trained on such flows as the runs.
  Models loaded(Context& context);
  void require_trained(const train::ArtifactInfo& info, const std::string& file, const std::string& key,
                       Context& context) const;
  std::unique_ptr<Forecaster> forecaster(const std::string& method, const Runs& runs, std::size_t run,
                                         Models& models) const;
  /// KeyError if the file states another flow than the deck.
  Convected equations_of(const std::string& path) const;
  ForecastScores scores_of(const std::string& method, const Runs& runs, Models& models) const;
  void score_steps(Forecaster& forecaster, const FieldData& truth, ForecastScores& out) const;
  /// Adds the errors of this run, weighted by `share`.
  void score_leads(Forecaster& forecaster, const FieldData& truth, double share, ForecastScores& out) const;
  double window_mean(const ForecastScores& scores, const std::array<int, 2>& window) const;
  std::vector<std::string> rows() const;
  std::vector<Result> results_of(const std::string& row, const ForecastScores& scores) const;
  void report(const std::map<std::string, ForecastScores>& scores, Context& context);
  void write(const std::map<std::string, ForecastScores>& scores, const Context& context) const;

  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::superres
