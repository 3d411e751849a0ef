#pragma once
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/shared_pieces.hpp"
#include "plugins/superres/convection/interface_shares.hpp"
#include "plugins/superres/convection/rank_tree.hpp"
#include "plugins/superres/convection/sweep.hpp"

namespace cambium::superres {

/// Tridiagonal systems along z distributed over ranks (the partition method of Wang 1981). Each rank solves its own
/// rows with zero neighbours: x = p + q L + r R, where L is the last unknown of the rank below and R the first one of
/// the rank above. Two groups of ranks with these coefficients for their first and last row can determine the rows
/// between them, and form one group; so log2 P joins give all unknowns at interfaces, with as many messages of at most
/// two rows, and the memory of a rank does not grow with P except for a few values for each join and matrix. Planes of
/// cells have so many columns that bytes matter more: their systems are distributed by columns (InterfaceShares).
class Interfaces {
 public:
  /// Values of q and r in the first (lowest) and last row of this rank, one per system matrix.
  struct Response {
    std::vector<double> q_first, q_last, r_first, r_last;
    /// Adds one more matrix, whose first and last step depend on the ranks behind and ahead of a sweep.
    void add(const Sweep& sweep, double behind_first, double behind_last, double ahead_first, double ahead_last);
  };
  /// `columns` right-hand sides, a multiple of 8; column j belongs to matrix (j / block) % matrices. `block` is 1 or a
  /// multiple of 8, `matrices` a multiple of 8 if `block` is 1.
  /// `shared_out`: each rank solves for a part of the columns; otherwise for its own rows.
  Interfaces(const Comm& comm, int columns, int block, int matrices, bool share_memory, bool shared_out = false);
  /// Collective.
  void set(const Response& response);
  /// Collective: from p in the first and last row (`ends`: first of all columns, then last of all columns; rows at a
  /// plate are not read) to L and R, by start(), join_together() and finish(). Do not change `ends` in the meantime.
  void start();
  std::size_t levels() const { return joins_.size(); }
  /// Receives the messages of other groups on this level; sends those of the next level.
  void join(std::size_t level);
  /// Completes the last level.
  void finish();
  /// Bytes sent to other ranks if systems are distributed by columns; otherwise 0.
  std::int64_t bytes_sent() const { return shares_ ? shares_->bytes_sent() : 0; }

  View<double*> ends, below, above;  ///< input; results L and R of every column

 private:
  using Message = std::pair<int, int>;  ///< values from..to-1 of a pair of rows

  Message message(const Join& join, bool sent) const;
  void send(std::size_t level);
  void receive(const Join& join);
  std::vector<std::array<double, 4>> swapped(const Join& join, const std::vector<std::array<double, 4>>& group) const;

  const Comm& comm_;
  int columns_, block_, matrices_;
  std::vector<Join> joins_;
  bool begins_ = true;           ///< L and R have no contributions yet
  View<double*> group_, other_;  ///< p of the first and the last row of this rank's group, and of the other group
  View<double*>::HostMirror mine_, theirs_;
  std::vector<MPI_Request> requests_;
  std::unique_ptr<SharedPieces> pieces_;  ///< if ranks share a node
  View<double***> factors_;               ///< (joins, factors of a join, matrices)
  std::unique_ptr<InterfaceShares> shares_;
};

/// Columns from..to-1 of a layer with their own interfaces, so that the ends of one part are sent while the next is
/// eliminated.
struct Part {
  int from, to;
  Interfaces interfaces;
};

inline std::int64_t bytes_sent(const std::vector<Part>& parts) {
  std::int64_t sum = 0;
  for (const Part& part : parts) sum += part.interfaces.bytes_sent();
  return sum;
}

/// Does all levels but the last for all parts, level by level: messages of the parts overlap.
void join_together(std::vector<Part>& parts);

/// Column ranges of the parts of `columns` columns: halves, of full strips if there are enough; one part on one rank.
std::vector<std::pair<int, int>> parts_of(int columns, int ranks);

}  // namespace cambium::superres
