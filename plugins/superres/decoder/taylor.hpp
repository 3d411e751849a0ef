#pragma once
#include "plugins/superres/decoder/latent_cells.hpp"

namespace cambium::superres {

/// Second-order Taylor expansion of a field around each node of a grid, from coarse samples only. Blended over the
/// corners of a cell it is a smooth third-order interpolation, to which a network adds its correction.
struct Taylor {
  static constexpr int coefficients = 10;
  /// Derivative of coefficient k: value, t, x, z, tt, xx, zz, tx, tz, xz.
  static constexpr std::array<MultiIndex, coefficients> index{
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}}};
  std::vector<double> at;  ///< (nodes, coefficients)

  double operator()(std::int64_t node, int k) const { return at[node * coefficients + k]; }
};

/// From values (nodes), by differences over five nodes; the period is that of the cells.
Taylor taylor_of(const LatentCells& cells, const std::vector<double>& values);
/// For a stream function with u = d psi/dz, w = -d psi/dx: its derivatives are u, w and their differences, its value
/// the integral of u.
Taylor stream_function_of(const LatentCells& cells, const std::vector<double>& u, const std::vector<double>& w);

/// Values of all streams at the rows: (streams, rows, outputs), from one expansion per output. Node indices of the
/// query count from `first_node`; offsets are in units of the nodes' spacing.
template <class T>
void expand(const std::vector<Taylor>& outputs, const DecoderQuery<T>& query, std::int64_t first_node,
            const JetBasis& basis, T* out);

}  // namespace cambium::superres
