#pragma once
#include <cstdint>
#include <vector>

#include "plugins/graph/tiles/neighbours.hpp"

namespace cambium::sparse {

/// Orders for permuted(): place k of the new order holds the old number of a node, each once. All are the same on every
/// machine and for every number of threads.

/// Nodes of most neighbours first; equals in their old order.
std::vector<std::int32_t> degree_order(const Neighbours& graph);

/// Reverse Cuthill-McKee: neighbours close to each other, so that entries lie near the diagonal (E. Cuthill and J.
/// McKee, Proc. 24th ACM Conf. (1969), 157; reversed after A. George). Every connected piece begins at a node far from
/// others, which repeated breadth-first searches find.
std::vector<std::int32_t> reverse_cuthill_mckee(const Neighbours& graph);

/// The community of every node by label propagation (U. N. Raghavan, R. Albert and S. Kumara, Phys. Rev. E 76, 036106
/// (2007)): each takes the label that most of its neighbours have, of several its own, or one that a fixed mixing
/// picks, until nothing changes or after `rounds`. Labels are numbers of nodes.
std::vector<std::int32_t> communities(const Neighbours& graph, int rounds = 20);

/// Communities one after the other, the largest first, inside each reverse Cuthill-McKee.
std::vector<std::int32_t> community_order(const Neighbours& graph, int rounds = 20);

}  // namespace cambium::sparse
