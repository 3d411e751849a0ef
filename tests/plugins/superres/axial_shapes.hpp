#pragma once
// Vision transformers of small sizes: around a periodic x and between ends, with one patch along an axis.
#include <vector>

#include "plugins/superres/networks/axial/axial_layers.hpp"

namespace cambium::superres::testing {

inline std::vector<AxialShape> axial_shapes() {
  return {{{8, 6}, {2, 3}, true, 3, 2, 6, 2, 2, 5},
          {{6, 4}, {2, 1}, false, 2, 3, 4, 1, 2, 7},
          {{4, 4}, {1, 4}, true, 1, 1, 6, 3, 1, 4}};
}

}  // namespace cambium::superres::testing
