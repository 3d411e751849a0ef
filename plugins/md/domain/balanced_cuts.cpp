#include "plugins/md/domain/balanced_cuts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plugins/md/domain/brick_grid.hpp"

namespace cambium::md {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

/// Ranks that still share a box, and the search for the plane between their halves.
struct Node {
  int first, last;
  FractionalBox box;
  double work;
  CutTree::Plane plane = {};
  double from = 0.0, to = 0.0;  ///< interval that contains the plane
  double below = 0.0;           ///< work below `from`
  double inside = 0.0;          ///< work within the interval

  int half() const { return CutTree::middle(first, last); }
  /// Fraction of the ranks in the lower half.
  double share() const { return static_cast<double>(half() - first) / (last - first); }
  double wanted() const { return work * share(); }
};

class Search {
 public:
  Search(const Particles& particles, std::span<const double> work, double range, const Comm& comm)
      : comm_(comm), work_(work), cuts_(comm.size()), height_(particles.box.heights()) {
    for (int d = 0; d < 3; ++d) may_cut_[d] = height_[d] >= 2.0 * range;
    if (!(may_cut_[0] || may_cut_[1] || may_cut_[2]))
      BrickGrid::choose(comm.size(), particles.box, range).require_room(particles.box, range);
    const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
    place_.resize(particles.nlocal);
    for (int i = 0; i < particles.nlocal; ++i) {
      const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
      auto& s = place_[i];
      particles.box.to_fractional(r, s.data());
      for (double& c : s) c = std::min(c - std::floor(c), std::nextafter(1.0, 0.0));
    }
    node_.assign(place_.size(), 0);
  }

  BalancedCuts run() {
    double sum = 0.0;
    for (double w : work_) sum += w;
    sum = comm_.sum(sum);
    BalancedCuts out{CutTree(comm_.size()), 0.0, sum / comm_.size()};
    nodes_ = {{0, comm_.size(), {}, sum}};
    while (true) {
      settle(out.largest);
      if (nodes_.empty()) break;
      choose_directions();
      narrow();
      place_planes();
      split();
    }
    out.cuts = cuts_;
    return out;
  }

 private:
  /// Removes nodes with one rank; renumbers the nodes of the other atoms.
  void settle(double& largest) {
    std::vector<int> to(nodes_.size(), -1);
    std::vector<Node> open;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (nodes_[k].last - nodes_[k].first == 1)
        largest = std::max(largest, nodes_[k].work);
      else {
        to[k] = static_cast<int>(open.size());
        open.push_back(nodes_[k]);
      }
    }
    nodes_ = std::move(open);
    for (int& n : node_)
      if (n >= 0) n = to[n];
  }

  template <class F>
  void each_atom(const F& visit) {
    for (std::size_t i = 0; i < place_.size(); ++i)
      if (node_[i] >= 0) visit(nodes_[node_[i]], static_cast<std::size_t>(node_[i]), i);
  }

  /// The longest extent of the atoms of a node, or of its box where it has none.
  void choose_directions() {
    std::vector<double> most(6 * nodes_.size(), none);
    each_atom([&](const Node&, std::size_t n, std::size_t i) {
      for (std::size_t d = 0; d < 3; ++d) {
        most[6 * n + d] = std::max(most[6 * n + d], place_[i][d]);
        most[6 * n + 3 + d] = std::max(most[6 * n + 3 + d], -place_[i][d]);
      }
    });
    comm_.max(std::span<double>(most));
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      const bool empty = most[6 * n] == none;
      double longest = -1.0;
      for (std::size_t d = 0; d < 3; ++d) {
        if (!may_cut_[d]) continue;
        const double low = empty ? node.box.low[d] : -most[6 * n + 3 + d];
        const double high = empty ? node.box.high[d] : most[6 * n + d];
        if ((high - low) * height_[d] <= longest * (1.0 + 1e-12)) continue;
        longest = (high - low) * height_[d];
        node.plane.direction = static_cast<int>(d);
        node.from = low;
        node.to = std::nextafter(high, 2.0);  // include the last atom
      }
      node.below = 0.0;
      node.inside = node.work;
    }
  }

  /// Narrows the interval that contains the plane by histograms until it is a millionth of the initial one.
  void narrow() {
    const int bins = std::clamp(4096 / static_cast<int>(nodes_.size()), 4, 32);
    const int rounds = static_cast<int>(std::ceil(20.0 / std::log2(bins)));
    std::vector<double> histogram;
    for (int round = 0; round < rounds; ++round) {
      histogram.assign(nodes_.size() * static_cast<std::size_t>(bins), 0.0);
      each_atom([&](const Node& node, std::size_t n, std::size_t i) {
        const double s = place_[i][node.plane.direction];
        if (s < node.from || s >= node.to) return;
        int b = std::clamp(static_cast<int>((s - node.from) / (node.to - node.from) * bins), 0, bins - 1);
        while (b > 0 && s < edge(node, b, bins)) --b;
        while (b < bins - 1 && s >= edge(node, b + 1, bins)) ++b;
        histogram[n * static_cast<std::size_t>(bins) + static_cast<std::size_t>(b)] += work_[i];
      });
      comm_.sum(std::span<double>(histogram));
      for (std::size_t n = 0; n < nodes_.size(); ++n)
        take_bin(nodes_[n], &histogram[n * static_cast<std::size_t>(bins)], bins);
    }
  }

  static double edge(const Node& node, int b, int bins) {
    return b == bins ? node.to : node.from + (node.to - node.from) * b / bins;
  }

  static void take_bin(Node& node, const double* histogram, int bins) {
    int b = 0;
    while (b < bins - 1 && node.below + histogram[b] < node.wanted()) node.below += histogram[b++];
    const double from = edge(node, b, bins), to = edge(node, b + 1, bins);
    node.from = from;
    node.to = to;
    node.inside = histogram[b];
  }

  /// Starts from the end of the interval that is nearer to the wanted work, then moves half-way between the adjacent
  /// atoms.
  void place_planes() {
    for (Node& node : nodes_) {
      const double wanted = node.wanted();
      node.plane.at = wanted - node.below <= node.below + node.inside - wanted ? node.from : node.to;
    }
    std::vector<double> sides(2 * nodes_.size(), none);  // last atom below, and the first above, negated
    each_atom([&](const Node& node, std::size_t n, std::size_t i) {
      const double s = place_[i][node.plane.direction];
      double& side = sides[2 * n + (s < node.plane.at ? 0 : 1)];
      side = std::max(side, s < node.plane.at ? s : -s);
    });
    comm_.max(std::span<double>(sides));
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      const double low = node.box.low[node.plane.direction], high = node.box.high[node.plane.direction];
      const double last = sides[2 * n] == none ? low : sides[2 * n];
      const double next = sides[2 * n + 1] == none ? high : -sides[2 * n + 1];
      const bool empty = sides[2 * n] == none && sides[2 * n + 1] == none;
      double at = empty ? low + (high - low) * node.share() : 0.5 * (last + next);
      if (!(at > last)) at = next;                            // adjacent floating-point numbers
      if (!(at > low && at < high)) at = 0.5 * (low + high);  // all atoms on a face: avoid zero width
      node.plane.at = at;
      cuts_.plane(node.half()) = node.plane;
    }
  }

  void split() {
    std::vector<double> lower(nodes_.size(), 0.0);
    for (std::size_t i = 0; i < place_.size(); ++i) {
      if (node_[i] < 0) continue;
      const auto n = static_cast<std::size_t>(node_[i]);
      const auto& plane = nodes_[n].plane;
      const bool above = place_[i][plane.direction] >= plane.at;
      if (!above) lower[n] += work_[i];
      node_[i] = 2 * node_[i] + (above ? 1 : 0);
    }
    comm_.sum(std::span<double>(lower));
    std::vector<Node> halves;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      Node below{node.first, node.half(), node.box, lower[n]},
          above{node.half(), node.last, node.box, node.work - lower[n]};
      below.box.high[node.plane.direction] = above.box.low[node.plane.direction] = node.plane.at;
      halves.push_back(below);
      halves.push_back(above);
    }
    nodes_ = std::move(halves);
  }

  const Comm& comm_;
  std::span<const double> work_;
  CutTree cuts_;
  std::array<double, 3> height_;
  bool may_cut_[3];
  std::vector<std::array<double, 3>> place_;  ///< fractional, inside the cell
  std::vector<int> node_;                     ///< of each atom; -1 once its rank is known
  std::vector<Node> nodes_;
};

}  // namespace

BalancedCuts balanced_cuts(const Particles& particles, std::span<const double> work, double range, const Comm& comm) {
  return Search(particles, work, range, comm).run();
}

}  // namespace cambium::md
