#pragma once
#include "plugins/kinetic/solver/edges.hpp"
#include "plugins/kinetic/solver/slab_messages.hpp"

namespace cambium::kinetic {

/// Runge-Kutta stages slab by slab of the first velocity dimension, over the whole configuration space of this rank: one stage,
/// or two in one pass, the second a slab or two behind the first, where it finds in the cache what the first has read and
/// written. Both then write to one array: the first one slab ahead of where the second will, over what nobody needs any more.
/// So a pass reads one distribution function and writes one, where two stages read three and write two.
///
/// Neighbours in configuration space are whole lines that both stages see, so they cost nothing. Faces for other ranks are
/// packed and sent two slabs before they are needed: they travel meanwhile, and packing brings in what is swept next. Between cuts of
/// velocity space, and at walls that give particles back, there are no slabs.
template <class K, class P>
class SlabPass {
 public:
  using Work = Edges<K, P>;
  using T = typename P::value_type;

  SlabPass(const Layout& layout, const Comm& comm) : layout_(layout), exchange_{Exchange(comm), Exchange(comm)} {
    const auto n = static_cast<std::size_t>(layout.blocks());
    Work w;
    w.layout = layout;
    for (auto& e : exchange_) e.scratch = View<T*>("kinetic: lower fluxes", n * w.scratch_size() * P::width);
  }

  /// What live slabs of both stages take of the cache: worth it only while they stay there.
  static std::int64_t live_bytes(const Layout& layout) {
    return std::int64_t{6} * layout.blocks() * layout.shift() * K::modes * static_cast<std::int64_t>(sizeof(P));
  }

  /// A configuration-space edge of dimension d that another rank is behind.
  struct Edge {
    int dimension;
    bool high;
    int rank;
  };
  /// Collective, once.
  void connect(const Work& w, const std::vector<Edge>& edges) {
    edges_ = edges;
    for (int k = 0; k < 2; ++k) {
      std::vector<SlabMessages::Face> faces;
      for (const Edge& edge : edges)
        for_each_index<K::cdim>([&](auto d) {
          constexpr int D = decltype(d)::value;
          if (D != edge.dimension) return;
          const int tag = 16 * (k + 1) + 2 * D;  // apart from those of whole stages
          faces.push_back({edge.rank, tag + edge.high, rows<D>(w, edge.high), tag + !edge.high, rows<D>(w, !edge.high)});
        });
      exchange_[k].messages.connect(std::move(faces));
    }
  }

  /// One stage; returns the largest frequency.
  T run(Work only) {
    T fastest[2] = {};
    pass(only, nullptr, fastest);
    return fastest[0];
  }
  /// Two; `first` says all but where its result goes, `second` all but where it comes from.
  void run(Work first, Work second, T (&fastest)[2]) {
    first.out = second.out + std::int64_t{layout_.shift()} * K::modes;
    second.in = first.out;
    pass(first, &second, fastest);
  }

 private:
  /// What a stage needs beside its arrays.
  struct Exchange {
    explicit Exchange(const Comm& comm) : messages(comm) {}
    SlabMessages messages;
    View<T*> scratch;
  };
  void begin(Exchange& e, Work& w) {
    w.scratch = reinterpret_cast<P*>(e.scratch.data());
    for (std::size_t k = 0; k < edges_.size(); ++k)
      w.received[edges_[k].dimension][!edges_[k].high] = reinterpret_cast<const T*>(e.messages.received(k));
    e.messages.begin();
  }

  void pass(Work& first, Work* second, T (&fastest)[2]) {
    begin(exchange_[0], first);
    if (second) begin(exchange_[1], *second);
    const int ahead = edges_.empty() ? 0 : 2, behind = ahead ? 2 : 1;
    for (int s = -ahead; s < layout_.slabs + (second ? behind : 0); ++s) {
      send(first, 0, s + ahead);
      fastest[0] = std::max(fastest[0], sweep(first, 0, s));
      if (!second) continue;
      send(*second, 1, s);
      fastest[1] = std::max(fastest[1], sweep(*second, 1, s - behind));
    }
    for (auto& e : exchange_)
      if (second || &e == exchange_) e.messages.finish();
  }

  /// What travels towards higher x_d, or towards lower, through an edge.
  template <int D>
  SlabMessages::Rows rows(const Work& w, bool up) const {
    const std::int64_t cell = sizeof(T) * Work::template edge_values<D>;
    SlabMessages::Rows out{w.template edge_blocks<D>(), w.moving_cells(D, up) * cell, {}};
    for (int s = 0; s < layout_.slabs; ++s) {
      const auto [first, last] = w.moving_in(D, up, s);
      out.parts.push_back({first * cell, last * cell});
    }
    return out;
  }

  T sweep(const Work& w, int which, int s) {
    T fastest = 0;
    if (s < 0 || s >= layout_.slabs) return fastest;
    exchange_[which].messages.wait(s);
    Kokkos::parallel_reduce(
        "kinetic: slab", Range(0, layout_.blocks()),
        KOKKOS_LAMBDA(int block, T& most) {
          const T here = w.run_slab(block, s);
          if (here > most) most = here;
        },
        Kokkos::Max<T>(fastest));
    return fastest;
  }

  void send(const Work& w, int which, int s) {
    if (s < 0 || s >= layout_.slabs) return;
    for (std::size_t k = 0; k < edges_.size(); ++k) pack(w, edges_[k], exchange_[which].messages.packed(k), s);
    exchange_[which].messages.send(s);
  }

  void pack(const Work& w, const Edge& edge, char* buffer, int s) const {
    for_each_index<K::cdim>([&](auto d) {
      constexpr int D = decltype(d)::value;
      if (D != edge.dimension) return;
      const bool high = edge.high;
      const auto [first, last] = w.moving_in(D, high, s);
      const int from = first, to = last;
      Kokkos::parallel_for("kinetic: pack", Range(0, w.template pack_parts<D>(from, to)),
                           KOKKOS_LAMBDA(int i) { w.template pack_part<D>(high, i, from, to, reinterpret_cast<T*>(buffer)); });
    });
  }

  Layout layout_;
  std::vector<Edge> edges_;
  Exchange exchange_[2];
};

}  // namespace cambium::kinetic
