#pragma once
#include "plugins/kinetic/solver/face_traces.hpp"

namespace cambium::kinetic {

/// Two Runge-Kutta stages in one pass, slab by slab of the first velocity dimension, over the entire configuration
/// space of this rank: the second follows the first at a distance of one or two slabs, and finds in the cache what that
/// has read and written. Both write to one array: the first one slab ahead of the second, over data that are no longer
/// needed. So a pass reads one distribution function and writes one, where two stages read three and write two.
///
/// Neighbours in configuration space are complete lines that both stages access, so they cost nothing. On other ranks
/// they are traces that the first stage stored there as many slabs ago. Between cuts of velocity space, and at walls
/// that give particles back, there are no slabs.
template <class K, class P>
class SlabPass {
 public:
  using Work = Edges<K, P>;
  using Faces = FaceTraces<K, P>;
  using T = typename P::value_type;

  explicit SlabPass(const Layout& layout) : layout_(layout) {
    Work w;
    w.layout = layout;
    for (auto& s : scratch_)
      s = View<T*>("kinetic: lower fluxes", static_cast<std::size_t>(layout.blocks()) * w.scratch_size() * P::width);
  }

  /// Cache used by the live slabs of both stages: fusing pays only while they stay there.
  static std::int64_t live_bytes(const Layout& layout) {
    return std::int64_t{6} * layout.blocks() * layout.shift() * K::modes * static_cast<std::int64_t>(sizeof(P));
  }

  /// A stage and the slots that it reads and writes.
  struct Turn {
    Work work;
    int in, out;
  };
  /// `first` is complete except for its output, `second` except for its input.
  void run(Turn first, Turn second, Faces& faces, T (&fastest)[2]) {
    first.work.out = second.work.out + std::int64_t{layout_.shift()} * K::modes;
    second.work.in = first.work.out;
    Turn* turns[] = {&first, &second};
    for (int k = 0; k < 2; ++k) {
      turns[k]->work.scratch = reinterpret_cast<P*>(scratch_[k].data());
      faces.attach(turns[k]->work, turns[k]->in, turns[k]->out);
    }
    // A slab more between ranks: one of them may be late.
    const int behind = faces.any() ? 2 : 1;
    for (int s = 0; s < layout_.slabs + behind; ++s)
      for (int k = 0; k < 2; ++k) fastest[k] = std::max(fastest[k], sweep(*turns[k], faces, s - k * behind));
    for (const Turn* turn : turns) faces.finish(turn->in);
  }

  /// One slab of one stage; returns the largest frequency. For this class: public since nvcc takes no kernel in a
  /// private member.
  T sweep(const Turn& turn, Faces& faces, int s) {
    T fastest = 0;
    if (s < 0 || s >= layout_.slabs) return fastest;
    faces.wait(turn.in, s);
    const Work& w = turn.work;
    Kokkos::parallel_reduce(
        "kinetic: slab", Range(0, layout_.blocks()),
        KOKKOS_LAMBDA(int block, T& most) {
          const T here = w.run_slab(block, s);
          if (here > most) most = here;
        },
        Kokkos::Max<T>(fastest));
    faces.send(turn.out, s);
    return fastest;
  }

 private:
  Layout layout_;
  View<T*> scratch_[2];
};

}  // namespace cambium::kinetic
