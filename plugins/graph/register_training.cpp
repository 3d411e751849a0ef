// Registers everything in this plugin that requires LibTorch.
#include "core/plugin/registry.hpp"
#include "plugins/graph/networks/mesh_graph_net.hpp"
#include "plugins/graph/networks/message_passing.hpp"

namespace cambium::graph {

void register_training(Registry& registry);

void register_training(Registry& registry) {
  registry
      .add<MessagePassing>("message_passing",
                           "energies and forces of molecules from messages along pairs of atoms (Torch)")
      .synonyms({"mpnn", "schnet", "painn", "graph_network", "gnn", "molecular_graph"});
  registry.add<MeshGraphNet>("mesh_graph_net", "one step of a simulation on any graph or mesh (Torch)")
      .synonyms({"meshgraphnet", "mgn", "graph_network_simulator", "gns"});
  registry.renamed<train::Network>("mesh_graph", "mesh_graph_net");
}

}  // namespace cambium::graph
