// The encoder: its gradient as differences, by convolutions and by patches, what shifts do to it, vectors of fields and
// parameters.
#include <cmath>
#include <functional>

#include "core/io/hdf5/h5.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/networks/field_encoder.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::pretrain;

namespace {

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
};

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

FieldEncoder::Params keys_of(FieldEncoder::Partner partner) {
  FieldEncoder::Params keys;
  keys.channels = {4, 6};
  keys.width = 5;
  keys.partner = partner;
  keys.precision = Precision::float64;
  keys.parameter_encoder.hidden = {7};
  keys.loss.scheme = train::ContrastiveScheme::infonce;
  keys.loss.temperature.start = 0.2;
  return keys;
}

/// Trained for no step.
struct Fitted {
  World world;
  FieldArchive data;
  FieldEncoder network;
  Buffers weights;
  std::vector<train::SamplePtr> samples;

  explicit Fitted(const FieldEncoder::Params& keys, const FieldArchive::Params& fields = made_up())
      : data(fields, world.context), network(keys, world.context), weights(prepared()) {
    network.initialise(weights.views, 3);
    std::vector<std::int64_t> ids;
    for (std::int64_t k = 0; k < data.size(); k += 2) ids.push_back(k);
    samples = data.read(ids);
  }
  static FieldArchive::Params made_up() {
    FieldArchive::Params out;
    out.made_up = MadeUpFields{.simulations = 3, .moments = 5, .cells = {8, 8}};
    out.apart = 1;
    return out;
  }
  double loss(std::vector<TensorRef>& gradients) {
    network.begin_step(1, 0);
    const double term_weights[] = {1.0, 0.0, 0.0};
    std::vector<train::TermSum> terms(3);
    network.gradient(samples, weights.views, term_weights, gradients, terms, {});
    return terms[0].sum;
  }

 private:
  const train::Network& prepared() {
    data.open(world.context);
    network.fit_statistics(data, world.context);
    return network;
  }
};

void check_gradient(Fitted& fitted) {
  Buffers gradients(fitted.network), dropped(fitted.network);
  fitted.loss(gradients.views);
  for (std::size_t k = 0; k < gradients.memory.size(); ++k) {
    const std::size_t i = gradients.memory[k].size() / 2;
    double& weight = fitted.weights.memory[k][i];
    const double kept = weight, h = 1e-5;
    weight = kept + h;
    const double above = fitted.loss(dropped.views);
    weight = kept - h;
    const double below = fitted.loss(dropped.views);
    weight = kept;
    CAPTURE(fitted.network.parameters()[k].name);
    CHECK(gradients.memory[k][i] == Approx((above - below) / (2 * h)).epsilon(1e-4).margin(1e-6));
  }
}

std::vector<double> vectors(Fitted& fitted, std::span<const train::SamplePtr> samples) {
  const auto outputs = fitted.network.outputs();
  const auto n = std::ssize(samples), width = fitted.network.width();
  std::vector<double> first(n * width), second = first;
  std::vector<TensorRef> targets{io::tensor_of(first.data(), {n, width})};
  if (outputs.size() > 1) targets.push_back(io::tensor_of(second.data(), {n, width}));
  fitted.network.infer(samples, fitted.weights.views, targets);
  return first;
}

}  // namespace

TEST_CASE("the encoder's gradient is that of differences, with fields and with parameters as partners") {
  using P = FieldEncoder::Partner;
  for (const auto partner : {P::field, P::parameters}) {
    auto keys = keys_of(partner);
    keys.loss.temperature.rate = 0.5;  // the temperature is a weight, too
    Fitted fitted(keys);
    check_gradient(fitted);
    keys.shared = false;
    keys.pool = FieldEncoder::Pool::cells;
    Fitted apart(keys);
    check_gradient(apart);
  }
  auto keys = keys_of(P::view);
  keys.augment.shift = {0};
  keys.augment.noise = 0.1;
  keys.augment.reflect = {{0, {1}}};
  Fitted views(keys);
  check_gradient(views);
}

namespace {

/// Two runs of four moments over three axes; the first does not close.
FieldArchive::Params three_axes(const Scratch& scratch) {
  std::vector<float> values(2 * 4 * 4 * 6 * 8);
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<float>(std::sin(0.1 * static_cast<double>(k * k % 977)));
  io::File::create(scratch.file("e.h5")).write("frames", io::tensor_of(values.data(), {2, 4, 4, 6, 8}));
  FieldArchive::Params fields;
  fields.files = {scratch.file("e.h5")};
  fields.array = "frames";
  fields.periodic = {0, 1, 1};
  fields.apart = 1;
  return fields;
}

/// The first sample's vector after its field's cells moved around the two axes (8 x 8 cells, 3 channels).
double moved(Fitted& fitted, const std::function<int(int, int)>& from) {
  auto other = std::make_shared<train::Sample>(*fitted.samples[0]);
  const auto& field = fitted.samples[0]->fields.at("field");
  const auto* values = static_cast<const float*>(field.data);
  std::vector<float> copy(field.elements());
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) copy[(c * 8 + i) * 8 + j] = values[c * 64 + from(i, j)];
  other->fields.at("field").data = copy.data();
  const std::vector<train::SamplePtr> one{fitted.samples[0]}, two{other};
  const auto a = vectors(fitted, one), b = vectors(fitted, two);
  double away = 0.0, length = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    away = std::max(away, std::abs(a[k] - b[k]));
    length += a[k] * a[k];
  }
  CHECK(length == Approx(1.0));
  return away;
}

FieldEncoder::Params patches(std::vector<std::int64_t> patch) {
  auto keys = keys_of(FieldEncoder::Partner::field);
  keys.transformer = TransformerKeys{.patch = std::move(patch), .width = 12, .heads = 2, .blocks = 2};
  return keys;
}

}  // namespace

TEST_CASE("three axes are encoded as two are") {
  const Scratch scratch;
  Fitted fitted(keys_of(FieldEncoder::Partner::field), three_axes(scratch));
  check_gradient(fitted);
}

TEST_CASE("a shift along a periodic axis by what the stages halve leaves the vector as it is") {
  Fitted fitted(keys_of(FieldEncoder::Partner::field));
  CHECK(moved(fitted, [](int i, int j) { return (i + 4) % 8 * 8 + j; }) < 1e-12);
}

TEST_CASE("the gradient of patches that attend to each other is that of differences, over two axes and three") {
  using Type = train::AttentionParams::Type;
  const Scratch scratch;
  for (const auto type : {Type::softmax, Type::two_pass}) {
    auto keys = patches({2, 4});
    keys.transformer->attention = type;
    Fitted two(keys);
    check_gradient(two);
    keys.transformer->patch = {2, 3, 4};
    keys.pool = FieldEncoder::Pool::cells;
    Fitted three(keys, three_axes(scratch));
    check_gradient(three);
  }
}

TEST_CASE("patches know the axis that closes: a shift by one leaves the vector, no other change of places does") {
  Fitted fitted(patches({2, 2}));  // rolls: the first axis closes, the second ends
  CHECK(moved(fitted, [](int i, int j) { return (i + 2) % 8 * 8 + j; }) < 1e-12);
  CHECK(moved(fitted, [](int i, int j) { return (i + 6) % 8 * 8 + j; }) < 1e-12);
  CHECK(moved(fitted, [](int i, int j) { return i * 8 + (j + 2) % 8; }) > 1e-3);
  CHECK(moved(fitted, [](int i, int j) { return (i < 2 ? i + 2 : i < 4 ? i - 2 : i) * 8 + j; }) > 1e-3);
  CHECK(moved(fitted, [](int i, int j) { return (i + 1) % 8 * 8 + j; }) > 1e-3);
}

TEST_CASE("vectors of parameters alone are those of a sample's, and survive the state") {
  Fitted fitted(keys_of(FieldEncoder::Partner::parameters));
  REQUIRE(fitted.network.parameters_count() == 2);
  std::vector<double> first(5), second(5), parameters(2);
  const std::vector<train::SamplePtr> one{fitted.samples[0]};
  const std::vector<TensorRef> targets{io::tensor_of(first.data(), {1, 5}), io::tensor_of(second.data(), {1, 5})};
  fitted.network.infer(one, fitted.weights.views, targets);
  std::copy_n(static_cast<const double*>(fitted.samples[0]->fields.at("parameters").data), 2, parameters.begin());
  const auto found = fitted.network.vectors_of(parameters, fitted.weights.views);
  for (std::size_t k = 0; k < 5; ++k) CHECK(found[k] == Approx(second[k]).margin(1e-14));
  FieldEncoder again(keys_of(FieldEncoder::Partner::parameters), fitted.world.context);
  again.restore(fitted.network.state());
  const auto same = again.vectors_of(parameters, fitted.weights.views);
  CHECK(same == found);
}
