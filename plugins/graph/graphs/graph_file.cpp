#include "plugins/graph/graphs/graph_file.hpp"

#include "core/io/reading.hpp"
#include "plugins/graph/graphs/graph_arrays.hpp"

namespace cambium::graph {

GraphPtr read_graph(const std::string& path) {
  GraphPtr out;
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    GraphParts parts;
    parts.source = path;
    parts.nodes = nodes_of(file);
    parts.directed = directed_of(file);
    parts.weighted = file.exists("weights");
    parts.edges = edges_of(file, {0, edge_count(file)});
    parts.features = features_of(file, parts.nodes, {0, parts.nodes});
    parts.labels = labels_of(file, parts.nodes);
    parts.roles = roles_of(file, parts.nodes, {0, parts.nodes});
    out = make_graph(std::move(parts));
  });
  return out;
}

}  // namespace cambium::graph
