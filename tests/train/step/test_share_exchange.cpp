// The exchange by shares: sums in the order of ranks whatever comes first, any length, several at a time; and the
// reducer on more ranks than it serves.
#include "core/train/reduce/reducer.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

template <class T>
T value_of(int rank, int array, std::int64_t k) {
  return static_cast<T>(Random4(static_cast<std::uint64_t>(rank), Stream::test, static_cast<std::uint64_t>(k),
                                static_cast<std::uint64_t>(array))
                            .normal(0));
}

/// ((rank 0 + rank 1) + rank 2) + ...
template <class T>
T sum_in_order(int ranks, int array, std::int64_t k) {
  T sum = value_of<T>(0, array, k);
  for (int rank = 1; rank < ranks; ++rank) sum += value_of<T>(rank, array, k);
  return sum;
}

template <class T>
void check_sums(const Comm& comm, DType dtype) {
  const std::int64_t lengths[] = {0, 1, comm.size() - 1, 1023, 5003};
  std::vector<std::vector<T>> arrays;
  for (int a = 0; a < 5; ++a) {
    arrays.emplace_back(static_cast<std::size_t>(lengths[a]));
    for (std::int64_t k = 0; k < lengths[a]; ++k) arrays.back()[k] = value_of<T>(comm.rank(), a, k);
  }
  std::vector<ShareExchange> exchanges(5);
  for (int a = 0; a < 5; ++a)
    exchanges[a].start(reinterpret_cast<std::byte*>(arrays[a].data()), lengths[a], dtype, comm, a);
  // Ranks go on with the arrays in different orders, some without waiting first.
  for (int turn = 0; turn < comm.rank() * 3; ++turn) exchanges[turn % 5].advance(false);
  for (int a = 0; a < 5; ++a) REQUIRE(exchanges[a].advance(true));
  for (int a = 0; a < 5; ++a)
    for (std::int64_t k = 0; k < lengths[a]; ++k) REQUIRE(arrays[a][k] == sum_in_order<T>(comm.size(), a, k));
}

}  // namespace

TEST_CASE("sums by shares have the bits of a sum in the order of ranks") {
  const Comm comm;
  for (int repeat = 0; repeat < 3; ++repeat) {  // the same object may start again
    check_sums<float>(comm, DType::f32);
    check_sums<double>(comm, DType::f64);
  }
}

TEST_CASE("the fast reducer sums on any number of ranks, by shares or by the library") {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(25), 300);
  for (bool overlap : {false, true})
    for (int repeat = 0; repeat < 2; ++repeat) {
      FastReducer reducer(mesh, layout, overlap);
      FlatBuffer gradients(layout, DType::f64);
      reducer.begin(gradients, 2);
      for (int slice = 0; slice < 2; ++slice) {
        reducer.next_slice();
        for (std::size_t k = layout.tensors().size(); k-- > 0;) {
          const auto values = gradients.values<double>(k);
          for (std::size_t i = 0; i < values.size(); ++i)
            values[i] += 1.0 + comm.rank() + 100.0 * slice + static_cast<double>(k);
          reducer.ready(static_cast<int>(k));
        }
      }
      reducer.finish();
      const double n = comm.size();
      for (std::size_t k = 0; k < layout.tensors().size(); ++k)
        for (double value : gradients.values<double>(k))
          REQUIRE(value == 2.0 * (n + n * (n - 1) / 2 + static_cast<double>(k) * n) + 100.0 * n);
    }
}
