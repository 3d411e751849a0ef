#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/deepmd/data/extxyz_keys.hpp"
#include "plugins/deepmd/engine/calibration.hpp"
#include "plugins/deepmd/engine/engine.hpp"
#include "plugins/deepmd/tools/parity.hpp"

namespace cambium::deepmd {

/// The stage `calibrate`: calibrates the deviation of a committee to force errors on labelled frames that none of its
/// models was trained on (split conformal prediction), and writes the calibration file; reports the coverage on further
/// frames, compared with that of the deviation itself and of a normal distribution with that deviation.
class Calibrate : public Task {
 public:
  struct Params {
    std::string model;
    std::vector<std::string> committee, systems, test;
    double level = 0.9;
    ExtxyzKeys labels;
    EnginePrecision precision = EnginePrecision::float64;
    static void describe(deck::Describe<Params>& d);
  };
  Calibrate(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }
  std::vector<Citation> citations() const override;

 private:
  std::vector<std::string> models() const;
  std::vector<HeldOutFrame> held_out(const std::vector<std::string>& systems, const char* key, Context& context) const;
  void state_coverage(const Calibration& calibration, Context& context);

  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
};

/// Frames of one system from the models' predictions, the model in use first: its |F - F_ref|, and |standard deviation
/// of F| over all models, as in ModelDeviation. Each of `of_model` holds forces of the same rows.
std::vector<HeldOutFrame> held_out_frames(std::span<const Parity> of_model);

/// Fractions of force errors within three bounds, each frame with equal weight, and the mean calibrated bound (eV/Å).
struct Coverage {
  double deviation = 0.0, gaussian = 0.0, calibrated = 0.0, mean_bound = 0.0;
};
Coverage coverage_of(std::span<const HeldOutFrame> frames, const Calibration& calibration);

}  // namespace cambium::deepmd
