#pragma once
#include <cstdint>
#include <vector>

#include "plugins/graph/tiles/neighbours.hpp"

namespace cambium::sparse {

/// Node orders for permuted(): element k of the new order is the old index of a node. They do not depend on the machine
/// or the number of threads.

/// Nodes in decreasing order of degree; ties keep their old order.
std::vector<std::int32_t> degree_order(const Neighbours& graph);

/// Reverse Cuthill-McKee: neighbours get close indices, so that entries are near the diagonal (E. Cuthill and J. McKee,
/// Proc. 24th ACM Conf. (1969), 157; reversed after A. George). Each connected component starts at a peripheral node,
/// found by repeated breadth-first search.
std::vector<std::int32_t> reverse_cuthill_mckee(const Neighbours& graph);

/// Community of each node by label propagation (U. N. Raghavan, R. Albert and S. Kumara, Phys. Rev. E 76, 036106
/// (2007)): each node takes the most frequent label of its neighbours, on ties its own, or one selected by a fixed
/// hash, until nothing changes or after `rounds`. Labels are node indices.
std::vector<std::int32_t> communities(const Neighbours& graph, int rounds = 20);

/// Communities in decreasing order of size, each in reverse Cuthill-McKee order.
std::vector<std::int32_t> community_order(const Neighbours& graph, int rounds = 20);

}  // namespace cambium::sparse
