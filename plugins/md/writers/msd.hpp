#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/md/writers/correlation_file.hpp"

namespace cambium::md {

/// Mean square displacement <|r(t0 + t) - r(t0)|^2> of all particles and of each species, over time origins t0, from
/// positions unwrapped by their image counts. Where the cell changes, displacements are those of fractional coordinates
/// times the cell at t0 + t, without the motion that all atoms share with the cell. Its slope over the second half of
/// the lags gives the diffusion coefficient, D = slope / 6 (Einstein). Files: msd.h5 and msd.csv.
class Msd : public Writer {
 public:
  struct Params {
    std::int64_t every = 10, from = 0;
    int length = 500, origins = 10;
    bool remove_drift = true;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "steps between two samples").at_least(1).def(10);
      d("start_step", &Params::from, "first step that is sampled").formerly("from").at_least(0).def(0);
      d("max_lag", &Params::length, "longest lag, in samples").formerly("length").at_least(1).def(500);
      d("origins", &Params::origins, "number of time origins within max_lag; each costs one copy of the positions")
          .at_least(1)
          .def(10);
      d("remove_drift", &Params::remove_drift, "subtract the motion of the centre of mass").def(true);
    }
  };
  Msd(const Params& params, Context& context)
      : params_(params), context_(context),
        correlation_(TimeCorrelation::Kind::displacement, params.length, params.origins) {
    require_room_for_lags(params.length, context);
  }

  std::int64_t every() const override { return params_.every; }
  std::int64_t first() const override { return params_.from; }
  void observe(const State& state, std::int64_t step, double time) override;
  void finish(const State& state) override;
  void save(io::Group& group) const override { correlation_.save(group); }
  void load(const io::Group& group) override { correlation_.load(group); }
  std::vector<std::string> files() const override { return {"msd.h5", "msd.csv"}; }

 private:
  Params params_;
  Context& context_;
  TimeCorrelation correlation_;  ///< filled on rank 0
};

/// Slope of the least-squares line through the second half of the points; 0 for fewer than two points.
double late_slope(const std::vector<double>& time, const std::vector<double>& value);

}  // namespace cambium::md
