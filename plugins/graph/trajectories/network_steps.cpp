#include "plugins/graph/trajectories/network_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/sparse/divided_product.hpp"
#include "plugins/graph/graphs/bytes.hpp"
#include "plugins/graph/trajectories/step_sample.hpp"

namespace cambium::graph {

const StepsOnNodes& require_steps(const train::LoadedModel& model, const std::string& path) {
  const auto* kind = dynamic_cast<const StepsOnNodes*>(model.network.get());
  if (!kind)
    throw KeyError("nodes.surrogate.type", "",
                   fmt::format("'{}' is a '{}', which makes no steps on nodes; name a model of the type mesh_graph_net",
                               path, model.info.type));
  return *kind;
}

namespace {

/// 1 for every node at most `reach` edges away from one of `own`.
std::vector<char> within(const Trajectory& whole, std::span<const std::int32_t> own, std::int64_t reach) {
  std::vector<char> in(whole.nodes(), 0);
  for (const auto node : own) in[node] = 1;
  for (std::int64_t k = 0; k < reach; ++k) {
    auto further = in;
    for (std::size_t e = 0; e < whole.edge.size(); e += 2)
      if (const auto a = whole.edge[e], b = whole.edge[e + 1]; in[a] != in[b]) further[a] = further[b] = 1;
    if (further == in) break;
    in = std::move(further);
  }
  return in;
}

/// Subgraph of the marked nodes and the edges between them, both in their original order.
std::shared_ptr<Trajectory> part_of(const Trajectory& whole, std::span<const std::int32_t> nodes) {
  auto out = std::make_shared<Trajectory>();
  out->interval = whole.interval;
  std::vector<std::int32_t> row(whole.nodes(), -1);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const auto node = static_cast<std::size_t>(nodes[k]);
    row[node] = static_cast<std::int32_t>(k);
    out->place.insert(out->place.end(), &whole.place[3 * node], &whole.place[3 * node] + 3);
    out->boundary.push_back(whole.boundary[node]);
    out->share.push_back(whole.share[node]);
  }
  for (std::size_t e = 0; e < whole.weight.size(); ++e) {
    const auto a = row[whole.edge[2 * e]], b = row[whole.edge[2 * e + 1]];
    if (a < 0 || b < 0) continue;
    out->edge.insert(out->edge.end(), {a, b});
    out->weight.push_back(whole.weight[e]);
  }
  return out;
}

}  // namespace

NetworkSteps::NetworkSteps(const std::string& path, const Trajectory& whole, std::span<const std::int32_t> number,
                           const std::vector<std::int64_t>& first, std::span<const std::int32_t> run,
                           std::int64_t fields, lowp::WireCodec codec, Context& context)
    : model_(train::load_artifact(path, context)), kind_(&require_steps(model_, path)), fields_(fields),
      seed_(context.seed) {
  if (kind_->fields_on_nodes() != fields)
    throw KeyError("nodes.surrogate.fields", "",
                   fmt::format("surrogate: '{}' was trained on {} values at a node, this physics has {}; train it on "
                               "runs of the same physics",
                               path, kind_->fields_on_nodes(), fields));
  const auto rank = static_cast<std::size_t>(context.comm.rank());
  const sparse::Range own{first[rank], first[rank + 1]};
  const auto in = within(whole, number.subspan(own.begin, static_cast<std::size_t>(own.size())), kind_->reach());
  std::vector<std::int32_t> wanted, place(in.size(), -1), nodes;  // place: index of a node among own and wanted ones
  for (std::int64_t k = 0; k < std::ssize(number); ++k)
    if (const auto node = static_cast<std::size_t>(number[k]); own.holds(k)) {
      place[node] = static_cast<std::int32_t>(k - own.begin);
    } else if (in[node]) {
      place[node] = static_cast<std::int32_t>(own.size() + std::ssize(wanted));
      wanted.push_back(static_cast<std::int32_t>(k));
    }
  row_.resize(own.size());
  for (std::size_t node = 0; node < in.size(); ++node) {
    if (!in[node]) continue;
    if (place[node] < own.size()) row_[place[node]] = static_cast<std::int32_t>(nodes.size());
    nodes.push_back(static_cast<std::int32_t>(node));
    place_.push_back(place[node]);
  }
  auto part = part_of(whole, nodes);
  part->interval = kind_->interval();
  part_ = std::move(part);
  exchange_ = std::make_unique<sparse::RowExchange<double>>(first, wanted, codec, context.comm);
  const auto in_of_run = within(whole, run, kind_->reach());
  halo_ = context.comm.sum(std::ssize(wanted));
  halo_of_ranges_ = context.comm.sum(std::count(in_of_run.begin(), in_of_run.end(), 1) - std::ssize(run));
}

void NetworkSteps::step(std::span<double> own, std::int64_t number) {
  exchange_->begin_step(seed_, number);
  const auto fields = static_cast<std::size_t>(fields_);
  fetched_.resize(static_cast<std::size_t>(exchange_->wanted_rows()) * fields);
  exchange_->begin({own.data(), exchange_->own_rows(), fields_, fields_},
                   {fetched_.data(), exchange_->wanted_rows(), fields_, fields_});
  exchange_->finish();
  std::vector<double> value(place_.size() * fields), out(value.size());
  for (std::size_t k = 0; k < place_.size(); ++k) {
    const auto at = static_cast<std::size_t>(place_[k]) * fields;
    std::copy_n(at < own.size() ? &own[at] : &fetched_[at - own.size()], fields, &value[k * fields]);
  }
  const std::vector<train::SamplePtr> one{step_sample(0, part_, std::move(value), {})};
  const TensorRef to = io::tensor_of(out.data(), {1, std::ssize(place_), fields_});
  model_.network->infer(one, model_.weights.views(), std::span(&to, 1));
  for (std::size_t k = 0; k < row_.size(); ++k)
    std::copy_n(&out[static_cast<std::size_t>(row_[k]) * fields], fields, &own[k * fields]);
}

std::int64_t NetworkSteps::bytes() const {
  return bytes_in(part_->place, part_->edge, part_->weight, part_->boundary, part_->share, place_, row_, fetched_) +
         exchange_->bytes();
}

}  // namespace cambium::graph
