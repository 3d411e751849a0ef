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

/// Log of a training for those who compare trainings by the rules of MLPerf HPC: who measured, when the run and its
/// epochs began and ended, where the time went, and whether the target was reached.
class Milestones {
 public:
  Milestones(const Train::Params& params, MlLog& log, Context& context);
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;
  void submission();
  void run_start();
  /// Before a step of epoch `number` (from 1): one that begins with it, or goes on after a restart.
  void epoch_start(std::int64_t number);
  /// After the last step of an epoch, or when training ends within one.
  void epoch_stop();
  /// By which figure a target is judged; before judge().
  void set_quality(Quality quality) { quality_ = std::move(quality); }
  /// For a validation: its figures. Logs the one that counts.
  void judge(const std::vector<double>& figures, const nlohmann::json& where, std::int64_t step);
  bool reached() const { return reached_; }
  /// The best so far travels through checkpoints; that of another figure is forgotten.
  void save(Progress& progress) const;
  void restore(const Progress& progress);
  void run_stop(double epochs);
  /// For the last page; none where there is no target.
  std::vector<std::string> target_lines(const TrainingData& data) const;

 private:
  const Train::Params& params_;
  MlLog& log_;
  Context& context_;
  bool reached_ = false;
  Quality quality_;
  double best_ = std::numeric_limits<double>::quiet_NaN();
  std::int64_t best_step_ = -1;
  std::int64_t epoch_ = -1;                   ///< that the log has begun; -1: none
  std::map<std::string, double> before_run_;  ///< seconds of sections before run_start
};

}  // namespace cambium::train
