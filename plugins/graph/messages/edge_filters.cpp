#include "plugins/graph/messages/edge_filters.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::graph {

void EdgeFilters::functions(const MessageModel& model, const double* r, int edges, bool slopes) {
  const auto n = static_cast<std::size_t>(model.radial), all = static_cast<std::size_t>(edges);
  cut_.resize(all);
  cut_slope_.resize(all);
  function_.resize(all * n);
  if (slopes) function_slope_.resize(all * n);
  const double wave = constants::pi / model.cutoff;
  for (std::size_t e = 0; e < all; ++e) {
    const double x = r[e] / model.cutoff;
    const double cut = cut_[e] = 1.0 + x * x * x * (-10.0 + x * (15.0 - 6.0 * x));
    const double cut_slope = cut_slope_[e] = -30.0 * x * x * (1.0 - x) * (1.0 - x) / model.cutoff;
    // Recurrence: sin and cos of n a are 2 cos(a) times those of (n - 1) a minus those of (n - 2) a.
    const double s = std::sin(wave * r[e]), c = std::cos(wave * r[e]), inverse = 1.0 / r[e];
    double sine = s, before = 0.0, cosine = c, cosine_before = 1.0;
    for (std::size_t k = 0; k < n; ++k) {
      const double value = sine * inverse;
      function_[e * n + k] = value * cut;
      if (slopes)
        function_slope_[e * n + k] =
            (static_cast<double>(k + 1) * wave * cosine - value) * inverse * cut + value * cut_slope;
      const double next = 2.0 * c * sine - before, cosine_next = 2.0 * c * cosine - cosine_before;
      before = sine;
      sine = next;
      cosine_before = cosine;
      cosine = cosine_next;
    }
  }
}

void EdgeFilters::compute(const MessageModel& model, const MessageLinear& filter, const double* r, int edges,
                          bool slopes) {
  functions(model, r, edges, slopes);
  const auto width = static_cast<std::size_t>(filter.out), all = static_cast<std::size_t>(edges) * width;
  value_.resize(all);
  filter.layer().forward(edges, function_.data(), value_.data());
  if (slopes) {
    slope_.resize(all);
    const DenseLayer<double> without_bias{filter.in, filter.out, filter.weights.data(), nullptr};
    without_bias.forward(edges, function_slope_.data(), slope_.data());
  }
  for (std::size_t e = 0; e < static_cast<std::size_t>(edges); ++e) {
    const double cut = cut_[e], cut_slope = cut_slope_[e];
    for (std::size_t k = e * width; k < (e + 1) * width; ++k) {
      if (slopes) slope_[k] = slope_[k] * cut + value_[k] * cut_slope;
      value_[k] *= cut;
    }
  }
}

}  // namespace cambium::graph
