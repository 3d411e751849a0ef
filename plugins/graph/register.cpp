// Registers everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/graph/datasets/full_graph.hpp"
#include "plugins/graph/datasets/graph.hpp"
#include "plugins/graph/datasets/links.hpp"
#include "plugins/graph/datasets/mesh_trajectories.hpp"
#include "plugins/graph/datasets/molecules.hpp"
#include "plugins/graph/networks/gcn.hpp"
#include "plugins/graph/networks/graph_attention.hpp"
#include "plugins/graph/networks/graph_sage.hpp"
#include "plugins/graph/networks/light_gcn.hpp"
#include "plugins/graph/physics/graph_diffusion.hpp"
#include "plugins/graph/physics/mesh_transport.hpp"
#include "plugins/graph/potentials/message_passing.hpp"
#include "plugins/graph/register_layouts.hpp"
#include "plugins/graph/tasks/classify_nodes.hpp"
#include "plugins/graph/tasks/molecule_energies.hpp"
#include "plugins/graph/tasks/predict_links.hpp"
#include "plugins/graph/tasks/rollout.hpp"
#include "plugins/graph/writers/node_fields.hpp"

namespace cambium::graph {

namespace {

void register_physics(Registry& registry) {
  registry.add<GraphDiffusion>("graph_diffusion", "heat and reaction-diffusion on a weighted graph")
      .synonyms({"heat", "reaction_diffusion", "network", "sir", "epidemic", "gray_scott", "diffusion"});
  registry.add<MeshTransport>("mesh_transport", "advection and diffusion on a mesh of triangles")
      .synonyms({"advection", "advection_diffusion", "convection_diffusion", "transport", "tracer"});
  registry.add<NodeFieldsWriter>("node_fields", "values on the nodes of a graph or a mesh over time, HDF5 for xarray")
      .synonyms({"nodes", "mesh_fields", "trajectory", "h5", "hdf5"});
}

void register_nodes(Registry& registry) {
  registry.add<GraphSet>("graph", "nodes of one graph with their classes, from HDF5, from text or synthetic")
      .synonyms({"nodes", "edge_list", "planetoid", "citation", "network"});
  registry.add<FullGraphLoader>("full_graph", "all nodes of one graph at every step, its rows distributed over ranks")
      .synonyms({"full_batch"});
  registry.renamed<train::Loader>("whole_graph", "full_graph");
  registry.add<Gcn>("gcn", "graph convolutions: classes of nodes from their features and their neighbours'")
      .synonyms({"graph_convolution", "gnn", "graph_network", "graph_neural_network", "cagnet"});
  registry.add<GraphSage>("graph_sage", "a node and the mean of its neighbours, each with weights of its own")
      .synonyms({"sage", "graphsage", "gnn"});
  registry.add<GraphAttention>("graph_attention", "neighbours weighed by attention")
      .synonyms({"gat", "gatv1", "attention", "gnn"});
  registry.add<ClassifyNodes>("classify_nodes", "evaluation of trained node classifiers, compared with baselines")
      .synonyms({"node_classification", "label_propagation", "classify"});
}

void register_links(Registry& registry) {
  registry.add<LinkSet>("links", "links of users and items, or of a graph's nodes, some of them held out")
      .synonyms({"bipartite", "interactions", "recommendation", "gowalla"});
  registry.add<LightGcn>("light_gcn", "link prediction by embeddings propagated along the known links")
      .synonyms({"lightgcn", "recommender", "collaborative_filtering", "matrix_factorization"});
  registry
      .add<PredictLinks>("predict_links", "link prediction by trained networks, compared with filters without training")
      .synonyms({"link_prediction", "recommend", "recall", "gf_cf"});
}

void register_molecules(Registry& registry) {
  registry.add<Molecules>("molecules", "molecules with energies and forces: HDF5, extended XYZ, or synthetic")
      .synonyms({"molecule", "qm7", "qm9", "gdb"});
  registry
      .add<MoleculeEnergies>("molecule_energies",
                             "evaluation of energy models, compared with linear fits and a Coulomb kernel")
      .synonyms({"energies", "energies_of_molecules"});
  registry.add<MessagePotential>("message_passing", "a trained network message_passing as a potential, without Torch")
      .synonyms({"mpnn", "schnet", "painn", "graph_network", "gnn"});
}

void register_steps(Registry& registry) {
  registry.add<MeshTrajectories>("mesh_trajectories", "steps of simulated fields on graphs or meshes")
      .synonyms({"trajectories", "graph_trajectories"});
  registry.add<Rollout>("rollout", "repeated steps of a network (rollout), compared with persistence and linear steps")
      .synonyms({"surrogate_error"});
  registry.renamed<Task>("roll_out", "rollout");
}

}  // namespace

void register_types(Registry& registry) {
  register_layouts(registry);
  register_physics(registry);
  register_nodes(registry);
  register_links(registry);
  register_molecules(registry);
  register_steps(registry);
}

}  // namespace cambium::graph
