#pragma once
#include "plugins/kinetic/solver/edge_kernels.hpp"
#include "plugins/kinetic/solver/messages.hpp"
#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

/// The edges of this rank's part of phase space, and the messages in which traces are packed before a sweep and added
/// after it.
template <class K, class P>
class PackedEdges {
 public:
  using T = typename P::value_type;
  using Work = Edges<K, P>;

  /// An edge of this rank's part: dimension, side, the rank beyond (-1: a wall), and the link that serves it.
  struct Edge {
    int dimension;
    bool high;
    int rank;
    Wall wall;
    int link = -1;
  };

  PackedEdges(const PhaseGrid& grid, const Layout& layout, const Comm& comm) : layout_(layout), messages_(comm) {
    for (int d = 0; d < K::cdim + K::vdim; ++d) {
      const Axis& axis = grid.axis[d];
      if (d < K::cdim && layout.wrapped[d]) continue;
      for (bool high : {false, true}) {
        const int rank = high ? axis.high_rank : axis.low_rank;
        if (rank >= 0 || d < K::cdim)  // no flux through the ends of velocity space
          edges_.push_back({d, high, rank, high ? axis.high_wall : axis.low_wall});
      }
    }
  }

  const std::vector<Edge>& all() const { return edges_; }
  /// Allocates buffers for messages to and from neighbours. `w` is that of a stage without fields.
  void connect(const Work& w) {
    for (Edge& edge : edges_)
      for_each_index<K::cdim + K::vdim>([&](auto d) {
        constexpr int D = decltype(d)::value;
        if (D != edge.dimension || edge.rank < 0) return;
        edge.link = static_cast<int>(messages_.links.size());
        // Values leaving upwards arrive at the other's lower edge.
        messages_.links.push_back({edge.rank, 2 * D + edge.high, 2 * D + !edge.high,
                                   View<char*>("kinetic: sent", edge_bytes<D>(w, edge.high)),
                                   View<char*>("kinetic: received", edge_bytes<D>(w, !edge.high))});
      });
  }
  /// Passes the addresses of the received traces to a sweep.
  void attach(Work& w) const {
    for (const Edge& edge : edges_)
      if (edge.dimension < K::cdim && edge.link >= 0)
        w.received[edge.dimension][!edge.high] = reinterpret_cast<const T*>(messages_.links[edge.link].receive.data());
  }

  void begin() { messages_.begin(); }
  void finish() { messages_.finish(); }

  /// Packs the traces that neighbours need into their messages.
  void pack(const Work& w) const {
    for_each_edge([&](auto d, const Edge& edge) {
      constexpr int D = decltype(d)::value;
      if (edge.link < 0 || (D >= K::cdim && !w.electric)) return;
      const bool high = edge.high;
      char* buffer = messages_.links[edge.link].send.data();
      if constexpr (D < K::cdim) {
        const int all = w.moving_cells(D, high);
        Kokkos::parallel_for("kinetic: pack", Range(0, w.template pack_parts<D>(0, all)),
                             PackTraces<D, Work>{w, high, all, reinterpret_cast<T*>(buffer)});
      } else {
        Kokkos::parallel_for("kinetic: pack", Range(0, w.layout.blocks() * w.velocity_edge_cells(D - K::cdim)),
                             PackVelocity<D - K::cdim, Work, P>{w, high, reinterpret_cast<P*>(buffer)});
      }
    });
  }

  /// Adds what enters at walls and at cuts of velocity space.
  void unpack(const Work& w) const {
    for_each_edge([&](auto d, const Edge& edge) {
      constexpr int D = decltype(d)::value;
      const bool high = edge.high;
      if constexpr (D < K::cdim) {
        if (edge.link >= 0 || edge.wall == Wall::absorb) return;  // the sweep has taken what was sent
        const bool mirrored = edge.wall == Wall::reflect;
        const int n = w.moving_cells(D, !high), blocks = w.template edge_blocks<D>();
        if (w.moment)
          Kokkos::parallel_for("kinetic: inflow", Range(0, blocks), Inflow<D, Work>{w, high, mirrored, n});
        else
          Kokkos::parallel_for("kinetic: inflow", Range(0, blocks * n), InflowOfCells<D, Work>{w, high, mirrored, n});
      } else {
        if (!w.electric) return;
        const char* buffer = messages_.links[edge.link].receive.data();
        Kokkos::parallel_for("kinetic: velocity edge", Range(0, w.layout.blocks()),
                             UnpackVelocity<D - K::cdim, Work, P>{w, high, reinterpret_cast<const P*>(buffer)});
      }
    });
  }

 private:
  template <int D>
  std::size_t edge_bytes(const Work& w, bool high) const {
    if constexpr (D < K::cdim)
      return sizeof(T) * static_cast<std::size_t>(w.template edge_blocks<D>()) * w.moving_cells(D, high) *
             Work::template edge_values<D>;
    else
      return sizeof(P) * static_cast<std::size_t>(layout_.blocks()) * w.velocity_edge_cells(D - K::cdim) * K::face(D);
  }

  template <class F>
  void for_each_edge(F&& f) const {
    for (const Edge& edge : edges_)
      for_each_index<K::cdim + K::vdim>([&](auto d) {
        if (decltype(d)::value == edge.dimension) f(d, edge);
      });
  }

  Layout layout_;
  Messages messages_;
  std::vector<Edge> edges_;
};

/// True if a stage's sweep computes its complete result: nothing is added at cuts of velocity space and at walls.
template <class K, class P>
bool whole_at_once(const PackedEdges<K, P>& edges) {
  for (const auto& edge : edges.all())
    if (edge.dimension >= K::cdim || (edge.rank < 0 && edge.wall != Wall::absorb)) return false;
  return true;
}

}  // namespace cambium::kinetic
