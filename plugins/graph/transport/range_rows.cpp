#include "plugins/graph/transport/range_rows.hpp"

#include <algorithm>

namespace cambium::graph {
namespace {

using Numbers = std::vector<std::int32_t>;

/// Indices outside [mine.begin, mine.end), ascending.
Numbers outside(std::span<const std::int32_t> places, sparse::Range mine) {
  Numbers out;
  for (const auto place : places)
    if (!mine.holds(place)) out.push_back(place);
  std::sort(out.begin(), out.end());
  return out;
}

Numbers sources(std::span<const std::int32_t> places, sparse::Range mine, const Numbers& fetched) {
  Numbers out;
  for (const auto place : places) {
    const auto at = std::lower_bound(fetched.begin(), fetched.end(), place) - fetched.begin();
    out.push_back(static_cast<std::int32_t>(mine.holds(place) ? place - mine.begin : mine.size() + at));
  }
  return out;
}

sparse::Range of_rank(const std::vector<std::int64_t>& first, const Comm& comm) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  return {first[rank], first[rank + 1]};
}

/// Nodes of this rank.
std::span<const std::int32_t> own_nodes(const sparse::Parts& o, const Comm& comm) {
  const auto mine = of_rank(o.first, comm);
  return {o.order.data() + mine.begin, static_cast<std::size_t>(mine.size())};
}

/// Indices in Parts::order of the nodes of this rank's range.
Numbers places_of_run(const sparse::Parts& o, sparse::Range run) {
  Numbers out(static_cast<std::size_t>(run.size()));
  for (std::size_t k = 0; k < o.order.size(); ++k)
    if (run.holds(o.order[k])) out[o.order[k] - run.begin] = static_cast<std::int32_t>(k);
  return out;
}

void move(sparse::RowExchange<double>& exchange, const Numbers& from, std::span<const double> in, std::int64_t width,
          std::span<double> out) {
  std::vector<double> fetched(static_cast<std::size_t>(exchange.wanted_rows() * width));
  exchange.begin({in.data(), exchange.own_rows(), width, width},
                 {fetched.data(), exchange.wanted_rows(), width, width});
  exchange.finish();
  for (std::size_t k = 0; k < from.size(); ++k) {
    const std::int64_t row = from[k], own = exchange.own_rows();
    const double* source = row < own ? in.data() + row * width : fetched.data() + (row - own) * width;
    std::copy_n(source, width, out.begin() + static_cast<std::ptrdiff_t>(k) * width);
  }
}

}  // namespace

RangeRows::RangeRows(const sparse::Parts& o, const std::vector<std::int64_t>& runs, const Comm& comm)
    : collect_(o.first, outside(places_of_run(o, of_rank(runs, comm)), of_rank(o.first, comm)), lowp::WireCodec::none,
               comm),
      distribute_(runs, outside(own_nodes(o, comm), of_rank(runs, comm)), lowp::WireCodec::none, comm) {
  const auto run = of_rank(runs, comm), own = of_rank(o.first, comm);
  const auto places = places_of_run(o, run);
  from_own_ = sources(places, own, outside(places, own));
  const auto nodes = own_nodes(o, comm);
  from_run_ = sources(nodes, run, outside(nodes, run));
}

void RangeRows::collect(std::span<const double> own, std::int64_t width, std::span<double> run) {
  move(collect_, from_own_, own, width, run);
}

void RangeRows::distribute(std::span<const double> run, std::int64_t width, std::span<double> own) {
  move(distribute_, from_run_, run, width, own);
}

}  // namespace cambium::graph
