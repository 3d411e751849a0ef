#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/train/kinds/memory.hpp"

namespace cambium::train {

/// Sum of the slices [number 2^place, (number + 1) 2^place) of an ordered batch: a node of the binary tree over them.
struct SliceNode {
  int place = 0;
  std::int64_t number = 0;

  bool left_of(const SliceNode& other) const {
    return place == other.place && number % 2 == 0 && other.number == number + 1;
  }
  SliceNode parent() const { return {place + 1, number / 2}; }
};

/// Smallest set of nodes that covers the slices [first, last), from left to right; empty if there are none.
std::vector<SliceNode> nodes_of(std::int64_t first, std::int64_t last);

/// Nodes that wait for their sibling. Sums proceed from left to right like a binary counter: siblings are added as soon
/// as both exist, so rounding does not depend on how slices are assigned to ranks.
template <class Sum>
class SumTree {
 public:
  /// Adds the node directly to the right of all previous ones. `first(waiting)` adds its values to the sum of its
  /// waiting sibling; if there is none, `keep()` returns a new sum. `add(a, b)` adds b to a.
  template <class First, class Keep, class Add>
  void take(SliceNode node, const First& first, const Keep& keep, const Add& add) {
    if (waiting_.empty() || !waiting_.back().node.left_of(node)) {
      waiting_.push_back({node, keep()});
      return;
    }
    first(waiting_.back().sum);
    waiting_.back().node = node.parent();
    while (waiting_.size() > 1 && waiting_[waiting_.size() - 2].node.left_of(waiting_.back().node)) {
      auto& into = waiting_[waiting_.size() - 2];
      add(into.sum, waiting_.back().sum);
      into.node = into.node.parent();
      waiting_.pop_back();
    }
  }

  struct Waiting {
    SliceNode node;
    Sum sum;
  };
  std::vector<Waiting>& waiting() { return waiting_; }

 private:
  std::vector<Waiting> waiting_;
};

/// Ranks that exchange their nodes, in slice order, and the chunk of every node that each of them adds.
struct NodeRanks {
  struct Peer {
    int rank = 0;  ///< in `comm`
    std::vector<SliceNode> nodes;
    std::int64_t begin = 0, count = 0;  ///< elements of its chunk
  };
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Peer> peers;
  std::size_t me = 0;
  MPI_Datatype type = MPI_FLOAT;
  std::int64_t size = 4;  ///< bytes per element
};

/// Receives the nodes of all ranks from left to right: this rank's chunk of each, which may be modified.
using TakeNode = std::function<void(const SliceNode& node, std::byte* part)>;

/// Collective over `peers`: each rank sends every other one its chunk of each local node. `own` are complete arrays, in
/// the order of nodes; receive buffers are counted in `memory`. Returns the bytes that this rank sent.
std::int64_t exchange_nodes(const NodeRanks& ranks, std::span<std::byte* const> own, MemoryLedger& memory,
                            const TakeNode& take);

}  // namespace cambium::train
