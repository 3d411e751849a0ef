#pragma once
#include <array>

#include "plugins/kinetic/solver/kernel_macros.hpp"
#include "plugins/kinetic/solver/layout.hpp"

namespace cambium::kinetic {

/// Upwinding on a face across velocity dimension D node by node: where the acceleration at a Gauss node of the face
/// points upwards the trace below counts, elsewhere the one above; what is found at the nodes is projected to the modes
/// of the face (Juno, PhD thesis, U. Maryland 2020, section 2.6). Three nodes a dimension: exact for what is projected.
template <class K, int D>
struct FaceNodes {
  static constexpr int dims = K::cdim + K::vdim - 1, modes = K::face(K::cdim + D);
  static constexpr int power(int n) { return n ? 3 * power(n - 1) : 1; }
  static constexpr int nodes = power(dims), conf_nodes = power(K::cdim);
  KINETIC_ROW(double, place, {-0.77459666924148337704, 0.0, 0.77459666924148337704})
  KINETIC_ROW(double, weight, {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0})

  /// For node q, its index among the nodes of dimension e of the cell (e is not K::cdim + D): configuration space
  /// fastest.
  static constexpr int index(int q, int e) {
    for (int k = e > K::cdim + D ? e - 1 : e; k > 0; --k) q /= 3;
    return q % 3;
  }
  /// sqrt((2n+1)/2) P_n at a node.
  static constexpr double legendre(int n, int i) {
    const double root_half = 0.70710678118654752440, root_3_2 = 1.22474487139158904910,
                 root_5_2 = 1.58113883008418966600;
    return n == 0 ? root_half : n == 1 ? root_3_2 * place(i) : root_5_2 * (1.5 * place(i) * place(i) - 0.5);
  }
  static constexpr double value(int q, int j) {
    double v = 1.0;
    for (int e = 0; e < K::cdim + K::vdim; ++e)
      if (e != K::cdim + D) v *= legendre(K::exponents(K::face_modes(K::cdim + D, j), e), index(q, e));
    return v;
  }
  static constexpr auto table() {
    std::array<std::array<double, modes>, nodes> t{};
    for (int q = 0; q < nodes; ++q)
      for (int j = 0; j < modes; ++j) t[q][j] = value(q, j);
    return t;
  }
  static constexpr auto weights() {
    std::array<double, nodes> w{};
    for (int q = 0; q < nodes; ++q) {
      w[q] = 1.0;
      for (int e = 0; e < K::cdim + K::vdim; ++e)
        if (e != K::cdim + D) w[q] *= weight(index(q, e));
    }
    return w;
  }
#if defined(CAMBIUM_DEVICE_COMPILER)
  CAMBIUM_FN static double values(int q, int j) {
    static constexpr auto all = table();
    return all[q][j];
  }
  CAMBIUM_FN static double node_weights(int q) {
    static constexpr auto all = weights();
    return all[q];
  }
#else
  static constexpr auto all_values = table();
  static constexpr auto all_weights = weights();
  CAMBIUM_FN static double values(int q, int j) { return all_values[q][j]; }
  CAMBIUM_FN static double node_weights(int q) { return all_weights[q]; }
#endif
};

/// The projection of sign(a) m on the face, where `sign(q)` gives the acceleration at node q and m the modes of a
/// function.
template <class K, int D, class P, class Acceleration>
CAMBIUM_FN void signed_modes(const P* m, const Acceleration& acceleration, P* out) {
  using T = typename P::value_type;
  using N = FaceNodes<K, D>;
  for (int j = 0; j < N::modes; ++j) out[j] = P(T(0));
  for (int q = 0; q < N::nodes; ++q) {
    P value(T(0));
    for (int j = 0; j < N::modes; ++j) value += P(T(N::values(q, j))) * m[j];
    value = select(acceleration(q) < P(T(0)), -value, value) * P(T(N::node_weights(q)));
    for (int j = 0; j < N::modes; ++j) out[j] += P(T(N::values(q, j))) * value;
  }
}

}  // namespace cambium::kinetic
