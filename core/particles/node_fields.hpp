#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cambium {

/// Points and the cells between them, as input of physics-independent writers: the edges of a graph, or triangles.
struct NodeCells {
  std::vector<std::array<double, 3>> points;
  int corners = 3;                         ///< of a cell: 2 for edges, 3 for triangles
  std::vector<std::int64_t> connectivity;  ///< [cell][corner], indices of points
  std::int64_t cells() const { return std::ssize(connectivity) / corners; }
};

/// Fields on the nodes of a graph or an unstructured mesh at one time.
struct NodeFields {
  struct Field {
    std::string name, unit;
    int components = 1;          ///< 3 for a vector
    std::vector<double> values;  ///< [node][component]
  };
  std::shared_ptr<const NodeCells> cells;  ///< the same at all times
  std::vector<Field> fields;
};

}  // namespace cambium
