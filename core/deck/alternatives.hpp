#pragma once
// Keys that leave a search a choice: `neuron: !choice [[10, 20], [25, 50, 100]]`.
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::deck {

/// One list marked `!choice`. If an alias repeats it, each occurrence is decided separately.
struct Decision {
  Node list;            ///< its items are the alternatives; its path is that of the picked one
  int within = -1;      ///< enclosing decision, if it is in an alternative of another one; else -1
  int alternative = 0;  ///< which of those
};

/// All decisions inside a node, in written order, those within alternatives included.
std::vector<Decision> decisions_of(const Node& node);

/// The node with item picks[k] in place of decision k; paths are those of the lists.
Node pick(const Node& node, const std::vector<Decision>& decisions, std::span<const int> picks);

/// Sets of picks in which every alternative of every decision occurs, so that trying them all finds the problems of
/// each.
std::vector<std::vector<int>> covering_picks(const std::vector<Decision>& decisions);

/// The keys of a P, some of them left to a search. Reading it tries every alternative and reports all problems at once.
template <Described P>
struct Marked {
  Node node = Node::map({});
  std::vector<Decision> decisions;

  Node at(std::span<const int> picks) const { return pick(node, decisions, picks); }
};

template <Described P>
struct Value<Marked<P>> {
  using LeafType = Marked<P>;
  static void specify(KeySpec& spec) { Value<P>::specify(spec); }
  static bool read(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader, Marked<P>& out) {
    out.node = node;
    out.decisions = decisions_of(node);
    bool good = true;
    for (const auto& picks : covering_picks(out.decisions)) {
      P tried;
      const Node named = present_names(out.at(picks), schema_of<P>(), reader.types, reader.problems);
      good &= Value<P>::read(named, spec, depth, reader, tried);
    }
    return good;
  }
  static Node write(const Marked<P>& value, const KeySpec&) { return value.node; }
};

}  // namespace cambium::deck
