#pragma once
#include <vector>

#include "plugins/mace/archive/model_archive.hpp"

namespace cambium::mace {

/// `mul` copies (channels) of the irreducible representation of degree `l`. Features of a node are blocks of them, one
/// behind the other; within a block the order is [component m = -l..l][channel], so that loops over channels are dense.
struct Irrep {
  int mul = 0, l = 0;
  int offset = 0;  ///< of the block among the values of a node
  int components() const { return 2 * l + 1; }
  int size() const { return mul * components(); }
};
using Irreps = std::vector<Irrep>;

/// Number of values of a node.
int size_of(const Irreps& irreps);
/// For the attribute `name`: tuples (channels, (degree, parity)).
Irreps read_irreps(const ModelArchive& archive, const std::string& name);

}  // namespace cambium::mace
