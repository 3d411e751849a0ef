#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/task_bench/note_ring.hpp"
#include "bench/task_bench/value_pool.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/shared_memory.hpp"

namespace cambium::tasks {

/// Exchange of task values between ranks: within a node through shared memory, small ones copied, large ones read in
/// place; by messages between nodes and if that memory is full. For a large value the header is sent first: the value
/// is then sent and received in place, while both ranks work. Every rank sends and receives from one thread.
class TaskExchange {
 public:
  enum class Kind : std::uint32_t { copied, lent, returned, placed };
  struct Arrival {
    Kind kind;
    std::int64_t task;
    const std::byte* value;  ///< copied: valid during the call; lent: until it is returned; placed: in the room given
    std::size_t bytes;
    int from;
  };

  /// Collective. `largest`: bytes of the largest value; `shared`: whether memory may be shared.
  TaskExchange(const Comm& comm, std::size_t largest, bool shared);
  ~TaskExchange();
  TaskExchange(const TaskExchange&) = delete;
  TaskExchange& operator=(const TaskExchange&) = delete;

  /// Memory for a value that ranks of the node read in place; null if there is none.
  std::byte* take_shared(std::size_t bytes) { return pool_ ? pool_->take(bytes) : nullptr; }
  void give_shared(std::byte* value, std::size_t bytes) { pool_->give(value, bytes); }

  /// Outcome of sending a value. Lent: it must stay until it is returned. No room: receive(), then try again.
  enum class Sent { copied, lent, no_room };
  /// `in_shared`: the value came from take_shared(); it may be lent.
  Sent send(int rank, std::int64_t task, std::span<const std::byte> value, bool in_shared);
  /// Returns a value that was lent; false if there is no room.
  bool give_back(int rank, std::int64_t task);
  /// Calls `use` with everything that has arrived; false if there was nothing. `room(bytes)` returns the destination of
  /// a large value, which is then passed on as placed.
  template <class Room, class Use>
  bool receive(Room&& room, Use&& use);
  /// Returns when everything sent has left.
  void finish();

  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }  ///< that were copied for others

 private:
  struct Going {
    std::vector<std::byte> message;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  /// A large value that is sent from, or received into, its final memory.
  struct Straight {
    std::int64_t task = 0;
    std::byte* value = nullptr;
    std::size_t bytes = 0;
    int rank = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Head {
    std::int64_t task, bytes;
  };
  /// A receive that waits for the next message.
  struct Posted {
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
  Sent send_message(int rank, std::int64_t task, std::span<const std::byte> value);
  void forget_gone();
  void post(Posted& posted) const;
  bool receive_message(Arrival& arrival);
  void begin_straight(const Arrival& head, std::byte* room);
  static bool take_finished(std::vector<Straight>& all, Straight& finished);
  bool messages_are_rare();

  Comm comm_;
  std::unique_ptr<Comm> node_;
  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<ValuePool> pool_;
  std::vector<Near> near_;
  std::vector<int> near_place_;  ///< by rank; -1: not on this node
  std::byte* arena_ = nullptr;
  bool all_near_ = false;
  int unanswered_ = 0;  ///< polls of the rings since messages were last polled
  std::deque<Going> going_;
  std::vector<Posted> posted_;              ///< in the order in which they match messages
  std::size_t next_posted_ = 0;             ///< the first that waits
  std::vector<Straight> leaving_, coming_;  ///< large values in flight
  std::int64_t messages_ = 0, bytes_ = 0;
};

template <class Room, class Use>
bool TaskExchange::receive(Room&& room, Use&& use) {
  bool came = false;
  for (Near& n : near_)
    while (n.in.read([&](const Note& note) {
      const auto kind = static_cast<Kind>(note.kind);
      const std::byte* const value = kind == Kind::lent ? memory_->of(n.of_node) + note.place : note.inside;
      use(Arrival{kind, note.task, value, static_cast<std::size_t>(note.bytes), n.rank});
    }))
      came = true;
  if (posted_.empty() || messages_are_rare()) return came;
  forget_gone();
  for (Arrival arrival{}; receive_message(arrival); came = true)
    if (arrival.kind == Kind::copied)
      use(arrival);
    else
      begin_straight(arrival, room(arrival.bytes));
  for (Straight s; take_finished(coming_, s); came = true) use(Arrival{Kind::placed, s.task, s.value, s.bytes, s.rank});
  for (Straight s; take_finished(leaving_, s); came = true) use(Arrival{Kind::returned, s.task, nullptr, 0, s.rank});
  return came;
}

}  // namespace cambium::tasks
