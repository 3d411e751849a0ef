// Vision transformer: gradients against differences, what a periodic x and an untrained network promise.
#include "core/base/error.hpp"
#include "plugins/superres/networks/vision_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/superres/axial_shapes.hpp"
#include "tests/plugins/superres/flow_case.hpp"
#include "tests/plugins/superres/plane_case.hpp"
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

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) out += a[k] * b[k];
  return out;
}

std::size_t plane_numbers(const AxialShape& shape, int channels) {
  return static_cast<std::size_t>(2 * channels) * shape.points[0] * shape.points[1];
}

}  // namespace

TEST_CASE("gradients of the transformer are derivatives, of every array, and each is told once") {
  for (const auto& shape : axial_shapes()) {
    const auto info = axial_parameters(shape);
    ParameterArrays<double> weights(info), gradients(info);
    weights.fill(0.4);
    const auto x = numbers(plane_numbers(shape, shape.inputs), 11),
               target = numbers(plane_numbers(shape, shape.outputs), 12);
    const auto loss = [&] {
      AxialLayers<double> layers(shape, weights.views);
      const auto& y = layers.forward(x, 2, {});
      return 0.5 * product(y, y) + product(y, target);
    };
    AxialLayers<double> layers(shape, weights.views);
    auto by_output = layers.forward(x, 2, {});
    for (std::size_t k = 0; k < by_output.size(); ++k) by_output[k] += target[k];
    std::vector<int> told(info.size(), 0);
    layers.backward(by_output, gradients.views, [&](int parameter) { ++told[static_cast<std::size_t>(parameter)]; });
    CHECK(told == std::vector<int>(info.size(), 1));
    for (std::size_t p = 0; p < info.size(); ++p) {
      auto& w = weights.memory[p];
      const auto way = numbers(w.size(), 100 + p), before = w;
      const auto moved = [&](double step) {
        for (std::size_t k = 0; k < w.size(); ++k) w[k] = before[k] + step * way[k];
        return loss();
      };
      const double h = 1e-4,
                   by_difference = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
      w = before;
      INFO(info[p].name);
      CHECK(product(gradients.memory[p], way) == Approx(by_difference).epsilon(1e-6).margin(1e-7));
    }
  }
}

TEST_CASE("modules begin where their parameters do") {
  for (const auto& shape : axial_shapes()) {
    const auto info = axial_parameters(shape);
    const auto modules = axial_modules(shape);
    REQUIRE(std::ssize(modules) == shape.layers + 2);
    CHECK(info[modules[0]].name == "embed.w");
    for (int l = 0; l < shape.layers; ++l)
      CHECK(info[modules[l + 1]].name == "layers." + std::to_string(l) + ".norm1.scale");
    CHECK(info[modules.back()].name == "norm.scale");
    CHECK(info.size() == static_cast<std::size_t>(modules.back()) + 4);
  }
}

TEST_CASE("a flow shifted around a periodic x by whole patches gives the answer shifted") {
  const AxialShape shape = axial_shapes()[0];
  ParameterArrays<double> weights(axial_parameters(shape));
  weights.fill(0.4);
  const auto x = numbers(plane_numbers(shape, shape.inputs), 11);
  const auto shifted = [&](const std::vector<double>& planes) {
    std::vector<double> out(planes.size());
    const int nx = shape.points[0], nz = shape.points[1];
    for (std::size_t k = 0; k < planes.size(); ++k) {
      const int z = static_cast<int>(k) % nz, at = static_cast<int>(k) / nz, i = at % nx;
      out[static_cast<std::size_t>((at - i + (i + shape.patch[0]) % nx) * nz + z)] = planes[k];
    }
    return out;
  };
  AxialLayers<double> one(shape, weights.views), other(shape, weights.views);
  const auto expected = shifted(one.forward(x, 2, {}));
  const auto& found = other.forward(shifted(x), 2, {});
  double off = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) off = std::max(off, std::fabs(found[k] - expected[k]));
  CHECK(off < 1e-12);
}

TEST_CASE("an untrained transformer says what the last frame says, and its patches must divide the points") {
  World world;
  VisionTransformer::Params params;
  params.patch = {2, 5};
  params.width = 6;
  params.heads = 2;
  params.layers = 2;
  const std::string state =
      R"({"grid": [2, 4, 5], "wraps": true, "mean": [0, 0, 0, 0], "deviation": [1, 1, 1, 1], "change": [1, 1, 1, 1]})";
  VisionTransformer network(params, world.context);
  network.restore(state);
  ParameterArrays<float> weights(network.parameters());
  network.initialise(weights.views, 1);
  const auto coarse = numbers(4 * 2 * 4 * 5, 3);
  train::Sample sample;
  std::vector<double> x{0, 1, 2, 3, 4}, z{0.1, 0.3, 0.5, 0.7, 0.9};
  sample.fields["coarse"] = io::tensor_of(coarse.data(), {4, 2, 4, 5});
  sample.fields["x"] = io::tensor_of(x.data(), {5});
  sample.fields["z"] = io::tensor_of(z.data(), {5});
  const auto held = std::make_shared<const train::Sample>(sample);
  std::vector<double> answer(4 * 4 * 5);
  const auto view = io::tensor_of(answer.data(), {1, 4, 4, 5});
  network.infer(std::span(&held, 1), weights.views, std::span(&view, 1));
  double off = 0.0;
  for (std::size_t f = 0; f < 4; ++f)
    for (std::size_t k = 0; k < 20; ++k) off = std::max(off, std::fabs(answer[f * 20 + k] - coarse[f * 40 + 20 + k]));
  CHECK(off < 1e-6);

  params.patch = {3, 5};
  VisionTransformer other(params, world.context);
  CHECK(message([&] { other.restore(state); }) ==
        "patches of 3 points along x do not divide the 4 points there: give a 'patch' that does");
  params.patch = {2, 5};
  params.heads = 4;
  VisionTransformer divided(params, world.context);
  CHECK(message([&] { divided.restore(state); }) == "4 heads do not divide the 6 channels of 'width'");
}
