// Sums through short messages: the same on every rank, near the exact ones, of the right length, without bias.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/train/reduce/codec_reducer.hpp"
#include "core/train/reduce/lossy_reducer.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;
using lowp::WireCodec;

namespace {

void add_rank(FlatBuffer& into, int rank) {
  FlatBuffer own(into.layout(), into.dtype());
  fill(own, 300 + static_cast<std::uint64_t>(rank));
  with_real(into.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < into.values<T>().size(); ++k) into.values<T>()[k] += own.values<T>()[k];
  });
}

/// Of one slice a rank, whose gradient add() adds.
template <class F>
void sum_one(Reducer& reducer, FlatBuffer& gradients, F&& add) {
  reducer.begin(gradients, 1);
  reducer.next_slice();
  add();
  reducer.finish();
}

std::vector<double> as_double(const FlatBuffer& buffer) {
  if (buffer.dtype() == DType::f64) return packed<double>(buffer);
  const auto found = packed<float>(buffer);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("sums through codecs are the same on every rank and near the exact ones; bytes are exact") {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(60), 400);
  for (auto dtype : {DType::f32, DType::f64}) {
    FlatBuffer exact(layout, dtype);
    for (int rank = 0; rank < comm.size(); ++rank) add_rank(exact, rank);
    const auto expected = as_double(exact);
    // Two encodings of normal numbers: relative errors 0.0045 at most (bf16), 0.0091 and 0.17 each.
    for (const auto& [codec, bits, bound] : {std::tuple{WireCodec::none, 32.0, 1e-6},
                                             {WireCodec::bf16, 16.0, 0.005},
                                             {WireCodec::int8, 8.25, 0.014},
                                             {WireCodec::int4, 4.25, 0.26}}) {
      CodecReducer reducer(mesh, layout, codec);
      FlatBuffer gradients(layout, dtype);
      reducer.begin_step(9, 4);
      sum_one(reducer, gradients, [&] { add_rank(gradients, comm.rank()); });
      const auto found = as_double(gradients);
      double error = 0, size = 0;
      for (std::size_t k = 0; k < found.size(); ++k) {
        error += std::pow(found[k] - expected[k], 2);
        size += std::pow(expected[k], 2);
      }
      INFO("codec of " << bits << " bits, " << comm.size() << " ranks");
      CHECK(std::sqrt(error / size) <= bound);
      if (comm.size() > 1 && codec != WireCodec::none) CHECK(std::sqrt(error / size) > bound / 10);
      auto first = found;
      comm.broadcast(std::span<double>(first));
      CHECK(std::memcmp(first.data(), found.data(), sizeof(double) * found.size()) == 0);
      std::int64_t bytes = 0;
      for (const auto& row : reducer.traffic().rows()) bytes += row.bytes;
      const std::int64_t ranks = comm.size(), pieces = (layout.size() + 127) / 128,
                         share = (pieces + ranks - 1) / ranks * 128;
      CHECK(8 * bytes == static_cast<std::int64_t>(2 * bits * static_cast<double>(share * (ranks - 1))));
    }
  }
}

TEST_CASE(
    "sums within a bound: each number of each tensor lies within it, the same on every rank, in shorter messages") {
  using Kind = lowp::LossyBound::Kind;
  const Comm comm;
  const Mesh mesh(comm);
  std::vector<ParameterInfo> parameters;
  for (int k = 0; k < 6; ++k) parameters.push_back({"p" + std::to_string(k), {700 + 300 * k}, true});
  parameters.push_back({"small", {3}, false});
  const FlatLayout layout(parameters, 400);
  // A tensor that is a thousand times smaller than the others keeps its own bound.
  const auto add = [&](FlatBuffer& into, int rank) {
    FlatBuffer own(layout, into.dtype());
    fill(own, 300 + static_cast<std::uint64_t>(rank));
    with_real(into.dtype(), [&]<class T>() {
      for (T& x : own.values<T>(2)) x *= T(1e-3);
      for (std::size_t k = 0; k < into.values<T>().size(); ++k) into.values<T>()[k] += own.values<T>()[k];
    });
  };
  for (auto dtype : {DType::f32, DType::f64})
    for (const auto bound : {lowp::LossyBound{Kind::relative, 1e-2}, {Kind::relative, 1e-4}, {Kind::absolute, 1e-3}}) {
      FlatBuffer exact(layout, dtype), gradients(layout, dtype);
      for (int rank = 0; rank < comm.size(); ++rank) add(exact, rank);
      LossyReducer reducer(mesh, layout, bound);
      sum_one(reducer, gradients, [&] { add(gradients, comm.rank()); });
      const auto found = as_double(gradients), expected = as_double(exact);
      std::size_t at = 0;
      double largest = 0.0;
      for (std::size_t t = 0; t < parameters.size(); ++t) {
        // Ranges of parts, and of their sum, are at most those of normal numbers: within 5 deviations each side here.
        const double width = t == 2 ? 1e-3 : 1.0, parts = static_cast<double>(comm.size());
        const double range = bound.kind == Kind::relative ? 10.0 * width : 1.0, once = bound.value * range;
        const double most = comm.size() == 1
                                ? 0.0
                                : (parts - 1.0) * once + once * (bound.kind == Kind::relative ? std::sqrt(parts) : 1.0);
        for (std::int64_t k = 0; k < parameters[t].shape[0]; ++k, ++at) {
          const double error = std::abs(found[at] - expected[at]);
          if (error > most + 1e-6 * width)
            FAIL("tensor " << t << ", element " << k << ": " << error << " beyond " << most);
          largest = std::max(largest, error / once);
        }
      }
      if (comm.size() > 1) CHECK(largest > 0.05);
      auto first = found;
      comm.broadcast(std::span<double>(first));
      CHECK(std::memcmp(first.data(), found.data(), sizeof(double) * found.size()) == 0);
      std::int64_t bytes = 0;
      for (const auto& row : reducer.traffic().rows()) bytes += row.bytes;
      const double plain = 2.0 * static_cast<double>(layout.size() * size_of(dtype)) * (comm.size() - 1) / comm.size();
      if (comm.size() > 1) CHECK(static_cast<double>(bytes) < (bound.value == 1e-2 ? 0.35 : 0.7) * plain);
      CHECK((comm.size() > 1) == (bytes > 0));
    }
}

TEST_CASE("a gradient that is no number stays one through messages within a bound") {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(6), 400);
  LossyReducer reducer(mesh, layout, {});
  FlatBuffer gradients(layout, DType::f32);
  sum_one(reducer, gradients, [&] {
    if (comm.rank() == comm.size() - 1) gradients.values<float>(3)[1] = std::numeric_limits<float>::quiet_NaN();
  });
  CHECK(std::isnan(gradients.values<float>(3)[1]));
  CHECK(gradients.values<float>(3)[0] == 0.0f);
}

TEST_CASE("a tensor of small gradients beside one of large ones keeps them through messages in few bits") {
  const Comm comm;
  if (comm.size() == 1) return;
  const Mesh mesh(comm);
  ReduceParams params;
  params.codec = WireCodec::int8;
  const FlatLayout layout = layout_of(params, {{"large", {50}}, {"small", {30}}}, DType::f64);
  const auto reducer = make_reducer(params, mesh, layout, DType::f64);
  FlatBuffer gradients(layout, DType::f64);
  const auto values = gradients.values<double>();
  const auto place = [&](int tensor) { return static_cast<std::size_t>(layout.tensors()[tensor].offset); };
  reducer->begin_step(9, 4);
  sum_one(*reducer, gradients, [&] {
    for (int k = 0; k < 50; ++k) values[place(0) + k] += 1.0;
    for (int k = 0; k < 30; ++k) values[place(1) + k] += 1e-4;
  });
  for (int k = 0; k < 30; ++k) CHECK(values[place(1) + k] == Approx(1e-4 * comm.size()).epsilon(0.02));
}

TEST_CASE("sums through codecs have the exact sum as their expectation, and depend on seed and step alone") {
  const Comm comm;
  if (comm.size() == 1) return;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(6), 400);
  FlatBuffer exact(layout, DType::f32);
  for (int rank = 0; rank < comm.size(); ++rank) add_rank(exact, rank);
  const auto expected = as_double(exact);
  CodecReducer reducer(mesh, layout, WireCodec::int4);
  const int steps = 400;
  std::vector<double> mean(expected.size()), last;
  double one = 0;
  for (int step = 0; step < steps; ++step) {
    FlatBuffer gradients(layout, DType::f32);
    reducer.begin_step(9, step);
    sum_one(reducer, gradients, [&] { add_rank(gradients, comm.rank()); });
    last = as_double(gradients);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] += last[k] / steps;
      one += std::pow(last[k] - expected[k], 2) / steps;
    }
  }
  double error = 0;
  for (std::size_t k = 0; k < mean.size(); ++k) error += std::pow(mean[k] - expected[k], 2);
  CHECK(error < 1.5 * one / steps);  // independent errors without bias average out
  CodecReducer again(mesh, layout, WireCodec::int4);
  for (const auto& [seed, same] : {std::pair{9, true}, {10, false}}) {
    FlatBuffer gradients(layout, DType::f32);
    again.begin_step(static_cast<std::uint64_t>(seed), steps - 1);
    sum_one(again, gradients, [&] { add_rank(gradients, comm.rank()); });
    CHECK((as_double(gradients) == last) == same);
  }
}
