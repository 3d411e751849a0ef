#pragma once
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/assimilate/filters/letkf.hpp"

namespace cambium::assimilate {

/// Part r of n elements distributed evenly over `ranks`: first, and one past the last.
struct Share {
  std::size_t first = 0, last = 0;
  static Share of(std::size_t n, int rank, int ranks) {
    const auto r = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(ranks);
    return {n * r / all, n * (r + 1) / all};
  }
  std::size_t size() const { return last - first; }
};

/// Ensemble distributed by members; for analyses every rank gets all members of a range of grid points.
class Members {
 public:
  Members(const Comm& comm, const StateSpace& space, std::size_t members);

  std::size_t size() const { return members_; }
  Share own() const { return own_; }
  /// Member m, which must be on this rank: space.elements() values.
  std::span<double> member(std::size_t m);
  /// Collective: H x of all members on every rank, N x p.
  std::vector<double> seen_through(const Network& network);
  /// Collective: redistributes from members to grid points, and back.
  EnsembleSlice to_places() const;
  void from_places(const EnsembleSlice& slice);
  /// Collective: means and variances (with N - 1; 0 for one member) of all elements, on every rank. Bitwise identical
  /// on any number of ranks.
  struct Moments {
    std::vector<double> mean, variance;
  };
  Moments moments(const EnsembleSlice& slice) const;

 private:
  struct Counts {
    std::vector<int> send, send_at, receive, receive_at;
  };
  /// Counts and offsets of the all-to-all of to_places().
  Counts counts() const;
  Share places_of(int rank) const { return Share::of(space_.places(), rank, comm_.size()); }
  Share members_of(int rank) const { return Share::of(members_, rank, comm_.size()); }

  const Comm& comm_;
  const StateSpace& space_;
  std::size_t members_, fields_;
  Share own_;
  std::vector<double> values_;  ///< own members x elements
};

}  // namespace cambium::assimilate
