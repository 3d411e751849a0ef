#include "plugins/graph/transport/node_range.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/parallel/gather.hpp"

namespace cambium::graph {
namespace {

Ownership ranges_of(const sparse::Csr<double>& pattern, int ranks) {
  Log silent(nullptr, false);
  return ownership_of(pattern, ranks, Partition::ranges, silent);
}

}  // namespace

NodeRange::NodeRange(const sparse::Csr<double>& pattern, const Comm& comm)
    : NodeRange(pattern, comm, ranges_of(pattern, comm.size())) {}

NodeRange::NodeRange(const sparse::Csr<double>& pattern, const Comm& comm, const Ownership& ownership)
    : comm_(comm), nodes_(pattern.rows), halo_(ownership.halo), halo_of_ranges_(ownership.halo_of_ranges) {
  const auto& [order, first, method] = ownership.parts;
  const auto rank = static_cast<std::size_t>(comm.rank());
  own_.assign(order.begin() + first[rank], order.begin() + first[rank + 1]);
  std::vector<std::int32_t> wanted, place(order.size());  // indices in `order`
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int32_t>(k);
  for (const auto i : own_)
    for (const auto j : pattern.columns_of(i))
      if (!sparse::Range{first[rank], first[rank + 1]}.holds(place[j])) wanted.push_back(place[j]);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    others_.push_back({order[wanted[k]], static_cast<std::int32_t>(own_.size() + k)});
  std::sort(others_.begin(), others_.end());
  exchange_ = std::make_unique<sparse::RowExchange<double>>(first, wanted, lowp::WireCodec::none, comm);
  const auto runs = first_nodes(pattern, comm.size());
  run_ = {runs[rank], runs[rank + 1]};
  ranges_ = ownership.ranges;
  text_ = fmt::format("{}, {} rows in an exchange", ownership.text(), halo_);
  if (!ownership.ranges) text_ += fmt::format(", {} with ranges", halo_of_ranges_);
}

std::int64_t NodeRange::row_of(std::int64_t node) const {
  if (const auto at = std::lower_bound(own_.begin(), own_.end(), node); at != own_.end() && *at == node)
    return at - own_.begin();
  const auto at = std::lower_bound(others_.begin(), others_.end(), node,
                                   [](const auto& entry, std::int64_t value) { return entry.first < value; });
  return at == others_.end() || at->first != node ? -1 : at->second;
}

sparse::Csr<double> NodeRange::own_rows(const sparse::Csr<double>& whole) const {
  sparse::Csr<double> out;
  out.rows = owned();
  out.columns = local();
  for (const auto i : own_) {
    for (const auto j : whole.columns_of(i)) out.column.push_back(static_cast<std::int32_t>(row_of(j)));
    const auto values = whole.values_of(i);
    out.value.insert(out.value.end(), values.begin(), values.end());
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

std::vector<std::int32_t> NodeRange::order() const { return all_gather(own_, comm_); }

RangeRows NodeRange::range_rows() const {
  sparse::Parts parts;
  parts.order = order();
  auto runs = comm_.all_gather(run_.begin);
  runs.push_back(nodes_);
  for (const auto owned : comm_.all_gather(owned())) parts.first.push_back(parts.first.back() + owned);
  return RangeRows(parts, runs, comm_);
}

void NodeRange::exchange(std::span<double> values, int width) {
  const std::int64_t rows = owned();
  exchange_->begin({values.data(), rows, width, width},
                   {values.data() + rows * width, exchange_->wanted_rows(), width, width});
  exchange_->finish();
}

std::int64_t NodeRange::bytes() const { return bytes_in(own_, others_) + exchange_->bytes(); }

}  // namespace cambium::graph
