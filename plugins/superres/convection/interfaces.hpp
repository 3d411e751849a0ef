#pragma once
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/shared_pieces.hpp"

namespace cambium::superres {

/// Tridiagonal systems along z that are divided among ranks (the partition method of Wang 1981). Each rank solves its own
/// rows as if its neighbours were zero: x = p + q L + r R, where L is the last unknown of the rank below and R the first one
/// of the rank above. The 2 P unknowns at the interfaces obey a small system whose inverse is found once.
class Interfaces {
 public:
  /// Values of q and r in the first and last row of this rank, one per system matrix.
  struct Response {
    std::vector<double> q_first, q_last, r_first, r_last;
  };
  /// `columns` right-hand sides, a multiple of 8; column j belongs to matrix (j / block) % matrices.
  Interfaces(const Comm& comm, int columns, int block, int matrices, bool share_memory);
  /// Collective.
  void set(const Response& response);
  /// Collective: from p in the first and last row (`ends`: first of all columns, then last of all columns) to L and R.
  void solve();

  View<double*> ends, below, above;  ///< input; results L and R of every column

 private:
  void gather();

  const Comm& comm_;
  int columns_, block_, matrices_;
  View<double*> gathered_;   ///< ends of all ranks
  std::unique_ptr<SharedPieces> pieces_;  ///< where ranks share a node
  View<double***> gain_;     ///< (2, 2 P, columns): rows of the inverse that give L and R
};

}  // namespace cambium::superres
