#pragma once
#include <cstdint>
#include <vector>

#include "core/sparse/csr.hpp"

namespace cambium::graph {

/// An order of the nodes in which neighbours are near each other, so that ranges of it have few neighbours outside:
/// reverse Cuthill-McKee (Cuthill and McKee 1969, George 1971), part by part, each from a node of least degree at the
/// far end of it. New node k is old node order[k]; it depends on nothing but the pattern.
std::vector<std::int32_t> near_order(const sparse::Csr<double>& symmetric);

}  // namespace cambium::graph
