#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Rows of 8-byte words exchanged again and again between the same ranks. Each peer has one contiguous range of rows in
/// the "near" buffer of this rank and one in the "far" buffer; out() carries near rows to the peers' far rows, back()
/// carries far rows to the peers' near rows. The only place where per-step messages are made.
class PeerExchange {
 public:
  struct Peer {
    int rank = 0;
    int near_first = 0, near_count = 0;  ///< rows sent by out()
    int far_first = 0, far_count = 0;    ///< rows received by out()
  };

  /// Messages of more than `counted_bytes`, which MPI counts in an int, are counted in rows.
  explicit PeerExchange(const Comm& comm, std::int64_t counted_bytes = std::numeric_limits<int>::max())
      : comm_(comm), counted_bytes_(counted_bytes) {}

  /// Sets the peers with their near rows; far rows are asked of the peers and laid out in the order given. Collective
  /// over the peers: the relation must be symmetric.
  void connect(std::vector<Peer> peers);
  const std::vector<Peer>& peers() const { return peers_; }
  int near_rows() const { return near_rows_; }
  int far_rows() const { return far_rows_; }

  /// Starts sending; `near` and `far` are device addresses of rows of `width` words, untouched until finish().
  void begin_out(const void* near, void* far, int width) { begin(near, near_rows_, far, far_rows_, width, true); }
  void begin_back(const void* far, void* near, int width) { begin(far, far_rows_, near, near_rows_, width, false); }
  /// To be called now and then in long work between begin and finish: a large message is asked for before it is sent,
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
