#include "core/io/structures/cluster_cell.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cambium::io {

void put_in_vacuum(Structure& structure) {
  constexpr double vacuum = 10.0;  // Å
  double rows[3][3] = {}, rotation[3][3], corner[3];
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [low, high] = std::minmax_element(structure.x.begin(), structure.x.end(),
                                                 [k](const auto& a, const auto& b) { return a[k] < b[k]; });
    rows[k][k] = (*high)[k] - (*low)[k] + 2.0 * vacuum;
    corner[k] = (*low)[k] - vacuum;
  }
  structure.box = Box::from_vectors(rows, rotation);
  std::copy(corner, corner + 3, structure.box.origin);
  structure.remarks.push_back(
      fmt::format("a cluster, put in a cell of {:.6g} x {:.6g} x {:.6g} Å with {:g} Å of vacuum on each side",
                  rows[0][0], rows[1][1], rows[2][2], vacuum));
}

}  // namespace cambium::io
