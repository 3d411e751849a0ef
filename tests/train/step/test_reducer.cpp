// Sums of slices over ranks: exact values, order, messages, bytes.
#include <bit>
#include <cstring>

#include "core/base/error.hpp"
#include "core/train/reduce/reducer.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

/// Adds the gradient of slice `number` of the global batch, tensor by tensor from the last.
void add_slice(FlatBuffer& into, int number, const ReadyCallback& ready) {
  with_real(into.dtype(), [&]<class T>() {
    for (std::size_t k = into.layout().tensors().size(); k-- > 0;) {
      const auto values = into.values<T>(k);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += static_cast<T>(Random4(77 + static_cast<std::uint64_t>(number), Stream::test, k, i).normal(0));
      ready(static_cast<int>(k));
    }
  });
}

/// The tree over 8 slices, on one rank.
std::vector<float> tree(const FlatLayout& layout) {
  std::vector<std::vector<float>> sums;
  for (int s = 0; s < 8; ++s) {
    FlatBuffer buffer(layout, DType::f32);
    add_slice(buffer, s, [](int) {});
    sums.push_back(packed<float>(buffer));
  }
  for (std::size_t step = 1; step < 8; step *= 2)
    for (std::size_t s = 0; s < 8; s += 2 * step)
      for (std::size_t i = 0; i < sums[s].size(); ++i) sums[s][i] += sums[s + step][i];
  return sums[0];
}

}  // namespace

TEST_CASE("ordered sums are one binary tree for any number of ranks, bit for bit") {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(25), 300);
  ReduceParams ordered;
  ordered.mode = ReduceParams::Mode::ordered;
  const auto made = make_reducer(ordered, mesh, layout, DType::f32);
  Reducer& reducer = *made;
  const auto expected = tree(layout);
  const int mine = (8 + comm.size() - 1) / comm.size();
  for (int repeat = 0; repeat < 2; ++repeat) {
    FlatBuffer gradients(layout, DType::f32);
    reducer.begin(gradients, mine);
    for (int slice = 0; slice < mine; ++slice) {
      reducer.next_slice();
      if (comm.rank() * mine + slice < 8)
        add_slice(gradients, comm.rank() * mine + slice, [&](int k) { reducer.ready(k); });
    }
    reducer.finish();
    const auto found = packed<float>(gradients);
    REQUIRE(std::memcmp(found.data(), expected.data(), sizeof(float) * found.size()) == 0);
  }
  std::int64_t bytes = 0;
  for (const auto& row : reducer.traffic().rows()) bytes += row.bytes;
  if (!std::has_single_bit(static_cast<unsigned>(comm.size()))) {
    const std::int64_t n = layout.size(), own = n * (comm.rank() + 1) / comm.size() - n * comm.rank() / comm.size();
    const auto nodes = std::ssize(nodes_of(std::min(8, comm.rank() * mine), std::min(8, (comm.rank() + 1) * mine)));
    REQUIRE(bytes == 2 * 4 * (nodes * (n - own) + own * (comm.size() - 1)));
    return;
  }
  REQUIRE(bytes == 2 * 2 * 4 * layout.size() * (comm.size() - 1) / comm.size());  // two sums of 4-byte numbers
}

TEST_CASE("nodes of the tree over slices are the fewest that hold a run of them") {
  for (std::int64_t first = 0; first <= 16; ++first)
    for (std::int64_t last = first; last <= 16; ++last) {
      const auto nodes = nodes_of(first, last);
      std::int64_t at = first;
      for (const auto& node : nodes) {
        REQUIRE(node.number << node.place == at);
        at = (node.number + 1) << node.place;
      }
      REQUIRE(at == last);
      for (std::size_t k = 0; k + 1 < nodes.size(); ++k) REQUIRE(!nodes[k].left_of(nodes[k + 1]));
    }
}

TEST_CASE("fast sums agree with the tree to rounding, overlapped or not, in one message per group") {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(25), 300);
  const auto expected = tree(layout);
  const int mine = (8 + comm.size() - 1) / comm.size();
  std::vector<float> without;
  for (bool overlap : {false, true}) {
    FastReducer reducer(mesh, layout, overlap);
    FlatBuffer gradients(layout, DType::f32);
    reducer.begin(gradients, mine);
    for (int slice = 0; slice < mine; ++slice) {
      reducer.next_slice();
      if (comm.rank() * mine + slice < 8)
        add_slice(gradients, comm.rank() * mine + slice, [&](int k) { reducer.ready(k); });
    }
    reducer.finish();
    const auto found = packed<float>(gradients);
    for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Approx(expected[i]).margin(1e-5));
    if (comm.size() > 1) {
      REQUIRE(reducer.traffic().rows().at(0).calls == std::ssize(layout.groups()));
      REQUIRE(reducer.traffic().rows().at(0).bytes == 4 * layout.size());
    }
    if (overlap) REQUIRE(found == without);
    without = found;
  }
}

TEST_CASE("a rank without samples takes part") {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(10), 100);
  FastReducer reducer(mesh, layout, true);
  FlatBuffer gradients(layout, DType::f64), alone(layout, DType::f64);
  reducer.begin(gradients, 1);
  reducer.next_slice();
  if (comm.rank() == comm.size() - 1) add_slice(gradients, 4, [&](int k) { reducer.ready(k); });
  reducer.finish();
  add_slice(alone, 4, [](int) {});
  REQUIRE(packed<double>(gradients) == packed<double>(alone));
}

TEST_CASE("a mesh has a communicator for every level") {
  const Comm comm;
  if (comm.size() != 4) return;
  const Mesh mesh(comm, {{"pair", 2}, {"world", 2}});
  REQUIRE(mesh.coordinate(0) == comm.rank() % 2);
  REQUIRE(mesh.coordinate(1) == comm.rank() / 2);
  REQUIRE(mesh.along(0).sum(double(comm.rank())) == (comm.rank() < 2 ? 1.0 : 5.0));
  REQUIRE(mesh.along(1).sum(double(comm.rank())) == (comm.rank() % 2 == 0 ? 2.0 : 4.0));
  REQUIRE_THROWS_WITH(Mesh(comm, {{"pair", 2}, {"world", 3}}),
                      "the levels pair 2 x world 3 make 6 ranks, but 4 run; change the levels or start 6 ranks");
}

TEST_CASE("ordered mode says which numbers of ranks it can serve") {
  ReduceParams params;
  params.mode = ReduceParams::Mode::ordered;
  params.slices = 4;
  REQUIRE_NOTHROW(require_ranks(params, 4));
  REQUIRE_NOTHROW(require_ranks(params, 3));
  REQUIRE_THROWS_WITH(
      require_ranks(params, 5),
      "reduce.micro_batches is 4, but 5 ranks run and each needs one; set reduce.micro_batches to 8 or more "
      "(this changes the order of sums, so the weights' last bits)");
  REQUIRE_THROWS_WITH(
      require_ranks(params, 8),
      "reduce.micro_batches is 4, but 8 ranks run and each needs one; set reduce.micro_batches to 8 or more "
      "(this changes the order of sums, so the weights' last bits)");
}
