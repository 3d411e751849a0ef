// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/graph/bench/bench_graph.hpp"
#include "plugins/graph/layouts.hpp"

namespace cambium::graph {

void register_types(Registry& registry) {
  registry.add_bench(bench_graph());
  register_layouts(registry);
}

}  // namespace cambium::graph
