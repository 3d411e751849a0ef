#include "plugins/graph/transport/ownership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"

namespace cambium::graph {

std::vector<std::int64_t> first_nodes(const sparse::Csr<double>& pattern, int ranks) {
  const std::int64_t nodes = pattern.rows, all = pattern.entries() + work_of_a_node * nodes;
  std::vector<std::int64_t> out{0};
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < nodes && std::ssize(out) < ranks; ++i) {
    const std::int64_t work = std::ssize(pattern.columns_of(i)) + work_of_a_node, left = ranks - std::ssize(out);
    // A node belongs to the part that contains the midpoint of its work; every rank has at least one.
    const bool begins = (2 * before + work) * ranks >= 2 * all * std::ssize(out);
    if (i > out.back() && (begins || nodes - i == left)) out.push_back(i);
    before += work;
  }
  out.push_back(nodes);
  return out;
}

std::string Ownership::text() const {
  return fmt::format("{}, work {:.2f} of the mean at most",
                     ranges ? std::string("ranges of nodes") : "parts by " + parts.method, imbalance);
}

namespace {

constexpr double gain_that_counts = 0.9;  // parts by cut have less equal work

bool has_empty(const sparse::Parts& parts) {
  return std::adjacent_find(parts.first.begin(), parts.first.end()) != parts.first.end();
}

}  // namespace

Ownership ownership_of(const sparse::Csr<double>& pattern, int ranks, Partition partition, Log& log) {
  if (pattern.rows < ranks)
    throw InputError(fmt::format("{} nodes cannot be shared by {} ranks; use more nodes or at most {} ranks",
                                 pattern.rows, ranks, pattern.rows));
  std::vector<double> work;
  for (std::int64_t i = 0; i < pattern.rows; ++i)
    work.push_back(static_cast<double>(pattern.length(i)) + static_cast<double>(work_of_a_node));
  Ownership out;
  out.parts.first = first_nodes(pattern, ranks);
  out.parts.order.resize(pattern.rows);
  std::iota(out.parts.order.begin(), out.parts.order.end(), 0);
  out.imbalance = sparse::imbalance(out.parts, work);
  if (ranks == 1) return out;
  const auto graph = sparse::neighbours_of(pattern);
  out.halo = out.halo_of_ranges = sparse::needed_rows(graph, out.parts);
  if (partition == Partition::ranges || (partition == Partition::automatic && !sparse::has_metis())) return out;
  auto cut = sparse::divided(graph, ranks, work, log);
  if (cut.method == "contiguous" || has_empty(cut)) return out;
  const auto halo = sparse::needed_rows(graph, cut);
  const auto most = gain_that_counts * static_cast<double>(out.halo_of_ranges);
  if (partition == Partition::automatic && static_cast<double>(halo) > most) return out;
  out.imbalance = sparse::imbalance(cut, work);
  out.parts = std::move(cut);
  out.ranges = false;
  out.halo = halo;
  return out;
}

}  // namespace cambium::graph
