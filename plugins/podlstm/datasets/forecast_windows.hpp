#pragma once
#include <array>
#include <memory>
#include <optional>

#include "core/train/kinds/dataset.hpp"
#include "plugins/podlstm/networks/mode_scaling.hpp"
#include "plugins/podlstm/pod/windows.hpp"

namespace cambium::podlstm {

/// Forecast windows of coefficients as samples for the stage `train`: "window" (past, modes) and "target" (future,
/// modes), float32, every mode scaled to [0, 1] by the training years; and "coefficients" (past, modes), float64, the
/// window in the unit of the series, which a trained model reads. Overlapping windows share times: hold out a block
/// (range), not a random fraction.
class WindowSet : public train::Dataset, public ScalesModes {
 public:
  enum class Part { training, test };
  struct Params {
    SeriesParams series;
    std::int64_t window = 8, horizon = 8;
    Part part = Part::training;
    std::optional<std::array<std::int64_t, 2>> range;
    static void describe(deck::Describe<Params>& d);
  };
  WindowSet(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return last_ - first_; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  ModeScaling mode_scaling() const override { return scaling_; }

 private:
  /// (times, modes)
  struct Times {
    std::vector<float> scaled;
    std::vector<double> coefficients;
  };
  Params params_;
  ModeScaling scaling_;
  std::shared_ptr<const Times> times_;
  std::int64_t modes_ = 0, first_ = 0, last_ = 0;  ///< windows
};

}  // namespace cambium::podlstm
