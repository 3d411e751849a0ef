// Sums where the gradients lie: the bits of a sum in the order of ranks, step after step, whoever is late and whatever
// order tensors come in; the same bits as by messages.
#include <thread>

#include "core/train/reduce/reducer.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

template <class T>
T value_of(int rank, int step, std::size_t tensor, std::size_t k) {
  return static_cast<T>(Random4(static_cast<std::uint64_t>(100 * step + rank), Stream::test, k, tensor).normal(0));
}

template <class T>
T sum_in_order(int ranks, int step, std::size_t tensor, std::size_t k) {
  T sum = value_of<T>(0, step, tensor, k);
  for (int rank = 1; rank < ranks; ++rank) sum += value_of<T>(rank, step, tensor, k);
  return sum;
}

void idle(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

/// A step's gradient; every rank has its own order of tensors and is late in its turn.
template <class T>
void fill(FlatBuffer& into, int rank, int ranks, int step, const ReadyCallback& ready) {
  const std::size_t n = into.layout().tensors().size();
  for (std::size_t place = 0; place < n; ++place) {
    const std::size_t k = rank % 2 == 0 ? n - 1 - place : place;
    const auto values = into.values<T>(k);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += value_of<T>(rank, step, k, i);
    if ((step + static_cast<int>(place)) % ranks == rank && place % 7 == 0) idle(2);
    ready(static_cast<int>(k));
    if (place % 3 == 0) ready(static_cast<int>(k));  // twice does no harm
  }
}

template <class T>
std::vector<T> summed(const ReduceParams& params, DType dtype, int steps) {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(25), 300);
  const auto reducer = make_reducer(params, mesh, layout, dtype);
  FlatBuffer gradients = reducer->make_buffer(layout, dtype);
  std::vector<T> all;
  for (int step = 0; step < steps; ++step) {
    if (step % comm.size() == comm.rank()) idle(1);
    reducer->begin(gradients, 1);
    reducer->next_slice();
    fill<T>(gradients, comm.rank(), comm.size(), step, [&](int k) { reducer->ready(k); });
    reducer->finish();
    if (step % comm.size() != comm.rank()) idle(1);  // the others may be a step ahead before this one looks
    for (std::size_t k = 0; k < layout.tensors().size(); ++k)
      for (std::size_t i = 0; i < gradients.values<T>(k).size(); ++i) {
        const T found = gradients.values<T>(k)[i];
        if (found != sum_in_order<T>(comm.size(), step, k, i))
          FAIL("step " << step << ", tensor " << k << ", element " << i);
        all.push_back(found);
      }
  }
  return all;
}

}  // namespace

TEST_CASE("gradients summed where they lie have the bits of a sum in the order of ranks, and those of messages") {
  for (bool overlap : {true, false}) {
    ReduceParams params;
    params.overlap = overlap;
    const auto shared = summed<double>(params, DType::f64, 6);
    const auto single = summed<float>(params, DType::f32, 6);
    params.shared_memory = false;
    REQUIRE(shared == summed<double>(params, DType::f64, 6));
    REQUIRE(single == summed<float>(params, DType::f32, 6));
  }
}

TEST_CASE("a rank without samples takes part in a shared sum") {
  const Comm comm;
  const Mesh mesh(comm);
  const FlatLayout layout(some_parameters(10), 100);
  const auto reducer = make_reducer({}, mesh, layout, DType::f64);
  FlatBuffer gradients = reducer->make_buffer(layout, DType::f64);
  reducer->begin(gradients, 1);
  reducer->next_slice();
  if (comm.rank() == comm.size() - 1) fill<double>(gradients, 5, 6, 3, [&](int k) { reducer->ready(k); });
  reducer->finish();
  for (std::size_t k = 0; k < layout.tensors().size(); ++k)
    for (std::size_t i = 0; i < gradients.values<double>(k).size(); ++i)
      REQUIRE(gradients.values<double>(k)[i] == value_of<double>(5, 3, k, i));
}
