#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/peer_exchange.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/bytes.hpp"

namespace cambium::graph {

/// Work of a node in a step that does not depend on its neighbours, in entries of a row: vectors that are read and
/// written, beside a product of a row that reads a column and a value for each.
constexpr std::int64_t work_of_a_node = 8;

/// First node of each rank's share, and the number of all nodes: runs of nodes of as equal work as runs can have, since
/// a few nodes of a network have most of its edges. None is empty where there are as many nodes as ranks.
std::vector<std::int64_t> first_nodes(const sparse::Csr<double>& pattern, int ranks);

/// The nodes of a rank: an equal share of the work, in their order (which a checkpoint gives back to any number of
/// ranks), and the neighbours of these on other ranks. A local array has rows for neighbours of lower ranks, own nodes,
/// and neighbours of higher ranks, so that local numbers rise as global ones do and every sum over a row keeps its
/// order.
class NodeRange {
 public:
  /// Collective. `pattern`: of the whole graph, symmetric, the same on every rank; of others' rows only lengths are
  /// looked at. InputError where there are more ranks than nodes.
  NodeRange(const sparse::Csr<double>& pattern, const Comm& comm);

  std::int64_t nodes() const { return nodes_; }  ///< of all ranks
  std::int64_t first() const { return first_; }  ///< of the own ones
  std::int64_t owned() const { return owned_; }
  std::int64_t begin() const { return below_; }  ///< row of the first own node in a local array
  std::int64_t local() const { return owned_ + std::ssize(others_); }
  bool owns(std::int64_t node) const { return own().holds(node); }
  sparse::Range own() const { return {first_, first_ + owned_}; }
  /// Row of a node in local arrays; -1 where it is neither own nor a neighbour.
  std::int64_t row_of(std::int64_t node) const;
  /// Own rows of a matrix, its columns as rows of local arrays.
  sparse::Csr<double> own_rows(const sparse::Csr<double>& whole) const;

  /// Collective: fills the rows of neighbours; `values` is local() x width.
  void exchange(std::span<double> values, int width);
  const Comm& comm() const { return comm_; }
  /// Numbers that this rank sends in an exchange of width one.
  std::int64_t sent() const { return std::ssize(near_); }
  /// Memory of its lists and messages.
  std::int64_t bytes() const { return bytes_in(others_, near_, near_values_, far_values_); }

 private:
  const Comm& comm_;
  std::int64_t nodes_ = 0, first_ = 0, owned_ = 0, below_ = 0;
  std::vector<std::int32_t> others_;  ///< neighbours on other ranks, rising
  std::vector<std::int32_t> near_;    ///< own nodes (local rows), peer by peer
  std::unique_ptr<PeerExchange> peers_;
  std::vector<double> near_values_, far_values_;
};

}  // namespace cambium::graph
