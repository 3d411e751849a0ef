// Blocks of every rank, of any size and in any number, come to rank 0 as they are.
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

namespace {

/// Rank r has r mod 3 blocks of 2 x (r + 1) numbers for each of two arrays.
class Blocks {
 public:
  explicit Blocks(int rank) : rank_(rank) {}
  bool operator()(io::Block& block) {
    if (sent_ == 2 * (rank_ % 3)) return false;
    memory_.resize(2 * (rank_ + 1));
    std::iota(memory_.begin(), memory_.end(), 1000.0 * rank_ + 100.0 * sent_);
    block = {sent_ % 2, {2 * (sent_ / 2), 10 * rank_}, io::tensor_of(memory_.data(), {2, rank_ + 1})};
    ++sent_;
    return true;
  }

 private:
  int rank_, sent_ = 0;
  std::vector<double> memory_;
};

}  // namespace

TEST_CASE("blocks of all ranks come to rank 0, rank after rank") {
  const Comm comm;
  std::vector<std::vector<double>> found;
  std::vector<int> arrays;
  std::vector<std::vector<std::int64_t>> starts;
  io::gather_blocks(comm, Blocks(comm.rank()), [&](const io::Block& block) {
    const auto* values = static_cast<const double*>(block.values.data);
    found.emplace_back(values, values + block.values.elements());
    arrays.push_back(block.array);
    starts.push_back(block.start);
    CHECK(block.values.contiguous());
    CHECK(block.values.shape[0] == 2);
  });
  if (!comm.root()) {
    CHECK(found.empty());
    return;
  }
  std::size_t k = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    for (int sent = 0; sent < 2 * (rank % 3); ++sent, ++k) {
      REQUIRE(k < found.size());
      CHECK(arrays[k] == sent % 2);
      CHECK(starts[k] == std::vector<std::int64_t>{2 * (sent / 2), 10 * rank});
      std::vector<double> wanted(2 * (rank + 1));
      std::iota(wanted.begin(), wanted.end(), 1000.0 * rank + 100.0 * sent);
      CHECK(found[k] == wanted);
    }
  CHECK(k == found.size());
}

TEST_CASE("what goes wrong with a block is an error on every rank, and nobody waits") {
  const Comm comm;
  if (comm.size() < 2) return;  // rank 0 has no block
  int taken = 0;
  CHECK(message([&] {
          io::gather_blocks(comm, Blocks(comm.rank()), [&](const io::Block&) {
            if (++taken == 2) throw InputError("the disk is full");
          });
        }) == "the disk is full");
  CHECK(taken == (comm.root() ? 2 : 0));
}
