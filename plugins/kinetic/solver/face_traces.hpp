#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "plugins/kinetic/solver/edge_kernels.hpp"
#include "plugins/kinetic/solver/slab_messages.hpp"

namespace cambium::kinetic {

/// Messages across the edges between ranks in configuration space. Each copy of the distribution function (slot) has
/// its faces: the stage that writes a slot stores them as it proceeds (Sweep::leave) and sends them slab by slab, the
/// stage that reads it waits for those of its neighbours. So only slots that were changed outside of stages are packed.
template <class K, class P>
class FaceTraces {
 public:
  using Work = Edges<K, P>;
  using T = typename P::value_type;
  static constexpr int slots = 3;

  /// An edge of dimension d with another rank beyond it.
  struct Edge {
    int dimension;
    bool high;
    int rank;
  };

  /// Collective.
  FaceTraces(const Comm& comm, const Work& w, std::vector<Edge> edges)
      : slabs_(w.layout.slabs), edges_(std::move(edges)) {
    for (int slot = 0; slot < slots; ++slot) {
      std::vector<SlabMessages::Face> faces;
      for_each_edge([&](auto d, const Edge& edge, std::size_t) {
        constexpr int D = decltype(d)::value;
        const int tag = 16 * (slot + 1) + 2 * D;  // distinct from those of complete stages
        faces.push_back({edge.rank, tag + edge.high, rows<D>(w, edge.high), tag + !edge.high, rows<D>(w, !edge.high)});
      });
      messages_.push_back(std::make_unique<SlabMessages>(comm));
      messages_.back()->connect(std::move(faces));
    }
  }

  /// A stage from one slot to another: sets where it reads and writes traces. Packs those of `in` when there are none.
  void attach(Work& w, int in, int out) {
    if (!there_[in]) pack(w, in);
    receive(w, in);
    for (std::size_t k = 0; k < edges_.size(); ++k)
      w.leaving[edges_[k].dimension][edges_[k].high] = reinterpret_cast<T*>(messages_[out]->packed(k));
    messages_[out]->begin();
    there_[out] = true;
  }

  void receive(Work& w, int in) const {
    for (std::size_t k = 0; k < edges_.size(); ++k)
      w.received[edges_[k].dimension][!edges_[k].high] = reinterpret_cast<const T*>(messages_[in]->received(k));
  }
  /// On all ranks: a slot was changed outside of stages.
  void forget(int slot) { there_[slot] = false; }

  void send(int out, int s) { messages_[out]->send(s); }
  void wait(int in, int s) { messages_[in]->wait(s); }
  void send_all(int out) {
    for (int s = 0; s < slabs_; ++s) send(out, s);
  }
  void wait_all(int in) {
    for (int s = 0; s < slabs_; ++s) wait(in, s);
  }
  void finish(int in) { messages_[in]->finish(); }
  bool any() const { return !edges_.empty(); }

 private:
  template <class F>
  void for_each_edge(F&& f) const {
    for (std::size_t k = 0; k < edges_.size(); ++k)
      for_each_index<K::cdim>([&](auto d) {
        if (decltype(d)::value == edges_[k].dimension) f(d, edges_[k], k);
      });
  }

  /// Values that move towards higher x_d, or towards lower, through an edge.
  template <int D>
  SlabMessages::Rows rows(const Work& w, bool up) const {
    const std::int64_t cell = sizeof(T) * Work::template edge_values<D>;
    SlabMessages::Rows out{w.template edge_blocks<D>(), w.moving_cells(D, up) * cell, {}};
    for (int s = 0; s < slabs_; ++s) {
      const auto [first, last] = w.moving_in(D, up, s);
      out.parts.push_back({first * cell, last * cell});
    }
    return out;
  }

  void pack(const Work& w, int slot) {
    messages_[slot]->begin();
    for_each_edge([&](auto d, const Edge& edge, std::size_t k) {
      constexpr int D = decltype(d)::value;
      const bool high = edge.high;
      const int all = w.moving_cells(D, high);
      T* buffer = reinterpret_cast<T*>(messages_[slot]->packed(k));
      Kokkos::parallel_for("kinetic: pack", Range(0, w.template pack_parts<D>(0, all)),
                           PackTraces<D, Work>{w, high, all, buffer});
    });
    send_all(slot);
    there_[slot] = true;
  }

  int slabs_;
  std::vector<Edge> edges_;
  std::vector<std::unique_ptr<SlabMessages>> messages_;  ///< [slot]
  bool there_[slots] = {false, false, false};
};

}  // namespace cambium::kinetic
