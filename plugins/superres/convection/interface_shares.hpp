#pragma once
#include <array>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::superres {

/// Unknowns at the interfaces of tridiagonal systems distributed over ranks, for so many systems that bytes matter more
/// than messages: each rank solves the reduced systems of an equal part of the columns for all ranks. It sends the ends
/// of its own rows, receives as many for its part, and the solutions return in the same way: at most four rows of
/// values, on any number of ranks (Kim et al. 2021, PaScaL_TDMA).
class InterfaceShares {
 public:
  /// Coefficients of one matrix in a rank's first and last row: q of both, r of both, as in Interfaces::Response.
  using Answer = std::array<double, 4>;

  /// Columns and matrices as in Interfaces.
  InterfaceShares(const Comm& comm, int columns, int block, int matrices);
  /// Collective: coefficients of this rank, one entry per matrix.
  void set(const std::vector<Answer>& answers);
  /// Collective: from the ends of this rank's own solutions to the last unknowns below it and the first ones above it.
  /// Between the two calls, other columns may be processed.
  void start(const View<double*>& ends);
  void finish(const View<double*>& below, const View<double*>& above);
  /// Bytes that start() and finish() sent to other ranks.
  std::int64_t bytes_sent() const { return bytes_sent_; }

  // A step of finish(): public, because nvcc does not accept kernels in private members.
  void solve() const;

 private:
  int begin(int rank) const;
  /// Exchanges two rows of the columns of each rank's part, one rank after the other.
  void exchange(const double* out, bool by_share, int tag);
  std::vector<double> answers_of_all(const std::vector<Answer>& own) const;

  const Comm& comm_;
  int columns_, block_, matrices_, share_;
  std::vector<double> packed_;  ///< two rows of all columns, in the order of the destination ranks
  View<double***> rows_;        ///< (ranks, first and last row, own part)
  View<double***>::HostMirror host_;
  View<double***> factors_;  ///< (ranks, factors of the elimination, own part)
  std::vector<MPI_Request> requests_;
  std::int64_t bytes_sent_ = 0;
};

}  // namespace cambium::superres
