#pragma once
#include <array>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::superres {

/// Unknowns at the interfaces of tridiagonal systems that are divided among ranks, where there are so many systems that
/// bytes count more than messages: each rank solves the reduced systems of an equal share of the columns for all
/// ranks. It gives away the ends of its own rows, receives as many for its share, and the answers return in the same
/// way: four rows of numbers at most, on any number of ranks (Kim et al. 2021, PaScaL_TDMA).
class InterfaceShares {
 public:
  /// What one matrix says of a rank's first and last row: q of both, r of both, as in Interfaces::Response.
  using Answer = std::array<double, 4>;

  /// Columns and matrices as in Interfaces.
  InterfaceShares(const Comm& comm, int columns, int block, int matrices);
  /// Collective: answers of this rank, one per matrix.
  void set(const std::vector<Answer>& answers);
  /// Collective: from the ends of this rank's own solutions to the last unknowns below it and the first ones above it.
  /// Between the two, other columns may be worked on.
  void start(const View<double*>& ends);
  void finish(const View<double*>& below, const View<double*>& above);
  /// B that start() and finish() gave to other ranks.
  std::int64_t bytes_sent() const { return bytes_sent_; }

  // A step of finish(): public since nvcc takes no kernel in a private member.
  void solve() const;

 private:
  int begin(int rank) const;
  /// Two rows of the columns of each rank's share, one rank after the other.
  void exchange(const double* out, bool by_share, int tag);
  std::vector<double> answers_of_all(const std::vector<Answer>& own) const;

  const Comm& comm_;
  int columns_, block_, matrices_, share_;
  std::vector<double> packed_;  ///< two rows of all columns, in the order of the ranks that they are for
  View<double***> rows_;        ///< (ranks, first and last row, own share)
  View<double***>::HostMirror host_;
  View<double***> factors_;  ///< (ranks, what the elimination needs, own share)
  std::vector<MPI_Request> requests_;
  std::int64_t bytes_sent_ = 0;
};

}  // namespace cambium::superres
