// Steps of optimizers in one kernel against those of the host, bit for bit on the same gradients.
#include "core/parallel/kokkos.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/bounded_gradient.hpp"
#include "core/train/optimizers/clip.hpp"
#include "core/train/optimizers/sgd.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

void* data_of(FlatBuffer& buffer) { return buffer.views()[0].data; }

std::vector<std::uint8_t> decays_of(const FlatLayout& layout) {
  std::vector<std::uint8_t> out;
  for (std::int64_t k = 0; k < layout.size(); k += 16) {
    out.push_back(0);
    for (const auto& t : layout.tensors())
      if (k >= t.offset && k < t.offset + t.elements) out.back() = t.info.decay;
  }
  return out;
}

/// Weights, states and their average, by either way.
struct Held {
  FlatBuffer weights, average;
  std::vector<FlatBuffer> states;
};

/// The mean gradient within bounds, as the host has it; its norm before.
double bound(FlatBuffer& gradients, double factor, const std::optional<Clip>& clip) {
  BoundedGradient bounded(factor, clip, gradients.layout().parameters());
  with_real(gradients.dtype(), [&]<class T>() {
    const auto values = gradients.values<T>();
    bounded.look(values.data(), std::ssize(values));
    bounded.add(values.data(), std::ssize(values));
  });
  const double norm = bounded.norm();
  with_real(gradients.dtype(), [&]<class T>() {
    const auto values = gradients.values<T>();
    bounded.take(values.data(), values.data(), std::ssize(values));
  });
  return norm;
}

template <class O>
void follow(const O& made, DType dtype, const std::optional<Clip>& clip, const std::optional<Average>& average) {
  O optimizer = made;
  const FlatLayout layout(some_parameters(12), 200);
  const auto decays = decays_of(layout);
  Held held[2];
  for (auto& h : held) {
    h.weights = FlatBuffer(layout, dtype);
    h.average = FlatBuffer(layout, dtype);
    fill(h.weights, 1, 0.5);
    h.average.copy_from(h.weights);
    h.states = make_states(optimizer, layout, dtype);
  }
  for (int step = 1; step <= 14; ++step) {
    const double factor = 1.0 / 7.0, rate = 0.01 / step;
    FlatBuffer gradients(layout, dtype);
    fill(gradients, static_cast<std::uint64_t>(100 + step), 0.3);
    DeviceUpdate u;
    u.dtype = dtype;
    u.size = layout.size();
    u.weights = data_of(held[1].weights);
    u.gradients = data_of(gradients);
    if (average) u.average = data_of(held[1].average);
    for (std::size_t k = 0; k < held[1].states.size(); ++k) u.states[k] = data_of(held[1].states[k]);
    u.decays = decays.data();
    u.factor = factor;
    u.rate = rate;
    u.step = step;
    if (average && step > average->from) u.average_decay = average->decay;
    double square = 0.0;
    if (clip) {
      u.value = clip->value;
      u.norm = clip->norm;
    }
    if (u.norm) {
      square_on_device(u, &square);
      Kokkos::fence();
      u.square = &square;
    }
    optimizer.step_on_device(u);
    Kokkos::fence();
    const double norm = bound(gradients, factor, clip);
    if (u.norm) CHECK(std::sqrt(square) == Approx(norm).epsilon(1e-14));
    optimizer.step({held[0].weights, gradients, held[0].states, rate, step});
    if (average) average->update(held[0].average, held[0].weights, step);
  }
  with_real(dtype, [&]<class T>() {
    const auto same = [&](const FlatBuffer& a, const FlatBuffer& b) {
      const auto x = a.values<T>(), y = b.values<T>();
      // The norm is added in another order: its last bit may be another one.
      const double bound = clip && clip->norm ? (dtype == DType::f64 ? 1e-14 : 1e-5) : 0.0;
      for (std::size_t k = 0; k < x.size(); ++k)
        if (!(std::abs(static_cast<double>(x[k] - y[k])) <= bound)) return false;
      return true;
    };
    CHECK(same(held[0].weights, held[1].weights));
    CHECK(same(held[0].average, held[1].average));
    for (std::size_t k = 0; k < held[0].states.size(); ++k) CHECK(same(held[0].states[k], held[1].states[k]));
  });
}

}  // namespace

TEST_CASE("a step by one kernel is that of the host: optimizers, bounds, averages, precisions") {
  if constexpr (!device_is_host) return;  // the buffers of this test lie in host memory
  World world;
  auto& c = world.context;
  const Clip norm{.norm = 0.5, .value = {}}, value{.norm = {}, .value = 0.02}, both{.norm = 0.4, .value = 0.1};
  for (const DType dtype : {DType::f64, DType::f32})
    for (const auto& clip : {std::optional<Clip>(), std::optional(norm), std::optional(value), std::optional(both)})
      for (const auto& average :
           {std::optional<Average>(), std::optional(Average{0.9, 0}), std::optional(Average{0.7, 5})}) {
        follow(Adam(Adam::Params{}, c), dtype, clip, average);
        follow(Adam(Adam::Params{{0.8, 0.95, 1e-6, 0.03}}, c), dtype, clip, average);
        follow(AdamW(AdamW::Params{{0.9, 0.999, 1e-8, 0.1}}, c), dtype, clip, average);
        follow(Sgd({0.0, 0.02, false}, c), dtype, clip, average);
        follow(Sgd({0.9, 0.0, false}, c), dtype, clip, average);
        follow(Sgd({0.9, 0.02, true}, c), dtype, clip, average);
      }
}
