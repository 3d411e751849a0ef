#include "plugins/superres/evaluate/forecast_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/superres/equations/field_file.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "plugins/superres/samples/snapshot.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

/// Reads all frames; unlike read_fields() it accepts non-finite values, as in unstable forecasts.
FieldData read_forecast(const std::string& path, double period) {
  const FieldFile file(path);
  FieldData out;
  out.file = path;
  out.period = period;
  out.names.assign(flow_fields.begin(), flow_fields.end());
  out.axis = axes_of(file, path);
  const std::array<std::int64_t, 3> whole{std::ssize(out.axis[0]), std::ssize(out.axis[1]), std::ssize(out.axis[2])};
  for (const auto& name : out.names) out.values.push_back(file.read(name, whole, 0));
  return out;
}

/// True if both have the same coordinates to single precision.
bool same_places(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](double one, double other) {
           return std::fabs(one - other) <= 1e-5 * std::fabs(b.back() - b.front());
         });
}

/// Spacing of the outer points along one axis: tolerance for points beyond those of another grid.
double outer_spacing(const std::vector<double>& places) {
  const std::size_t n = places.size();
  return n < 2 ? 0.0 : std::max(places[1] - places[0], places[n - 1] - places[n - 2]);
}

void require_domain(const FieldData& forecast, const FieldData& truth) {
  for (int a = 1; a < 3; ++a) {
    const auto &own = forecast.axis[a], &other = truth.axis[a];
    const double slack = outer_spacing(own) + outer_spacing(other);
    if (std::fabs(own.front() - other.front()) <= slack && std::fabs(own.back() - other.back()) <= slack) continue;
    throw KeyError("score_forecasts.forecasts.domain", "forecasts",
                   fmt::format("'{}' has {} from {:g} to {:g}, and '{}' from {:g} to {:g}: give forecasts of the same "
                               "domain, in the same unit of length",
                               forecast.file, a == 1 ? "x" : "z", own.front(), own.back(), truth.file, other.front(),
                               other.back()));
  }
}

class FileForecaster : public Forecaster {
 public:
  FileForecaster(const std::string& path, const FieldData& truth, double b_shift)
      : frames_(read_forecast(path, truth.period)), interval_(truth.axis[0][1] - truth.axis[0][0]) {
    require_domain(frames_, truth);
    for (int a = 1; a < 3; ++a)
      if (!same_places(frames_.axis[a], truth.axis[a])) frames_ = resampled(frames_, a, truth.axis[a], 4);
    const double shift = b_shift - (require_layer(path) ? well_b_shift : 0.0);
    shift_buoyancy(frames_, shift);
  }

  void start(const FieldData&) override {}

  FieldData next(double time) override {
    const auto& times = frames_.axis[0];
    const auto found = std::min_element(times.begin(), times.end(),
                                        [&](double a, double b) { return std::fabs(a - time) < std::fabs(b - time); });
    if (std::fabs(*found - time) > 0.01 * interval_)
      throw KeyError(
          "score_forecasts.forecasts.times", "forecasts",
          fmt::format("'{}' has {} frames from t = {:g} to {:g} and none at t = {:g}, which is forecast: give a frame "
                      "for each of the data that 'history', 'every' and 'horizon' require, with the times of the data",
                      frames_.file, times.size(), times.front(), times.back(), time));
    auto out = frame_of(frames_, static_cast<std::size_t>(found - times.begin()));
    out.axis[0] = {time};
    return out;
  }

 private:
  FieldData frames_;
  double interval_;
};

}  // namespace

void ForecastFiles::describe(deck::Describe<ForecastFiles>& d) {
  d("one_step", &ForecastFiles::one_step,
    "HDF5 files of p, b, u, w, one for each file of 'data': each frame is the forecast of the data at its time, "
    "started one frame before; default: no errors of one step in this row")
      .def({});
  d("rollout", &ForecastFiles::rollout,
    "HDF5 files of p, b, u, w, one for each file of 'data': frames of the long forecast at the times of the data; "
    "default: no errors by lead in this row")
      .def({});
  d.check([](const ForecastFiles& f) {
    return f.one_step.empty() && f.rollout.empty() ? "names no file: give 'one_step', 'rollout' or both" : "";
  });
}

std::unique_ptr<Forecaster> file_forecaster(const std::string& path, const FieldData& truth, double b_shift) {
  return std::make_unique<FileForecaster>(path, truth, b_shift);
}

}  // namespace cambium::superres
