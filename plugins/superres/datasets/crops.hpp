#pragma once
#include <memory>

#include "core/deck/describe.hpp"
#include "core/parallel/random.hpp"
#include "plugins/superres/samples/trained_flow.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {

/// Random windows of simulated or measured fields, coarsely sampled, with points of the fine data inside them. Sample k
/// is a function of (seed, k). Masked points are never drawn, nor windows that are entirely masked.
class Crops : public train::Dataset, public train::HasConditions {
 public:
  struct Params {
    std::vector<std::string> data;
    std::array<double, 3> ratio{};
    std::vector<double> scales;
    std::array<int, 3> crop{};
    std::int64_t points = 0, samples = 0;
    int frames = 0;
    std::optional<bool> periodic;
    std::int64_t seed = 1;
    static void describe(deck::Describe<Params>& d);
  };
  Crops(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return params_.samples; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::vector<train::Condition> conditions() const override { return conditions_of_files(params_.data); }

 private:
  /// One file at one sampling rate: its fields, and windows of its coarse samples.
  struct Source {
    std::shared_ptr<const FieldData> fine;
    Windows windows;
  };
  /// A window of one sample: its start, and the points of the data within it, along x also past the period.
  struct Place {
    std::array<int, 3> start{};
    std::array<std::vector<std::int64_t>, 3> inside;
  };
  Place place(const Source& source, const Random4& choice) const;
  train::SamplePtr make(std::int64_t id) const;

  Params params_;
  std::vector<Source> sources_;
};

}  // namespace cambium::superres
