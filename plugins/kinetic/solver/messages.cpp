#include "plugins/kinetic/solver/messages.hpp"

#include "core/parallel/length.hpp"

namespace cambium::kinetic {

void Messages::begin() {
  Kokkos::fence();
  requests_.clear();
  if (!device_is_host) staged_.resize(2 * links.size());
  for (std::size_t k = 0; k < links.size(); ++k) {
    Link& link = links[k];
    char* to = link.receive.data();
    const char* from = link.send.data();
    if (!device_is_host) {
      staged_[2 * k].resize(link.receive.size());
      staged_[2 * k + 1].resize(link.send.size());
      Kokkos::deep_copy(Kokkos::View<char*, Kokkos::HostSpace>(staged_[2 * k + 1].data(), link.send.size()), link.send);
      to = staged_[2 * k].data();
      from = staged_[2 * k + 1].data();
    }
    MPI_Request request;
    const MessageLength in(static_cast<std::int64_t>(link.receive.size()), MPI_BYTE),
        out(static_cast<std::int64_t>(link.send.size()), MPI_BYTE);
    MPI_Irecv(to, in.count(), in.type(), link.rank, link.receive_tag, comm_.handle(), &request);
    requests_.push_back(request);
    MPI_Isend(from, out.count(), out.type(), link.rank, link.send_tag, comm_.handle(), &request);
    requests_.push_back(request);
  }
}

void Messages::finish() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  if (device_is_host) return;
  for (std::size_t k = 0; k < links.size(); ++k)
    Kokkos::deep_copy(links[k].receive,
                      Kokkos::View<char*, Kokkos::HostSpace>(staged_[2 * k].data(), links[k].receive.size()));
}

}  // namespace cambium::kinetic
