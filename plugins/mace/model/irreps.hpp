#pragma once
#include <vector>

namespace cambium::mace {

/// `mul` copies (channels) of the irreducible representation of degree `l`. Features of a node are consecutive blocks
/// of them; within a block the order is [component m = -l..l][channel], so that loops over channels are contiguous.
struct Irrep {
  int mul = 0, l = 0;
  int offset = 0;  ///< of the block among the values of a node
  int components() const { return 2 * l + 1; }
  int size() const { return mul * components(); }
};
using Irreps = std::vector<Irrep>;

/// Number of values of a node.
inline int size_of(const Irreps& irreps) { return irreps.empty() ? 0 : irreps.back().offset + irreps.back().size(); }

/// Appends a block.
inline void append(Irreps& irreps, int mul, int l) { irreps.push_back({mul, l, size_of(irreps)}); }

}  // namespace cambium::mace
