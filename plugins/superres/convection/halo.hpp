#pragma once
#include "core/parallel/shared_pieces.hpp"
#include "plugins/superres/convection/flow.hpp"

namespace cambium::superres {

/// Fills the ghost rows between ranks: row 0 from the rank below, row m+1 from the rank above.
class Halo {
 public:
  /// For exchanges of at most `fields` fields.
  Halo(const Comm& comm, const Slab& slab, int fields = 4);
  /// Waits for pending messages, whose buffers are freed.
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;
  /// Collective: fields first..first+count-1, full rows.
  /// Between the two calls, rows that need no ghosts may be processed. One exchange at a time.
  void start(const Fields& fields, int first, int count);
  void finish(const Fields& fields, int first, int count);
  /// Bytes sent to neighbours so far.
  std::int64_t bytes_sent() const { return bytes_sent_; }

 private:
  const Comm& comm_;
  int rows_, below_, above_;
  std::int64_t bytes_sent_ = 0;
  std::int64_t part_;                ///< largest number of values for one neighbour
  View<double***> sent_, received_;  ///< (below or above, field, column)
  View<double***>::HostMirror out_, in_;
  MPI_Request requests_[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::unique_ptr<SharedPieces> pieces_;  ///< if ranks share a node
};

}  // namespace cambium::superres
