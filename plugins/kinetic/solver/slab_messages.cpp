#include "plugins/kinetic/solver/slab_messages.hpp"

namespace cambium::kinetic {

SlabMessages::~SlabMessages() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  for (auto* all : {&send_, &receive_})
    for (auto& slab : *all)
      for (auto& request : slab) MPI_Request_free(&request);
}

void SlabMessages::prepare(std::vector<Requests>& to, bool sends, int rank, int tag, const Rows& rows, const std::vector<Part>& parts) const {
  to.resize(parts.size());
  for (std::size_t s = 0; s < parts.size(); ++s) {
    if (parts[s].first == parts[s].last) continue;
    MPI_Datatype type;
    MPI_Type_create_hvector(rows.count, static_cast<int>(parts[s].last - parts[s].first), rows.stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    char* from = rows.data + parts[s].first;
    if (sends) MPI_Send_init(from, 1, type, rank, tag, comm_.handle(), &request);
    else MPI_Recv_init(from, 1, type, rank, tag, comm_.handle(), &request);
    to[s].push_back(request);
    MPI_Type_free(&type);  // when the request is gone
  }
}

void SlabMessages::add(int rank, int send_tag, const Rows& send, const std::vector<Part>& sent, int receive_tag, const Rows& receive,
                       const std::vector<Part>& received) {
  prepare(send_, true, rank, send_tag, send, sent);
  prepare(receive_, false, rank, receive_tag, receive, received);
}

void SlabMessages::begin() {
  for (auto& slab : receive_)
    if (!slab.empty()) MPI_Startall(static_cast<int>(slab.size()), slab.data());
}

void SlabMessages::send(int slab) {
  if (send_.empty() || send_[slab].empty()) return;
  MPI_Startall(static_cast<int>(send_[slab].size()), send_[slab].data());
}

void SlabMessages::wait(int slab) {
  if (receive_.empty()) return;
  MPI_Waitall(static_cast<int>(receive_[slab].size()), receive_[slab].data(), MPI_STATUSES_IGNORE);
}

void SlabMessages::finish() {
  for (auto& slab : send_)
    if (!slab.empty()) MPI_Waitall(static_cast<int>(slab.size()), slab.data(), MPI_STATUSES_IGNORE);
}

}  // namespace cambium::kinetic
