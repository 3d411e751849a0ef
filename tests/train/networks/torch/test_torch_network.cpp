#include <torch/torch.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/train/networks/torch/conv_net.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// y = w2 tanh(w1 x + b1), two inputs; loss (y - target)^2 and, as a second term, y^2. May have a part that it never
/// uses, or a module with buffers.
class TinyNet : public TorchNetwork {
 public:
  explicit TinyNet(Precision precision, bool with_idle = false, bool with_buffer = false)
      : TorchNetwork(precision), idle_(with_idle), buffer_(with_buffer) {}
  void fit_statistics(Dataset&, Context&) override {}
  std::vector<TermInfo> terms() const override { return {{"error", "", {}}, {"size", "", {}}}; }
  std::vector<double> term_weights(std::int64_t, double) const override { return {1.0, 0.5}; }
  std::vector<torch::Tensor> module_parameters() const { return layers_->parameters(); }
  bool break_shape = false;

 private:
  std::shared_ptr<torch::nn::Module> build() override {
    torch::nn::Sequential layers(torch::nn::Linear(2, 3), torch::nn::Tanh(), torch::nn::Linear(3, 1));
    layers_ = layers.ptr();
    whole_ = std::make_shared<torch::nn::Module>("tiny");
    whole_->register_module("layers", layers_);
    if (idle_) whole_->register_module("idle", torch::nn::Linear(2, 2).ptr());
    if (buffer_) whole_->register_module("norm", torch::nn::BatchNorm1d(2).ptr());
    return whole_;
  }
  std::vector<Term> loss(const TorchBatch& batch) override {
    torch::Tensor x = batch.real("x");
    if (break_shape) x = x.reshape({-1, 4});
    const torch::Tensor y = layers_->forward(x).reshape({-1}).to(real()), target = batch.real("target").reshape({-1});
    const auto n = static_cast<double>(batch.size());
    return {{(y - target).square().sum(), n}, {y.square().sum(), n}};
  }
  bool idle_, buffer_;
  std::shared_ptr<torch::nn::SequentialImpl> layers_;
  std::shared_ptr<torch::nn::Module> whole_;
};

struct Row {
  double x[2], target;
};

SamplePtr sample_of(std::int64_t id) {
  auto row =
      std::make_shared<Row>(Row{{std::sin(1.0 + static_cast<double>(id)), std::cos(2.0 * static_cast<double>(id))},
                                0.3 * static_cast<double>(id)});
  auto sample = std::make_shared<Sample>();
  sample->id = id;
  auto tensor = [](double* data, std::int64_t n) {
    TensorRef t;
    t.data = data;
    t.rank = 1;
    t.shape[0] = n;
    t.stride[0] = 1;
    return t;
  };
  sample->fields["x"] = tensor(row->x, 2);
  sample->fields["target"] = tensor(&row->target, 1);
  sample->storage = row;
  return sample;
}

std::vector<SamplePtr> samples(std::int64_t first, std::int64_t last) {
  std::vector<SamplePtr> out;
  for (std::int64_t id = first; id < last; ++id) out.push_back(sample_of(id));
  return out;
}

/// Weights or gradients of a network in memory of their own.
template <class T>
struct Buffers {
  std::vector<std::vector<T>> memory;
  std::vector<TensorRef> views;
  explicit Buffers(const Network& network, T value = 0) {
    for (const auto& info : network.parameters()) {
      TensorRef t;
      t.dtype = dtype_of<T>();
      for (auto n : info.shape) t.shape[t.rank++] = n;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      memory.emplace_back(static_cast<std::size_t>(t.elements()), value);
      t.data = memory.back().data();
      views.push_back(t);
    }
  }
};

const std::vector<double> both{1.0, 0.5};

double loss_at(TinyNet& net, std::span<const SamplePtr> batch, const Buffers<double>& weights) {
  std::vector<TermSum> sums(2);
  net.evaluate(batch, weights.views, sums);
  return sums[0].sum + 0.5 * sums[1].sum;
}

}  // namespace

TEST_CASE("gradients of a Torch network are derivatives of its loss, added to what was there") {
  TinyNet net(Precision::float64);
  const auto infos = net.parameters();
  REQUIRE(infos.size() == 4);
  CHECK(infos[0].name == "layers.0.weight");
  CHECK(infos[0].shape == std::vector<std::int64_t>{3, 2});
  CHECK(infos[0].decay);
  CHECK_FALSE(infos[1].decay);
  Buffers<double> weights(net), gradients(net, 100.0);
  net.initialise(weights.views, 7);
  const auto batch = samples(0, 5);
  std::vector<TermSum> terms(2);
  net.gradient(batch, weights.views, both, gradients.views, terms, {});
  CHECK(terms[0].count == 5.0);
  CHECK(terms[0].sum + 0.5 * terms[1].sum == Approx(loss_at(net, batch, weights)).epsilon(1e-14));
  for (std::size_t k = 0; k < weights.memory.size(); ++k)
    for (std::size_t i = 0; i < weights.memory[k].size(); ++i) {
      const double h = 1e-5, w = weights.memory[k][i];
      weights.memory[k][i] = w + h;
      const double up = loss_at(net, batch, weights);
      weights.memory[k][i] = w - h;
      const double down = loss_at(net, batch, weights);
      weights.memory[k][i] = w;
      CHECK(gradients.memory[k][i] - 100.0 == Approx((up - down) / (2 * h)).epsilon(1e-7).margin(1e-9));
    }
}

TEST_CASE("weights and gradients are not copied") {
  TinyNet net(Precision::float32);
  Buffers<float> weights(net), gradients(net), others(net), more(net);
  net.initialise(weights.views, 7);
  std::vector<TermSum> terms(2);
  const auto batch = samples(0, 3);
  for (auto* buffers : {&gradients, &more}) {
    net.gradient(batch, weights.views, both, buffers->views, terms, {});
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(net.module_parameters()[k].data_ptr() == weights.memory[k].data());
      CHECK(net.module_parameters()[k].grad().data_ptr() == buffers->memory[k].data());
    }
  }
  CHECK(gradients.memory == more.memory);
  net.evaluate(batch, others.views, terms);
  CHECK(net.module_parameters()[0].data_ptr() == others.memory[0].data());
}

TEST_CASE("each gradient is announced once, when it is final, the last layer's first") {
  TinyNet net(Precision::float64, true);
  Buffers<double> weights(net), gradients(net);
  net.initialise(weights.views, 7);
  std::vector<TermSum> terms(2);
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::vector<int> order;
    std::vector<std::vector<double>> seen(gradients.memory.size());
    net.gradient(samples(0, 4), weights.views, both, gradients.views, terms, [&](int k) {
      order.push_back(k);
      seen[k] = gradients.memory[k];
    });
    REQUIRE(order.size() == 6);
    CHECK(seen == gradients.memory);
    const auto at = [&](int k) { return std::find(order.begin(), order.end(), k) - order.begin(); };
    CHECK(at(2) < at(0));  // second layer's weights before the first's
    CHECK(at(4) > 3);      // the idle layer's at the end
  }
  CHECK(gradients.memory[4] == std::vector<double>(4, 0.0));
  int told = 0;
  net.gradient({}, weights.views, both, gradients.views, terms, [&](int) { ++told; });
  CHECK(told == 6);
}

TEST_CASE("gradients of parts of a batch add up to that of the batch") {
  TinyNet net(Precision::float64);
  Buffers<double> weights(net), whole(net), parts(net);
  net.initialise(weights.views, 3);
  std::vector<TermSum> terms(2), part_terms(2);
  net.gradient(samples(0, 8), weights.views, both, whole.views, terms, {});
  net.gradient(samples(0, 7), weights.views, both, parts.views, part_terms, {});
  net.gradient(samples(7, 8), weights.views, both, parts.views, part_terms, {});
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < whole.memory[k].size(); ++i)
      CHECK(parts.memory[k][i] == Approx(whole.memory[k][i]).epsilon(1e-13));
  CHECK(part_terms[1].sum == Approx(terms[1].sum).epsilon(1e-13));
}

TEST_CASE("bfloat16 products change a gradient by its rounding only") {
  TinyNet single(Precision::float32), half(Precision::bfloat16);
  Buffers<float> weights(single), a(single), b(single);
  single.initialise(weights.views, 3);
  std::vector<TermSum> terms(2);
  single.gradient(samples(0, 16), weights.views, both, a.views, terms, {});
  half.gradient(samples(0, 16), weights.views, both, b.views, terms, {});
  CHECK(half.dtype() == DType::f32);
  double difference = 0.0, size = 0.0;
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < a.memory[k].size(); ++i) {
      difference += std::pow(a.memory[k][i] - b.memory[k][i], 2);
      size += std::pow(a.memory[k][i], 2);
    }
  CHECK(std::sqrt(difference / size) < 0.02);
  CHECK(difference > 0.0);
}

TEST_CASE("first weights follow from the seed, with the deviation that keeps sizes") {
  TinyNet net(Precision::float64);
  Buffers<double> a(net), b(net), c(net);
  net.initialise(a.views, 1);
  net.initialise(b.views, 1);
  net.initialise(c.views, 2);
  CHECK(a.memory == b.memory);
  CHECK(a.memory[0] != c.memory[0]);
  CHECK(a.memory[1] == std::vector<double>(3, 0.0));
}

TEST_CASE("what a Torch network refuses") {
  std::vector<TermSum> terms(2);
  TinyNet buffered(Precision::float32, false, true);
  CHECK_THROWS_WITH(buffered.parameters(),
                    "the module has a buffer 'norm.running_mean' that training would change differently on every "
                    "rank; use group or layer normalisation");
  TinyNet net(Precision::float64);
  Buffers<double> weights(net), gradients(net);
  net.break_shape = true;
  CHECK_THROWS_AS(net.gradient(samples(0, 3), weights.views, both, gradients.views, terms, {}), InternalError);
  net.break_shape = false;
  auto bad = samples(0, 2);
  auto other = std::make_shared<Sample>(*bad[1]);
  other->fields.erase("x");
  bad[1] = other;
  CHECK(message([&] { net.gradient(bad, weights.views, both, gradients.views, terms, {}); }) ==
        "the samples have no field 'x'; they have: target");
  other->fields["x"] = bad[0]->fields.at("target");
  CHECK(message([&] { net.gradient(bad, weights.views, both, gradients.views, terms, {}); }) ==
        "field 'x' has the shape (1) in sample 1 but (2) in sample 0; this network needs samples of one shape");
}
