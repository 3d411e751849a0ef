// Queues between two ranks of a node, and memory for values.
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "bench/task_bench/note_ring.hpp"
#include "bench/task_bench/value_pool.hpp"
#include "tests/catch.hpp"

using namespace cambium::tasks;

TEST_CASE("notes arrive whole and in order, however far the reader is behind") {
  std::vector<std::uint64_t> memory((NoteRing::bytes + 7) / 8, 0);
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  constexpr std::int64_t count = 20000;
  std::thread writer([&] {
    NoteWriter out(bytes);
    for (std::int64_t k = 0; k < count;) {
      const bool written = out.write([&](Note& note) {
        note.task = k;
        note.bytes = sizeof(k);
        std::memcpy(note.inside + k % 100, &k, sizeof(k));
      });
      if (written)
        ++k;
      else
        std::this_thread::yield();
    }
  });
  NoteReader in(bytes);
  bool right = true;
  for (std::int64_t k = 0; k < count;) {
    const bool came = in.read([&](const Note& note) {
      std::int64_t value = 0;
      std::memcpy(&value, note.inside + k % 100, sizeof(value));
      right = right && note.task == k && value == k;
    });
    if (came)
      ++k;
    else
      std::this_thread::yield();
  }
  writer.join();
  CHECK(right);
}

TEST_CASE("a full ring takes no note until one was read") {
  std::vector<std::uint64_t> memory((NoteRing::bytes + 7) / 8, 0);
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  NoteWriter out(bytes);
  NoteReader in(bytes);
  const auto fill = [](Note& note) { note.task = 1; };
  CHECK_FALSE(in.read([](const Note&) {}));
  for (std::uint64_t k = 0; k < NoteRing::notes; ++k) REQUIRE(out.write(fill));
  CHECK_FALSE(out.write(fill));
  CHECK(in.read([](const Note&) {}));
  CHECK(out.write(fill));
  CHECK_FALSE(out.write(fill));
}

TEST_CASE("room for values is used again, and no two values share it") {
  ValuePool pool;
  std::set<std::byte*> taken;
  for (int k = 0; k < 100; ++k) {
    std::byte* const value = pool.take(static_cast<std::size_t>(k * 997));
    CHECK(reinterpret_cast<std::uintptr_t>(value) % 64 == 0);
    std::memset(value, k, static_cast<std::size_t>(k * 997));
    CHECK(taken.insert(value).second);
  }
  std::byte* const one = pool.take(1000);
  pool.give(one, 1000);
  CHECK(pool.take(600) == one);  // both need 1024
}

TEST_CASE("memory of a fixed size is used up, and not beyond") {
  std::vector<std::byte> memory(1024 + 64);
  const auto skip = (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  ValuePool pool(memory.data() + skip, 1024);
  std::byte* const first = pool.take(512);
  REQUIRE(first);
  REQUIRE(pool.take(500));
  CHECK(pool.take(1) == nullptr);
  pool.give(first, 512);
  CHECK(pool.take(400) == first);
}
