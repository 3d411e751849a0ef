#include "plugins/assimilate/filters/static_covariance.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"
#include "plugins/assimilate/filters/gaspari_cohn.hpp"

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dpotrs_(const char*, const int*, const int*, const double*, const int*, double*, const int*, int*);
}

namespace cambium::assimilate {

StaticCovariance::StaticCovariance(const Climatology& climatology, const Network& network, const StateSpace& space,
                                   double scale, double half_width)
    : climatology_(climatology), network_(network), space_(space), scale_(scale), half_width_(half_width) {
  const auto n = climatology_.elements;
  seen_.resize(climatology_.samples * network_.size());
  for (std::size_t s = 0; s < climatology_.samples; ++s)
    network_.apply(std::span(climatology_.anomalies).subspan(s * n, n),
                   std::span(seen_).subspan(s * network_.size(), network_.size()));
  factor();
}

void StaticCovariance::factor() {
  const int p = static_cast<int>(network_.size()), samples = static_cast<int>(climatology_.samples);
  factor_.resize(network_.size() * network_.size());
  host_gemm(true, false, p, p, samples, scale_ / (samples - 1), seen_.data(), p, seen_.data(), p, 0.0, factor_.data(),
            p);
  for (int i = 0; i < p; ++i) {
    const auto& a = network_.list[i];
    for (int j = 0; j < p && half_width_ > 0.0; ++j) {
      const auto& b = network_.list[j];
      factor_[static_cast<std::size_t>(i) * p + j] *= gaspari_cohn(distance(space_, a.x, a.z, b.x, b.z), half_width_);
    }
    factor_[static_cast<std::size_t>(i) * p + i] += a.deviation * a.deviation;
  }
  int info = 0;
  dpotrf_("L", &p, factor_.data(), &p, &info);
  if (info != 0)
    throw NumericalError(fmt::format(
        "the covariance of {} observations has no Cholesky factor (LAPACK dpotrf: {}); are two observations "
        "the same, with tiny errors?",
        p, info));
}

void StaticCovariance::analyse(std::span<double> state, std::span<const double> observed) {
  const Region region("analysis by a fixed covariance", WorkKind::elementwise);
  const auto p = network_.size(), n = climatology_.elements, samples = climatology_.samples;
  std::vector<double> v(p);
  network_.apply(state, v);
  for (std::size_t i = 0; i < p; ++i) v[i] = observed[i] - v[i];
  const int rows = static_cast<int>(p), one = 1;
  int info = 0;
  dpotrs_("L", &rows, &one, factor_.data(), &rows, v.data(), &rows, &info);
  const double factor = scale_ / static_cast<double>(samples - 1);
  std::vector<double> pull(samples);
  std::vector<std::pair<std::size_t, double>> near;  // observations used at a grid point, their weighted misfits
  for (std::size_t place = 0; place < space_.places(); ++place) {
    if (place == 0 || half_width_ > 0.0) {
      const double x = space_.x[place / space_.nz()], z = space_.z[place % space_.nz()];
      near.clear();
      for (std::size_t i = 0; i < p; ++i) {
        const auto& at = network_.list[i];
        const double weight = half_width_ > 0.0 ? gaspari_cohn(distance(space_, x, z, at.x, at.z), half_width_) : 1.0;
        if (weight > 0.0) near.emplace_back(i, weight * v[i]);
      }
      for (std::size_t s = 0; s < samples; ++s) {
        pull[s] = 0.0;
        for (const auto& [i, misfit] : near) pull[s] += seen_[s * p + i] * misfit;
      }
    }
    for (std::size_t e = place; e < n; e += space_.places())
      for (std::size_t s = 0; s < samples; ++s) state[e] += factor * climatology_.anomalies[s * n + e] * pull[s];
  }
}

}  // namespace cambium::assimilate
