// Messages of divided training in few bits: what they say, how long they are, and that every rank hears the same.
#include <algorithm>
#include <cmath>

#include "core/train/weights/divided/coded_exchange.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using lowp::WireCodec;

namespace {

/// Two levels where the ranks allow it.
std::vector<Mesh::Level> levels_of(int ranks) {
  if (ranks < 4) return {{"world", ranks}};
  return {{"node", 2}, {"world", ranks / 2}};
}

struct Ground {
  Comm comm;
  Mesh mesh{comm, levels_of(comm.size())};
  Traffic traffic;
  MemoryLedger memory;
  Wires wires{mesh, traffic, memory};
  int depth = static_cast<int>(mesh.levels().size());
  Interval whole{0, 4096 * comm.size()};

  float number(int rank, std::int64_t k) const {
    return static_cast<float>(
        Random4(7, Stream::test, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(rank)).normal(0));
  }
  std::int64_t bytes(const std::string& collective, const std::string& level) const {
    std::int64_t sum = 0;
    for (const auto& row : traffic.rows())
      if (row.collective == collective && row.level == level) sum += row.bytes;
    return sum;
  }
};

}  // namespace

TEST_CASE("coded sums are the plain ones within what their bits allow") {
  Ground g;
  const double ranks = g.comm.size();
  struct Arm {
    WireCodec inner, outer;
    double bound;
  };
  for (const auto& arm : {Arm{WireCodec::none, WireCodec::none, 1e-6}, Arm{WireCodec::bf16, WireCodec::bf16, 4e-3},
                          Arm{WireCodec::int8, WireCodec::int8, 0.02}, Arm{WireCodec::int8, WireCodec::int4, 0.25}}) {
    std::vector<WireCodec> codecs(g.depth, arm.inner);
    codecs.back() = arm.outer;
    std::vector<float> values;
    for (std::int64_t k = 0; k < g.whole.size(); ++k) values.push_back(g.number(g.comm.rank(), k));
    reduce_coded(reinterpret_cast<std::byte*>(values.data()), g.whole, 0, g.depth, DType::f32, codecs, {3, 5, 11, 0},
                 g.wires);
    const Interval mine = share_of(g.mesh, g.whole, g.depth);
    double error = 0.0, mean = 0.0;
    for (std::int64_t k = mine.begin; k < mine.end; ++k) {
      double sum = 0.0;
      for (int rank = 0; rank < g.comm.size(); ++rank) sum += g.number(rank, k);
      const double off = static_cast<double>(values[k]) - sum;
      error += off * off;
      mean += off;
    }
    const double n = static_cast<double>(mine.size());
    INFO("codec " << static_cast<int>(arm.inner) << ", " << static_cast<int>(arm.outer));
    CHECK(std::sqrt(error / n / ranks) < arm.bound);
    if (g.comm.size() > 1 && arm.outer == WireCodec::int4) CHECK(std::sqrt(error / n / ranks) > 0.05);
    CHECK(std::abs(mean / n) < 5.0 * std::sqrt(error / n / n) + 1e-9);  // without bias
  }
  CHECK(g.memory.now(Held::windows) + g.memory.now(Held::messages) == 0);
}

TEST_CASE("two levels send 8.25 bits of every number within a node and 4.25 bits of what is left between them") {
  Ground g;
  if (g.depth != 2) return;
  std::vector<float> values(g.whole.size(), 1.0f);
  const WireCodec codecs[] = {WireCodec::int8, WireCodec::int4};
  reduce_coded(reinterpret_cast<std::byte*>(values.data()), g.whole, 0, 2, DType::f32, codecs, {}, g.wires);
  const std::int64_t n = g.whole.size(), nodes = g.mesh.levels()[1].ranks;
  CHECK(g.bytes("reduce-scatter", "node") * 8 * 4 == n / 2 * 33);
  CHECK(g.bytes("reduce-scatter", "world") * 8 * 4 == n / 2 * (nodes - 1) / nodes * 17);
  const Interval mine = share_of(g.mesh, g.whole, 2);
  for (std::int64_t k = mine.begin; k < mine.end; ++k)  // a constant is one number of 32 after the transform, and exact
    REQUIRE(values[k] == Approx(g.comm.size()).epsilon(0.2));
}

TEST_CASE("gathered weights are the same on every rank, their owner included") {
  Ground g;
  const Interval mine = share_of(g.mesh, g.whole, g.depth);
  for (auto codec : {WeightCodec::none, WeightCodec::bf16, WeightCodec::int8, WeightCodec::int4}) {
    std::vector<float> own, all(static_cast<std::size_t>(g.whole.size()));
    for (std::int64_t k = mine.begin; k < mine.end; ++k) own.push_back(g.number(0, k));
    const auto before = g.bytes("gather", "world");
    gather_coded(own, g.whole, g.depth, 0, codec, {3, 5, 11, 0}, g.wires, "gather",
                 [&](Interval part, std::span<const float> numbers) {
                   std::copy(numbers.begin(), numbers.end(), all.begin() + part.begin);
                 });
    double error = 0.0;
    for (std::int64_t k = 0; k < g.whole.size(); ++k) {
      const double off = static_cast<double>(all[k]) - static_cast<double>(g.number(0, k));
      error += off * off / static_cast<double>(g.whole.size());
    }
    CHECK(std::sqrt(error) < (codec == WeightCodec::none   ? 1e-12
                              : codec == WeightCodec::bf16 ? 4e-3
                              : codec == WeightCodec::int8 ? 0.02
                                                           : 0.3));
    if (codec == WeightCodec::int4) {
      CHECK(std::sqrt(error) > 0.1);
      if (g.depth == 1)
        CHECK((g.bytes("gather", "world") - before) * 2048 == (2048 / 2 + 4) * mine.size() * (g.comm.size() - 1));
    }
    std::vector<double> first(all.begin(), all.end());
    g.comm.broadcast(std::span<double>(first));
    CHECK(std::equal(all.begin(), all.end(), first.begin()));
  }
}
