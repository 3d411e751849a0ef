#include "plugins/podlstm/datasets/forecast_windows.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/podlstm/forecast/forecaster.hpp"

namespace cambium::podlstm {

void WindowSet::Params::describe(deck::Describe<Params>& d) {
  d("series", &Params::series, "the coefficients over time");
  d("window", &Params::window, "number of input time steps of a network").at_least(1).def(8);
  d("horizon", &Params::horizon, "forecast horizon: number of predicted time steps").at_least(1).def(8);
  d("split", &Params::part, "split of the years")
      .formerly("part")
      .options({{"training", Part::training}, {"test", Part::test}})
      .def(Part::training);
  d("range", &Params::range, "index range [first, end) of the windows; default: all").example("[0, 314]");
}

void WindowSet::open(Context& context) {
  const Series series = read_series(params_.series, context.comm);
  const Stretch& s = params_.part == Part::training ? series.train : series.test;
  const std::int64_t n =
      window_count(s, {params_.window, params_.horizon}, params_.part == Part::training ? "training" : "test");
  first_ = params_.range ? (*params_.range)[0] : 0;
  last_ = params_.range ? (*params_.range)[1] : n;
  if (first_ < 0 || first_ >= last_ || last_ > n)
    throw KeyError(
        "forecast_windows.range", "range",
        fmt::format("range: [{}, {}] of {} windows holds none or reaches beyond them; give 0 <= first < last <= {}",
                    first_, last_, n, n));
  const MinMax range = MinMax::of(series.train.a);
  const Matrix scaled = range.apply(s.a);
  scaling_ = {range.low, range.width, series.unit == "1" ? "" : series.unit};
  times_ = std::make_shared<const Times>(Times{{scaled.a.begin(), scaled.a.end()}, {s.a.a.begin(), s.a.a.end()}});
  modes_ = series.modes();
}

std::vector<train::FieldInfo> WindowSet::fields() const {
  return {{"window", "", {params_.window, modes_}, DType::f32},
          {"target", "", {params_.horizon, modes_}, DType::f32},
          {"coefficients", scaling_.unit, {params_.window, modes_}, DType::f64}};
}

std::vector<train::SamplePtr> WindowSet::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (std::int64_t id : ids) {
    auto s = std::make_shared<train::Sample>();
    const std::int64_t first = (first_ + id) * modes_;
    const float* x = times_->scaled.data() + first;
    s->id = id;
    s->fields["window"] = io::tensor_of(x, {params_.window, modes_});
    s->fields["target"] = io::tensor_of(x + params_.window * modes_, {params_.horizon, modes_});
    s->fields["coefficients"] = io::tensor_of(times_->coefficients.data() + first, {params_.window, modes_});
    s->storage = times_;
    s->bytes = (params_.window + params_.horizon) * modes_ * 4 + params_.window * modes_ * 8;
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace cambium::podlstm
