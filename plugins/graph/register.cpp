// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/graph/bench/bench_graph.hpp"
#include "plugins/graph/layouts.hpp"
#include "plugins/graph/physics/graph_diffusion.hpp"
#include "plugins/graph/physics/mesh_transport.hpp"
#include "plugins/graph/writers/node_fields.hpp"

namespace cambium::graph {

void register_types(Registry& registry) {
  registry.add_bench(bench_graph());
  register_layouts(registry);
  registry.add<GraphDiffusion>("graph_diffusion", "heat and reaction-diffusion on a weighted graph")
      .synonyms({"heat", "reaction_diffusion", "network", "sir", "epidemic", "gray_scott", "diffusion"});
  registry.add<MeshTransport>("mesh_transport", "advection and diffusion on a mesh of triangles")
      .synonyms({"advection", "advection_diffusion", "convection_diffusion", "transport", "tracer"});
  registry.add<NodeFieldsWriter>("node_fields", "values on the nodes of a graph or a mesh over time, HDF5 for xarray")
      .synonyms({"nodes", "mesh_fields", "trajectory", "h5", "hdf5"});
}

}  // namespace cambium::graph
