#pragma once
#include <memory>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/graphs/samples.hpp"
#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Target of samples of links: sample k is the k-th entry of one of the graph's matrices.
struct LinkSamples {
  LinkGraphPtr graph;
  bool held_out = false;
  std::vector<std::int32_t> users;  ///< of each entry

  const sparse::Csr<float>& links() const { return held_out ? graph->held_out : graph->training; }
  Link link(std::int64_t id) const { return {users[id], links().column[id]}; }
};

}  // namespace cambium::graph
