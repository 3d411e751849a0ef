#include "plugins/graph/graphs/divided_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/io/reading.hpp"
#include "core/parallel/agree.hpp"
#include "core/sparse/divided_product.hpp"
#include "core/sparse/entries.hpp"
#include "core/sparse/row_exchange.hpp"
#include "plugins/graph/graphs/adjacency.hpp"
#include "plugins/graph/graphs/fingerprint.hpp"
#include "plugins/graph/graphs/graph_arrays.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/graphs/matrices.hpp"

namespace cambium::graph {

namespace {

/// Sends edges of a file to the ranks that own an end.
class EdgeSender {
 public:
  EdgeSender(const std::string& path, const Graph& graph, std::int64_t nodes, const Comm& comm)
      : path_(path), nodes_(nodes), directed_(graph.directed), comm_(comm),
        first_(sparse::equal_ranges(nodes, comm.size())) {}

  /// Entries of this rank's rows, in the order of the file: piece k is read by rank k mod P, and pieces of a round
  /// arrive in rank order. Errors are deferred to the end of all rounds, so that no rank waits for another.
  EdgeEntries all(const io::File& file, std::int64_t edges) {
    constexpr std::int64_t most = 1 << 20;  // edges in a round
    const std::int64_t piece = std::max<std::int64_t>(1, most / comm_.size()), round = piece * comm_.size();
    EdgeEntries out;
    for (std::int64_t begin = 0; begin < edges; begin += round) {
      const auto from = std::min(edges, begin + piece * comm_.rank());
      const auto own = read(file, {from, std::min(edges, from + piece)});
      for (const auto part : {&EdgeEntries::given, &EdgeEntries::turned}) {
        if (directed_ && part == &EdgeEntries::turned) continue;
        const auto came = exchanged(own.*part);
        (out.*part).insert((out.*part).end(), came.begin(), came.end());
      }
    }
    io::on_every_rank(comm_, [&] {
      if (!fault_.empty()) throw InputError(fault_);
    });
    return out;
  }

 private:
  EdgeEntries read(const io::File& file, sparse::Range wanted) {
    EdgeEntries out;
    if (!fault_.empty()) return out;
    try {
      const auto edges = edges_of(file, wanted);
      for (std::size_t k = 0; k < edges.size(); ++k) {
        if (const auto problem = edge_problem(edges[k], nodes_); !problem.empty())
          throw InputError(
              fmt::format("{}: edge {}: {}", path_, wanted.begin + static_cast<std::int64_t>(k) + 1, problem));
        out.add(edges[k], directed_);
      }
    } catch (const InputError& error) {
      fault_ = error.what();
      out = {};
    }
    return out;
  }

  std::vector<sparse::Entry> exchanged(const std::vector<sparse::Entry>& entries) const {
    return sparse::sent_to_owners(
        entries, [&](std::int64_t row, std::int64_t) { return sparse::range_of(first_, row); }, comm_);
  }

  std::string path_, fault_;
  std::int64_t nodes_;
  bool directed_;
  const Comm& comm_;
  std::vector<std::int64_t> first_;
};

/// Sets the row sums of A + I needed by own rows: their own, and those of their neighbours.
void take_sums(Graph& graph, const std::vector<std::int64_t>& first, const Comm& comm) {
  auto& part = *graph.held;
  const sparse::Range own{part.first, part.last};
  for (const auto column : graph.weights.column)
    if (!own.holds(column)) part.others.push_back(column);
  std::sort(part.others.begin(), part.others.end());
  part.others.erase(std::unique(part.others.begin(), part.others.end()), part.others.end());
  part.looped_sums = looped_row_sums(graph);
  const auto known = std::ssize(part.looped_sums), asked = std::ssize(part.others);
  part.looped_sums.resize(at(known + asked));
  sparse::RowExchange<double> exchange(first, part.others, lowp::WireCodec::none, comm);
  exchange.begin({part.looped_sums.data(), known, 1, 1}, {part.looped_sums.data() + known, asked, 1, 1});
  exchange.finish();
}

/// Sets the local rows, the global counts, and the data needed of other nodes.
void take_rows(Graph& graph, EdgeEntries entries, std::int64_t nodes, std::int64_t edges, const Comm& comm) {
  const auto first = sparse::equal_ranges(nodes, comm.size());
  graph.held = NodePart{first[at(comm.rank())], first[at(comm.rank()) + 1], {}, {}};
  const auto begin = graph.held->first, count = graph.held->last - begin;
  for (auto* part : {&entries.given, &entries.turned})
    for (auto& entry : *part) entry.row -= static_cast<std::int32_t>(begin);
  std::int64_t mutual = 0;
  io::on_every_rank(comm, [&] {
    auto found = adjacency_of({count, nodes, begin, graph.weighted}, entries.given, entries.turned, graph.source,
                              graph.numbering);
    graph.weights = std::move(found.weights);
    mutual = found.mutual;
  });
  entries = {};
  graph.mutual = comm.sum(mutual) / 2;
  take_sums(graph, first, comm);
  std::int64_t loops = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = graph.weights.columns_of(i);
    loops += std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(begin + i));
  }
  graph.loops = comm.sum(loops);
  const auto all = comm.sum(graph.weights.entries());
  graph.edges = graph.directed ? all : (all - graph.loops) / 2 + graph.loops;
  graph.duplicates = edges - graph.edges;
}

/// Data replicated on all ranks.
void agree(Graph& graph, const Comm& comm) {
  graph.feature_entries = comm.sum(graph.feature_entries);
  for (auto& count : graph.in_role) count = comm.sum(count);
  Fingerprint print;
  print.add(comm.all_gather(static_cast<std::int64_t>(graph.fingerprint)));
  graph.fingerprint = print.value();
}

}  // namespace

GraphPtr read_divided_graph(const std::string& path, const Comm& comm, std::int64_t split) {
  if (comm.size() == 1) return read_graph(path, split);
  auto out = std::make_shared<Graph>();
  GraphParts parts;
  std::int64_t edges = 0;
  std::optional<io::File> file;
  const auto reading = [&](const std::function<void()>& action) {
    io::on_every_rank(comm, [&] { io::reading(path, action); });
  };
  reading([&] {
    file.emplace(io::File::open(path));
    parts.source = path;
    parts.nodes = nodes_of(*file);
    parts.directed = directed_of(*file);
    parts.weighted = file->exists(name_in(*file, weight_names));
    edges = edge_count(*file);
  });
  out->source = path;
  out->directed = parts.directed;
  out->weighted = parts.weighted;
  out->numbering = Numbering(parts.nodes);
  take_rows(*out, EdgeSender(path, *out, parts.nodes, comm).all(*file, edges), parts.nodes, edges, comm);
  reading([&] {
    parts.features = features_of(*file, parts.nodes, out->here());
    parts.labels = labels_of(*file, parts.nodes);
    parts.split = split;
    parts.splits = splits_of(*file, parts.nodes);
    parts.roles = roles_of(*file, parts.nodes, out->here(), split);
    complete(*out, parts);
  });
  agree(*out, comm);
  return out;
}

GraphPtr held_part(const Graph& whole, const Comm& comm) {
  const auto first = sparse::equal_ranges(whole.nodes(), comm.size());
  auto out = std::make_shared<Graph>(whole);
  if (comm.size() == 1) return out;
  const auto begin = first[at(comm.rank())], end = first[at(comm.rank()) + 1];
  out->held = NodePart{begin, end, {}, {}};
  out->weights = rows_of(whole.weights, begin, end);
  out->features = rows_of(whole.features, begin, end);
  out->roles.assign(whole.roles.begin() + begin, whole.roles.begin() + end);
  take_sums(*out, first, comm);
  Fingerprint print;
  print.add(std::vector<std::uint64_t>{whole.fingerprint, static_cast<std::uint64_t>(comm.size())});
  out->fingerprint = print.value();
  return out;
}

}  // namespace cambium::graph
