#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cambium::tasks {

/// A message between two ranks of a node: a small value is contained, a large one referred to by its offset.
struct Note {
  static constexpr std::size_t room = 216;
  std::atomic<std::uint64_t> turn;  ///< number of the message, from 1; 0: none yet
  std::int64_t task;
  std::int64_t place;  ///< of the value, in the sender's memory
  std::uint64_t bytes;
  std::uint32_t kind;
  std::uint32_t unused;
  std::byte inside[room];
};
static_assert(sizeof(Note) == 256, "four lines of the cache");

/// Memory of a lock-free queue of notes with one writer and one reader: begins as zeros. The first line is the reader's
/// counter of notes read.
struct NoteRing {
  static constexpr std::uint64_t notes = 256;
  static constexpr std::size_t bytes = 64 + notes * sizeof(Note);
  static std::atomic<std::uint64_t>& read(std::byte* memory) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory);
  }
  static Note& note(std::byte* memory, std::uint64_t number) {
    return reinterpret_cast<Note*>(memory + 64)[number % notes];
  }
};

class NoteWriter {
 public:
  explicit NoteWriter(std::byte* memory) : memory_(memory) {}
  /// `fill` writes all of the note but its turn; false if the ring is full.
  template <class F>
  bool write(F&& fill) {
    if (written_ - read_ == NoteRing::notes) {
      read_ = NoteRing::read(memory_).load(std::memory_order_acquire);
      if (written_ - read_ == NoteRing::notes) return false;
    }
    Note& note = NoteRing::note(memory_, written_);
    fill(note);
    note.turn.store(++written_, std::memory_order_release);
    return true;
  }

 private:
  std::byte* memory_;
  std::uint64_t written_ = 0, read_ = 0;  ///< read_: last known count
};

class NoteReader {
 public:
  explicit NoteReader(std::byte* memory) : memory_(memory) {}
  /// False when nothing has come. `use` may not keep the note.
  template <class F>
  bool read(F&& use) {
    const Note& note = NoteRing::note(memory_, taken_);
    if (note.turn.load(std::memory_order_acquire) != taken_ + 1) return false;
    use(note);
    NoteRing::read(memory_).store(++taken_, std::memory_order_release);
    return true;
  }

 private:
  std::byte* memory_;
  std::uint64_t taken_ = 0;
};

}  // namespace cambium::tasks
