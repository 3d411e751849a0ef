#pragma once
#include <cmath>

#include "core/base/pack.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/train/optimizers/device_update.hpp"

namespace cambium::train::detail {

/// Gradient in the form used by the optimizer: of the mean loss, clipped; rounded step by step like scale() and
/// Clip::apply().
template <class T>
struct TakenGradient {
  T factor, bound;
  bool bounded, shrinks;
  double norm;
  const double* square;

  explicit TakenGradient(const DeviceUpdate& u)
      : factor(static_cast<T>(u.factor)), bound(static_cast<T>(u.value.value_or(0.0))), bounded(u.value.has_value()),
        shrinks(u.norm.has_value() && u.square), norm(u.norm.value_or(0.0)), square(u.square) {}

  CAMBIUM_FN T within_value(T g) const {
    g *= factor;
    if (!bounded) return g;
    return g < -bound ? -bound : g > bound ? bound : g;
  }
  CAMBIUM_FN T operator()(T g) const {
    g = within_value(g);
    if (!shrinks) return g;
    const double before = std::sqrt(*square);
    return before > norm ? g * static_cast<T>(norm / before) : g;
  }
};

/// w = rule(i, decays, w, g) for every element i, and its average. Padding, which is 0, stays 0.
template <class T, class Rule>
void step_by_kernel(const DeviceUpdate& u, const Rule& rule) {
  const TakenGradient<T> taken(u);
  T* const weights = static_cast<T*>(u.weights);
  T* const average = static_cast<T*>(u.average);
  const T* const gradients = static_cast<const T*>(u.gradients);
  const std::uint8_t* const decays = u.decays;
  const bool copy = !u.average_decay;
  const T keep = static_cast<T>(u.average_decay.value_or(0.0)),
          take = static_cast<T>(1.0 - u.average_decay.value_or(0.0));
  Kokkos::parallel_for(
      "step of the weights", Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>(0, u.size),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const T w = rule(i, decays[i / 16] != 0, weights[i], taken(gradients[i]));
        weights[i] = w;
        if (average) average[i] = copy ? w : std::fma(keep, average[i], take * w);
      });
}

}  // namespace cambium::train::detail
