// What Torch saves for the backward pass, compressed: the error of gradients beside its prediction, what is held, and
// that the rest of a gradient does not change.
#include <torch/torch.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/train/networks/torch/saved_tensors.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Three convolutions with relu and maxima, two layers behind; smooth images, and a loss that asks for random classes.
struct Net {
  torch::nn::Sequential layers{torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3).padding(1)),
                               torch::nn::ReLU(),
                               torch::nn::MaxPool2d(2),
                               torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 3).padding(1)),
                               torch::nn::ReLU(),
                               torch::nn::MaxPool2d(2),
                               torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)),
                               torch::nn::ReLU(),
                               torch::nn::Flatten(),
                               torch::nn::Linear(16 * 49, 64),
                               torch::nn::ReLU(),
                               torch::nn::Linear(64, 10)};
  torch::Tensor images, labels;

  explicit Net(std::int64_t batch) {
    torch::manual_seed(5);
    for (auto& p : layers->parameters())
      torch::nn::init::normal_(p, 0.0, p.dim() > 1 ? std::sqrt(2.0 / static_cast<double>(p[0].numel())) : 0.1);
    const auto place = torch::arange(28).to(torch::kFloat32);
    const auto phase = torch::rand({batch, 1, 1, 1}) * 6.0, speed = 0.2 + 0.4 * torch::rand({batch, 1, 1, 1});
    images =
        torch::sin(speed * place.view({1, 1, 28, 1}) + phase) * torch::cos(speed * place.view({1, 1, 1, 28}) - phase) +
        0.1 * torch::randn({batch, 1, 28, 28});
    labels = torch::randint(0, 10, {batch});
  }
  torch::Tensor loss() {
    return torch::nn::functional::cross_entropy(
        layers->forward(images), labels, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
  }
  std::vector<torch::Tensor> gradient(SavedTensors* saved, int passes = 1) {
    std::vector<torch::Tensor> out;
    for (int pass = 0; pass < passes; ++pass) {
      layers->zero_grad();
      torch::Tensor value;
      {
        const auto saving = saved ? std::make_unique<SavedTensors::Saving>(*saved, layers->parameters()) : nullptr;
        value = loss();
      }
      if (saved) saved->watch(value);
      value.backward();
      value = torch::Tensor();
      if (saved) saved->adapt();
    }
    for (const auto& p : layers->parameters()) out.push_back(p.grad().clone());
    return out;
  }
};

double rms(const torch::Tensor& x) { return std::sqrt(x.square().mean().item<double>()); }

/// Slots whose values reach weights, in the order of the layers.
std::vector<const SavedTensors::Slot*> with_values(const SavedTensors& saved) {
  std::vector<const SavedTensors::Slot*> out;
  for (const auto& slot : saved.slots())
    if (slot.error_per_bound > 0.0) out.push_back(&slot);
  return out;
}

}  // namespace

TEST_CASE("the error of a gradient is what the bound predicts") {
  torch::set_num_threads(1);
  ActivationParams params;
  for (const std::int64_t batch : {16, 64}) {
    Net net(batch);
    const auto exact = net.gradient(nullptr);
    for (const double factor : {1.0, 2.0, 4.0, 8.0}) {
      params.bound = 0.01 * factor;
      SavedTensors saved(params);
      const auto rough = net.gradient(&saved, 2);  // the first pass learns who reads what
      const auto slots = with_values(saved);
      REQUIRE(slots.size() == 5);
      for (std::size_t layer = 0; layer < 5; ++layer) {
        const double measured = rms(rough[2 * layer] - exact[2 * layer]);
        INFO("batch " << batch << ", bound " << params.bound << ", layer " << layer << ", measured " << measured
                      << ", predicted " << slots[layer]->predicted);
        CHECK(slots[layer]->predicted / measured > 0.8);
        CHECK(slots[layer]->predicted / measured < 1.25);
        // Biases see no activations, and signs of relu are exact.
        CHECK(rms(rough[2 * layer + 1] - exact[2 * layer + 1]) < 1e-5 * rms(exact[2 * layer + 1]) + 1e-7);
      }
    }
  }
}

TEST_CASE("bounds follow the gradient, and far less is held") {
  ActivationParams params;
  params.share = 0.01;
  Net net(32);
  SavedTensors saved(params);
  const auto exact = net.gradient(nullptr), rough = net.gradient(&saved, 3);
  std::size_t layer = 0;
  for (const auto* slot : with_values(saved)) {
    CHECK(slot->predicted == Approx(0.01 * slot->gradient).epsilon(0.02));
    const double measured = rms(rough[2 * layer] - exact[2 * layer]);
    CHECK(measured < 1.25 * 0.01 * exact[2 * layer].abs().mean().item<double>());
    ++layer;
  }
  CHECK(layer == 5);
  // Once it is known who reads what.
  SavedTensors whole({ActivationParams::Keep::whole});
  const auto same = net.gradient(&whole);
  for (std::size_t k = 0; k < same.size(); ++k) CHECK(torch::equal(same[k], exact[k]));
  CHECK(whole.peak() == whole.plain_peak());
  CHECK(whole.plain_peak() == saved.plain_peak());
  CHECK(saved.allocated_peak() < whole.allocated_peak());
}

TEST_CASE("an absurd bound makes another gradient") {
  ActivationParams params;
  params.bound = 10.0;
  Net net(32);
  SavedTensors saved(params);
  const auto exact = net.gradient(nullptr), rough = net.gradient(&saved, 2);
  CHECK(rms(rough[0] - exact[0]) > 0.9 * rms(exact[0]));
}

TEST_CASE("a recomputed segment has the same gradient, bit for bit, and keeps its input alone") {
  torch::manual_seed(3);
  torch::nn::Sequential block(torch::nn::Linear(64, 256), torch::nn::ReLU(), torch::nn::Linear(256, 64),
                              torch::nn::Tanh());
  const torch::Tensor x = torch::randn({32, 64});
  const auto gradient = [&](bool again, SavedTensors& saved) {
    block->zero_grad();
    torch::Tensor loss;
    {
      const SavedTensors::Saving saving(saved, block->parameters());
      torch::Tensor y = x;
      for (int k = 0; k < 3; ++k)
        y = again ? recomputed([&](const torch::Tensor& in) { return block->forward(in); }, y) : block->forward(y);
      loss = y.square().sum();
    }
    saved.watch(loss);
    loss.backward();
    saved.adapt();
    std::vector<torch::Tensor> out;
    for (const auto& p : block->parameters()) out.push_back(p.grad().clone());
    return out;
  };
  SavedTensors whole({ActivationParams::Keep::whole}), again({ActivationParams::Keep::recomputed});
  const auto a = gradient(false, whole), b = gradient(true, again);
  for (std::size_t k = 0; k < a.size(); ++k) CHECK(torch::equal(a[k], b[k]));
  CHECK(again.peak() < 0.4 * whole.peak());
}
