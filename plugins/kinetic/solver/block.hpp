#pragma once
#include "plugins/kinetic/solver/face_upwind.hpp"

namespace cambium::kinetic {

/// Common part of the cells of one configuration-space pack: the acceleration's fields as matrices that multiply by
/// them, and their values at nodes, where the largest speed is looked for.
template <class K, class P>
struct Block {
  static constexpr int dims = K::vdim, pair_count = K::pairs > 0 ? K::pairs : 1;
  using T = typename P::value_type;
  static constexpr int gauss = FaceNodes<K, 0>::conf_nodes;
  static constexpr double degrees_0_and_1 = 0.57735026918962576451;  ///< their coupling by xi
  bool electric = false, magnetic = false, upwind = false;
  T quarter = 0;  ///< of the stage's length
  P E[dims * K::sym], B[pair_count * K::sym], X[pair_count * K::sym];
  P e_node[dims][K::nodes], b_node[pair_count][K::nodes], b_most[pair_count];
  P e_gauss[dims][gauss], b_gauss[pair_count][gauss];  ///< at the Gauss nodes, for upwinding

  /// `fields` holds the scaled coefficients of this pack: the electric part of each velocity dimension, then of each
  /// pair; `half` the half widths of velocity cells, scaled, and `length` that of the stage.
  CAMBIUM_FN void load(const P* fields, bool has_electric, bool has_magnetic, const T* half, T length) {
    electric = has_electric;
    magnetic = has_magnetic && K::pairs > 0;
    quarter = T(0.25) * length;
    if (!electric) {  // never read, but the compiler cannot know
      for (auto& e : E) e = P(T(0));
      for (auto& row : e_node)
        for (auto& e : row) e = P(T(0));
      return;
    }
    for (int d = 0; d < dims; ++d) load_matrix(fields + d * K::conf, E + d * K::sym, e_node[d]);
    if (upwind)
      for (int d = 0; d < dims; ++d) at_gauss(fields + d * K::conf, e_gauss[d]);
    if (!magnetic) return;
    for (int p = 0; p < K::pairs; ++p) {
      load_matrix(fields + (dims + p) * K::conf, B + p * K::sym, b_node[p]);
      if (upwind) at_gauss(fields + (dims + p) * K::conf, b_gauss[p]);
      const P h(half[other(p / (dims - 1), p % (dims - 1))] * T(degrees_0_and_1));
      for (int k = 0; k < K::sym; ++k) X[p * K::sym + k] = h * B[p * K::sym + k];  // where all widths are equal
      b_most[p] = P(T(0));
      for (int q = 0; q < K::nodes; ++q) b_most[p] = max(b_most[p], max(b_node[p][q], -b_node[p][q]));
    }
  }

  /// Bound of the acceleration along d (times 2/dv_d) in the velocity cell with centre W and half width H.
  CAMBIUM_FN P largest(int d, const T* W, const T* H) const {
    P most(T(0));
    for (int q = 0; q < K::nodes; ++q) {
      P a = e_node[d][q];
      if (magnetic)
        for (int k = 0; k < dims - 1; ++k) a += P(W[other(d, k)]) * b_node[d * (dims - 1) + k][q];
      most = max(most, max(a, -a));
    }
    if (magnetic)
      for (int k = 0; k < dims - 1; ++k) most += P(H[other(d, k)]) * b_most[d * (dims - 1) + k];
    return most;
  }

  /// Adds the acceleration along D to a cell: see Kernels::push. `stretched`: half widths H differ from cell to cell,
  /// and the unit of widths is Layout::dv.
  template <int D, bool stretched>
  CAMBIUM_FN void push(const P* f, const P* g, const T* W, const T* H, P most, P* below, P* out) const {
    P own[stretched ? pair_count * K::sym : 1];
    if (magnetic)
      K::template push<D, true>(f, g, E + D * K::sym, B, couplings<D, stretched>(H, own), W, P(quarter) * most, below,
                                out);
    else
      K::template push<D, false>(f, g, E + D * K::sym, B, X, W, P(quarter) * most, below, out);
  }

  /// The same with the upwind flux.
  template <int D, bool stretched>
  CAMBIUM_FN void push_upwind(const P* f, const P* g, const T* W, const T* H, P* below, P* out) const {
    constexpr int F = K::face(K::cdim + D);
    P lower[F], upper[F], G[F], none[F];
    push<D, stretched>(f, nullptr, W, H, P(T(0)), below, out);  // nothing through the upper face
    if (!g) return;
    K::template trace<K::cdim + D>(f, T(1), lower);
    K::template trace<K::cdim + D>(g, T(-1), upper);
    flux<D, stretched>(lower, upper, W, H, P(T(0)), G);
    for (int j = 0; j < F; ++j) {
      none[j] = P(T(0));
      below[j] = G[j];
    }
    K::template lift<D>(none, G, out);
  }

  /// Numerical flux of the acceleration through a face across velocity dimension D, from the traces below and above it.
  template <int D, bool stretched>
  CAMBIUM_FN void flux(const P* below, const P* above, const T* W, const T* H, P most, P* G) const {
    if (!upwind) return mean_flux<D, stretched>(below, above, W, H, most, G);
    constexpr int F = K::face(K::cdim + D);
    P jump[F], side[F], none[F];
    for (int j = 0; j < F; ++j) {
      jump[j] = below[j] - above[j];
      none[j] = P(T(0));
    }
    signed_modes<K, D, P>(
        jump, [&](int q) { return acceleration<D>(q, W, H); }, side);
    for (int j = 0; j < F; ++j) side[j] += below[j] + above[j];
    mean_flux<D, stretched>(side, none, W, H, P(T(0)), G);
  }

 private:
  /// The matrices X that the acceleration along D meets in a cell of half widths H; those of unequal cells are written
  /// to `own`.
  template <int D, bool stretched>
  CAMBIUM_FN const P* couplings(const T* H, P* own) const {
    if constexpr (stretched) {
      for (int k = 0; k < dims - 1; ++k) {
        const int first = (D * (dims - 1) + k) * K::sym;
        const P h(H[other(D, k)] * T(degrees_0_and_1));
        for (int i = first; i < first + K::sym; ++i) own[i] = h * B[i];
      }
      return own;
    } else {
      return X;
    }
  }
  template <int D, bool stretched>
  CAMBIUM_FN void mean_flux(const P* below, const P* above, const T* W, const T* H, P most, P* G) const {
    P own[stretched ? pair_count * K::sym : 1];
    if (magnetic)
      K::template flux<D, true>(below, above, E + D * K::sym, B, couplings<D, stretched>(H, own), W, P(quarter) * most,
                                G);
    else
      K::template flux<D, false>(below, above, E + D * K::sym, B, X, W, P(quarter) * most, G);
  }
  /// At node q of a face across velocity dimension D, times 2/dv.
  template <int D>
  CAMBIUM_FN P acceleration(int q, const T* W, const T* H) const {
    using N = FaceNodes<K, D>;
    P a = e_gauss[D][q % gauss];
    if (magnetic)
      for (int k = 0; k < dims - 1; ++k) {
        const int e = other(D, k);
        a += P(W[e] + T(N::place(N::index(q, K::cdim + e))) * H[e]) * b_gauss[D * (dims - 1) + k][q % gauss];
      }
    return a;
  }

  /// The k-th velocity dimension that is not d: pairs are ordered by d, then by it.
  CAMBIUM_FN static int other(int d, int k) { return k < d ? k : k + 1; }
  /// A quarter of the stage's length times the matrix of a field, and the field's values at the nodes.
  CAMBIUM_FN void load_matrix(const P* a, P* matrix, P* values) const {
    P scaled[K::conf];
    for (int k = 0; k < K::conf; ++k) scaled[k] = P(quarter) * a[k];
    K::matrix(scaled, matrix);
    for (int q = 0; q < K::nodes; ++q) {
      P sum(T(0));
      for (int k = 0; k < K::conf; ++k) sum += P(T(K::node_values(q, k))) * a[k];
      values[q] = sum;
    }
  }
  CAMBIUM_FN void at_gauss(const P* a, P* values) const {
    for (int q = 0; q < gauss; ++q) {
      P sum(T(0));
      for (int k = 0; k < K::conf; ++k) {
        T chi = 1;
        for (int d = 0, rest = q; d < K::cdim; ++d, rest /= 3)
          chi *= T(FaceNodes<K, 0>::legendre(K::conf_exponents(k, d), rest % 3));
        sum += P(chi) * a[k];
      }
      values[q] = sum;
    }
  }
};

}  // namespace cambium::kinetic
