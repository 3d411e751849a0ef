#include "core/parallel/peer_exchange.hpp"

namespace cambium {
namespace {

/// True when MPI may be given the addresses that kernels use. A GPU-aware MPI would be switched on here.
constexpr bool mpi_reads_device = device_is_host;
constexpr int counts_tag = 11, rows_tag = 12;

/// Calls send(count, type) with bytes, or with rows if there are more than `most` bytes.
template <class F>
void in_counts(int rows, int row_bytes, std::int64_t most, const F& send) {
  if (std::int64_t{rows} * row_bytes <= most) return send(rows * row_bytes, MPI_BYTE);
  MPI_Datatype row;
  MPI_Type_contiguous(row_bytes, MPI_BYTE, &row);
  MPI_Type_commit(&row);
  send(rows, row);
  MPI_Type_free(&row);  // when the message is done
}

using DeviceWords = Kokkos::View<double*, MemSpace, Kokkos::MemoryUnmanaged>;
using HostWords = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

}  // namespace

void PeerExchange::connect(std::vector<Peer> peers) {
  peers_ = std::move(peers);
  requests_.clear();
  for (auto& peer : peers_) {
    MPI_Irecv(&peer.far_count, 1, MPI_INT, peer.rank, counts_tag, comm_.handle(), &requests_.emplace_back());
    MPI_Isend(&peer.near_count, 1, MPI_INT, peer.rank, counts_tag, comm_.handle(), &requests_.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  near_rows_ = far_rows_ = 0;
  for (auto& peer : peers_) {
    near_rows_ += peer.near_count;
    peer.far_first = far_rows_;
    far_rows_ += peer.far_count;
  }
}

void PeerExchange::begin(const void* source, int source_rows, void* target, int target_rows, int width, bool out) {
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(target);
  if constexpr (!mpi_reads_device) {
    const std::size_t words = static_cast<std::size_t>(source_rows) * width;
    host_source_.resize(words);
    host_target_.resize(static_cast<std::size_t>(target_rows) * width);
    Kokkos::deep_copy(HostWords(host_source_.data(), words),
                      DeviceWords(static_cast<double*>(const_cast<void*>(source)), words));
    from = reinterpret_cast<const char*>(host_source_.data());
    to = reinterpret_cast<char*>(host_target_.data());
    staged_target_ = target;
  } else {
    ExecSpace().fence();
  }
  const int bytes = 8 * width;
  for (const auto& peer : peers_) {
    const int first = out ? peer.far_first : peer.near_first, count = out ? peer.far_count : peer.near_count;
    if (!count) continue;
    in_counts(count, bytes, counted_bytes_, [&](int n, MPI_Datatype type) {
      MPI_Irecv(to + static_cast<std::size_t>(first) * bytes, n, type, peer.rank, rows_tag, comm_.handle(),
                &requests_.emplace_back());
    });
  }
  for (const auto& peer : peers_) {
    const int first = out ? peer.near_first : peer.far_first, count = out ? peer.near_count : peer.far_count;
    if (!count) continue;
    in_counts(count, bytes, counted_bytes_, [&](int n, MPI_Datatype type) {
      MPI_Isend(from + static_cast<std::size_t>(first) * bytes, n, type, peer.rank, rows_tag, comm_.handle(),
                &requests_.emplace_back());
    });
  }
}

void PeerExchange::progress() {
  int done = 0;
  if (!requests_.empty()) MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  if (done) requests_.clear();
}

void PeerExchange::finish() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  if constexpr (!mpi_reads_device)
    Kokkos::deep_copy(DeviceWords(static_cast<double*>(staged_target_), host_target_.size()),
                      HostWords(host_target_.data(), host_target_.size()));
}

}  // namespace cambium
