// What ranks tell each other: every byte of a face arrives in its pass, by messages and in shared memory, whoever is
// late; sums of moments are the same on all of them.
#include <chrono>
#include <cmath>
#include <span>
#include <thread>

#include "plugins/kinetic/physics/rank_sums.hpp"
#include "plugins/kinetic/solver/slab_messages.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

namespace {

constexpr int slabs = 5, rows = 3;
constexpr std::int64_t stride = 40;  // bytes; slab s takes bytes 8 s .. 8 s + 7, slab 2 none

SlabMessages::Rows some_rows() {
  SlabMessages::Rows out{rows, stride, {}};
  for (std::int64_t s = 0; s < slabs; ++s) out.parts.push_back({8 * s, s == 2 ? 8 * s : 8 * s + 8});
  return out;
}

char value(int rank, bool up, int pass, std::int64_t byte) {
  return static_cast<char>(31 * rank + 7 * up + 3 * pass + byte);
}

/// Fills or compares one slab of a face; what a slab leaves out is not touched.
template <class F>
void for_bytes(int slab, F&& f) {
  const auto part = some_rows().parts[slab];
  for (int row = 0; row < rows; ++row)
    for (std::int64_t b = part.first; b < part.last; ++b) f(row * stride + b);
}

}  // namespace

TEST_CASE("faces travel slab by slab around a ring of ranks") {
  const Comm comm;
  const bool share = GENERATE(false, true);
  const int up = (comm.rank() + 1) % comm.size(), down = (comm.rank() + comm.size() - 1) % comm.size();
  SlabMessages messages(comm);
  messages.connect({{up, 1, some_rows(), 2, some_rows()}, {down, 2, some_rows(), 1, some_rows()}}, share);
  const auto dawdle = [&](int when) {
    if (when % (comm.size() + 1) == comm.rank()) std::this_thread::sleep_for(std::chrono::microseconds(300));
  };
  constexpr int ahead = 2;
  bool right = true;
  for (int pass = 0; pass < 40; ++pass) {
    messages.begin();
    for (int s = -ahead; s < slabs; ++s) {
      if (s + ahead < slabs) {
        for (std::size_t face = 0; face < 2; ++face)
          for_bytes(s + ahead,
                    [&](std::int64_t b) { messages.packed(face)[b] = value(comm.rank(), face == 0, pass, b); });
        dawdle(pass + s);
        messages.send(s + ahead);
      }
      if (s < 0) continue;
      messages.wait(s);
      for_bytes(s, [&](std::int64_t b) { right = right && messages.received(0)[b] == value(up, false, pass, b); });
      dawdle(pass + 2 * s);
      for_bytes(s, [&](std::int64_t b) { right = right && messages.received(1)[b] == value(down, true, pass, b); });
    }
    messages.finish();
  }
  CHECK(right);
}

// What one stage leaves, a later one reads: once, twice when its step is begun again, or not at all.
TEST_CASE("faces wait for whoever asks for them") {
  const Comm comm;
  const bool share = GENERATE(false, true);
  const int up = (comm.rank() + 1) % comm.size(), down = (comm.rank() + comm.size() - 1) % comm.size();
  SlabMessages messages(comm);
  messages.connect({{up, 1, some_rows(), 2, some_rows()}, {down, 2, some_rows(), 1, some_rows()}}, share);
  bool right = true;
  for (int pass = 0; pass < 60; ++pass) {
    messages.begin();
    for (int s = 0; s < slabs; ++s) {
      for (std::size_t face = 0; face < 2; ++face)
        for_bytes(s, [&](std::int64_t b) { messages.packed(face)[b] = value(comm.rank(), face == 0, pass, b); });
      messages.send(s);
    }
    for (int time = 0; time < pass % 3; ++time) {
      if ((pass + time) % (comm.size() + 1) == comm.rank()) std::this_thread::sleep_for(std::chrono::microseconds(200));
      for (int s = 0; s < slabs; ++s) {
        messages.wait(s);
        for_bytes(s, [&](std::int64_t b) { right = right && messages.received(0)[b] == value(up, false, pass, b); });
        for_bytes(s, [&](std::int64_t b) { right = right && messages.received(1)[b] == value(down, true, pass, b); });
      }
      if (time == pass % 3 - 1) messages.finish();
    }
  }
  CHECK(right);
}

TEST_CASE("moments are summed over ranks and frequencies compared, bit by bit alike") {
  const Comm comm;
  const bool share = GENERATE(false, true);
  RankSums ranks(comm);
  bool right = true;
  for (int turn = 0; turn < 30; ++turn) {
    const std::size_t n = turn < 10 ? 3 : 40;  // one stage, then two of more species
    std::vector<double> a(n), b(2 * n), fastest{1.0 * ((comm.rank() + turn) % comm.size()), -1.0};
    for (std::size_t k = 0; k < n; ++k) {
      a[k] = turn + k + 0.1 * comm.rank();
      b[k] = 7.0 * comm.rank();
      b[n + k] = -turn;
    }
    if (turn % (comm.size() + 1) == comm.rank()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    ranks.reduce({a, b}, fastest, share);
    const int others = comm.size() * (comm.size() - 1) / 2;
    for (std::size_t k = 0; k < n; ++k) {
      right = right && std::abs(a[k] - (comm.size() * (turn + static_cast<double>(k)) + 0.1 * others)) < 1e-12;
      right = right && b[k] == 7.0 * others && b[n + k] == -turn * comm.size();
    }
    right = right && fastest[0] == comm.size() - 1.0 && fastest[1] == -1.0;
    auto same = a;
    comm.broadcast(std::span<double>(same));
    right = right && same == a;
  }
  CHECK(right);
}
