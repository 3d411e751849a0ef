#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"

namespace cambium::podlstm {

/// The stage `synthetic_field`: a synthetic sea-surface temperature, for decks without data: an annual cycle of
/// opposite sign in both hemispheres, its second harmonic, a travelling wave with slowly varying amplitude, a damped
/// random oscillation on the equator, noise, and two continents of NaN.
class SyntheticField : public Task {
 public:
  struct Params {
    std::int64_t weeks = 520, latitudes = 30, longitudes = 60;
    double noise = 0.2;
    static void describe(deck::Describe<Params>& d);
  };
  SyntheticField(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return {params_.weeks, "week"}; }
  std::vector<std::string> files() const override { return {"field.h5"}; }

 private:
  void require_room(Context& context) const;
  Params params_;
};

}  // namespace cambium::podlstm
