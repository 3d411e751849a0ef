#include "plugins/graph/datasets/graph.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/key_error.hpp"
#include "core/io/npz.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/gather.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/graphs/divided_graph.hpp"
#include "plugins/graph/graphs/graph_file.hpp"

namespace cambium::graph {

void GraphSet::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file, "file of the graph: HDF5, or .npz with the array names of published benchmarks")
      .def("")
      .example("cora.h5");
  d("edges", &Params::edges,
    "text with a line 'u v' or 'u v weight' for each edge, as archives and other programs write them, instead of file")
      .def("")
      .example("power_grid.txt");
  d("labels", &Params::labels,
    "text file of labels with a line 'node class' or 'node class role' for each node, or with columns of such names in "
    "any order, used with edges")
      .def("");
  d("count", &Params::count, "nodes of a graph given by edges, numbered from 0; 0: those that a line names")
      .at_least(0)
      .at_most(2147483647)
      .def(0);
  d("directed", &Params::directed,
    "directed graph: edges lead from u to v only (for edge lists; a file states it itself)")
      .def(false);
  describe_edge_text(d);
  d("synthetic", &Params::made, "synthetic graph, instead of a file").formerly("made");
  d("nodes", &Params::nodes, "node split of the samples; labelled: all nodes of known class")
      .options({{"training", Nodes::training},
                {"validation", Nodes::validation},
                {"test", Nodes::test},
                {"labelled", Nodes::labelled}})
      .def(Nodes::training);
  d("split", &Params::split,
    "train/validation/test split of a file with several (masks), an index from 0; each: network k of `ensemble_size` "
    "is trained on split k, and classify_nodes reports mean and standard deviation over splits")
      .def("0")
      .example("each");
  d("features", &Params::features, "node features in the samples, for networks without a graph (mlp)").def(false);
  d("divided", &Params::divided,
    "distributed graph: every rank holds the edges and features of its range of nodes, for graphs larger than one "
    "rank's memory; requires loader full_graph and layout needed_rows or rows")
      .def(false);
  d.check([](const Params& p) -> std::string {
    if (p.divided && p.features)
      return "divided stores a part of the features on each rank, and features: true needs all of them; remove one of "
             "the two";
    if (p.split != "each" && (p.split.empty() || p.split.find_first_not_of("0123456789") != std::string::npos))
      return fmt::format("split is '{}', expected an index from 0 or the word each", p.split);
    if (p.split != "0" && p.file.empty())
      return "split selects one of several splits of a file; give file, or remove split";
    if ((p.file.empty() ? 0 : 1) + (p.edges.empty() ? 0 : 1) + (p.made ? 1 : 0) != 1)
      return "give one of: file (HDF5), edges (text), synthetic";
    if (p.edges.empty() && (!p.labels.empty() || p.count > 0 || p.directed || !p.columns.empty() || p.counts))
      return "labels, count, directed, columns and counts belong to edges; a file and a synthetic graph define all of "
             "these";
    return {};
  });
}

GraphPtr GraphSet::read_whole() const {
  const auto& p = params_;
  if (p.made) return make_graph(*p.made);
  if (!p.edges.empty()) return read_edge_list({p.edges, p.labels, p.count, p.directed, p});
  return read_graph(p.file, split());
}

std::int64_t GraphSet::split() const {
  std::int64_t out = member_;
  if (!sees_each_split()) std::from_chars(params_.split.data(), params_.split.data() + params_.split.size(), out);
  return out;
}

static const char* name_of(GraphSet::Nodes nodes) {
  switch (nodes) {
    case GraphSet::Nodes::training:
      return "training";
    case GraphSet::Nodes::validation:
      return "validation";
    case GraphSet::Nodes::test:
      return "test";
    default:
      return "labelled";
  }
}

/// For the local nodes.
static std::vector<std::int32_t> chosen_nodes(const Graph& graph, GraphSet::Nodes which) {
  std::vector<std::int32_t> out;
  const auto here = graph.here();
  for (auto i = static_cast<std::int32_t>(here.begin); i < here.end; ++i) {
    const bool labelled = graph.labels[i] >= 0;
    const bool chosen = which == GraphSet::Nodes::labelled
                            ? labelled
                            : static_cast<int>(graph.roles[i - here.begin]) == static_cast<int>(which);
    if (!chosen) continue;
    if (!labelled)
      throw InputError(fmt::format("{}: node {} is one of those for {}, but its class is not known", graph.source,
                                   graph.numbering.number(i), name_of(which)));
    out.push_back(i);
  }
  return out;
}

void GraphSet::open(Context& context) {
  NodeSamples samples;
  const bool by_parts = params_.divided && !params_.file.empty() && !io::is_npz(params_.file);
  if (by_parts) samples.graph = read_divided_graph(params_.file, context.comm, split());
  io::on_every_rank(context.comm, [&] {
    if (!by_parts) samples.graph = read_whole();
    samples.nodes = chosen_nodes(*samples.graph, params_.nodes);
  });
  if (samples.graph->held) samples.nodes = all_gather(samples.nodes, context.comm);
  if (samples.nodes.empty())
    throw KeyError("graph.nodes.role", "nodes",
                   fmt::format("{}: no node is marked for {}; give the graph roles (split), or take nodes: labelled",
                               samples.graph->source, name_of(params_.nodes)));
  if (params_.divided && !by_parts) samples.graph = held_part(*samples.graph, context.comm);
  if (params_.nodes == Nodes::training)
    report(*samples.graph, context.log);
  else
    say_notes(samples.graph->notes, context.log);
  if (params_.features) {
    const auto& rows = samples.graph->features;
    samples.features.assign(samples.nodes.size() * static_cast<std::size_t>(rows.columns), 0.0f);
    for (std::size_t k = 0; k < samples.nodes.size(); ++k) {
      const auto columns = rows.columns_of(samples.nodes[k]);
      const auto values = rows.values_of(samples.nodes[k]);
      for (std::size_t e = 0; e < columns.size(); ++e)
        samples.features[k * static_cast<std::size_t>(rows.columns) + static_cast<std::size_t>(columns[e])] = values[e];
    }
  }
  samples_ = make_storage(std::move(samples));
}

std::vector<train::FieldInfo> GraphSet::fields() const {
  std::vector<train::FieldInfo> out{{"label", "", {}, DType::i32}};
  if (params_.features)
    out.push_back({"features", "", {samples_ ? samples_->graph->features.columns : -1}, DType::f32});
  return out;
}

std::vector<train::SamplePtr> GraphSet::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(node_sample(samples_, id));
  return out;
}

std::vector<Citation> GraphSet::citations() const {
  if (!params_.made) return {};
  return {{"holland1983", R"(@article{holland1983,
  author  = {Holland, Paul W. and Laskey, Kathryn Blackmond and Leinhardt, Samuel},
  title   = {Stochastic blockmodels: First steps},
  journal = {Social Networks},
  volume  = {5},
  pages   = {109--137},
  year    = {1983},
  doi     = {10.1016/0378-8733(83)90021-7}
})"}};
}

}  // namespace cambium::graph
