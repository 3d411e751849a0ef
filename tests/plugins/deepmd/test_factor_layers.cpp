// Networks with low-rank factors: the engine's against the training's, both against the product, gradients by
// differences.
#include "core/parallel/random.hpp"
#include "plugins/deepmd/model/embedding_net.hpp"
#include "plugins/deepmd/model/factors.hpp"
#include "plugins/deepmd/model/fitting_net.hpp"
#include "plugins/deepmd/training/embedding_pass.hpp"
#include "plugins/deepmd/training/fitting_pass.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::deepmd;

namespace {

double number(std::uint64_t which, std::size_t k) { return Random4(which, Stream::test, k, 0).normal(0); }

Layer layer_of(int in, int out, bool last, bool timestep, std::uint64_t seed) {
  Layer layer;
  layer.in = in;
  layer.out = out;
  layer.activation = deepmd::Activation::from_name(last ? "linear" : "tanh");
  layer.residual = !last;
  const double deviation = 1.0 / std::sqrt(static_cast<double>(in + out));
  for (std::size_t k = 0; k < static_cast<std::size_t>(in) * static_cast<std::size_t>(out); ++k)
    layer.w.push_back(deviation * number(seed, k));
  for (std::size_t k = 0; k < static_cast<std::size_t>(out); ++k) layer.b.push_back(0.3 * number(seed + 1, k));
  if (timestep && layer.copies())
    for (std::size_t k = 0; k < static_cast<std::size_t>(out); ++k)
      layer.idt.push_back(0.5 + 0.1 * number(seed + 2, k));
  return layer;
}

/// Hidden layers that add no, one and two copies of their inputs.
deepmd::Network energy_network() {
  return {{layer_of(30, 14, false, true, 1), layer_of(14, 14, false, true, 4), layer_of(14, 28, false, true, 7),
           layer_of(28, 1, true, false, 10)}};
}
deepmd::Network embedding_network() {
  return {{layer_of(1, 10, false, false, 1), layer_of(10, 20, false, false, 4), layer_of(20, 20, false, false, 7)}};
}

deepmd::Network with_ranks(deepmd::Network net, std::vector<int> ranks) {
  for (std::size_t l = 0; l < ranks.size(); ++l)
    if (ranks[l] > 0) factorise(net.layers[l], ranks[l]);
  return net;
}

deepmd::Network product_of(deepmd::Network net) {
  for (Layer& layer : net.layers) layer.rank = 0;
  return net;
}

/// The weights of a network as training has them, with their gradients.
struct Bound {
  std::vector<std::vector<double>> values, slopes;
  std::vector<TensorRef> weights, gradients;

  explicit Bound(const deepmd::Network& net) {
    for (const Layer& layer : net.layers) {
      if (layer.rank > 0) {
        values.push_back(layer.enter);
        values.push_back(layer.leave);
      } else {
        values.push_back(layer.w);
      }
      values.push_back(layer.b);
      if (!layer.idt.empty()) values.push_back(layer.idt);
    }
    for (auto& array : values) slopes.emplace_back(array.size(), 0.0);
    for (auto* list : {&values, &slopes})
      for (auto& array : *list) {
        TensorRef ref;
        ref.data = array.data();
        ref.rank = 1;
        ref.shape[0] = std::ssize(array);
        ref.stride[0] = 1;
        (list == &values ? weights : gradients).push_back(ref);
      }
  }
  NetworkWeights<double> bind(const deepmd::Network& net) {
    std::size_t next = 0;
    return deepmd::detail::bind_network<double>(net, weights, gradients, next, nullptr);
  }
};

constexpr int rows = 5;

/// Energies, gradients by the inputs, and tangents, row by row.
struct Fitted {
  FittingPass<double> pass;
  std::vector<double> energy = std::vector<double>(rows), change = energy, bar = energy;

  explicit Fitted(const deepmd::Network& net)
      : pass(net.in(), [&] {
          std::vector<int> widths = widths_of(net);
          widths.pop_back();
          return widths;
        }()) {
    pass.reserve(rows);
    for (int r = 0; r < rows; ++r) {
      bar[static_cast<std::size_t>(r)] = number(40, static_cast<std::size_t>(r));
      for (int c = 0; c < net.in(); ++c) {
        pass.input(r)[c] = number(41, static_cast<std::size_t>(100 * r + c));
        pass.input_dot(r)[c] = number(42, static_cast<std::size_t>(100 * r + c));
      }
    }
  }
  /// The sum whose gradient backward() adds.
  double sum(const NetworkWeights<double>& net) {
    pass.forward(net, rows, energy.data());
    pass.gradient(net, rows);
    pass.tangent(net, rows, change.data());
    double out = 0.0;
    for (std::size_t r = 0; r < rows; ++r) out += bar[r] * energy[r] + change[r];
    return out;
  }
};

std::vector<double> outputs(const deepmd::Network& net) {
  Bound bound(net);
  Fitted fitted(net);
  fitted.sum(bound.bind(net));
  std::vector<double> out = fitted.energy;
  out.insert(out.end(), fitted.change.begin(), fitted.change.end());
  for (int r = 0; r < rows; ++r)
    out.insert(out.end(), fitted.pass.input_gradient(r), fitted.pass.input_gradient(r) + net.in());
  return out;
}

/// Energies and gradients of the engine's network for the same rows.
std::vector<double> engine_outputs(const deepmd::Network& net) {
  const FittingNet<double> engine(net);
  Matrix<double> x;
  reserve(x, "x", rows, net.in());
  const auto host = Kokkos::create_mirror_view(x);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < net.in(); ++c) host(r, c) = number(41, static_cast<std::size_t>(100 * r + c));
  Kokkos::deep_copy(x, host);
  FittingWorkspace<double> work;
  const View<double*> energy("energy", rows);
  engine.evaluate(rows, x, work, energy, x);
  Kokkos::deep_copy(host, x);
  const auto energies = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), energy);
  std::vector<double> out(energies.data(), energies.data() + rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < net.in(); ++c) out.push_back(host(r, c));
  return out;
}

double error(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0.0, largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    worst = std::max(worst, std::abs(a[k] - b[k]));
    largest = std::max(largest, std::abs(b[k]));
  }
  return worst / largest;
}

/// Without the tangents.
std::vector<double> without_changes(std::vector<double> values) {
  values.erase(values.begin() + rows, values.begin() + 2 * rows);
  return values;
}

}  // namespace

TEST_CASE("energy networks with factors of full rank are the whole ones, with fewer they are their product") {
  const auto whole = energy_network();
  CHECK(error(outputs(with_ranks(whole, {14, 14, 14})), outputs(whole)) < 1e-12);
  const auto few = with_ranks(whole, {3, 2, 4});
  CHECK(error(outputs(few), outputs(whole)) > 1e-2);
  CHECK(error(outputs(few), outputs(product_of(few))) < 1e-12);
  CHECK(error(engine_outputs(few), engine_outputs(product_of(few))) < 1e-12);
  CHECK(error(engine_outputs(few), without_changes(outputs(few))) < 1e-12);
  CHECK(FittingNet<double>(few).flops() == 4.0 * (3 * 44 + 2 * 28 + 4 * 42));
  const auto many = with_ranks(whole, {14, 0, 9});  // 9 (14 + 28) < 14 28 <= 10 (14 + 28)
  CHECK(FittingNet<double>(many).flops() == 4.0 * (30 * 14 + 14 * 14 + 9 * 42));
}

TEST_CASE("energy networks with factors: weight gradients agree with differences") {
  const auto net = with_ranks(energy_network(), {3, 2, 4});
  Bound bound(net);
  Fitted fitted(net);
  const auto weights = bound.bind(net);
  fitted.sum(weights);
  fitted.pass.backward(weights, rows, fitted.bar.data());
  CHECK(bound.values.size() == 3 * 4 + 2 - 1);  // the first layer has no time steps, the last no factors
  for (std::size_t p = 0; p < bound.values.size(); ++p)
    for (std::size_t k = 0; k < bound.values[p].size(); k += 1 + bound.values[p].size() / 7) {
      double& w = bound.values[p][k];
      const double kept = w, h = 1e-4;
      const auto at = [&](double value) {
        w = value;
        return fitted.sum(bound.bind(net));  // vectors are copied when they are bound
      };
      const double slope = (8.0 * (at(kept + h) - at(kept - h)) - (at(kept + 2 * h) - at(kept - 2 * h))) / (12.0 * h);
      w = kept;
      INFO("array " << p << ", element " << k);
      CHECK(bound.slopes[p][k] == Approx(slope).epsilon(1e-8).margin(1e-8));
    }
}

TEST_CASE("embedding networks with factors: engine and training give their product, gradients agree with differences") {
  const auto whole = embedding_network(), few = with_ranks(whole, {0, 4, 5}), product = product_of(few);
  const auto trained = [&](const deepmd::Network& net, EmbeddingPass<double>& pass, Bound& bound) {
    std::vector<double> x(rows), out;
    for (std::size_t r = 0; r < rows; ++r) x[r] = number(50, r);
    pass.reserve(rows);
    pass.forward(bound.bind(net), x.data(), 0, rows);
    for (int r = 0; r < rows; ++r) out.insert(out.end(), pass.value(r), pass.value(r) + net.out());
    for (int r = 0; r < rows; ++r) out.insert(out.end(), pass.slope(r), pass.slope(r) + net.out());
    return out;
  };
  const auto of_training = [&](const deepmd::Network& net) {
    EmbeddingPass<double> pass(widths_of(net));
    Bound bound(net);
    return trained(net, pass, bound);
  };
  const auto of_engine = [&](const deepmd::Network& net) {
    const EmbeddingNet<double> engine(net);
    const View<double*> x("x", rows);
    const auto host = Kokkos::create_mirror_view(x);
    for (std::size_t r = 0; r < rows; ++r) host(r) = number(50, r);
    Kokkos::deep_copy(x, host);
    Matrix<double> values;
    reserve(values, "values", 2 * rows, net.out());
    typename EmbeddingNet<double>::Workspace work;
    engine.evaluate(rows, x, 0, work, values, 0);
    const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    std::vector<double> out;
    for (int r = 0; r < 2 * rows; ++r)
      for (int c = 0; c < net.out(); ++c) out.push_back(result(r, c));
    return out;
  };
  CHECK(error(of_training(with_ranks(whole, {0, 10, 20})), of_training(whole)) < 1e-12);
  CHECK(error(of_training(few), of_training(product)) < 1e-12);
  CHECK(error(of_engine(few), of_engine(product)) < 1e-12);
  CHECK(error(of_engine(few), of_training(few)) < 1e-12);
  CHECK(error(of_engine(few), of_engine(whole)) > 1e-2);
  // Gradients of a sum of values and slopes with fixed weights
  EmbeddingPass<double> pass(widths_of(few));
  Bound bound(few);
  const auto bar = [](int r, int c) { return number(60, static_cast<std::size_t>(100 * r + c)); };
  const auto sum = [&] {
    const auto values = trained(few, pass, bound);
    double out = 0.0;
    for (int r = 0; r < 2 * rows; ++r)
      for (int c = 0; c < few.out(); ++c) out += bar(r, c) * values[static_cast<std::size_t>(r * few.out() + c)];
    return out;
  };
  sum();
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < few.out(); ++c) {
      pass.value_bar(r)[c] = bar(r, c);
      pass.slope_bar(r)[c] = bar(r + rows, c);
    }
  std::vector<double> x(rows);
  for (std::size_t r = 0; r < rows; ++r) x[r] = number(50, r);
  pass.backward(bound.bind(few), x.data(), 0, rows);
  for (std::size_t p = 0; p < bound.values.size(); ++p)
    for (std::size_t k = 0; k < bound.values[p].size(); k += 1 + bound.values[p].size() / 5) {
      double& w = bound.values[p][k];
      const double kept = w, h = 1e-4;
      const auto at = [&](double value) {
        w = value;
        return sum();
      };
      const double slope = (8.0 * (at(kept + h) - at(kept - h)) - (at(kept + 2 * h) - at(kept - 2 * h))) / (12.0 * h);
      w = kept;
      INFO("array " << p << ", element " << k);
      CHECK(bound.slopes[p][k] == Approx(slope).epsilon(1e-8).margin(1e-8));
    }
}
