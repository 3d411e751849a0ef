#include "plugins/graph/tiles/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"

#ifdef CAMBIUM_HAVE_METIS
#include <metis.h>
#endif

namespace cambium::sparse {

namespace {

/// Nodes sorted by part; old indices ascend within one.
Parts parts_from(const std::vector<std::int32_t>& part_of, int parts, std::string method) {
  Parts out;
  out.method = std::move(method);
  out.first.assign(at(parts) + 1, 0);
  for (std::int32_t p : part_of) ++out.first[at(p) + 1];
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  auto next = out.first;
  out.order.resize(part_of.size());
  for (std::size_t i = 0; i < part_of.size(); ++i) out.order[at(next[at(part_of[i])]++)] = static_cast<std::int32_t>(i);
  return out;
}

void check(std::size_t nodes, int parts, std::span<const double> work) {
  if (parts < 1) throw InternalError(fmt::format("{} parts of a graph", parts));
  if (work.size() != nodes) throw InternalError("parts of a graph: one value of work for each node");
  for (double w : work)
    if (!(w >= 0.0) || !std::isfinite(w)) throw InternalError("parts of a graph: work must be finite and not negative");
}

#ifdef CAMBIUM_HAVE_METIS
/// Integers proportional to `work`, each at least 1, with a sum that fits into METIS's integer type.
std::vector<idx_t> whole_numbers(std::span<const double> work) {
  const double total = std::accumulate(work.begin(), work.end(), 0.0), most = total > 0.0 ? total : 1.0;
  std::vector<idx_t> out;
  for (double w : work) out.push_back(std::max<idx_t>(1, static_cast<idx_t>(std::lround(w * 5e8 / most))));
  return out;
}

Parts by_metis(const Neighbours& graph, int parts, std::span<const double> work) {
  idx_t nodes = static_cast<idx_t>(graph.nodes()), constraints = 1, wanted = parts, volume = 0;
  std::vector<idx_t> start(graph.start.begin(), graph.start.end()), node(graph.node.begin(), graph.node.end()),
      weight = whole_numbers(work), part(at(nodes));
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
  options[METIS_OPTION_NCUTS] = 8;  // trials; the best is used
  options[METIS_OPTION_NITER] = 20;
  options[METIS_OPTION_UFACTOR] = 80;  // allowed excess of the largest part over the mean, in thousandths
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  const int status = METIS_PartGraphKway(&nodes, &constraints, start.data(), node.data(), weight.data(), nullptr,
                                         nullptr, &wanted, nullptr, nullptr, options, &volume, part.data());
  if (status != METIS_OK) throw InternalError(fmt::format("METIS_PartGraphKway returned {}", status));
  return parts_from({part.begin(), part.end()}, parts,
                    fmt::format("METIS {}.{}.{}", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR));
}
#endif

}  // namespace

bool has_metis() {
#ifdef CAMBIUM_HAVE_METIS
  return true;
#else
  return false;
#endif
}

Parts contiguous_parts(int parts, std::span<const double> work) {
  check(work.size(), parts, work);
  const double total = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<std::int32_t> part_of;
  part_of.reserve(work.size());
  double sum = 0.0;
  for (double w : work) {
    // A node belongs to the part that contains the midpoint of its work.
    const double middle = total > 0.0 ? (sum + 0.5 * w) / total
                                      : (static_cast<double>(part_of.size()) + 0.5) / static_cast<double>(work.size());
    part_of.push_back(std::clamp(static_cast<int>(middle * parts), part_of.empty() ? 0 : part_of.back(), parts - 1));
    sum += w;
  }
  return parts_from(part_of, parts, "contiguous");
}

Parts divided(const Neighbours& graph, int parts, std::span<const double> work, [[maybe_unused]] Log& log) {
  check(at(graph.nodes()), parts, work);
  if (parts == 1 || graph.nodes() < 4 * static_cast<std::int64_t>(parts)) return contiguous_parts(parts, work);
#ifdef CAMBIUM_HAVE_METIS
  // METIS 5.1.0 may silently leave parts of small graphs empty: a rank would have no work.
  Parts found = by_metis(graph, parts, work);
  const bool empty = std::adjacent_find(found.first.begin(), found.first.end()) != found.first.end();
  return empty ? contiguous_parts(parts, work) : found;
#else
  log.warn(
      "this build has no METIS: the graph is divided into contiguous ranges of nodes, which exchange more rows "
      "(install METIS, Debian's libmetis-dev, and configure again)");
  return contiguous_parts(parts, work);
#endif
}

double imbalance(const Parts& parts, std::span<const double> work) {
  double total = 0.0, most = 0.0;
  for (int p = 0; p < parts.parts(); ++p) {
    double sum = 0.0;
    for (auto k = parts.first[at(p)]; k < parts.first[at(p) + 1]; ++k) sum += work[at(parts.order[at(k)])];
    total += sum;
    most = std::max(most, sum);
  }
  return total > 0.0 ? most * parts.parts() / total : 1.0;
}

std::int64_t needed_rows(const Neighbours& graph, const Parts& parts) {
  std::vector<std::int32_t> part_of(at(graph.nodes())), asked_by(at(graph.nodes()), -1);
  for (std::int32_t p = 0; p < parts.parts(); ++p)
    for (auto k = parts.first[at(p)]; k < parts.first[at(p) + 1]; ++k) part_of[at(parts.order[at(k)])] = p;
  std::int64_t rows = 0;
  for (std::int32_t p = 0; p < parts.parts(); ++p)
    for (auto k = parts.first[at(p)]; k < parts.first[at(p) + 1]; ++k)
      for (std::int32_t j : graph.of(parts.order[at(k)]))
        if (part_of[at(j)] != p && asked_by[at(j)] != p) asked_by[at(j)] = p, ++rows;
  return rows;
}

}  // namespace cambium::sparse
