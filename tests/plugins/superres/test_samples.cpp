// Windows of coarse samples: what a network is trained on and asked with.
#include <cmath>

#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/datasets/crops.hpp"
#include "plugins/superres/evaluate/decode_windows.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "plugins/superres/samples/write_fields.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::superres;

namespace {

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

double formula(std::size_t field, double t, double x, double z) {
  return std::sin(static_cast<double>(field) + t) * std::cos(M_PI * x) + z * z;
}

/// 9 frames of 16 x 12 points, period 2, stretched along z.
FieldData flow() {
  FieldData data;
  data.file = "flow.h5";
  data.names = flow_fields;
  data.period = 2.0;
  for (int k = 0; k < 9; ++k) data.axis[0].push_back(0.25 * k);
  for (int k = 0; k < 16; ++k) data.axis[1].push_back(2.0 * (k + 0.5) / 16);
  for (int k = 0; k < 12; ++k) data.axis[2].push_back(std::pow((k + 0.5) / 12, 1.3));
  data.values.resize(4);
  for (std::size_t f = 0; f < 4; ++f)
    for (double t : data.axis[0])
      for (double x : data.axis[1])
        for (double z : data.axis[2]) data.values[f].push_back(formula(f, t, x, z));
  return data;
}

std::span<const double> numbers(const train::Sample& sample, const char* name) {
  const auto& t = sample.fields.at(name);
  return {static_cast<const double*>(t.data), static_cast<std::size_t>(t.elements())};
}

Crops::Params params(const std::string& path) {
  Crops::Params p;
  p.data = {path};
  p.ratio = {2, 4, 3};
  p.scales = {1.0};
  p.crop = {3, 0, 4};
  p.points = 40;
  p.samples = 12;
  p.frames = 9;
  return p;
}

}  // namespace

TEST_CASE("crops hold the fine fields at their points, inside their nodes, around the period") {
  World world;
  const Scratch scratch;
  const auto path = scratch.file("crops.h5");
  write_fields(path, flow(), world.context);
  Crops crops(params(path), world.context);
  crops.open(world.context);
  CHECK(crops.fields()[0].shape == std::vector<std::int64_t>{4, 3, 4, 4});
  CHECK(crops.fields()[2].shape == std::vector<std::int64_t>{5});  // the whole width: the first node once more
  std::vector<std::int64_t> ids{0, 1, 2, 3, 4, 5};
  double smallest = 1e9, largest = -1e9;
  for (const auto& sample : crops.read(ids)) {
    const auto t = numbers(*sample, "t"), x = numbers(*sample, "x"), z = numbers(*sample, "z"),
               points = numbers(*sample, "points");
    CHECK(x.back() - x.front() == Approx(2.0));
    const auto* values = static_cast<const float*>(sample->fields.at("values").data);
    for (std::size_t p = 0; p < points.size() / 3; ++p) {
      const double* at = &points[3 * p];
      REQUIRE((at[0] >= t.front() - 1e-9 && at[0] <= t.back() + 1e-9));
      REQUIRE((at[1] >= x.front() - 1e-9 && at[1] <= x.back() + 1e-9));
      REQUIRE((at[2] >= z.front() - 1e-9 && at[2] <= z.back() + 1e-9));
      for (std::size_t f = 0; f < 4; ++f)
        REQUIRE(values[4 * p + f] == Approx(formula(f, at[0], at[1], at[2])).epsilon(1e-5).margin(1e-5));
      smallest = std::min(smallest, x.front());
      largest = std::max(largest, x.front());
    }
    const auto* coarse = static_cast<const float*>(sample->fields.at("coarse").data);
    CHECK(coarse[0] == Approx(formula(0, t[0], x[0], z[0])).epsilon(0.1).margin(0.05));
  }
  CHECK(largest > smallest);  // windows begin anywhere along x
  const auto again = crops.read(std::vector<std::int64_t>{3}), first = crops.read(ids);
  CHECK(numbers(*again[0], "points")[5] == numbers(*first[3], "points")[5]);
}

TEST_CASE("crops of several sampling rates have the same samples, further apart") {
  World world;
  const Scratch scratch;
  const auto path = scratch.file("scales.h5");
  write_fields(path, flow(), world.context);
  auto p = params(path);
  p.ratio = {2, 2, 2};
  p.scales = {1.0, 1.5};
  p.crop = {3, 4, 3};
  Crops crops(p, world.context);
  crops.open(world.context);
  const auto samples = crops.read(std::vector<std::int64_t>{0, 1, 2, 3});
  for (int k = 0; k < 4; ++k) {
    const auto x = numbers(*samples[k], "x"), points = numbers(*samples[k], "points");
    CHECK(x[1] - x[0] == Approx(k % 2 ? 0.4 : 0.25));  // 16 points as 8 and, 16 / 3 rounded, as 5
    CHECK(samples[k]->fields.at("coarse").shape[2] == 4);
    const auto* values = static_cast<const float*>(samples[k]->fields.at("values").data);
    CHECK(values[2] == Approx(formula(2, points[0], points[1], points[2])).epsilon(1e-5).margin(1e-5));
  }
  p.crop = {3, 0, 3};
  Crops uneven(p, world.context);
  CHECK_THROWS_WITH(uneven.open(world.context),
                    "'" + path + "' gives crops of another size than '" + path +
                        "'; name 'crop' in samples instead of 0, or use files of one grid and one scale");
}

TEST_CASE("crops that the data cannot give are refused") {
  const auto coarse = coarsened(flow(), {2, 4, 3});
  CHECK_THROWS_WITH(Windows(coarse, {8, 0, 0}, {2, 4, 3}),
                    "a crop of 8 coarse samples along t is larger than the domain: 'flow.h5' has 5 of them at ratio 2; "
                    "give a crop of at most 5, a smaller ratio or more frames");
  CHECK_THROWS_WITH(Windows(coarse, {0, 5, 0}, {2, 4, 3}),
                    "a crop of 5 coarse samples along x is larger than the domain: 'flow.h5' has 4 of them at ratio 4; "
                    "give a crop of at most 4, a smaller ratio or more points");
  CHECK_THROWS_WITH(Windows(coarse, {0, 0, 1}, {2, 4, 3}),
                    "a crop of 1 coarse sample along z has no cell to decode in; give 2 or more");
  World world;
  const Scratch scratch;
  const auto path = scratch.file("no_w.h5");
  auto data = flow();
  data.names.pop_back();
  data.values.pop_back();
  write_fields(path, data, world.context);
  Crops crops(params(path), world.context);
  CHECK_THROWS_WITH(crops.open(world.context), "'" + path + "' has no field 'w' (it has: b, p, u)");
}

TEST_CASE("a model is not asked beyond its samples") {
  train::LoadedModel none;
  const auto coarse = coarsened(flow(), {2, 4, 3});
  const Places late{std::vector<double>{1.0, 2.5}, {0.5}, {0.5}};
  CHECK_THROWS_WITH(decoded_in_windows(none, "model.h5", coarse, {2, 4, 3}, late),
                    "a point at t = 2.5 is outside the coarse samples of 'flow.h5', which span t = 0 to 2; a model "
                    "does not extrapolate: choose points within");
  none.info.type = "mlp";
  const Places inside{std::vector<double>{1.0}, {0.5}, {0.5}};
  CHECK_THROWS_WITH(decoded_in_windows(none, "model.h5", coarse, {2, 4, 3}, inside),
                    "model 'model.h5' is of type 'mlp', which does not read coarse samples of a flow; give a "
                    "meshfree_flow_net, a flow_unet or a fourier_operator");
}

namespace {

/// Answers with the linear interpolation of the nearest coarse sample's coordinates: t + 10 z at every place.
class Plane : public train::Network {
 public:
  void fit_statistics(train::Dataset&, Context&) override {}
  std::vector<train::ParameterInfo> parameters() const override { return {{"weight", {1}}}; }
  DType dtype() const override { return DType::f64; }
  void initialise(std::span<const TensorRef>, std::uint64_t) override {}
  std::vector<train::TermInfo> terms() const override { return {}; }
  std::vector<double> term_weights(std::int64_t, double) const override { return {}; }
  void gradient(std::span<const train::SamplePtr>, std::span<const TensorRef>, std::span<const double>,
                std::span<const TensorRef>, std::span<train::TermSum>, const train::ReadyCallback&) override {}
  void evaluate(std::span<const train::SamplePtr>, std::span<const TensorRef>, std::span<train::TermSum>) override {}
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef>,
             std::span<const TensorRef> outputs) override {
    const auto points = numbers(*samples[0], "points");
    auto* out = static_cast<double*>(outputs[0].data);
    for (std::size_t p = 0; p < points.size() / 3; ++p)
      for (std::size_t f = 0; f < 4; ++f)
        out[4 * p + f] = points[3 * p] + 10.0 * points[3 * p + 2] + static_cast<double>(f);
    ++asked;
  }
  int asked = 0;
};

}  // namespace

TEST_CASE("overlapping windows give every place its weighted mean") {
  const auto coarse = coarsened(flow(), {2, 4, 3});
  for (const std::int64_t width : {4, 3}) {  // the whole period, and less
    train::LoadedModel model;
    auto network = std::make_unique<Plane>();
    auto& plane = *network;
    model.network = std::move(network);
    model.layout = std::make_unique<train::FlatLayout>(plane.parameters(), 1000);
    model.weights = train::FlatBuffer(*model.layout, DType::f64);
    model.info.fields = {{{"coarse", "", {4, 3, width, 4}, DType::f32}, 0.0, 1.0}};
    const auto places =
        spanning_places(coarse, {7, 10, 6}, {0.0, 2.0}, {coarse.axis[2].front(), coarse.axis[2].back()});
    const auto out = decoded_in_windows(model, "model.h5", coarse, {2, 4, 3}, places);
    CHECK(plane.asked > 2);
    for (std::size_t t = 0; t < 7; ++t)
      for (std::size_t x = 0; x < 10; ++x)
        for (std::size_t z = 0; z < 6; ++z)
          REQUIRE(out.at(1, t, x, z) == Approx(places[0][t] + 10.0 * places[2][z] + 1.0));
  }
}
