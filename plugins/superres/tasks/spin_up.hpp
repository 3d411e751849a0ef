#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"

namespace cambium::superres {

/// A time series of a run.
struct Series {
  std::vector<double> time, value;
};

/// Mean over time from `from` on, by the trapezoidal rule.
double time_mean(const Series& series, double from, double to);

/// Time from which on every average over `window` stays within the fraction `share` of `steady`; empty when the last
/// average does not, or the run is shorter than a window.
std::optional<double> settled_at(const Series& series, double steady, double window, double share);

/// Stage `spin_up`: time that runs need to reach the statistically steady state, which is defined by the end of one of
/// them.
class SpinUp : public Task {
 public:
  struct Steady {
    std::string run;
    double from = 0.0;
    static void describe(deck::Describe<Steady>& d);
  };
  struct Params {
    std::map<std::string, std::string> runs;
    Steady steady;
    std::vector<std::string> quantities;
    double window = 0.0, within = 0.0;
    static void describe(deck::Describe<Params>& d);
  };
  SpinUp(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context& context) override;
  Work work() const override { return {std::ssize(params_.runs), "run"}; }
  std::vector<std::string> files() const override { return {"spin_up.csv"}; }

 private:
  Series series_of(const std::string& run, const std::string& quantity) const;
  void judge(Context& context) const;

  Params params_;
};

}  // namespace cambium::superres
