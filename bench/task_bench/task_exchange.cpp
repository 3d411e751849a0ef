#include "bench/task_bench/task_exchange.hpp"

#include <algorithm>
#include <cstring>

namespace cambium::tasks {

static constexpr int value_tag = 21, straight_tag = 22;
/// Larger values go without their head.
static constexpr std::size_t most_with_head = 8192;

TaskExchange::TaskExchange(const Comm& comm, std::size_t largest, bool shared)
    : comm_(comm.handle()), near_place_(static_cast<std::size_t>(comm.size()), -1) {
  if (shared && comm_.size() > 1) share(largest);
  all_near_ = std::ssize(near_) == comm_.size() - 1;
  if (comm_.size() == 1) return;
  posted_.resize(8);
  for (Posted& p : posted_) {
    p.message.resize(sizeof(Head) + most_with_head);
    post(p);
  }
}

TaskExchange::~TaskExchange() {
  for (Posted& p : posted_) {
    MPI_Cancel(&p.request);
    MPI_Wait(&p.request, MPI_STATUS_IGNORE);
  }
}

void TaskExchange::post(Posted& p) const {
  MPI_Irecv(p.message.data(), static_cast<int>(p.message.size()), MPI_BYTE, MPI_ANY_SOURCE, value_tag, comm_.handle(),
            &p.request);
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
    const int rank = static_cast<int>(ranks[n]);
    near_place_[rank] = static_cast<int>(near_.size());
    near_.push_back({rank, n, NoteWriter(memory_->of(n) + NoteRing::bytes * static_cast<std::size_t>(node_->rank())),
                     NoteReader(memory_->of(node_->rank()) + NoteRing::bytes * static_cast<std::size_t>(n))});
  }
}

TaskExchange::Near* TaskExchange::near(int rank) {
  const int place = near_place_[rank];
  return place < 0 ? nullptr : &near_[place];
}

TaskExchange::Sent TaskExchange::send(int rank, std::int64_t task, std::span<const std::byte> value, bool in_shared) {
  Near* const n = near(rank);
  const bool inside = value.size() <= Note::room;
  if (!n || (!inside && !in_shared)) return send_message(rank, task, value);
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

/// Header and value in one message; for a large value only the header, and then the value in place.
TaskExchange::Sent TaskExchange::send_message(int rank, std::int64_t task, std::span<const std::byte> value) {
  const Head head{task, std::ssize(value)};
  const bool straight = value.size() > most_with_head;
  Going& going = going_.emplace_back();
  going.message.resize(sizeof(head) + (straight ? 0 : value.size()));
  std::memcpy(going.message.data(), &head, sizeof(head));
  if (!straight && !value.empty()) std::memcpy(going.message.data() + sizeof(head), value.data(), value.size());
  MPI_Isend(going.message.data(), static_cast<int>(going.message.size()), MPI_BYTE, rank, value_tag, comm_.handle(),
            &going.request);
  ++messages_;
  bytes_ += std::ssize(value);
  if (!straight) return Sent::copied;
  Straight& s = leaving_.emplace_back(Straight{task, nullptr, value.size(), rank});
  MPI_Isend(value.data(), static_cast<int>(value.size()), MPI_BYTE, rank, straight_tag, comm_.handle(), &s.request);
  return Sent::lent;
}

void TaskExchange::forget_gone() {
  while (!going_.empty()) {
    int gone = 0;
    MPI_Test(&going_.front().request, &gone, MPI_STATUS_IGNORE);
    if (!gone) return;
    going_.pop_front();
  }
}

/// Messages are rare if all ranks share memory: they are polled seldom, unless some are in flight.
bool TaskExchange::messages_are_rare() {
  constexpr int seldom = 64;
  if (all_near_ && going_.empty() && leaving_.empty() && coming_.empty() && ++unanswered_ < seldom) return true;
  unanswered_ = 0;
  return false;
}

/// The next message, if there is one; valid until the next call. `placed`: its value arrives separately.
bool TaskExchange::receive_message(Arrival& arrival) {
  Posted& last = posted_[(next_posted_ + posted_.size() - 1) % posted_.size()];
  if (last.request == MPI_REQUEST_NULL) post(last);  // used before
  Posted& next = posted_[next_posted_];
  int there = 0, bytes = 0;
  MPI_Status status;
  MPI_Test(&next.request, &there, &status);
  if (!there) return false;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  Head head;
  std::memcpy(&head, next.message.data(), sizeof(head));
  const bool whole = bytes == static_cast<int>(sizeof(head)) + head.bytes;
  arrival = {whole ? Kind::copied : Kind::placed, head.task, next.message.data() + sizeof(head),
             static_cast<std::size_t>(head.bytes), status.MPI_SOURCE};
  next_posted_ = (next_posted_ + 1) % posted_.size();
  return true;
}

/// Large values of a rank come in the order of their heads.
void TaskExchange::begin_straight(const Arrival& head, std::byte* room) {
  Straight& s = coming_.emplace_back(Straight{head.task, room, head.bytes, head.from});
  MPI_Irecv(room, static_cast<int>(head.bytes), MPI_BYTE, head.from, straight_tag, comm_.handle(), &s.request);
}

bool TaskExchange::take_finished(std::vector<Straight>& all, Straight& finished) {
  for (Straight& s : all) {
    int done = 0;
    MPI_Test(&s.request, &done, MPI_STATUS_IGNORE);
    if (!done) continue;
    finished = s;
    s = all.back();
    all.pop_back();
    return true;
  }
  return false;
}

void TaskExchange::finish() {
  for (Going& going : going_) MPI_Wait(&going.request, MPI_STATUS_IGNORE);
  going_.clear();
}

}  // namespace cambium::tasks
