#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/ghost_exchange.hpp"
#include "core/parallel/peer_exchange.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/domain/device_rows.hpp"
#include "plugins/md/domain/division.hpp"

namespace cambium::md {

/// Domain decomposition of a periodic cell over the ranks: ownership of atoms, and the ghosts around each part. The
/// parts are equal bricks until cut() sets others. They are fractions of `particles.box`, which may change at any time
/// (barostat): shifts are computed from it at each call. The order of calls is migrate, borders, then any number of
/// forward_positions, forward and reverse_add. All functions are collective over the communicator.
///
/// Every ghost is sent directly by its owner, with the integer cell translation to the receiver, so the range may
/// exceed a part or the whole cell, and one round of messages does a forward or a reverse step. After the first ghosts,
/// migrating atoms are exchanged between neighbours only, unless one has moved beyond them.
class Domain : public GhostExchange {
 public:
  /// `grid`: ranks along a, b, c; if absent, the grid with the smallest surface. A known `range` (Å) keeps narrow
  /// directions undivided. Throws InputError if the grid does not fit the ranks, or the range does not fit the cell.
  Domain(const Comm& comm, const Box& box, std::optional<std::array<int, 3>> grid = {}, double range = 0.0);

  /// Sets other parts than equal bricks, or bricks again; one box for each rank. Call migrate() and borders() next.
  void cut(std::optional<CutTree> cuts);

  /// Wraps owned atoms into the cell (counting crossings in `image`), sends each to the rank that owns its position,
  /// and sorts the owned rows by spatial cell and tag; the order is a function of tags, positions and cell only. Drops
  /// all ghosts. Sets particles.nglobal if it is 0. Throws NumericalError on every rank, naming tag, rank and position,
  /// when a position is NaN or absurdly far away, or when atoms have been lost.
  void migrate(Particles& particles);

  /// Creates ghosts of all atoms within `range` (Å) of this rank's part: positions, types and tags. Call after
  /// migrate(). Throws InputError as the constructor does.
  void borders(Particles& particles, double range);

  /// Updates the ghosts' positions from their owners and the current cell.
  void forward_positions(Particles& particles);
  void forward(View<double*> per_atom) override;
  /// The order of the sums depends only on the lists made by borders(): bitwise reproducible.
  void reverse_add(View<double* [3]> per_atom) override;
  void reverse_add(View<double* [9]> per_atom) override;

  /// From now on the rows of `array` (extent 1 is free) are sent with the owned atoms: migrate() moves, reorders and
  /// enlarges it. The array must exist, at the same address, until drop().
  void carry(View<double**>* array) { carried_.push_back(array); }
  void drop(View<double**>* array) { std::erase(carried_, array); }

  const BrickGrid& grid() const { return division_.grid; }
  const std::array<int, 3>& brick() const { return brick_; }  ///< of this rank, unless cuts()
  const std::optional<CutTree>& cuts() const { return division_.cuts; }

 private:
  /// A part, or a periodic image of one, that gets copies of some owned atoms.
  struct Target {
    int rank = 0;
    int translation[3] = {0, 0, 0};  ///< cell vectors added to a position for the receiver
    std::vector<int> rows;
  };
  /// Owned rows that belong to other ranks.
  struct Leaving {
    std::vector<int> rows;
    std::vector<int> owners;  ///< of each
    int strays = 0;           ///< those whose owner is not a neighbour
  };
  Leaving find_leaving(const Particles& particles) const;
  bool require_sound(const Particles& particles, int bad, int strays) const;
  void send_to_owners(Particles& particles, const Leaving& leaving, bool anywhere);
  void fill_holes(Particles& particles, const std::vector<int>& holes, const std::vector<std::byte>& in, int arrivals);
  void collect_around_bricks(const Particles& particles, double range);
  void collect_around_boxes(const Particles& particles, double range);
  void connect();
  void keep_images(const Particles& particles, double range);
  void plan_reverse();
  void require_rows(std::size_t rows) const;
  template <int W, class T>
  void forward_rows(T* rows, T* buffer, const Box* box);
  template <int W>
  void reverse_rows(double* rows);

  const Comm& comm_;
  Division division_;
  std::array<int, 3> brick_;
  std::vector<View<double**>*> carried_;

  std::vector<Target> targets_;  ///< own images first, then by rank; kept to reuse their memory
  int nlocal_ = 0;
  int own_copies_ = 0;     ///< ghosts that are images of atoms of this rank; they come first
  View<int* [4]> copies_;  ///< owned row and cell translation of each copy sent: own images, then per peer
  PeerExchange peers_;
  bool peers_known_ = false;  ///< peers_ are the neighbours of the current parts
  View<double*> buffer_;      ///< sent by forward, or received by reverse
  bool reverse_planned_ = false;
  View<int*> reverse_offset_;  ///< for each owned row its entries in reverse_copy_
  View<int*> reverse_copy_;
  Buckets order_work_, reverse_work_;  ///< if kernels build the lists
};

}  // namespace cambium::md
