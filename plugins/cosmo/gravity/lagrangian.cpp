#include "plugins/cosmo/gravity/lagrangian.hpp"

#include "plugins/cosmo/gravity/clouds.hpp"

namespace cambium::cosmo {
namespace {

using Values = View<double*>;

/// Column `axis` of `to`: factor times own rows of a field on the lattice.
void take(const Values& field, std::int64_t begin, double factor, int axis, const View<double**>& to) {
  const int rows = static_cast<int>(to.extent(0)), first = static_cast<int>(begin);
  Kokkos::parallel_for(
      "start: own particles", Range(0, rows), KOKKOS_LAMBDA(int i) { to(i, axis) = factor * field(first + i); });
}

/// sum += sign a b
void add_product(const Values& sum, const Values& a, const Values& b, double sign) {
  Kokkos::parallel_for(
      "start: product", Range(0, static_cast<int>(sum.extent(0))),
      KOKKOS_LAMBDA(int i) { sum(i) += sign * a(i) * b(i); });
}

void gradient(const BoxWaves& box, const Values& potential, std::int64_t begin, double factor,
              const View<double**>& to) {
  const Values waves("start: gradient", box.waves()), values("start: values", box.values());
  for (int d = 0; d < 3; ++d) {
    box.derivative(potential, d, waves);
    box.backward(waves, values);
    take(values, begin, factor, d, to);
  }
}

Values second_derivative(const BoxWaves& box, const Values& potential, int i, int j) {
  const Values once("start: once", box.waves()), twice("start: twice", box.waves());
  const Values values("start: second derivative", box.values());
  box.derivative(potential, i, once);
  box.derivative(once, j, twice);
  box.backward(twice, values);
  return values;
}

/// Waves of the source of second order.
Values source(const BoxWaves& box, const Values& potential) {
  const Values sum("start: source", box.values()), waves("start: source waves", box.waves());
  Values diagonal[3];
  for (int i = 0; i < 3; ++i) diagonal[i] = second_derivative(box, potential, i, i);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) {
      const Values mixed = second_derivative(box, potential, i, j);
      add_product(sum, diagonal[i], diagonal[j], 1.0);
      add_product(sum, mixed, mixed, -1.0);
    }
  box.forward(sum, waves);
  return waves;
}

}  // namespace

Displacements displacements(const BoxWaves& box, const View<const double*>& density, int order, std::int64_t begin,
                            std::int64_t rows) {
  Displacements out{View<double**>("start: first order", rows, 3), View<double**>("start: second order", rows, 3)};
  const Values potential("start: potential", box.waves());
  Kokkos::deep_copy(potential, density);
  box.inverse_laplacian(potential, 1.0);
  gradient(box, potential, begin, -1.0, out.first);
  if (order < 2) return out;
  const Values second = source(box, potential);
  box.inverse_laplacian(second, 1.0);
  gradient(box, second, begin, 1.0, out.second);
  return out;
}

void move_to(const Displacements& by, const Moment& at, const BoxWaves& box, double origin, std::int64_t begin,
             const View<double**>& position, const View<double**>& momentum) {
  const auto first = by.first, second = by.second;
  const Growth g = at.growth;
  const double edge = box.box(), spacing = edge / box.cells(), speed = at.a * at.a * at.rate;
  const double p1 = speed * g.first * g.first_rate, p2 = speed * g.second * g.second_rate;
  const int n = box.cells(), rows = static_cast<int>(first.extent(0)), from = static_cast<int>(begin);
  Kokkos::parallel_for(
      "start: move", Range(0, rows), KOKKOS_LAMBDA(int i) {
        const int particle = from + i, site[3] = {particle / n / n, particle / n % n, particle % n};
        for (int d = 0; d < 3; ++d) {
          const double x = origin + spacing * site[d] + g.first * first(i, d) + g.second * second(i, d);
          position(i, d) = wrapped(x, edge);
          momentum(i, d) = p1 * first(i, d) + p2 * second(i, d);
        }
      });
}

}  // namespace cambium::cosmo
