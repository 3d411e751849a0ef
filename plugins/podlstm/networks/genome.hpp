#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::podlstm {

/// An architecture of the SC20 search space: for each of five layers the choice of its variable node, then one bit for
/// each of its skip connections, from the older value and then from the layer's own input: l1 s1, l2 s2 s2', ..., l5 s5
/// s5'. 14 decisions.
using Genome = std::vector<int>;

/// The space: widths of the variable node (0: identity) and the layers.
struct GenomeSpace {
  std::vector<int> widths = {0, 16, 32, 48, 64, 80, 96};
  int layers = 5;

  static int skips(int layer) { return layer == 0 ? 1 : 2; }
  int decisions() const { return 3 * layers - 1; }
  /// Number of choices of decision d.
  int choices(int d) const { return is_node(d) ? static_cast<int>(widths.size()) : 2; }
  /// True if decision d chooses a node, not a skip.
  bool is_node(int d) const { return d == 0 || (d >= 2 && (d - 2) % 3 == 0); }
  /// Number of genomes, exact up to the integer range: 7^5 2^9 = 8,605,184.
  std::int64_t size() const;
  /// InputError for a genome of the wrong length or a choice out of range.
  void require(const Genome& genome) const;
};

enum class Cell { lstm, gru };

/// One operation of a network. Values are numbered: 0 is the input, k + 1 is the output of node k.
struct GraphNode {
  enum class Kind { recurrent, merge } kind = Kind::recurrent;
  int width = 0;  ///< of its value
  int input = 0;  ///< value that is the input of a recurrent node, or the first one of a merge
  struct Skip {
    int value = 0;
    bool projected = false;  ///< by a dense layer, if widths differ
  };
  std::vector<Skip> skips;  ///< of a merge: relu(input + sum of skips); at least one
};

/// Computational graph of a genome, without identity nodes and merges that have no skip. Genomes with equal graphs
/// define the same network.
struct Graph {
  int features = 0;  ///< width of the input
  std::vector<GraphNode> nodes;
  int output = 0;  ///< input of the head

  int width_of(int value) const { return value == 0 ? features : nodes[value - 1].width; }
  /// Text that is equal only for function-equal genomes: skips of a merge in ascending order.
  std::string canonical() const;
};

/// `widths`: of each layer with cells instead of those of the space, 0 for the space's; empty: none.
Graph graph_of(const GenomeSpace& space, const Genome& genome, int features, std::span<const std::int64_t> widths = {});

}  // namespace cambium::podlstm
