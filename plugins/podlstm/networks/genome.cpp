#include "plugins/podlstm/networks/genome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"

namespace cambium::podlstm {

std::int64_t GenomeSpace::size() const {
  std::int64_t n = 1;
  for (int d = 0; d < decisions(); ++d) n *= choices(d);
  return n;
}

void GenomeSpace::require(const Genome& genome) const {
  if (static_cast<int>(genome.size()) != decisions())
    throw KeyError("genome.count", "genome",
                   fmt::format("genome: {} values, expected {} for {} layers", genome.size(), decisions(), layers));
  for (int d = 0; d < decisions(); ++d)
    if (const int g = genome[d]; g < 0 || g >= choices(d))
      throw KeyError("genome.range", "genome",
                     fmt::format("genome: value {} is {}, expected 0 to {} ({})", d + 1, g, choices(d) - 1,
                                 is_node(d) ? "the node of a layer" : "a skip connection: 0 absent, 1 present"));
}

Graph graph_of(const GenomeSpace& space, const Genome& genome, int features, std::span<const std::int64_t> widths) {
  space.require(genome);
  Graph graph;
  graph.features = features;
  std::vector<int> outputs = {0};  // of the layers so far; an identity layer returns its input
  std::size_t decision = 0;
  for (int layer = 0; layer < space.layers; ++layer) {
    int value = outputs.back();
    if (int width = space.widths[genome[decision++]]; width > 0) {
      if (const auto l = static_cast<std::size_t>(layer); l < widths.size() && widths[l] > 0)
        width = static_cast<int>(widths[l]);
      graph.nodes.push_back({GraphNode::Kind::recurrent, width, value, {}});
      value = static_cast<int>(graph.nodes.size());
    }
    GraphNode merge{GraphNode::Kind::merge, graph.width_of(value), value, {}};
    const int skips = GenomeSpace::skips(layer);
    for (int s = 0; s < skips; ++s) {
      if (genome[decision++] == 0) continue;
      const int from = outputs[outputs.size() - static_cast<std::size_t>(skips - s)];
      merge.skips.push_back({from, graph.width_of(from) != merge.width});
    }
    if (!merge.skips.empty()) {
      std::ranges::sort(merge.skips, {}, &GraphNode::Skip::value);
      graph.nodes.push_back(std::move(merge));
      value = static_cast<int>(graph.nodes.size());
    }
    outputs.push_back(value);
  }
  graph.output = outputs.back();
  return graph;
}

std::string Graph::canonical() const {
  std::string out = fmt::format("{}", features);
  for (const auto& node : nodes) {
    out += fmt::format(";{}{}({}", node.kind == GraphNode::Kind::recurrent ? "r" : "m", node.width, node.input);
    for (const auto& skip : node.skips) out += fmt::format("+{}", skip.value);
    out += ")";
  }
  return out + fmt::format(";{}", output);
}

}  // namespace cambium::podlstm
