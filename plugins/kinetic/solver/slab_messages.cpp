#include "plugins/kinetic/solver/slab_messages.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "core/parallel/spin_wait.hpp"

namespace cambium::kinetic {

SlabMessages::~SlabMessages() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  if (std::uncaught_exceptions() == 0) settle();  // the last faces may be in flight, although no rank will read them
  for (auto* all : {&send_, &receive_})
    for (auto& slab : *all)
      for (auto& request : slab) MPI_Request_free(&request);
}

void SlabMessages::prepare(std::vector<Requests>& to, bool sends, const Face& face, char* data) const {
  const Rows& rows = sends ? face.sent : face.received;
  to.resize(rows.parts.size());
  for (std::size_t s = 0; s < rows.parts.size(); ++s) {
    const Part& part = rows.parts[s];
    if (part.first == part.last) continue;
    MPI_Datatype type;
    MPI_Type_create_hvector(rows.count, static_cast<int>(part.last - part.first), rows.stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    if (sends)
      MPI_Send_init(data + part.first, 1, type, face.rank, face.send_tag, comm_.handle(), &request);
    else
      MPI_Recv_init(data + part.first, 1, type, face.rank, face.receive_tag, comm_.handle(), &request);
    to[s].push_back(request);
    MPI_Type_free(&type);  // when the request is gone
  }
}

void SlabMessages::connect(std::vector<Face> faces, bool share_memory) {
  faces_ = std::move(faces);
  for (const Face& face : faces_)
    slabs_ = std::max<std::int64_t>(slabs_, static_cast<std::int64_t>(face.sent.parts.size()));
  if (share_memory && comm_.size() > 1 && share()) return;
  for (const Face& face : faces_) {
    View<char*> from("kinetic: sent", static_cast<std::size_t>(face.sent.bytes()));
    View<char*> to("kinetic: received", static_cast<std::size_t>(face.received.bytes()));
    packed_.push_back(from.data());
    received_.push_back(to.data());
    prepare(send_, true, face, from.data());
    prepare(receive_, false, face, to.data());
    buffers_.insert(buffers_.end(), {from, to});
  }
}

/// Lays out this rank's faces in its shared memory and exchanges their offsets with the neighbours.
bool SlabMessages::share() {
  std::vector<std::int64_t> mine, theirs(faces_.size());
  std::int64_t bytes = counters * line;
  for (const Face& face : faces_) {
    mine.push_back(bytes);
    bytes += (face.sent.bytes() + line - 1) / line * line;
  }
  memory_ = SharedMemory::make(comm_, static_cast<std::int64_t>(comm_.max(static_cast<double>(bytes))));
  if (!memory_) return false;
  static_assert(Counter::is_always_lock_free);
  for (int which = 0; which < counters; ++which) new (memory_->of(comm_.rank()) + which * line) Counter(0);
  std::vector<MPI_Request> requests(2 * faces_.size());
  for (std::size_t k = 0; k < faces_.size(); ++k) {
    const Face& face = faces_[k];
    MPI_Irecv(&theirs[k], 1, MPI_INT64_T, face.rank, face.receive_tag, comm_.handle(), &requests[2 * k]);
    MPI_Isend(&mine[k], 1, MPI_INT64_T, face.rank, face.send_tag, comm_.handle(), &requests[2 * k + 1]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t k = 0; k < faces_.size(); ++k) {
    packed_.push_back(reinterpret_cast<char*>(memory_->of(comm_.rank())) + mine[k]);
    received_.push_back(reinterpret_cast<const char*>(memory_->of(faces_[k].rank)) + theirs[k]);
  }
  comm_.barrier();  // counters must exist before another rank reads them
  return true;
}

void SlabMessages::settle() {
  for (auto* all : {&send_, &receive_})
    for (auto& slab : *all)
      if (!slab.empty()) MPI_Waitall(static_cast<int>(slab.size()), slab.data(), MPI_STATUSES_IGNORE);
}

void SlabMessages::begin() {
  finish();  // a rank that packs the next faces no longer reads those before
  if (memory_) {
    for (const Face& face : faces_)
      spin_wait([&] { return counter(face.rank, passes_read).load(std::memory_order_acquire) >= pass_; });
  } else {
    settle();
    for (auto& slab : receive_)
      if (!slab.empty()) MPI_Startall(static_cast<int>(slab.size()), slab.data());
  }
  ++pass_;
}

void SlabMessages::send(int slab) {
  if (memory_)
    counter(comm_.rank(), slabs_sent).store(pass_ * slabs_ + slab + 1, std::memory_order_release);
  else if (!send_.empty() && !send_[slab].empty())
    MPI_Startall(static_cast<int>(send_[slab].size()), send_[slab].data());
}

void SlabMessages::wait(int slab) {
  if (memory_) {
    for (const Face& face : faces_)
      if (const Part& part = face.received.parts[slab]; part.first < part.last)
        spin_wait(
            [&] { return counter(face.rank, slabs_sent).load(std::memory_order_acquire) > pass_ * slabs_ + slab; });
  } else if (!receive_.empty()) {
    MPI_Waitall(static_cast<int>(receive_[slab].size()), receive_[slab].data(), MPI_STATUSES_IGNORE);
  }
}

void SlabMessages::finish() {
  if (memory_) counter(comm_.rank(), passes_read).store(pass_, std::memory_order_release);
}

}  // namespace cambium::kinetic
