#pragma once
#include "plugins/kinetic/solver/layout.hpp"

namespace cambium::kinetic {

/// What the cells of one configuration-space pack share: the acceleration's fields as matrices that multiply by them, and
/// their values at nodes, where the largest speed is looked for.
template <class K, class P>
struct Block {
  static constexpr int dims = K::vdim, pair_count = K::pairs > 0 ? K::pairs : 1;
  using T = typename P::value_type;
  bool electric = false, magnetic = false;
  P E[dims * K::sym], B[pair_count * K::sym];
  P e_node[dims][K::nodes], b_node[pair_count][K::nodes], b_most[pair_count];

  /// `fields` holds the scaled coefficients of this pack: the electric part of each velocity dimension, then of each pair.
  CAMBIUM_FN void load(const P* fields, bool has_electric, bool has_magnetic) {
    electric = has_electric, magnetic = has_magnetic && K::pairs > 0;
    if (!electric) {
      for (auto& e : E) e = P(T(0));
      for (auto& row : e_node)
        for (auto& e : row) e = P(T(0));
      return;
    }
    for (int d = 0; d < dims; ++d) {
      K::matrix(fields + d * K::conf, E + d * K::sym);
      nodes(fields + d * K::conf, e_node[d]);
    }
    if (!magnetic) return;
    for (int p = 0; p < K::pairs; ++p) {
      const P* a = fields + (dims + p) * K::conf;
      K::matrix(a, B + p * K::sym);
      nodes(a, b_node[p]);
      b_most[p] = P(T(0));
      for (int q = 0; q < K::nodes; ++q) b_most[p] = max(b_most[p], max(b_node[p][q], -b_node[p][q]));
    }
  }

  /// Bound of the acceleration along d (times 2/dv_d) in the velocity cell with centre W and half width H.
  CAMBIUM_FN P largest(int d, const P* W, const P* H) const {
    P most(T(0));
    for (int q = 0; q < K::nodes; ++q) {
      P a = e_node[d][q];
      if (magnetic)
        for (int k = 0; k < dims - 1; ++k) a += W[other(d, k)] * b_node[d * (dims - 1) + k][q];
      most = max(most, max(a, -a));
    }
    if (magnetic)
      for (int k = 0; k < dims - 1; ++k) most += H[other(d, k)] * b_most[d * (dims - 1) + k];
    return most;
  }

  /// Numerical flux of the acceleration through a face across velocity dimension D, from the traces below and above it.
  template <int D>
  CAMBIUM_FN void flux(const P* below, const P* above, const P* W, const P* H, P most, P* G) const {
    P mean[K::widest_face];
    K::template flux<D>(below, above, E, T(0.5) * most, mean, G);
    if (magnetic) K::template flux_magnetic<D>(mean, W, H, B, G);
  }

 private:
  /// The k-th velocity dimension that is not d: pairs are ordered by d, then by it.
  CAMBIUM_FN static int other(int d, int k) { return k < d ? k : k + 1; }
  CAMBIUM_FN static void nodes(const P* a, P* values) {
    for (int q = 0; q < K::nodes; ++q) {
      P sum(T(0));
      for (int k = 0; k < K::conf; ++k) sum += P(T(K::node_values[q][k])) * a[k];
      values[q] = sum;
    }
  }
};

}  // namespace cambium::kinetic
