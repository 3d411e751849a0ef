// Forecasts of a stacked network that was read from its model file, in the unit of the data of its training.
#include <nlohmann/json.hpp>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "core/train/data/subset.hpp"
#include "core/train/run/applied_model.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

/// A network with random weights, its sizes from a data set, and its model file.
struct Stored {
  StackedLstm net;
  train::FlatLayout layout;
  train::FlatBuffer weights;
  std::string path;
  Stored(Stage& stage, train::Dataset& data)
      : net(fitted(data, stage.context)), layout(net.parameters(), 1 << 20), weights(layout, DType::f32),
        path(stage.file("model.h5")) {
    net.initialise(weights.views(), 3);
    for (std::size_t k = 0; k < layout.tensors().size(); ++k)
      for (std::size_t i = 0; float& w : weights.values<float>(k))
        w += 0.1f * static_cast<float>(Random4(5, Stream::test, k, i++).normal(0));
    write(stage, data, net.state());
  }
  void write(Stage& stage, train::Dataset& data, const std::string& state) {
    train::ArtifactInfo info;
    info.type = "stacked_lstm";
    info.config = "{genome: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], head: dense}";
    info.state = state;
    info.fields = train::field_ranges(data, 256);
    train::write_artifact(path, info, weights, stage.context);
  }

 private:
  static StackedLstm fitted(train::Dataset& data, Context& context) {
    StackedLstm out({{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, Cell::lstm, Head::dense}, context);
    out.fit_statistics(data, context);
    return out;
  }
};

/// 21 training times of two modes that span [0, 20] and [-40, 0] in K; windows of three times and two of forecast.
std::unique_ptr<train::Dataset> two_modes(Stage& stage) {
  const auto path = stage.file("two_modes.h5");
  std::vector<double> a, days;
  for (int t = 0; t < 30; ++t) {
    a.push_back(t);
    a.push_back(-2.0 * t);
    days.push_back(7.0 * t);
  }
  io::File file = io::File::create(path);
  file.write("coefficients", io::tensor_of(a.data(), {30, 2})).set_attribute("units", std::string("K"));
  file.write("time", days);
  file.close();
  auto out = stage.registry.make<train::Dataset>(
      "forecast_windows", deck::parse("{series: {file: " + path + ", training: 21}, window: 3, horizon: 2}", "test"),
      stage.context);
  out->open(stage.context);
  return out;
}

/// Windows as the loss sees them, one sample after the other.
std::vector<float> scaled_windows(train::Dataset& data, std::span<const std::int64_t> ids) {
  std::vector<float> out;
  for (const auto& sample : data.read(ids)) {
    const auto& window = sample->fields.at("window");
    const auto* x = static_cast<const float*>(window.data);
    out.insert(out.end(), x, x + window.elements());
  }
  return out;
}

}  // namespace

TEST_CASE("a model file forecasts coefficients in their unit with the scaling of its training", "[model]") {
  Stage stage;
  const auto whole = two_modes(stage);
  train::Subset data(*whole, {0, 1, 2, 3, 5, 8, 13, 16});  // as with hold_out
  Stored stored(stage, data);
  train::AppliedModel model(stored.path, stage.context);
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].name == "coefficients");
  CHECK(model.inputs()[0].unit == "K");
  CHECK(model.inputs()[0].shape == std::vector<std::int64_t>{3, 2});
  REQUIRE(model.outputs().size() == 1);
  CHECK(model.outputs()[0].name == "forecast");
  CHECK(model.outputs()[0].unit == "K");
  CHECK(model.outputs()[0].shape == std::vector<std::int64_t>{2, 2});
  CHECK(model.has_labels(data.fields()));

  std::vector<double> x, y(8, 0.0);
  for (int start : {4, 11})
    for (int t = start; t < start + 3; ++t) x.insert(x.end(), {1.0 * t, -2.0 * t});
  const train::HostArray input[] = {{"", io::tensor_of(x.data(), {2, 3, 2}), "K"}};
  const train::HostArray output[] = {{"", io::tensor_of(y.data(), {2, 2, 2}), ""}};
  model.infer(input, output, stage.comm);
  const std::int64_t ids[] = {4, 11};
  const auto expected =
      stored.net.predict(scaled_windows(*whole, ids).data(), 2, stored.weights.views());  // in [0, 1] of training
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double f = expected[i];
    CHECK(y[i] == Approx(i % 2 == 0 ? 20.0 * f : 40.0 * f - 40.0).epsilon(1e-12).margin(1e-12));
  }
  CHECK(std::abs(y[0] - y[4]) > 1e-3);  // windows differ, and so do forecasts

  const train::HostArray other[] = {{"", io::tensor_of(x.data(), {2, 3, 2}), "m"}};
  CHECK_THROWS_WITH(
      model.infer(other, output, stage.comm),
      "model '" + stored.path + "' reads 'coefficients' in K, but the data have it in m; convert the data");
}

TEST_CASE("a model file of a former version reads windows as the loss does", "[model]") {
  Stage stage;
  const auto data = two_modes(stage);
  Stored stored(stage, *data);
  auto state = nlohmann::json::parse(stored.net.state());
  for (const char* name : {"low", "width", "unit"}) REQUIRE(state.erase(name) == 1);
  stored.write(stage, *data, state.dump());
  train::AppliedModel model(stored.path, stage.context);
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].name == "window");
  CHECK(model.outputs()[0].unit.empty());
  const std::int64_t ids[] = {2};
  const auto windows = scaled_windows(*data, ids);
  const auto expected = stored.net.predict(windows.data(), 1, stored.weights.views());
  std::vector<double> y(4, 0.0);
  const train::HostArray input[] = {{"window", io::tensor_of(windows.data(), {1, 3, 2}), ""}};
  const train::HostArray output[] = {{"forecast", io::tensor_of(y.data(), {1, 2, 2}), ""}};
  model.infer(input, output, stage.comm);
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == static_cast<double>(expected[i]));
}

TEST_CASE("arrays of a program: float64 as they are, more features than outputs, any strides", "[model]") {
  Stage stage;
  std::vector<double> x, target;
  for (std::uint64_t i = 0; i < 4 * 3 * 3; ++i) x.push_back(Random4(2, Stream::test, 0, i).normal(0));
  for (std::uint64_t i = 0; i < 4 * 2 * 2; ++i) target.push_back(Random4(2, Stream::test, 1, i).normal(0));
  const train::HostArray arrays[] = {{"window", io::tensor_of(x.data(), {4, 3, 3}), "m/s"},
                                     {"target", io::tensor_of(target.data(), {4, 2, 2}), "m"}};
  train::MemorySet data(arrays);
  Stored stored(stage, data);
  train::AppliedModel model(stored.path, stage.context);
  CHECK(model.inputs()[0].name == "window");
  CHECK(model.inputs()[0].unit == "m/s");
  CHECK(model.outputs()[0].unit == "m");
  std::vector<double> y(16, 0.0);
  TensorRef turned = io::tensor_of(y.data(), {4, 2, 2});  // axes in reverse order
  turned.stride[0] = 1;
  turned.stride[1] = 4;
  turned.stride[2] = 8;
  const train::HostArray output[] = {{"forecast", turned, ""}};
  model.infer({arrays, 1}, output, stage.comm);
  const std::vector<float> windows(x.begin(), x.end());
  const auto expected = stored.net.predict(windows.data(), 4, stored.weights.views());
  double squares = 0.0;
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t k = 0; k < 4; ++k) {
      const double f = expected[4 * s + k], d = f - target[4 * s + k];
      CHECK(y[s + 4 * (k / 2) + 8 * (k % 2)] == f);
      squares += d * d / 4.0;
    }
  train::TermSum sum;
  stored.net.evaluate(data.samples(), stored.weights.views(), {&sum, 1});
  CHECK(sum.sum == Approx(squares).epsilon(1e-5));  // the loss reads float64, too
}

TEST_CASE("a scaling that does not fit the network of the file", "[messages]") {
  Stage stage;
  const auto data = two_modes(stage);
  Stored stored(stage, *data);
  auto state = nlohmann::json::parse(stored.net.state());
  state["width"] = std::vector<double>{1.0};
  CHECK_THROWS_WITH(stored.net.restore(state.dump()),
                    "stacked_lstm: the model file scales 2 and 1 modes, but its network has 2; it was changed "
                    "afterwards");
}
