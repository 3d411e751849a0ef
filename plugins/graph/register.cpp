// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/graph/bench/graph_epoch.hpp"
#include "plugins/graph/datasets/graph.hpp"
#include "plugins/graph/datasets/whole_graph.hpp"
#include "plugins/graph/layouts.hpp"
#include "plugins/graph/networks/gcn.hpp"
#include "plugins/graph/networks/graph_attention.hpp"
#include "plugins/graph/networks/graph_sage.hpp"
#include "plugins/graph/tasks/classify_nodes.hpp"

namespace cambium::graph {

void register_types(Registry& registry) {
  registry.add<ClassifyNodes>("classify_nodes", "classes of a graph's nodes by trained networks, beside cheap rivals")
      .synonyms({"node_classification", "label_propagation", "classify"});
  registry.add<GraphSet>("graph", "nodes of one graph with their classes, from a file, from text or made up")
      .synonyms({"nodes", "edge_list", "planetoid", "citation", "network"});
  registry.add<WholeGraphLoader>("whole_graph", "all nodes of one graph at every step, its rows divided among ranks")
      .synonyms({"full_batch", "full_graph"});
  registry.add<Gcn>("gcn", "graph convolutions: classes of nodes from their features and their neighbours'")
      .synonyms({"graph_convolution", "gnn", "graph_network", "graph_neural_network", "cagnet"});
  registry.add<GraphSage>("graph_sage", "a node and the mean of its neighbours, each with weights of its own")
      .synonyms({"sage", "graphsage", "gnn"});
  registry.add<GraphAttention>("graph_attention", "neighbours weighed by attention")
      .synonyms({"gat", "gatv1", "attention", "gnn"});

  register_layouts(registry);
  registry.add_bench(bench_graph_epoch());
}

}  // namespace cambium::graph
