#include "plugins/graph/transport/node_range.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::graph {

std::vector<std::int64_t> first_nodes(const sparse::Csr<double>& pattern, int ranks) {
  const std::int64_t nodes = pattern.rows, all = pattern.entries() + work_of_a_node * nodes;
  std::vector<std::int64_t> out{0};
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < nodes && std::ssize(out) < ranks; ++i) {
    const std::int64_t work = std::ssize(pattern.columns_of(i)) + work_of_a_node, left = ranks - std::ssize(out);
    // A node belongs to the share in which its middle lies; every rank has one at least.
    const bool begins = (2 * before + work) * ranks >= 2 * all * std::ssize(out);
    if (i > out.back() && (begins || nodes - i == left)) out.push_back(i);
    before += work;
  }
  out.push_back(nodes);
  return out;
}

NodeRange::NodeRange(const sparse::Csr<double>& pattern, const Comm& comm) : comm_(comm), nodes_(pattern.rows) {
  const std::int64_t ranks = comm.size();
  if (nodes_ < ranks)
    throw InputError(fmt::format("{} nodes cannot be shared by {} ranks; use more nodes or at most {} ranks", nodes_,
                                 ranks, nodes_));
  const auto first = first_nodes(pattern, comm.size());
  const auto rank_of = [&](std::int64_t node) {
    return static_cast<int>(std::upper_bound(first.begin(), first.end(), node) - first.begin()) - 1;
  };
  const auto rank = static_cast<std::size_t>(comm.rank());
  first_ = first[rank];
  owned_ = first[rank + 1] - first_;
  std::vector<std::pair<int, std::int32_t>> wanted;  // by a rank: an own node
  for (std::int64_t i = first_; i < first_ + owned_; ++i)
    for (const auto j : pattern.columns_of(i))
      if (!owns(j)) others_.push_back(j), wanted.push_back({rank_of(j), static_cast<std::int32_t>(i)});
  const auto unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  unique(others_);
  unique(wanted);
  below_ = std::lower_bound(others_.begin(), others_.end(), first_) - others_.begin();
  std::vector<PeerExchange::Peer> peers;
  for (const auto& [rank, node] : wanted) {
    if (peers.empty() || peers.back().rank != rank) peers.push_back({rank, static_cast<int>(near_.size()), 0, 0, 0});
    ++peers.back().near_count;
    near_.push_back(static_cast<std::int32_t>(node - first_ + below_));
  }
  peers_ = std::make_unique<PeerExchange>(comm);
  peers_->connect(std::move(peers));
  if (peers_->far_rows() != std::ssize(others_)) throw InternalError("the pattern of a graph is not symmetric");
}

std::int64_t NodeRange::row_of(std::int64_t node) const {
  if (owns(node)) return node - first_ + below_;
  const auto at = std::lower_bound(others_.begin(), others_.end(), node);
  if (at == others_.end() || *at != node) return -1;
  const std::int64_t k = at - others_.begin();
  return k < below_ ? k : k + owned_;
}

sparse::Csr<double> NodeRange::own_rows(const sparse::Csr<double>& whole) const {
  sparse::Csr<double> out;
  out.rows = owned_;
  out.columns = local();
  for (std::int64_t i = first_; i < first_ + owned_; ++i) {
    for (const auto j : whole.columns_of(i)) out.column.push_back(static_cast<std::int32_t>(row_of(j)));
    const auto values = whole.values_of(i);
    out.value.insert(out.value.end(), values.begin(), values.end());
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

void NodeRange::exchange(std::span<double> values, int width) {
  if (others_.empty() && near_.empty()) return;
  near_values_.resize(near_.size() * width);
  far_values_.resize(others_.size() * width);
  for (std::size_t k = 0; k < near_.size(); ++k)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(near_[k]) * width, width,
                near_values_.begin() + static_cast<std::ptrdiff_t>(k) * width);
  peers_->begin_out(near_values_.data(), far_values_.data(), width);
  peers_->finish();
  const auto lower = far_values_.begin() + below_ * width;
  std::copy(far_values_.begin(), lower, values.begin());
  std::copy(lower, far_values_.end(), values.begin() + (below_ + owned_) * width);
}

}  // namespace cambium::graph
