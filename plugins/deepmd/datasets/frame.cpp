#include "plugins/deepmd/datasets/frame.hpp"

#include <algorithm>

#include "core/particles/image_system.hpp"

namespace cambium::deepmd {

std::size_t TrainingFrame::bytes() const {
  return sizeof(int) * (type.size() + first.size() + neighbour.size()) +
         sizeof(double) * (d.size() + force.size() + virial.size() + fparam.size() + aparam.size());
}

namespace {

struct Pair {
  double squared;
  int neighbour;
  std::array<double, 3> d;
};

template <class V>
auto on_host(const V& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Atoms, images and lists in host memory: training is host code on every back end.
struct HostSystem {
  HostView<double* [4]> x;
  HostView<std::int64_t*> tag, offset;
  HostView<int*> count, index;

  explicit HostSystem(const ImageSystem& system)
      : x(on_host(system.particles().x)), tag(on_host(system.particles().tag)), offset(on_host(system.list().offset)),
        count(on_host(system.list().count)), index(on_host(system.list().index)) {}
};

/// Appends the pairs of atom i whose neighbour has type t, nearest first: the inputs of the embedding networks decrease
/// with the distance, and sums over neighbours are faster when consecutive neighbours have nearly equal inputs.
void append(TrainingFrame& frame, const HostSystem& p, int i, int t, double rcut) {
  std::vector<Pair> pairs;
  for (int k = 0; k < p.count(i); ++k) {
    const int j = p.index(p.offset(i) + k);
    if (static_cast<int>(p.x(j, 3)) != t) continue;
    const std::array<double, 3> d = {p.x(j, 0) - p.x(i, 0), p.x(j, 1) - p.x(i, 1), p.x(j, 2) - p.x(i, 2)};
    const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (squared < rcut * rcut) pairs.push_back({squared, static_cast<int>(p.tag(j)) - 1, d});
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.squared < b.squared; });
  for (const Pair& pair : pairs) {
    frame.neighbour.push_back(pair.neighbour);
    frame.d.insert(frame.d.end(), pair.d.begin(), pair.d.end());
  }
}

}  // namespace

TrainingFrame find_pairs(std::span<const std::array<double, 3>> x, std::span<const int> types,
                         const std::optional<Box>& box, int ntypes, double rcut) {
  const ImageSystem system(x, types, box, std::vector<Species>(ntypes, Species{"X", 1.0}), rcut);
  const HostSystem here(system);
  TrainingFrame frame;
  frame.type.assign(types.begin(), types.end());
  frame.first.push_back(0);
  for (int i = 0; i < frame.atoms(); ++i) {
    for (int t = 0; t < ntypes; ++t) append(frame, here, i, t, rcut);
    frame.first.push_back(frame.pairs());
  }
  return frame;
}

}  // namespace cambium::deepmd
