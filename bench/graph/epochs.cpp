#include "bench/graph/epochs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "core/base/timing.hpp"
#include "core/parallel/random.hpp"
#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

namespace {

Gcn::Params params(std::int64_t hidden, double dropout) {
  Gcn::Params out;
  out.layers = {hidden};
  out.dropout = dropout;
  out.bias = false;
  return out;
}

train::Adam::Params decayed() {
  train::Adam::Params out;
  out.weight_decay = 5e-4;
  return out;
}

double seconds_on(const Comm& comm) {
  return comm.size() > 1 ? wall_seconds() : static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

GraphPtr mesh_graph(std::int64_t nodes) {
  constexpr std::int64_t width = 16;
  const auto side = static_cast<std::int32_t>(std::llround(std::sqrt(static_cast<double>(nodes))));
  GraphParts parts;
  parts.source = fmt::format("a square of {0} x {0} nodes in triangles", side);
  parts.nodes = std::int64_t{side} * side;
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < side; ++x) {
      const std::int32_t k = x + side * y;
      if (x + 1 < side) parts.edges.push_back({k, k + 1, 1.0});
      if (y + 1 < side) parts.edges.push_back({k, k + side, 1.0});
      if (x + 1 < side && y + 1 < side) parts.edges.push_back({k, k + side + 1, 1.0});
      parts.labels.push_back((2 * x >= side ? 1 : 0) + (2 * y >= side ? 2 : 0));
    }
  parts.roles.assign(parts.nodes, Role::training);
  parts.features.rows = parts.nodes;
  parts.features.columns = width;
  for (std::int64_t i = 0; i < parts.nodes; ++i) {
    for (std::int32_t f = 0; f < width; ++f) {
      parts.features.column.push_back(f);
      const Random4 draw(1, made_graph_stream, static_cast<std::uint64_t>(i * width + f), 4);
      parts.features.value.push_back(static_cast<float>(draw.uniform(0) + (f % 4 == parts.labels[i] ? 0.5 : 0.0)));
    }
    parts.features.start.push_back(std::ssize(parts.features.column));
  }
  return make_graph(std::move(parts));
}

Epochs::Epochs(const GraphPtr& graph, std::int64_t hidden, double dropout, Context& context)
    : comm_(context.comm), network_(params(hidden, dropout), context),
      training_(graph, nodes_with(*graph, Role::training)), adam_(decayed(), context) {
  network_.fit_statistics(training_, context);
  layout_ = std::make_unique<train::FlatLayout>(network_.parameters(), std::int64_t{1} << 40);
  weights_ = train::FlatBuffer(*layout_, DType::f32);
  gradients_ = train::FlatBuffer(*layout_, DType::f32);
  states_ = train::make_states(adam_, *layout_, DType::f32);
  network_.initialise(weights_.views(), 1);
  auto slice = std::make_shared<train::Sample>();
  const auto nodes = std::make_shared<const std::vector<std::int32_t>>(nodes_with(*graph, Role::training));
  const std::int64_t n = graph->nodes(), rank = comm_.rank(), ranks = comm_.size();
  slice->storage = make_storage(WholeGraph{graph, nodes, n * rank / ranks, n * (rank + 1) / ranks});
  sample_ = slice;
}

double Epochs::epoch() {
  gradients_.zero();
  network_.begin_step(1, steps_);
  train::TermSum loss;
  const double one = 1.0;
  network_.gradient({&sample_, 1}, weights_.views(), {&one, 1}, gradients_.views(), {&loss, 1}, {});
  double sums[] = {loss.sum, loss.count};
  if (comm_.size() > 1) {
    comm_.sum(sums);
    for (const auto& part : gradients_.views())
      MPI_Allreduce(MPI_IN_PLACE, part.data, static_cast<int>(part.elements()), MPI_FLOAT, MPI_SUM, comm_.handle());
  }
  train::scale(gradients_, 1.0 / sums[1]);
  adam_.step({weights_, gradients_, states_, 0.01, ++steps_});
  return sums[0] / sums[1];
}

double Epochs::fastest(double seconds) {
  double best = 1e300;
  const double end = wall_seconds() + seconds;
  for (int k = 0; k < 5 || comm_.max(wall_seconds() < end ? 1 : 0) > 0; ++k) {
    comm_.barrier();
    const double begun = seconds_on(comm_);
    epoch();
    best = std::min(best, comm_.max(seconds_on(comm_) - begun));
  }
  return best;
}

}  // namespace cambium::graph
