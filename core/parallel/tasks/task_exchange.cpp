#include "core/parallel/tasks/task_exchange.hpp"

#include <algorithm>
#include <cstring>

namespace cambium::tasks {

static constexpr int value_tag = 21;

TaskExchange::TaskExchange(const Comm& comm, std::size_t largest, bool shared)
    : comm_(comm.handle()), near_place_(static_cast<std::size_t>(comm.size()), -1) {
  if (shared && comm_.size() > 1) share(largest);
  all_near_ = std::ssize(near_) == comm_.size() - 1;
}

/// Every rank's memory: a ring from each rank of the node, then room for values.
void TaskExchange::share(std::size_t largest) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split_type(comm_.handle(), MPI_COMM_TYPE_SHARED, comm_.rank(), MPI_INFO_NULL, &part);
  node_ = std::make_unique<Comm>(part);
  MPI_Comm_free(&part);
  if (node_->size() == 1) return;
  constexpr std::size_t values = 32, most = std::size_t{128} << 20;
  const std::size_t rings = (NoteRing::bytes * static_cast<std::size_t>(node_->size()) + 63) / 64 * 64;
  std::size_t room = largest > Note::room ? std::min(most, values * largest) / 64 * 64 : 0;
  room = static_cast<std::size_t>(node_->max(static_cast<double>(room)));
  memory_ = SharedMemory::make(*node_, static_cast<std::int64_t>(rings + room));
  while (!memory_ && room > 0) {  // the system may have less: some values then go as messages
    room = room / 4 < largest ? 0 : room / 256 * 64;
    room = static_cast<std::size_t>(node_->max(static_cast<double>(room)));
    memory_ = SharedMemory::make(*node_, static_cast<std::int64_t>(rings + room));
  }
  if (!memory_) return;
  arena_ = memory_->of(node_->rank()) + rings;
  if (room > 0) pool_ = std::make_unique<ValuePool>(arena_, room);
  std::vector<std::int64_t> ranks = node_->all_gather(comm_.rank());
  for (int n = 0; n < node_->size(); ++n) {
    if (n == node_->rank()) continue;
    const int rank = static_cast<int>(ranks[static_cast<std::size_t>(n)]);
    near_place_[static_cast<std::size_t>(rank)] = static_cast<int>(near_.size());
    near_.push_back({rank, n, NoteWriter(memory_->of(n) + NoteRing::bytes * static_cast<std::size_t>(node_->rank())),
                     NoteReader(memory_->of(node_->rank()) + NoteRing::bytes * static_cast<std::size_t>(n))});
  }
}

TaskExchange::Near* TaskExchange::near(int rank) {
  const int place = near_place_[static_cast<std::size_t>(rank)];
  return place < 0 ? nullptr : &near_[static_cast<std::size_t>(place)];
}

TaskExchange::Sent TaskExchange::send(int rank, std::int64_t task, std::span<const std::byte> value, bool in_shared) {
  Near* const n = near(rank);
  const bool inside = value.size() <= Note::room;
  if (!n || (!inside && !in_shared)) {
    send_message(rank, task, value);
    return Sent::copied;
  }
  const bool written = n->out.write([&](Note& note) {
    note.task = task;
    note.bytes = value.size();
    note.kind = static_cast<std::uint32_t>(inside ? Kind::copied : Kind::lent);
    if (inside)
      std::memcpy(note.inside, value.data(), value.size());
    else
      note.place = value.data() - memory_->of(node_->rank());
  });
  if (!written) return Sent::no_room;
  ++messages_;
  if (inside) bytes_ += std::ssize(value);
  return inside ? Sent::copied : Sent::lent;
}

bool TaskExchange::give_back(int rank, std::int64_t task) {
  return near(rank)->out.write([&](Note& note) {
    note.task = task;
    note.bytes = 0;
    note.kind = static_cast<std::uint32_t>(Kind::returned);
  });
}

/// The number of the task, then its value.
void TaskExchange::send_message(int rank, std::int64_t task, std::span<const std::byte> value) {
  Going& going = going_.emplace_back();
  going.message.resize(sizeof(task) + value.size());
  std::memcpy(going.message.data(), &task, sizeof(task));
  if (!value.empty()) std::memcpy(going.message.data() + sizeof(task), value.data(), value.size());
  MPI_Isend(going.message.data(), static_cast<int>(going.message.size()), MPI_BYTE, rank, value_tag, comm_.handle(),
            &going.request);
  ++messages_;
  bytes_ += std::ssize(value);
}

void TaskExchange::forget_gone() {
  while (!going_.empty()) {
    int gone = 0;
    MPI_Test(&going_.front().request, &gone, MPI_STATUS_IGNORE);
    if (!gone) return;
    going_.pop_front();
  }
}

bool TaskExchange::receive_message(Arrival& arrival) {
  if (comm_.size() == 1) return false;
  int there = 0, bytes = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, value_tag, comm_.handle(), &there, &status);
  if (!there) return false;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  message_.resize(static_cast<std::size_t>(bytes));
  MPI_Recv(message_.data(), bytes, MPI_BYTE, status.MPI_SOURCE, value_tag, comm_.handle(), MPI_STATUS_IGNORE);
  arrival.kind = Kind::copied, arrival.from = status.MPI_SOURCE;
  std::memcpy(&arrival.task, message_.data(), sizeof(arrival.task));
  arrival.value = message_.data() + sizeof(arrival.task);
  arrival.bytes = message_.size() - sizeof(arrival.task);
  return true;
}

void TaskExchange::finish() {
  for (Going& going : going_) MPI_Wait(&going.request, MPI_STATUS_IGNORE);
  going_.clear();
}

}  // namespace cambium::tasks
