// Gradients of a Deep Potential that learns water: their tails, and their errors in 4 bits (tests/gradient_tails.hpp).
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/train/kinds/batch_plan.hpp"
#include "core/train/optimizers/adam.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/catch.hpp"
#include "tests/gradient_tails.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::test;

namespace {

/// visit(step, gradients) on a batch of 4 frames after each of `steps` steps of Adam.
template <class F>
void water_gradients(int seed, const std::vector<int>& steps, const std::vector<int>& neuron,
                     const std::vector<int>& fitting, F&& visit) {
  const std::string water = std::string(std::getenv("CAMBIUM_DATA")) + "/deepmd/water/";
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  DeepmdNpy training({{water + "data_0", water + "data_1", water + "data_2"}}, context);
  training.open(context);
  DeepPotentialNetwork::Params params;
  params.rcut = 5.0;
  params.neuron = neuron;
  params.axis_neuron = 8;
  params.fitting = fitting;
  params.precision = DType::f32;
  params.statistics_frames = 40;
  DeepPotentialNetwork network(params, context);
  network.fit_statistics(training, context);
  const train::FlatLayout layout(network.parameters(), 1 << 24);
  train::FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
  train::Adam adam({}, context);
  auto states = train::make_states(adam, layout, DType::f32);
  network.initialise(weights.views(), static_cast<std::uint64_t>(seed));
  train::BatchPlan plan;
  plan.samples = training.size();
  plan.batch = 4;
  const auto order = train::epoch_order(static_cast<std::uint64_t>(seed), 0, training.size());
  for (int step = 0; step <= steps.back(); ++step) {
    std::vector<train::TermSum> terms(2);
    gradients.zero();
    const auto batch = train::batch_of(plan, order, step % (training.size() / 4));
    network.gradient(training.read(batch), weights.views(), network.term_weights(step, 1.0), gradients.views(), terms,
                     {});
    if (std::find(steps.begin(), steps.end(), step) != steps.end()) visit(step, gradients);
    adam.step({weights, gradients, states, 1e-3, step + 1});
  }
}

/// visit(name, gradient without padding) of every matrix.
template <class F>
void each_matrix(const train::FlatBuffer& gradients, F&& visit) {
  for (std::size_t k = 0; k < gradients.layout().tensors().size(); ++k) {
    const auto values = gradients.values<float>(k);
    const auto& info = gradients.layout().tensors()[k].info;
    if (info.shape.size() < 2 || std::ssize(values) < 128) continue;
    visit(info.name, std::vector<float>(values.begin(), values.begin() + std::ssize(values) / 128 * 128));
  }
}

bool no_data() {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (data && std::filesystem::exists(std::string(data) + "/deepmd/water")) return false;
  std::cout << "SKIPPED: gradients of water: CAMBIUM_DATA is not set\n";
  return true;
}

/// Error of each array in 4 bits, relative to its own size, when all are coded as they lie in a flat buffer of this
/// alignment.
std::vector<double> errors_together(const train::FlatBuffer& gradients, std::int64_t alignment) {
  const train::FlatLayout layout(
      [&] {
        std::vector<train::ParameterInfo> infos;
        for (const auto& tensor : gradients.layout().tensors()) infos.push_back(tensor.info);
        return infos;
      }(),
      1 << 24, 128, alignment);
  train::FlatBuffer placed(layout, DType::f32);
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
    const auto from = gradients.values<float>(k);
    std::copy(from.begin(), from.end(), placed.values<float>(k).begin());
  }
  auto x = placed.values<float>();
  std::vector<std::byte> message(lowp::int4_groups.bytes(std::ssize(x)));
  lowp::randomised_hadamard(x);
  lowp::encode_groups(lowp::int4_groups, x, {1, 2, 3, 0}, message);
  lowp::decode_groups(lowp::int4_groups, message, x);
  lowp::inverse_randomised_hadamard(x);
  std::vector<double> out;
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
    double error = 0, size = 0;
    const auto exact = gradients.values<float>(k);
    for (std::size_t j = 0; j < exact.size(); ++j) {
      error += std::pow(double(placed.values<float>(k)[j]) - exact[j], 2);
      size += std::pow(exact[j], 2);
    }
    out.push_back(size > 0 ? std::sqrt(error / size) : 0.0);
  }
  return out;
}

}  // namespace

TEST_CASE("4-bit gradients of a Deep Potential: table", "[.table][data]") {
  if (no_data()) return;
  for (int seed : {1, 2, 3})
    water_gradients(seed, {0, 10, 100, 300}, {25, 50, 100}, {120, 120, 120},
                    [&](int steps, const train::FlatBuffer& gradients) {
                      each_matrix(gradients, [&](const std::string& name, const std::vector<float>& g) {
                        write_tail(std::cout, "deep_potential", seed, steps, name, g);
                      });
                    });
}

TEST_CASE("4-bit gradients of a Deep Potential in training: the error of heavy-tailed ones is halved", "[data]") {
  if (no_data()) return;
  int heavy = 0;
  water_gradients(1, {100}, {25, 50, 100}, {32, 32}, [&](int, const train::FlatBuffer& gradients) {
    each_matrix(gradients, [&](const std::string& name, const std::vector<float>& g) {
      if (weighted_kurtosis_of_groups(g) <= heavy_tail) return;
      ++heavy;
      INFO(name << ": kurtosis within groups " << weighted_kurtosis_of_groups(g));
      CHECK(error_of_4_bits(g, Transform::randomised, 4) < 0.5 * error_of_4_bits(g, Transform::none, 4));
    });
  });
  CHECK(heavy >= 1);
}

// Biases of hidden layers have gradients a thousandth as large as the first matrix of an embedding. Where a group of
// 128 holds both, the step of rounding is that of the larger, and nothing is left of the smaller.
TEST_CASE("4-bit gradients of a Deep Potential: arrays that begin groups of their own keep their small numbers",
          "[data]") {
  if (no_data()) return;
  water_gradients(1, {0, 20}, {8, 16, 32}, {48, 48, 48}, [](int steps, const train::FlatBuffer& gradients) {
    const auto shared = errors_together(gradients, 16), apart = errors_together(gradients, lowp::int4_groups.group);
    INFO("after " << steps << " steps");
    CHECK(*std::max_element(shared.begin(), shared.end()) > 1.5);
    CHECK(*std::max_element(apart.begin(), apart.end()) < 0.5);
  });
}
