#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/train/kinds/quality.hpp"
#include "core/train/run/mllog.hpp"
#include "core/train/run/train.hpp"
#include "core/train/step/progress.hpp"

namespace cambium::train {

class TrainingData;

/// MLPerf HPC log of a training: submitter, start and end of the run and its epochs, where the time went, and whether
/// the target was reached.
class Milestones {
 public:
  Milestones(const Train::Params& params, MlLog& log, Context& context);
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;
  void submission();
  void run_start();
  /// Before a step of epoch `number` (from 1) that starts the epoch or continues it after a restart.
  void epoch_start(std::int64_t number);
  /// After the last step of an epoch, or when training ends within one.
  void epoch_stop();
  /// Sets the metric of the target; before judge().
  void set_quality(Quality quality) { quality_ = std::move(quality); }
  /// Takes the metrics of a validation and logs the one of the target.
  void judge(const std::vector<double>& figures, const nlohmann::json& where, std::int64_t step);
  bool reached() const { return reached_; }
  /// Stores the best value so far in checkpoints; a value of a different metric is discarded on restart.
  void save(Progress& progress) const;
  void restore(const Progress& progress);
  void run_stop(double epochs);
  /// For the stage summary; empty if there is no target.
  std::vector<std::string> target_lines(const TrainingData& data) const;

 private:
  const Train::Params& params_;
  MlLog& log_;
  Context& context_;
  bool reached_ = false;
  Quality quality_;
  double best_ = std::numeric_limits<double>::quiet_NaN();
  std::int64_t best_step_ = -1;
  std::int64_t epoch_ = -1;                   ///< epoch started in the log; -1: none
  std::map<std::string, double> before_run_;  ///< seconds of sections before run_start
};

}  // namespace cambium::train
