#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/kinds/has_conditions.hpp"
#include "plugins/superres/equations/field_data.hpp"
#include "plugins/superres/evaluate/frame_solver.hpp"

namespace cambium::superres {

/// Pairs for a network that corrects the solver on a coarse grid: the solver starts from each frame of a filtered fine
/// run and advances to the next. A sample:
///   coarse    (fields, 1, x, z) float32: the solver's fields C
///   t, x, z   float64: coordinates; along a periodic x the first one is repeated, one period further
///   future    (fields, 1, x, z) float32: C plus the difference between the fine run's increment and the solver's
///   interval  (1) float64: free-fall times from frame to frame
/// Increments are compared, not fields, so that the interpolation of a frame to the staggered grid cancels.
class Corrections : public train::Dataset, public train::HasConditions {
 public:
  struct Params {
    std::vector<std::string> data;
    double rayleigh = 0.0;
    std::optional<double> prandtl;
    Wall plates = Wall::no_slip;
    int frames = 0;
    std::optional<bool> periodic;
    static void describe(deck::Describe<Params>& d);
  };
  Corrections(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return size_; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::vector<train::Condition> conditions() const override { return conditions_; }

 private:
  /// The flow of a file, by the keys and what the file states. KeyError if these contradict each other.
  Convected flow_of(const std::string& path, bool periodic) const;
  void add_pairs(const FieldData& flow, const Convected& numbers, FieldData& pairs) const;

  Params params_;
  std::vector<FieldData> pairs_;  ///< of each file: the solver's frame, its target, and so on
  std::int64_t size_ = 0;
  double interval_ = 0.0;
  std::vector<train::Condition> conditions_;
};

}  // namespace cambium::superres
