#pragma once
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/numerics/width.hpp"
#include "plugins/kinetic/solver/built.hpp"
#include "plugins/kinetic/solver/cell_moments.hpp"
#include "plugins/kinetic/solver/conf_blocks.hpp"
#include "plugins/kinetic/solver/huge_pages.hpp"
#include "plugins/kinetic/solver/packed_edges.hpp"
#include "plugins/kinetic/solver/slab_pass.hpp"
#include "plugins/kinetic/solver/velocity_cells.hpp"

namespace cambium::kinetic {

/// Solver for the kernels of one configuration, with distribution functions stored in type T.
template <template <class> class Kernels, class T>
class SolverOf : public Solver {
 public:
  static constexpr int width = width_of<ExecSpace, T>;
  using P = Pack<T, width>;
  using K = Kernels<P>;
  /// True if stages by cells are available here. On hosts, where only tests use them, not in double: a second caller of
  /// the kernels has the compiler inline them less, and steps take up to a tenth longer.
  static constexpr bool has_cells = !device_is_host || std::is_same_v<T, float>;
  using Work = Edges<K, P>;

  SolverOf(const PhaseGrid& grid, const Comm& comm)
      : info_(info_of<K>()), grid_(grid), velocity_cells_(grid),
        layout_(velocity_cells_.in(Layout(grid, width, K::modes))), comm_(comm), edges_(grid_, layout_, comm) {
    for (int s : {0, 2}) allocate(s);
    for (auto& fields : fields_)
      fields = View<T*>("kinetic: fields", static_cast<std::size_t>(layout_.blocks()) * Blocks::field_rows * width);
    for (auto& m : moments_)
      m = View<double*>("kinetic: moments", static_cast<std::size_t>(layout_.blocks()) * Work::moments * width);
    sizes_.layout = layout_;
    if (device_is_host) sizes_.choose_tile(cache, token_.size());
    if (device_is_host)
      scratch_ = View<T*>("kinetic: lower fluxes",
                          static_cast<std::size_t>(token_.size()) * sizes_.tile * sizes_.scratch_size() * width);
    // Neighbours must do alike: where one has walls that give particles back, all send after a stage what it could have
    // left.
    if (comm.min(device_is_host && whole_at_once(edges_) ? 1.0 : 0.0) > 0.0)
      make_faces();
    else
      edges_.connect(work());
    sort_tiles();
  }

  const BasisInfo& basis() const override { return info_; }
  const PhaseGrid& grid() const override { return grid_; }
  void set(int slot, int conf, int velocity, const double* c) override {
    allocate(slot);
    const auto at = blocks().address(conf, velocity);
    for (int k = 0; k < K::modes; ++k) host_[slot](at + k * width) = static_cast<T>(c[k]);
  }
  void get(int slot, int conf, int velocity, double* c) const override {
    const auto at = blocks().address(conf, velocity);
    for (int k = 0; k < K::modes; ++k) c[k] = static_cast<double>(host_[slot](at + k * width));
  }
  void to_device(int slot) override {
    ++copies_;
    Kokkos::deep_copy(f_[slot], host_[slot]);
    changed(slot);
  }
  void to_host_const(int slot) const override { ++copies_, Kokkos::deep_copy(host_[slot], f_[slot]); }
  Storage storage(int slot) const override {
    return {sizeof(T) == 8 ? Precision::float64 : Precision::float32, layout_, f_[slot].data()};
  }
  void changed(int slot) override {
    if (faces_) faces_->forget(slot);
  }
  std::size_t bytes(bool fused) const override {
    return (fused ? 2 : 3) * sizeof(T) * static_cast<std::size_t>(layout_.size());
  }

  double stage(const Stage& stage, const ForceField& force, std::vector<double>& moments) override {
    allocate(stage.in);
    allocate(stage.out);
    Work w = work({stage, force, &moments}, 0);
    double* const sums = std::exchange(w.moment, by_cells_ ? nullptr : w.moment);
    const T fastest = faces_ ? leave_traces(w, stage) : exchange_traces(w);
    if constexpr (has_cells)
      if (by_cells_) {
        w.moment = sums;
        CellMoments<K, P>::add(w, w.out, parts_);
      }
    blocks().collect(moments_[0], moments);
    return static_cast<double>(fastest);
  }

  void work_by_cells() override {
    if (!has_cells) throw std::logic_error("on hosts stages go by cells in single precision alone");
    by_cells_ = true;
    if (faces_) {
      faces_ = nullptr;
      edges_.connect(work());
    }
  }

  Fusing fusing() const override {
    // Slab by slab the second stage finds in the cache what the first has left there.
    const bool slabs = faces_ && layout_.shift() > 0 && SlabPass<K, P>::live_bytes(layout_) <= shared_cache;
    if (!slabs) return Fusing::impossible;
    // With one velocity a row is one slab, and separate stages are a third faster.
    return K::vdim > 1 && bytes(false) > shared_cache ? Fusing::pays : Fusing::possible;
  }

  std::array<double, 2> stages(const Half& first, const Half& second) override {
    T fastest[2] = {};
    if constexpr (device_is_host) {  // elsewhere fusing() is impossible
      if (!slab_pass_) slab_pass_ = std::make_unique<SlabPass<K, P>>(layout_);
      slab_pass_->run({work(first, 0), first.stage.in, first.stage.out},
                      {work(second, 1), second.stage.in, second.stage.out}, *faces_, fastest);
      blocks().collect(moments_[0], *first.moments);
      blocks().collect(moments_[1], *second.moments);
    }
    return {static_cast<double>(fastest[0]), static_cast<double>(fastest[1])};
  }

  void moments(int slot, std::vector<double>& out) const override {
    Kokkos::deep_copy(moments_[0], 0.0);
    const Work w = work();
    const P* f = reinterpret_cast<const P*>(f_[slot].data());
    if (!by_cells_)
      add_moments_by_packs<K, P>(w, f);
    else if constexpr (has_cells)
      CellMoments<K, P>::add(w, f, parts_);
    blocks().collect(moments_[0], out);
  }

  double square_integral(int slot) const override {
    const auto f = f_[slot];
    const std::int64_t here = std::int64_t{layout_.velocity_cells} * K::modes * width,
                       next = std::int64_t{layout_.block_cells} * K::modes * width;
    double sum = 0.0;
    const Layout layout = layout_;
    Kokkos::parallel_reduce(
        "kinetic: square", Kokkos::RangePolicy<ExecSpace>(0, layout_.blocks() * here),
        KOKKOS_LAMBDA(std::int64_t k, double& s) {
          const double value = static_cast<double>(f(k / here * next + k % here));
          if (layout.stretched)
            s += layout.velocity_volume(static_cast<int>(k % here / (K::modes * width))) * value * value;
          else
            s += value * value;
        },
        sum);
    for (int d = 0; d < K::cdim; ++d) sum *= 0.5 * grid_.axis[d].width();
    for (int d = 0; d < K::vdim; ++d) sum *= 0.5 * layout_.dv[d];
    return sum;
  }

  /// Sweeps the tiles with these indices; returns the largest frequency. Internal: public since nvcc takes no kernel in
  /// a private member.
  T sweep(const Work& w, const View<int*>& tiles) const {
    if constexpr (has_cells)
      if (by_cells_) return CellPass<K, P>(w, tiles, shared_).run();
    T fastest = 0;
    if constexpr (device_is_host) {  // a device's compiler need not see what never runs there
      const auto token = token_;
      Kokkos::parallel_reduce(
          "kinetic: sweep", Range(0, static_cast<int>(tiles.size())),
          KOKKOS_LAMBDA(int k, T& most) {
            const int thread = token.acquire();
            const T here = w.run(tiles(k), thread);
            token.release(thread);
            if (here > most) most = here;
          },
          Kokkos::Max<T>(fastest));
    }
    return tiles.size() > 0 ? fastest : T(0);
  }

 private:
  /// Memory that a tile may touch between two uses of a cell: second-level caches have 0.5 to 2 MiB.
  static constexpr std::int64_t cache = 3 << 19;
  /// Memory that two fused stages may keep alive: a part of a third-level cache.
  static constexpr std::int64_t shared_cache = 12 << 20;
  using Blocks = ConfBlocks<K, T, width>;

  /// The first of two fused stages needs no slot of its own, so not every run has all three.
  void allocate(int slot) {
    if (f_[slot].size() > 0) return;
    const auto size = static_cast<std::size_t>(layout_.size());
    f_[slot] = View<T*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kinetic: distribution"), size);
    if (device_is_host) ask_for_huge_pages(f_[slot].data(), sizeof(T) * size);
    Kokkos::deep_copy(f_[slot], T(0));
    host_[slot] = Kokkos::create_mirror_view(f_[slot]);
  }
  /// One stage whose sweep reads the traces that the one before has stored, and stores those for the next: tiles at
  /// edges come first, so that their traces are sent meanwhile.
  T leave_traces(Work& w, const Stage& stage) {
    T fastest = 0;
    if constexpr (device_is_host) {
      faces_->attach(w, stage.in, stage.out);
      faces_->wait_all(stage.in);
      fastest = sweep(w, outer_);
      faces_->send_all(stage.out);
      faces_->finish(stage.in);
    }
    return std::max(fastest, sweep(w, inner_));
  }
  /// One stage that packs and receives traces: tiles that need none are swept during communication, and inflow at walls
  /// and at cuts of velocity space is added after the others.
  T exchange_traces(const Work& w) {
    edges_.pack(w);
    edges_.begin();
    T fastest = sweep(w, inner_);
    edges_.finish();
    fastest = std::max(fastest, sweep(w, outer_));
    edges_.unpack(w);
    return fastest;
  }
  Blocks blocks() const { return {grid_, layout_}; }
  Work work() const {
    Work w;
    w.layout = layout_;
    w.moment = moments_[0].data();
    w.scratch = reinterpret_cast<P*>(scratch_.data());
    w.tile = sizes_.tile;
    w.slab = sizes_.slab;
    edges_.attach(w);  // where faces are left, they are attached
    return w;
  }
  /// That of a stage, with its fields.
  Work work(const Half& half, int which) {
    const auto& [stage, force, moments] = half;
    blocks().load_fields(force, fields_[which]);
    Work w = work();
    Kokkos::deep_copy(moments_[which], 0.0);
    w.moment = moments_[which].data();
    w.upwind_nodes = force.upwind;
    w.fields = reinterpret_cast<const P*>(fields_[which].data());
    w.in = reinterpret_cast<const P*>(f_[stage.in].data());
    w.base = reinterpret_cast<const P*>(f_[stage.base].data());
    w.out = reinterpret_cast<P*>(f_[stage.out].data());
    w.electric = force.any();
    w.magnetic = w.electric && K::pairs > 0 && (force.magnetic[0] || force.magnetic[1] || force.magnetic[2]);
    w.a = static_cast<T>(stage.a);
    w.b = static_cast<T>(stage.b);
    w.c = static_cast<T>(stage.c);
    if constexpr (has_cells)
      if (by_cells_) CellPass<K, P>::load_blocks(w, shared_);
    return w;
  }

  /// Sorts tiles into those that need no message from another rank, which are swept during communication, and the
  /// others.
  void sort_tiles() {
    Work w = work();
    if (faces_) faces_->receive(w, 0);
    std::vector<int> order[2];
    for (int tile = 0; tile < w.tiles(); ++tile) {
      bool waits = false;
      for (int block = tile * w.tile; block < std::min((tile + 1) * w.tile, layout_.blocks()); ++block) {
        const auto sides = w.around(block);
        for (int d = 0; d < K::cdim; ++d)
          for (int up = 0; up < 2; ++up) waits |= sides.sent[d][up] != nullptr;
      }
      order[waits].push_back(tile);
    }
    for (View<int*>* list : {&inner_, &outer_}) {
      const auto& numbers = order[list == &outer_];
      *list = View<int*>("kinetic: tiles", numbers.size());
      const auto host = Kokkos::create_mirror_view(*list);
      for (std::size_t k = 0; k < numbers.size(); ++k) host(k) = numbers[k];
      Kokkos::deep_copy(*list, host);
    }
  }

  void make_faces() {
    if constexpr (device_is_host) {
      std::vector<typename FaceTraces<K, P>::Edge> between;
      for (const auto& edge : edges_.all())
        if (edge.rank >= 0) between.push_back({edge.dimension, edge.high, edge.rank});
      faces_ = std::make_unique<FaceTraces<K, P>>(comm_, work(), between);
    }
  }
  bool by_cells_ = !device_is_host;  ///< see CellPass
  BasisInfo info_;
  PhaseGrid grid_;
  VelocityCells velocity_cells_;
  Layout layout_;
  Work sizes_;
  const Comm& comm_;
  PackedEdges<K, P> edges_;
  View<T*> f_[3];
  HostView<T*> host_[3];
  View<T*> fields_[2], scratch_;
  View<int*> inner_, outer_;
  View<Block<K, P>*> shared_;                 ///< of CellPass
  mutable View<double*> moments_[2], parts_;  ///< parts: see CellMoments
  std::unique_ptr<FaceTraces<K, P>> faces_;   ///< null if sweeps do not compute the complete result of a stage
  std::unique_ptr<SlabPass<K, P>> slab_pass_;
  Kokkos::Experimental::UniqueToken<ExecSpace> token_;
};

}  // namespace cambium::kinetic
