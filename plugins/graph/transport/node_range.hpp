#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/row_exchange.hpp"
#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/bytes.hpp"
#include "plugins/graph/transport/ownership.hpp"
#include "plugins/graph/transport/range_rows.hpp"

namespace cambium::graph {

/// The nodes of a rank, ascending, and their neighbours on other ranks (halo). A local array has the rows of own nodes,
/// then those of neighbours. Matrix rows keep the order of global indices, so that no sum depends on the partition.
class NodeRange {
 public:
  /// Collective. `pattern`: of the full graph, symmetric, the same on every rank; of other ranks' rows only the lengths
  /// are used. `ownership`: for the same pattern.
  NodeRange(const sparse::Csr<double>& pattern, const Comm& comm, const Ownership& ownership);
  /// With ranges of nodes.
  NodeRange(const sparse::Csr<double>& pattern, const Comm& comm);

  std::int64_t nodes() const { return nodes_; }  ///< of all ranks
  std::int64_t owned() const { return std::ssize(own_); }
  std::int64_t local() const { return owned() + std::ssize(others_); }
  std::span<const std::int32_t> own() const { return own_; }  ///< ascending
  bool owns(std::int64_t node) const { return row_of(node) >= 0 && row_of(node) < owned(); }
  /// Row of a node in local arrays; -1 if it is neither own nor a neighbour.
  std::int64_t row_of(std::int64_t node) const;
  /// Own rows of a matrix, with its columns as rows of local arrays.
  sparse::Csr<double> own_rows(const sparse::Csr<double>& whole) const;
  /// Collective: own nodes of rank 0, then of rank 1, ... on every rank.
  std::vector<std::int32_t> order() const;

  /// Collective: fills the rows of neighbours; `values` is local() x width.
  void exchange(std::span<double> values, int width);
  const Comm& comm() const { return comm_; }
  /// Data that this rank has received in exchanges so far.
  const sparse::Words& words() const { return exchange_->words(); }
  /// Rows received in an exchange, summed over ranks, here and with ranges of nodes.
  std::int64_t halo() const { return halo_; }
  std::int64_t halo_of_ranges() const { return halo_of_ranges_; }
  /// For the summary: "ranges of nodes, work 1.00 of the mean at most, 34 rows in an exchange".
  const std::string& text() const { return text_; }
  /// Nodes of this rank if ranks have ranges.
  sparse::Range run() const { return run_; }
  /// True if own nodes are that range.
  bool ranges() const { return ranges_; }
  /// Collective: transfers values between own rows and rows of ranges, which checkpoints store.
  RangeRows range_rows() const;
  /// Memory of its lists and message buffers.
  std::int64_t bytes() const;

 private:
  const Comm& comm_;
  std::int64_t nodes_ = 0, halo_ = 0, halo_of_ranges_ = 0;
  std::string text_;
  sparse::Range run_;
  bool ranges_ = true;
  std::vector<std::int32_t> own_;
  std::vector<std::pair<std::int32_t, std::int32_t>> others_;  ///< neighbours on other ranks, ascending, and their rows
  std::unique_ptr<sparse::RowExchange<double>> exchange_;
};

}  // namespace cambium::graph
