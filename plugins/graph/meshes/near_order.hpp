#pragma once
#include <cstdint>
#include <vector>

#include "core/sparse/csr.hpp"

namespace cambium::graph {

/// A node order that keeps neighbours close, so that contiguous ranges have few external neighbours: reverse
/// Cuthill-McKee (Cuthill and McKee 1969, George 1971), component by component, each from a peripheral node of least
/// degree. New node k is old node order[k]; depends on the pattern only.
std::vector<std::int32_t> near_order(const sparse::Csr<double>& symmetric);

}  // namespace cambium::graph
