#pragma once
#include <memory>
#include <optional>

#include "core/deck/describe.hpp"
#include "plugins/superres/samples/snapshot.hpp"
#include "plugins/superres/samples/trained_flow.hpp"

namespace cambium::superres {

/// Consecutive frames of flows with the following frames, for forecasting networks. A sample:
///   coarse   (fields, history, x, z) float32: input frames
///   t, x, z  float64: coordinates; along a periodic x the first one is repeated, one period further
///   future   (fields, ahead, x, z) float32: following frames
/// Its index counts the windows of the first file, then of the next.
class Snapshots : public train::Dataset, public train::HasConditions {
 public:
  struct Params {
    std::vector<std::string> data;
    int history = 1, ahead = 1, frames = 0, every = 1;
    std::optional<bool> periodic;
    static void describe(deck::Describe<Params>& d);
  };
  Snapshots(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return std::ssize(windows_); }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::vector<train::Condition> conditions() const override { return conditions_of_files(params_.data); }
  std::vector<Citation> citations() const override;

 private:
  struct Window {
    std::size_t file, first;
  };
  train::SamplePtr make(std::int64_t id) const;

  Params params_;
  std::vector<FieldData> flows_;
  std::vector<Window> windows_;
  bool of_the_well_ = false;
};

/// InputError for masked fields, since forecasts would have to know the masked bodies.
void require_no_bodies(const FieldData& flow);

/// InputError, naming `data`, for frames at unequal time intervals, and for files on different grids.
void require_equal_steps(const FieldData& flow);
void require_one_grid(const FieldData& flow, const FieldData& first);

}  // namespace cambium::superres
