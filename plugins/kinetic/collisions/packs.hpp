#pragma once
#include "core/base/error.hpp"
#include "core/numerics/width.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// A slot of a solver as kernels find it (see Solver): pack (block, iv) holds the velocity cell iv of up to `width`
/// cells of configuration space, coefficient k of lane l at [k * width + l].
template <class T>
struct Packs {
  static constexpr int width = width_of<ExecSpace, T>;
  T* f;
  Layout layout;

  CAMBIUM_FN T* pack(int block, int iv) const { return f + layout.cell(block, iv) * width; }
  CAMBIUM_FN int lanes(int block) const { return layout.lanes(block % layout.packs); }
};

/// Over packs or their contents: more than an int counts.
using PackRange = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>;

template <class T>
Packs<T> packs_of(const Solver& solver, int slot) {
  const auto at = solver.storage(slot);
  if (at.layout.width != Packs<T>::width) throw InternalError("kinetic: packs of another width");
  return {static_cast<T*>(at.data), at.layout};
}

/// Calls act(T()) with the value type T of a solver.
template <class Act>
void in_precision(const Solver& solver, const Act& act) {
  if (solver.storage(0).precision == Precision::float64)
    act(double());
  else
    act(float());
}

/// Position in blocks of the k-th cell of configuration space (PhaseGrid::local_conf order).
struct InBlocks {
  int block, lane;
  CAMBIUM_FN InBlocks(const Layout& layout, int k)
      : block(layout.block_of(k / layout.others, k % layout.others)), lane(layout.lane_of(k / layout.others)) {}
};

/// Copies an array to the device.
template <class Number>
View<Number*> on_device(const std::string& name, const std::vector<Number>& values) {
  View<Number*> out(name, values.size());
  const auto host = Kokkos::create_mirror_view(out);
  for (std::size_t k = 0; k < values.size(); ++k) host(k) = values[k];
  Kokkos::deep_copy(out, host);
  return out;
}

}  // namespace cambium::kinetic
