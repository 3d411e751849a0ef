#include <algorithm>
#include <cmath>

#include "core/parallel/host_threads.hpp"
#include "plugins/md/domain/cut_borders.hpp"
#include "plugins/md/domain/domain.hpp"

namespace cambium::md {
namespace {

/// Prevents rounding of fractional coordinates from losing a ghost that is just within range.
constexpr double margin = 1e-9;

int floor_div(int a, int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// Bricks around ours, counted without periodicity: offset (i, j, k) is in bricks along (a, b, c).
struct BricksAround {
  int layers[3];  ///< bricks on each side that the range may reach

  int width(int d) const { return 2 * layers[d] + 1; }
  int size() const { return width(0) * width(1) * width(2); }
  int index(int i, int j, int k) const {
    return ((k + layers[2]) * width(1) + j + layers[1]) * width(0) + i + layers[0];
  }
};

/// Bricks within reach of one coordinate of an atom, in one direction.
struct Span {
  int first, last;  ///< offsets from our brick
  double position;  ///< in bricks, from the lower face of ours

  Span(double s, double reach, int bricks, int ours, int layers) : position(s * bricks - ours) {
    first = std::max(-layers, static_cast<int>(std::floor(position - reach * bricks)));
    last = std::min(layers, static_cast<int>(std::floor(position + reach * bricks)));
  }
  /// True if only our own brick is within reach: most atoms of a large brick.
  bool stays() const { return first == 0 && last == 0; }
  /// Distance to the brick at `offset` in this direction, in bricks.
  double gap(int offset) const { return std::max({0.0, offset - position, position - offset - 1}); }
};

/// Selects the bricks around ours that are within `limit` of an atom.
struct Near {
  const BrickGrid& grid;
  const int* ours;
  double limit;
  bool right_angles;  ///< a brick's neighbourhood has rounded corners
  double reach[3], brick_height[3];
  BricksAround around;

  /// Calls f(index) for each except our own; s: fractional position.
  template <class F>
  void each(const double s[3], F&& f) const {
    const Span a(s[0], reach[0], grid.count[0], ours[0], around.layers[0]);
    const Span b(s[1], reach[1], grid.count[1], ours[1], around.layers[1]);
    const Span c(s[2], reach[2], grid.count[2], ours[2], around.layers[2]);
    if (a.stays() && b.stays() && c.stays()) return;
    for (int k = c.first; k <= c.last; ++k)
      for (int j = b.first; j <= b.last; ++j)
        for (int i = a.first; i <= a.last; ++i) {
          if (i == 0 && j == 0 && k == 0) continue;
          if (right_angles) {
            const double da = a.gap(i) * brick_height[0], db = b.gap(j) * brick_height[1],
                         dc = c.gap(k) * brick_height[2];
            if (da * da + db * db + dc * dc > limit * limit) continue;
          }
          f(around.index(i, j, k));
        }
  }
};

}  // namespace

void Domain::borders(Particles& p, double range) {
  division_.require_room(p.box, range);
  nlocal_ = p.nlocal;
  if (!device_is_host && comm_.size() == 1) {
    keep_images(p, range);
  } else {
    if (division_.cuts)
      collect_around_boxes(p, range);
    else
      collect_around_bricks(p, range);
    connect();
  }
  p.nghost = own_copies_ + peers_.far_rows();
  p.reserve(p.total());
  forward_rows<4>(p.x.data(), buffer_.data(), &p.box);
  View<std::int64_t*> tags(Kokkos::ViewAllocateWithoutInitializing("domain: tags"), peers_.near_rows());
  forward_rows<1>(p.tag.data(), tags.data(), nullptr);
  p.place_sentinel();
}

/// For a rank that owns the whole cell, by kernels: all data stay on the device, and there are no peers.
void Domain::keep_images(const Particles& p, double range) {
  own_copies_ = images_on_device(p, range, copies_);
  peers_.connect({});
  peers_known_ = true;
  reverse_planned_ = false;
}

void Domain::collect_around_boxes(const Particles& p, double range) {
  const Surroundings around(*division_.cuts, comm_.rank(), p.box, range);
  targets_.resize(around.boxes().size());
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const NearBox& box = around.boxes()[k];
    targets_[k].rank = box.rank;
    std::copy(box.translation, box.translation + 3, targets_[k].translation);
    targets_[k].rows.clear();
  }
  const auto x = Kokkos::create_mirror_view(p.x);
  Kokkos::deep_copy(x, p.x);
  for (int row = 0; row < p.nlocal; ++row) {
    const double r[3] = {x(row, 0), x(row, 1), x(row, 2)};
    double s[3];
    p.box.to_fractional(r, s);
    around.each(s, [&](std::size_t k) { targets_[k].rows.push_back(row); });
  }
}

void Domain::collect_around_bricks(const Particles& p, double range) {
  const BrickGrid& grid = division_.grid;
  const auto height = p.box.heights();
  Near near{grid, brick_.data(), range * (1.0 + margin) + margin, !p.box.is_triclinic(), {}, {}, {}};
  for (int d = 0; d < 3; ++d) {
    near.reach[d] = near.limit / height[d];
    near.brick_height[d] = height[d] / grid.count[d];
    near.around.layers[d] = static_cast<int>(near.reach[d] * grid.count[d]) + 1;
  }
  const BricksAround& around = near.around;
  targets_.resize(around.size());
  for (int k = -around.layers[2]; k <= around.layers[2]; ++k)
    for (int j = -around.layers[1]; j <= around.layers[1]; ++j)
      for (int i = -around.layers[0]; i <= around.layers[0]; ++i) {
        Target& target = targets_[around.index(i, j, k)];
        const int there[3] = {brick_[0] + i, brick_[1] + j, brick_[2] + k};
        int home[3];
        for (int d = 0; d < 3; ++d) {
          target.translation[d] = -floor_div(there[d], grid.count[d]);
          home[d] = there[d] + target.translation[d] * grid.count[d];
        }
        target.rank = grid.rank_of(home[0], home[1], home[2]);
        target.rows.clear();
      }

  const auto x = Kokkos::create_mirror_view(p.x);
  Kokkos::deep_copy(x, p.x);
  struct Ghost {
    int target, row;
  };
  constexpr std::int64_t enough_atoms = 512;
  const auto ghosts = joined_lists<Ghost>(p.nlocal, enough_atoms, [&](auto first, auto last, auto& list) {
    for (auto row = static_cast<int>(first); row < static_cast<int>(last); ++row) {
      const double r[3] = {x(row, 0), x(row, 1), x(row, 2)};
      double s[3];
      p.box.to_fractional(r, s);
      near.each(s, [&](int target) { list.push_back({target, row}); });
    }
  });
  for (const Ghost& ghost : ghosts) targets_[ghost.target].rows.push_back(ghost.row);
  // Copies for this rank need no message and come first; the others are in rank order.
  auto place = [me = comm_.rank()](const Target& t) { return t.rank == me ? -1 : t.rank; };
  std::stable_sort(targets_.begin(), targets_.end(),
                   [&](const Target& s, const Target& t) { return place(s) < place(t); });
}

void Domain::connect() {
  int total = 0;
  for (const auto& target : targets_) total += static_cast<int>(target.rows.size());
  if (static_cast<int>(copies_.extent(0)) < total)
    copies_ = View<int* [4]>(Kokkos::ViewAllocateWithoutInitializing("domain: copies"), total + total / 8);
  const auto copies = Kokkos::create_mirror_view(copies_);
  std::vector<PeerExchange::Peer> peers;
  own_copies_ = 0;
  int n = 0;
  for (const auto& target : targets_) {
    if (target.rank != comm_.rank()) {
      if (peers.empty() || peers.back().rank != target.rank) {
        auto& peer = peers.emplace_back();
        peer.rank = target.rank;
        peer.near_first = n - own_copies_;
      }
      peers.back().near_count += static_cast<int>(target.rows.size());
    } else {
      own_copies_ += static_cast<int>(target.rows.size());
    }
    for (int row : target.rows) {
      copies(n, 0) = row;
      for (int d = 0; d < 3; ++d) copies(n, d + 1) = target.translation[d];
      ++n;
    }
  }
  Kokkos::deep_copy(copies_, copies);
  peers_.connect(std::move(peers));
  peers_known_ = true;
  const std::size_t words = std::size_t{4} * peers_.near_rows();
  if (buffer_.extent(0) < words)
    buffer_ = View<double*>(Kokkos::ViewAllocateWithoutInitializing("domain: buffer"), words + words / 8);
  reverse_planned_ = false;
}

}  // namespace cambium::md
