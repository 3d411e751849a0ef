#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Repeated exchange of rows of 8-byte words between the same ranks. Each peer has one contiguous range of rows in the
/// "near" buffer of this rank and one in the "far" buffer; out() sends near rows to the peers' far rows, back() sends
/// far rows to the peers' near rows. All per-step messages are sent here.
class PeerExchange {
 public:
  struct Peer {
    int rank = 0;
    int near_first = 0, near_count = 0;  ///< rows sent by out()
    int far_first = 0, far_count = 0;    ///< rows received by out()
  };

  /// Messages larger than `counted_bytes`, the limit of MPI's int counts, are counted in rows.
  explicit PeerExchange(const Comm& comm, std::int64_t counted_bytes = std::numeric_limits<int>::max())
      : comm_(comm), counted_bytes_(counted_bytes) {}

  /// Sets the peers with their near rows; numbers of far rows are received from the peers, and far rows are laid out in
  /// the given order. Collective over the peers: the relation must be symmetric.
  void connect(std::vector<Peer> peers);
  const std::vector<Peer>& peers() const { return peers_; }
  int near_rows() const { return near_rows_; }
  int far_rows() const { return far_rows_; }

  /// Starts sending; `near` and `far` are device addresses of rows of `width` words, untouched until finish().
  void begin_out(const void* near, void* far, int width) { begin(near, near_rows_, far, far_rows_, width, true); }
  void begin_back(const void* far, void* near, int width) { begin(far, far_rows_, near, near_rows_, width, false); }
  /// To be called regularly in long work between begin and finish: a large message needs a handshake before it is sent,
  /// and a rank that computes does not answer.
  void progress();
  /// Waits until everything has arrived at the address given to begin.
  void finish();

 private:
  void begin(const void* source, int source_rows, void* target, int target_rows, int width, bool out);

  const Comm& comm_;
  std::int64_t counted_bytes_;
  std::vector<Peer> peers_;
  int near_rows_ = 0, far_rows_ = 0;
  std::vector<MPI_Request> requests_;
  // Used where MPI cannot read device memory.
  std::vector<double> host_source_, host_target_;
  void* staged_target_ = nullptr;
};

}  // namespace cambium
