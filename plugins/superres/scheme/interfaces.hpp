#pragma once
#include <utility>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/shared_pieces.hpp"
#include "plugins/superres/scheme/sweep.hpp"

namespace cambium::superres {

/// Tridiagonal systems along z that are divided among ranks (the partition method of Wang 1981). Each rank solves its
/// own rows as if its neighbours were zero: x = p + q L + r R, where L is the last unknown of the rank below and R the
/// first one of the rank above. The 2 (P - 1) unknowns at the interfaces obey a small system whose inverse is found
/// once.
class Interfaces {
 public:
  /// Values of q and r in the first (lowest) and last row of this rank, one per system matrix.
  struct Response {
    std::vector<double> q_first, q_last, r_first, r_last;
    /// One more matrix, whose rows feel the rank behind a sweep and that ahead of it as its first and last step do.
    void add(const Sweep& sweep, double behind_first, double behind_last, double ahead_first, double ahead_last);
  };
  /// `columns` right-hand sides, a multiple of 8; column j belongs to matrix (j / block) % matrices.
  Interfaces(const Comm& comm, int columns, int block, int matrices, bool share_memory);
  /// Collective.
  void set(const Response& response);
  /// Collective: from p in the first and last row (`ends`: first of all columns, then last of all columns; nobody reads
  /// a row at a plate) to L and R. Between the two, `ends` stays as it is.
  void start();
  void finish();

  View<double*> ends, below, above;  ///< input; results L and R of every column

 private:
  std::pair<int, int> read(int rank) const;
  void gather();

  const Comm& comm_;
  int columns_, block_, matrices_;
  View<double*> gathered_;  ///< ends of all ranks
  View<double*>::HostMirror mine_, all_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::unique_ptr<SharedPieces> pieces_;  ///< where ranks share a node
  View<double***> gain_;                  ///< (2, 2 P, columns): rows of the inverse that give L and R
};

/// Columns from..to-1 of a layer with interfaces of their own, so that the ends of one part travel while the next is
/// eliminated.
struct Part {
  int from, to;
  Interfaces interfaces;
};

/// Where the parts of `columns` columns end: halves, of whole strips where there are enough; one part on one rank.
std::vector<std::pair<int, int>> parts_of(int columns, int ranks);

}  // namespace cambium::superres
