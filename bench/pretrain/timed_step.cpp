#include "bench/pretrain/timed_step.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/timing.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/reduce/reducer.hpp"
#include "plugins/pretrain/archive/made_up.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"

namespace cambium::pretrain {

using Json = nlohmann::json;

namespace {

constexpr int checked_steps = 5;
constexpr double rate = 1e-3, decay = 0.01;
const char* const data_keys = "{synthetic: {simulations: 32, snapshots: 8, cells: [64, 32], noise: 0.1}, apart: 1}";
const char* const network_keys =
    "{channels: [16, 32, 64], width: 64, positive: field, loss: {scheme: infonce, temperature: {start: 0.1}}}";

/// Steps over one batch, shared by the ranks of a communicator.
class Steps {
 public:
  Steps(const StepSettings& s, Context& context) : mesh_(context.comm), adam_({{0.9, 0.999, 1e-8, decay}}, context) {
    data_ = context.registry->make<train::Dataset>("field_archive", deck::parse(data_keys, "bench"), context);
    data_->open(context);
    network_ = context.registry->make<train::Network>("field_encoder", deck::parse(network_keys, "bench"), context);
    network_->fit_statistics(*data_, context);
    layout_ = std::make_unique<train::FlatLayout>(network_->parameters(), 1000000);
    reducer_ = train::make_reducer({}, mesh_, *layout_, DType::f32);
    weights_ = train::FlatBuffer(*layout_, DType::f32);
    gradients_ = reducer_->make_buffer(*layout_, DType::f32);
    states_ = train::make_states(adam_, *layout_, DType::f32);
    network_->initialise(weights_.views(), 1);
    const std::int64_t rank = context.comm.rank(), ranks = context.comm.size();
    batch_ = s.batch;
    std::vector<std::int64_t> ids;
    for (std::int64_t k = s.batch * rank / ranks; k < s.batch * (rank + 1) / ranks; ++k)
      ids.push_back(k * data_->size() / s.batch);
    samples_ = data_->read(ids);
  }

  /// The loss before the step; this rank's contribution.
  double step() {
    network_->begin_step(1, steps_);
    const auto prefactors = network_->term_weights(0, 1.0);
    std::vector<train::TermSum> terms(prefactors.size());
    reducer_->begin(gradients_, 1);
    reducer_->next_slice();
    network_->gradient(samples_, weights_.views(), prefactors, gradients_.views(), terms,
                       [&](int tensor) { reducer_->ready(tensor); });
    reducer_->finish();
    train::scale(gradients_, 1.0 / static_cast<double>(batch_));
    adam_.step({weights_, gradients_, states_, rate, ++steps_});
    return terms[0].sum / static_cast<double>(batch_);
  }

  /// Writes the input of the reference implementation.
  std::string handed_over(Peers& peers) {
    const auto layout = network_->parameters();
    Json out = {{"cells", {64, 32}}, {"batch", batch_}, {"temperature", 0.1},
                {"rate", rate},      {"decay", decay},  {"state", Json::parse(network_->state())}};
    std::vector<float> numbers;
    for (std::size_t k = 0; k < layout.size(); ++k) {
      out["weights"].push_back({{"name", layout[k].name}, {"shape", layout[k].shape}, {"decay", layout[k].decay}});
      const auto view = weights_.views()[k];
      const auto* from = static_cast<const float*>(view.data);
      numbers.insert(numbers.end(), from, from + view.elements());
    }
    out["weights_file"] = peers.file<float>("weights", numbers);
    for (const char* name : {"field", "partner"}) {
      std::vector<float> fields;
      for (const auto& sample : samples_) {
        const auto& values = sample->fields.find(name)->second;
        const auto* from = static_cast<const float*>(values.data);
        fields.insert(fields.end(), from, from + values.elements());
        out["shape"] = std::vector<std::int64_t>(values.shape, values.shape + values.rank);
      }
      out[name] = peers.file<float>(name, fields);
    }
    for (const auto n :
         std::span(static_cast<const std::int64_t*>(samples_[0]->fields.find("periodic")->second.data), 2))
      out["periodic"].push_back(n);
    return peers.text_file("step.json", out.dump());
  }

 private:
  train::Mesh mesh_;
  train::AdamW adam_;
  std::unique_ptr<train::Dataset> data_;
  std::unique_ptr<train::Network> network_;
  std::unique_ptr<train::FlatLayout> layout_;
  std::unique_ptr<train::Reducer> reducer_;
  train::FlatBuffer weights_, gradients_;
  std::vector<train::FlatBuffer> states_;
  std::vector<train::SamplePtr> samples_;
  std::int64_t batch_ = 0, steps_ = 0;
};

/// Rank 0 only, compared with the reference implementation.
std::string time_alone(const StepSettings& s, Peers& peers, Json& out, Context& alone) {
  Steps checked(s, alone), timed(s, alone);
  const std::string problem = peers.has("torch") ? checked.handed_over(peers) : "";
  std::vector<double> losses;
  for (int k = 0; k < checked_steps; ++k) losses.push_back(checked.step());
  out["loss_first"] = losses.front();
  out["loss_last"] = losses.back();
  const Json ready = problem.empty() ? Json() : peers.ask(fmt::format("step {} {}", problem, checked_steps));
  timed.step();
  for (int turn = 0; turn < s.turns; ++turn) {
    const double begin = wall_seconds();
    const double ms = 1e3 / s.steps * processor_seconds([&] {
                        for (int k = 0; k < s.steps; ++k) timed.step();
                      });
    const double wall = 1e3 / s.steps * (wall_seconds() - begin);
    out["step_ms"] = turn == 0 ? ms : std::min(ms, out["step_ms"].get<double>());
    out["step_wall_ms"] = turn == 0 ? wall : std::min(wall, out["step_wall_ms"].get<double>());
    if (ready.is_null()) continue;
    const Json peer = peers.ask(fmt::format("step_turn {}", s.steps));
    if (peer.is_null()) return "step: no answer of PyTorch";
    const auto time = peer["ms"].get<double>();
    out["pytorch_step_ms"] = turn == 0 ? time : std::min(time, out["pytorch_step_ms"].get<double>());
  }
  if (!(losses.back() < losses.front())) return fmt::format("step: the loss does not fall from {:.5f}", losses.front());
  if (ready.is_null()) return "";
  out["step_ratio"] = out["pytorch_step_ms"].get<double>() / out["step_ms"].get<double>();
  double worst = 0.0;
  for (std::size_t k = 0; k < losses.size(); ++k)
    worst = std::max(worst, std::abs(ready["losses"][k].get<double>() / losses[k] - 1.0));
  out["step_error"] = worst;
  return worst < 1e-3 ? "" : fmt::format("step: losses from the same weights differ from PyTorch's by {:.1e}", worst);
}

}  // namespace

std::string time_step(const StepSettings& s, Peers& peers, Json& out, Context& context) {
  Comm self(MPI_COMM_SELF);
  Log quiet(nullptr, false);
  Context alone{self, quiet, context.timing, context.registry},
      together{context.comm, quiet, context.timing, context.registry};
  std::string wrong;
  if (context.comm.root()) wrong = time_alone(s, peers, out, alone);
  context.comm.barrier();
  if (context.comm.size() == 1) return wrong;
  Steps shared(s, together);
  shared.step();
  double least = 1e300;
  for (int turn = 0; turn < s.turns; ++turn) {
    context.comm.barrier();
    const double begin = wall_seconds();
    for (int k = 0; k < s.steps; ++k) shared.step();
    least = std::min(least, context.comm.max(wall_seconds() - begin) / s.steps);
  }
  out["ranks_step_ms"] = 1e3 * least;
  if (out.contains("step_wall_ms")) out["ranks_ratio"] = out["step_wall_ms"].get<double>() / (1e3 * least);
  return wrong;
}

}  // namespace cambium::pretrain
