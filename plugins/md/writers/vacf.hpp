#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/md/writers/correlation_file.hpp"

namespace cambium::md {

/// Velocity autocorrelation function <v(t0) . v(t0 + t)> of all particles and of each species, over time origins t0,
/// and its running integral D(t) = 1/3 int_0^t (Green 1954, Kubo 1957), whose final value is the diffusion coefficient.
/// Files: vacf.h5 and vacf.csv.
class Vacf : public Writer {
 public:
  struct Params {
    std::int64_t every = 5, from = 0;
    int length = 400, origins = 40;
    bool remove_drift = true;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "steps between two samples").at_least(1).def(5);
      d("start_step", &Params::from, "first step that is sampled").formerly("from").at_least(0).def(0);
      d("max_lag", &Params::length, "longest lag, in samples").formerly("length").at_least(1).def(400);
      d("origins", &Params::origins, "number of time origins within max_lag; each costs one copy of the velocities")
          .at_least(1)
          .def(40);
      d("remove_drift", &Params::remove_drift, "subtract the motion of the centre of mass").def(true);
    }
  };
  Vacf(const Params& params, Context& context)
      : params_(params), context_(context),
        correlation_(TimeCorrelation::Kind::product, params.length, params.origins) {
    require_room_for_lags(params.length, context);
  }

  std::int64_t every() const override { return params_.every; }
  std::int64_t first() const override { return params_.from; }
  void observe(const State& state, std::int64_t step, double time) override;
  void finish(const State& state) override;
  void save(io::Group& group) const override { correlation_.save(group); }
  void load(const io::Group& group) override { correlation_.load(group); }
  std::vector<std::string> files() const override { return {"vacf.h5", "vacf.csv"}; }

 private:
  Params params_;
  Context& context_;
  TimeCorrelation correlation_;  ///< filled on rank 0
};

/// Integral from the first point to each point by the trapezoidal rule.
std::vector<double> running_integral(const std::vector<double>& time, const std::vector<double>& value);

}  // namespace cambium::md
