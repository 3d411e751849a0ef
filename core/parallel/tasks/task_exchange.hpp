#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/shared_memory.hpp"
#include "core/parallel/tasks/note_ring.hpp"
#include "core/parallel/tasks/value_pool.hpp"

namespace cambium::tasks {

/// Values of tasks on their way between ranks: through memory that the ranks of a node share, small ones copied, large
/// ones read where they lie; with messages between nodes and where that memory is full. Every rank sends and receives
/// from one thread.
class TaskExchange {
 public:
  enum class Kind : std::uint32_t { copied, lent, returned };
  struct Arrival {
    Kind kind;
    std::int64_t task;
    const std::byte* value;  ///< copied: valid during the call; lent: until it is returned
    std::size_t bytes;
    int from;
  };

  /// Collective. `largest`: bytes of the largest value; `shared`: whether memory may be shared.
  TaskExchange(const Comm& comm, std::size_t largest, bool shared);

  /// Room for a value that ranks of the node shall read where it lies; null where there is none.
  std::byte* take_shared(std::size_t bytes) { return pool_ ? pool_->take(bytes) : nullptr; }
  void give_shared(std::byte* value, std::size_t bytes) { pool_->give(value, bytes); }

  /// What became of a value that was to be sent. No room: receive(), then try again.
  enum class Sent { copied, lent, no_room };
  /// `in_shared`: the value came from take_shared(); it may be lent.
  Sent send(int rank, std::int64_t task, std::span<const std::byte> value, bool in_shared);
  /// Gives back a value that was lent; false when there is no room.
  bool give_back(int rank, std::int64_t task);
  /// Calls `use` with everything that has come; false when that was nothing.
  template <class F>
  bool receive(F&& use);
  /// Returns when everything sent has left.
  void finish();

  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }  ///< that were copied for others

 private:
  struct Going {
    std::vector<std::byte> message;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Near {
    int rank, of_node;
    NoteWriter out;
    NoteReader in;
  };
  void share(std::size_t largest);
  Near* near(int rank);
  void send_message(int rank, std::int64_t task, std::span<const std::byte> value);
  void forget_gone();
  bool receive_message(Arrival& arrival);

  Comm comm_;
  std::unique_ptr<Comm> node_;
  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<ValuePool> pool_;
  std::vector<Near> near_;
  std::vector<int> near_place_;  ///< by rank; -1: not on this node
  std::byte* arena_ = nullptr;
  bool all_near_ = false;
  int unanswered_ = 0;  ///< looks into the rings since messages were looked for
  std::deque<Going> going_;
  std::vector<std::byte> message_;
  std::int64_t messages_ = 0, bytes_ = 0;
};

template <class F>
bool TaskExchange::receive(F&& use) {
  bool came = false;
  for (Near& n : near_)
    while (n.in.read([&](const Note& note) {
      const auto kind = static_cast<Kind>(note.kind);
      const std::byte* const value = kind == Kind::lent ? memory_->of(n.of_node) + note.place : note.inside;
      use(Arrival{kind, note.task, value, static_cast<std::size_t>(note.bytes), n.rank});
    }))
      came = true;
  constexpr int seldom = 64;  // messages are rare where all ranks share memory
  if (all_near_ && ++unanswered_ < seldom) return came;
  unanswered_ = 0;
  forget_gone();
  for (Arrival arrival{}; receive_message(arrival); came = true) use(arrival);
  return came;
}

}  // namespace cambium::tasks
