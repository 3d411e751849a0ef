#include "plugins/podlstm/forecast/options.hpp"

namespace cambium::podlstm {

void ForecastOptions::describe(deck::Describe<ForecastOptions>& d) {
  using O = ForecastOptions;
  d("series", &O::series, "the coefficients over time");
  d("window", &O::window, "times that a forecast sees").at_least(1).def(8);
  d("horizon", &O::horizon, "times that it gives").at_least(1).def(8);
  d("protocol", &O::protocol,
    "which windows select: the last ones with a gap before them (blocked), or a random share of overlapping windows "
    "(paper), which leaks")
      .options({{"blocked", Protocol::blocked}, {"paper", Protocol::paper}})
      .def(Protocol::blocked);
  d("validation", &O::validation, "share of the training windows that validate")
      .greater_than(0.0)
      .less_than(1.0)
      .def(0.2);
  d("gap", &O::gap, "windows left out before the validation block; window + horizon - 1 when absent").at_least(0);
  d("folds", &O::folds,
    "blocked: number of contiguous blocks that validate in turn, a gap on either side, so that every window validates "
    "once; 1 for the last block alone")
      .range(1, 50)
      .def(1);
  d("ridge", &O::ridge, "penalty of ridge regression of min-max scaled windows").positive().def(0.1);
  d("anomaly_ridge", &O::anomaly_ridge, "penalty of ridge regression of what the harmonics leave").positive().def(1.0);
  d("harmonics", &O::harmonics, "harmonics of the year").at_least(1).def(3);
  d("period", &O::period, "length of the year in days").positive().def(365.2425);
  d("var_order", &O::var_order, "times back in the vector autoregression").at_least(1).def(4);
}

}  // namespace cambium::podlstm
