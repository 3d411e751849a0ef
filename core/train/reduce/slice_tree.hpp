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

/// The fewest nodes that hold the slices [first, last), from left to right; none where that is empty.
std::vector<SliceNode> nodes_of(std::int64_t first, std::int64_t last);

/// Nodes that wait for their partner. Sums are taken from left to right, as one adds 1 to a binary number: two
/// neighbours under one parent are added, so that sums of all slices round alike however they were dealt out to ranks.
template <class Sum>
class SumTree {
 public:
  /// Adds a node that stands right behind all before it. `first(waiting)` adds its numbers to the sum that waits for
  /// them, `keep()` is asked for a sum of its own where none does, `add(a, b)` adds b to a.
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

/// Ranks that exchange their nodes, in the order of their slices, and the part of every node that each of them adds up.
struct NodeRanks {
  struct Peer {
    int rank = 0;  ///< in `comm`
    std::vector<SliceNode> nodes;
    std::int64_t begin = 0, count = 0;  ///< elements of its part
  };
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Peer> peers;
  std::size_t me = 0;
  MPI_Datatype type = MPI_FLOAT;
  std::int64_t size = 4;  ///< B of an element
};

/// Gives the nodes of all peers from left to right: this rank's part of each, whose numbers may be changed.
using TakeNode = std::function<void(const SliceNode& node, std::byte* part)>;

/// Collective over the peers: every one sends every other one its part of each of its nodes. `own` are whole arrays, in
/// the order of nodes; what is received counts in `memory`. Returns the bytes that this rank sent.
std::int64_t exchange_nodes(const NodeRanks& ranks, std::span<std::byte* const> own, MemoryLedger& memory,
                            const TakeNode& take);

}  // namespace cambium::train
