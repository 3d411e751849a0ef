// The Fourier operator as a network: gradients of both tasks, what training adds to its inputs, what it begins with.
#include "core/base/error.hpp"
#include "plugins/superres/datasets/snapshots.hpp"
#include "plugins/superres/networks/flow_planes.hpp"
#include "plugins/superres/networks/fourier_operator.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/superres/flow_case.hpp"
#include "tests/plugins/superres/fourier_case.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::testing;

namespace {

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

/// Float64 arrays of a network's parameters.
struct Buffers {
  std::vector<std::vector<double>> memory;
  std::vector<TensorRef> views;
  explicit Buffers(const train::Network& network) {
    for (const auto& info : network.parameters()) {
      TensorRef t;
      for (auto n : info.shape) t.shape[t.rank++] = n;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      memory.emplace_back(static_cast<std::size_t>(t.elements()), 0.0);
      t.data = memory.back().data();
      views.push_back(t);
    }
  }
  void fill(double size) {
    for (std::size_t p = 0; p < memory.size(); ++p) {
      const auto made = numbers(memory[p].size(), p);
      for (std::size_t k = 0; k < made.size(); ++k) memory[p][k] = size * made[k];
    }
  }
};

FourierOperator::Params small() {
  FourierOperator::Params p;
  p.width = 3;
  p.layers = 2;
  p.hidden = 4;
  p.modes = {1, 2};
  p.ratio = {2, 2, 1};
  p.loss = FourierOperator::Loss::l2;
  p.precision = Precision::float64;
  return p;
}

const std::string forecasts =
    R"({"grid": [2, 4, 5], "wraps": true, "mean": [0.1, 0.2, -0.1, 0], "deviation": [0.5, 2, 1.5, 0.8],
        "change": [0.4, 0.3, 0.5, 0.2]})";

/// The flow of flow_case with frames enough.
FieldData longer() {
  FieldData data = flow();
  data.axis[0] = {0.0, 0.5, 1.0, 1.5, 2.0};
  data.values.assign(4, {});
  for (std::size_t f = 0; f < 4; ++f)
    for (double t : data.axis[0])
      for (double x : data.axis[1])
        for (double z : data.axis[2])
          data.values[f].push_back(std::sin(1.0 + t + f) * std::cos(M_PI * x + 0.3 * t) * z * (1.1 - z));
  return data;
}

std::vector<train::SamplePtr> windows(int history, int ahead) {
  const auto data = longer();
  return {snapshot(data, 0, history, ahead, 0), snapshot(data, 1, history, ahead, 1)};
}

double loss_of(FourierOperator& network, std::span<const train::SamplePtr> samples, const Buffers& weights) {
  Buffers unused(network);
  std::vector<train::TermSum> terms(1);
  const std::vector<double> one{1.0};
  network.gradient(samples, weights.views, one, unused.views, terms, {});
  return terms[0].sum;
}

void check_gradient(FourierOperator& network, std::span<const train::SamplePtr> samples) {
  Buffers weights(network), gradients(network);
  weights.fill(0.4);
  std::vector<train::TermSum> terms(1);
  const std::vector<double> one{1.0};
  network.gradient(samples, weights.views, one, gradients.views, terms, {});
  CHECK(terms[0].count == static_cast<double>(samples.size()));
  for (std::size_t p = 0; p < weights.memory.size(); ++p) {
    auto& w = weights.memory[p];
    const auto way = numbers(w.size(), 50 + p), before = w;
    double expected = 0.0;
    for (std::size_t k = 0; k < w.size(); ++k) expected += gradients.memory[p][k] * way[k];
    const auto moved = [&](double step) {
      for (std::size_t k = 0; k < w.size(); ++k) w[k] = before[k] + step * way[k];
      return loss_of(network, samples, weights);
    };
    const double h = 1e-4, found = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
    w = before;
    INFO(network.parameters()[p].name);
    CHECK(expected == Approx(found).epsilon(1e-6).margin(1e-8));
  }
}

}  // namespace

TEST_CASE("gradients of super-resolution are derivatives of the loss") {
  World world;
  const bool wraps = GENERATE(true, false);
  auto params = small();
  params.ends = wraps ? Continuation::mirror : Continuation::zeros;
  params.interpolate = wraps;
  FourierOperator network(params, world.context);
  network.restore(state_of({3, 4, 5}, true));
  check_gradient(network, batch());
}

TEST_CASE("gradients of forecasts are derivatives of the loss, with noise, too") {
  World world;
  auto params = small();
  params.noise = GENERATE(0.0, 0.1);
  params.interpolate = GENERATE(true, false);
  FourierOperator network(params, world.context);
  network.restore(forecasts);
  network.begin_step(3, 7);
  check_gradient(network, windows(2, 1));
}

TEST_CASE("an untrained operator says what interpolation and persistence say") {
  World world;
  FourierOperator network(small(), world.context);
  network.restore(forecasts);
  Buffers weights(network);
  network.initialise(weights.views, 1);
  const auto samples = windows(2, 1);
  std::vector<double> answer(2 * 4 * 4 * 5);
  const auto view = io::tensor_of(answer.data(), {2, 4, 4, 5});
  network.infer(samples, weights.views, std::span(&view, 1));
  const auto data = longer();
  double off = 0.0;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t f = 0; f < 4; ++f)
      for (std::size_t x = 0; x < 4; ++x)
        for (std::size_t z = 0; z < 5; ++z)
          off = std::max(off, std::fabs(answer[((s * 4 + f) * 4 + x) * 5 + z] - data.at(f, s + 1, x, z)));
  CHECK(off < 1e-6);  // samples are float32
}

TEST_CASE("pushing forward trains on own forecasts: the input is the network's answer, the target a later frame") {
  World world;
  auto params = small();
  params.push_forward = 1;
  FourierOperator pushed(params, world.context), plain(small(), world.context);
  pushed.restore(forecasts);
  plain.restore(forecasts);
  CHECK(pushed.modules().empty());
  CHECK(plain.modules().size() == 5);
  Buffers weights(plain);
  weights.fill(0.4);
  const auto sample = windows(2, 2)[0];
  // What the plain network says stands behind the last frame, and the frame after the next one is asked for.
  std::vector<double> answer(4 * 4 * 5);
  const auto view = io::tensor_of(answer.data(), {1, 4, 4, 5});
  plain.infer(std::span(&sample, 1), weights.views, std::span(&view, 1));
  FieldData data = longer();
  for (std::size_t f = 0; f < 4; ++f)
    for (std::size_t k = 0; k < 20; ++k) data.values[f][40 + k] = answer[f * 20 + k];
  const auto moved = snapshot(data, 1, 2, 1, 0);
  const double once = loss_of(plain, std::span(&sample, 1), weights),
               twice = loss_of(plain, std::span(&moved, 1), weights);
  CHECK(once != Approx(twice));
  int later = 0;
  for (int step = 0; step < 20; ++step) {
    pushed.begin_step(5, step);
    const double found = loss_of(pushed, std::span(&sample, 1), weights);
    const bool is_later = forecasts_before({5, step}, 0, 1) == 1;
    CHECK(found == Approx(is_later ? twice : once).epsilon(1e-6));
    later += is_later ? 1 : 0;
  }
  CHECK(later > 3);
  CHECK(later < 17);
}

TEST_CASE("noise is a function of seed, step and sample") {
  std::vector<double> one(8, 0.0), same(8, 0.0), other(8, 0.0);
  add_noise({1, 2}, 3, 0.5, one);
  add_noise({1, 2}, 3, 0.5, same);
  add_noise({1, 3}, 3, 0.5, other);
  CHECK(one == same);
  CHECK(one != other);
  double squares = 0.0;
  std::vector<double> many(40000, 0.0);
  add_noise({1, 2}, 0, 0.5, many);
  for (double x : many) squares += x * x;
  CHECK(std::sqrt(squares / 40000.0) == Approx(0.5).epsilon(0.02));
}

TEST_CASE("values at points and their transpose: <P v, y> = <v, P' y>") {
  const auto sample = batch(1)[0];
  FlowScaling scaling;
  scaling.restore(state_of({3, 4, 5}, true));
  const auto cells = refined(cells_of(*sample, scaling), {2, 2, 1});
  const std::size_t nodes = 4 * 5 * 8 * 5;
  const auto v = numbers(nodes, 1), y = numbers(6 * 4, 2);
  const auto values = at_points<double>(cells, *sample, v);
  std::vector<double> back(nodes, 0.0);
  spread_from_points<double>(cells, *sample, y, back);
  double left = 0.0, right = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) left += values[k] * y[k];
  for (std::size_t k = 0; k < nodes; ++k) right += v[k] * back[k];
  CHECK(left == Approx(right).epsilon(1e-12));
}
