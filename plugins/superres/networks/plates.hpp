#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/superres/decoder/latent_cells.hpp"

namespace cambium::superres {

/// Values imposed exactly on fields on two plates z = const: the interpolation of coarse samples has the plates among
/// its nodes, and the network's contribution is multiplied by a function that vanishes there.
struct Plates {
  std::array<double, 2> z{0.0, 1.0};
  std::map<std::string, double> lower, upper;  ///< value by field
  static void describe(deck::Describe<Plates>& d);

  /// 1 - (1 - 2 s)^8 with s from 0 to 1 between the plates, and its derivatives with respect to z.
  std::array<double, 4> vanishing(double place) const;
};

/// Jets of the interpolation of one field by tensor-product splines: (streams, count) at points (count, 3). `values`
/// (t, x, z) are given at the nodes of `cells`; with `ends` the lower and the upper plate's value are additional nodes
/// along z. InputError when samples are on or beyond a plate.
std::vector<double> spline_jets(const LatentCells& cells, const std::vector<double>& values, const Plates& plates,
                                const std::array<double, 2>* ends, const double* points, std::int64_t count,
                                const JetBasis& basis);

}  // namespace cambium::superres
