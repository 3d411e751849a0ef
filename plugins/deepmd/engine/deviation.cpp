#include "plugins/deepmd/engine/deviation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::deepmd {

namespace {

/// Adds (f - mean) squared of one model to `squares`; `mean` is the models' mean force.
void add_squares(int nlocal, const View<double* [3]>& f, const View<double* [3]>& mean, const View<double*>& squares) {
  Kokkos::parallel_for(
      "model_deviation: squares", Range(0, nlocal), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) squares(i) += (f(i, k) - mean(i, k)) * (f(i, k) - mean(i, k));
      });
}

void add_scaled(int nlocal, const View<double* [3]>& f, double factor, const View<double* [3]>& sum) {
  Kokkos::parallel_for(
      "model_deviation: mean", Range(0, nlocal), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) sum(i, k) += factor * f(i, k);
      });
}

void virial_part(std::vector<std::array<double, 9>> virials, std::int64_t nglobal, const Comm& comm,
                 ModelDeviation& out) {
  for (auto& virial : virials) comm.sum(virial);
  const auto models = static_cast<double>(virials.size());
  double squares = 0.0;
  out.virial_min = std::numeric_limits<double>::max();
  for (std::size_t k = 0; k < 9; ++k) {
    double mean = 0.0, variance = 0.0;
    for (const auto& virial : virials) mean += virial[k] / models;
    for (const auto& virial : virials) variance += (virial[k] - mean) * (virial[k] - mean) / models;
    const double deviation = std::sqrt(variance) / static_cast<double>(nglobal);
    out.virial_max = std::max(out.virial_max, deviation);
    out.virial_min = std::min(out.virial_min, deviation);
    squares += deviation * deviation;
  }
  out.virial_rms = std::sqrt(squares / 9.0);
}

}  // namespace

ModelDeviation model_deviation(const std::vector<View<double* [3]>>& forces, std::vector<std::array<double, 9>> virials,
                               int nlocal, std::int64_t nglobal, const Comm& comm) {
  ModelDeviation out;
  const double share = 1.0 / static_cast<double>(forces.size());
  View<double* [3]> mean("model_deviation: mean", static_cast<std::size_t>(nlocal));
  out.force = View<double*>("model_deviation: force", static_cast<std::size_t>(nlocal));
  for (const auto& f : forces) add_scaled(nlocal, f, share, mean);
  for (const auto& f : forces) add_squares(nlocal, f, mean, out.force);
  const View<double*> deviation = out.force;
  double largest = 0.0, smallest = std::numeric_limits<double>::max(), sum = 0.0;
  Kokkos::parallel_reduce(
      "model_deviation: reduce", Range(0, nlocal),
      KOKKOS_LAMBDA(const int i, double& high, double& low, double& total) {
        const double d = std::sqrt(deviation(i) * share);
        deviation(i) = d;
        high = d > high ? d : high;
        low = d < low ? d : low;
        total += d;
      },
      Kokkos::Max<double>(largest), Kokkos::Min<double>(smallest), sum);
  out.force_max = comm.max(largest);
  out.force_min = comm.min(smallest);
  out.force_mean = comm.sum(sum) / static_cast<double>(nglobal);
  virial_part(std::move(virials), nglobal, comm, out);
  return out;
}

}  // namespace cambium::deepmd
