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

  /// A configuration-space edge that another rank is behind.
  template <int D>
  void add_edge(const Work& w, bool high, int rank) {
    const std::int64_t cell = sizeof(T) * Work::template edge_values<D>;
    std::vector<SlabMessages::Part> parts[2];
    for (bool up : {false, true})
      for (int s = 0; s < layout_.slabs; ++s) {
        const auto [first, last] = w.moving_in(D, up, s);
        parts[up].push_back({first * cell, last * cell});
      }
    const int count = w.template edge_blocks<D>();
    for (int k = 0; k < 2; ++k) {  // tags apart from those of whole stages
      Link link{D, high, View<char*>("kinetic: sent", bytes<D>(w, high)), View<char*>("kinetic: received", bytes<D>(w, !high))};
      const int tag = 16 * (k + 1) + 2 * D;
      exchange_[k].messages.add(rank, tag + high, {link.send.data(), count, w.moving_cells(D, high) * cell}, parts[high], tag + !high,
                                {link.receive.data(), count, w.moving_cells(D, !high) * cell}, parts[!high]);
      exchange_[k].links.push_back(std::move(link));
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
  struct Link {
    int dimension;
    bool high;
    View<char*> send, receive;
  };
  /// What a stage needs beside its arrays.
  struct Exchange {
    explicit Exchange(const Comm& comm) : messages(comm) {}
    SlabMessages messages;
    std::vector<Link> links;
    View<T*> scratch;
    void connect(Work& w) {
      w.scratch = reinterpret_cast<P*>(scratch.data());
      for (const Link& link : links) w.received[link.dimension][!link.high] = reinterpret_cast<const T*>(link.receive.data());
      messages.begin();
    }
  };

  void pass(Work& first, Work* second, T (&fastest)[2]) {
    exchange_[0].connect(first);
    if (second) exchange_[1].connect(*second);
    const int ahead = exchange_[0].links.empty() ? 0 : 2, behind = ahead ? 2 : 1;
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

  template <int D>
  static std::size_t bytes(const Work& w, bool up) {
    return sizeof(T) * static_cast<std::size_t>(w.template edge_blocks<D>()) * w.moving_cells(D, up) * Work::template edge_values<D>;
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
    for (const Link& link : exchange_[which].links) pack(w, link, s);
    exchange_[which].messages.send(s);
  }

  void pack(const Work& w, const Link& link, int s) const {
    for_each_index<K::cdim>([&](auto d) {
      constexpr int D = decltype(d)::value;
      if (D != link.dimension) return;
      const bool high = link.high;
      const auto [first, last] = w.moving_in(D, high, s);
      const int from = first, to = last;
      char* buffer = link.send.data();
      Kokkos::parallel_for("kinetic: pack", Range(0, w.template pack_parts<D>(from, to)),
                           KOKKOS_LAMBDA(int i) { w.template pack_part<D>(high, i, from, to, reinterpret_cast<T*>(buffer)); });
    });
  }

  Layout layout_;
  Exchange exchange_[2];
};

}  // namespace cambium::kinetic
