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

/// Tridiagonal systems along z that are divided among ranks (the partition method of Wang 1981). Each rank solves its
/// own rows as if its neighbours were zero: x = p + q L + r R, where L is the last unknown of the rank below and R the
/// first one of the rank above. Two groups of ranks that each know so much of their first and last row know it of the
/// rows between them, too, and are a group; so in log2 P joins all unknowns at interfaces are found, by as many
/// messages of two rows at most, and a rank holds nothing that grows with P but a few numbers for each join and matrix.
/// Planes of cells have so many columns that the bytes count more: their systems are shared out (InterfaceShares).
class Interfaces {
 public:
  /// Values of q and r in the first (lowest) and last row of this rank, one per system matrix.
  struct Response {
    std::vector<double> q_first, q_last, r_first, r_last;
    /// One more matrix, whose rows feel the rank behind a sweep and that ahead of it as its first and last step do.
    void add(const Sweep& sweep, double behind_first, double behind_last, double ahead_first, double ahead_last);
  };
  /// `columns` right-hand sides, a multiple of 8; column j belongs to matrix (j / block) % matrices. `block` is 1 or a
  /// multiple of 8, `matrices` a multiple of 8 where it is 1.
  /// `shared_out`: each rank solves for a share of the columns; else for its own rows.
  Interfaces(const Comm& comm, int columns, int block, int matrices, bool share_memory, bool shared_out = false);
  /// Collective.
  void set(const Response& response);
  /// Collective: from p in the first and last row (`ends`: first of all columns, then last of all columns; nobody reads
  /// a row at a plate) to L and R, by start(), join_together() and finish(). Meanwhile `ends` stays as it is.
  void start();
  std::size_t levels() const { return joins_.size(); }
  /// Messages of other groups on this level; sends what the next one wants.
  void join(std::size_t level);
  /// The last level.
  void finish();
  /// B that were given to other ranks where systems are shared out; 0 else.
  std::int64_t bytes_sent() const { return shares_ ? shares_->bytes_sent() : 0; }

  View<double*> ends, below, above;  ///< input; results L and R of every column

 private:
  using Message = std::pair<int, int>;  ///< numbers from..to-1 of a pair of rows

  Message message(const Join& join, bool sent) const;
  void send(std::size_t level);
  void receive(const Join& join);
  std::vector<std::array<double, 4>> swapped(const Join& join, const std::vector<std::array<double, 4>>& group) const;

  const Comm& comm_;
  int columns_, block_, matrices_;
  std::vector<Join> joins_;
  bool begins_ = true;           ///< L and R have nothing yet
  View<double*> group_, other_;  ///< p of the first and the last row of this rank's group, and of that which it joins
  View<double*>::HostMirror mine_, theirs_;
  std::vector<MPI_Request> requests_;
  std::unique_ptr<SharedPieces> pieces_;  ///< where ranks share a node
  View<double***> factors_;               ///< (joins, what a join needs, matrices)
  std::unique_ptr<InterfaceShares> shares_;
};

/// Columns from..to-1 of a layer with interfaces of their own, so that the ends of one part travel while the next is
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

/// All levels but the last of all parts, level by level: messages of one part wait beside those of the other.
void join_together(std::vector<Part>& parts);

/// Where the parts of `columns` columns end: halves, of whole strips where there are enough; one part on one rank.
std::vector<std::pair<int, int>> parts_of(int columns, int ranks);

}  // namespace cambium::superres
