#include "plugins/torch_potential/potentials/edges.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "core/base/error.hpp"

namespace cambium::torch_potential {
namespace {

template <class V>
auto on_host(const V& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Calls use(neighbour row, vector) for the neighbours of a row within the cut-off.
class Rows {
 public:
  Rows(const Particles& particles, const NeighborList& list, double cutoff)
      : x_(on_host(particles.x)), offset_(on_host(list.offset)), count_(on_host(list.count)),
        index_(on_host(list.index)), cutoff2_(cutoff * cutoff) {}

  template <class Use>
  void each(int i, const Use& use) const {
    for (std::int64_t entry = offset_(i); entry < offset_(i) + count_(i); ++entry) {
      const int j = index_(entry);
      const double d[3] = {x_(j, 0) - x_(i, 0), x_(j, 1) - x_(i, 1), x_(j, 2) - x_(i, 2)};
      if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < cutoff2_) use(j, d);
    }
  }
  int type(int i) const { return static_cast<int>(x_(i, 3)); }

 private:
  typename View<double* [4]>::HostMirror x_;
  typename View<std::int64_t*>::HostMirror offset_;
  typename View<int*>::HostMirror count_, index_;
  double cutoff2_;
};

void add_edge(ArchiveGraph& graph, std::int64_t centre, std::int64_t neighbour, const double d[3]) {
  graph.centre.push_back(centre);
  graph.neighbour.push_back(neighbour);
  graph.vector.insert(graph.vector.end(), d, d + 3);
}

}  // namespace

Edges EdgeFinder::find(const Particles& particles, const NeighborList& list, std::span<const int> type) {
  Particles all = particles;  // every row has its own neighbours; arrays are shared
  if (layers_ > 1) {
    all.nlocal = particles.total();
    all.nghost = 0;
    build_neighbors(all, cutoff_, 0.0, all_);
  }
  const Rows rows(particles, layers_ > 1 ? all_ : list, cutoff_);
  Edges out;
  std::vector<std::int64_t> node(static_cast<std::size_t>(particles.total()), -1);
  const auto add_node = [&](int row) {
    node[static_cast<std::size_t>(row)] = static_cast<std::int64_t>(out.row.size());
    out.row.push_back(row);
    out.graph.types.push_back(type[static_cast<std::size_t>(rows.type(row))]);
  };
  out.graph.owned = particles.nlocal;
  for (int i = 0; i < particles.nlocal; ++i) add_node(i);
  std::size_t first = 0;
  for (int layer = 0; layer < layers_; ++layer) {  // nodes found in a layer are centres of the next
    const std::size_t last = out.row.size();
    for (std::size_t centre = first; centre < last; ++centre)
      rows.each(out.row[centre], [&](int j, const double d[3]) {
        if (node[static_cast<std::size_t>(j)] < 0) add_node(j);
        add_edge(out.graph, static_cast<std::int64_t>(centre), node[static_cast<std::size_t>(j)], d);
      });
    first = last;
  }
  return out;
}

Edges EdgeFinder::find_folded(const Particles& particles, const NeighborList& list, std::span<const int> type) const {
  const Rows rows(particles, list, cutoff_);
  const auto tag = on_host(particles.tag);
  Edges out;
  out.graph.owned = particles.nlocal;
  std::unordered_map<std::int64_t, std::int64_t> node;
  for (int i = 0; i < particles.nlocal; ++i) {
    node.emplace(tag(i), i);
    out.row.push_back(i);
    out.graph.types.push_back(type[static_cast<std::size_t>(rows.type(i))]);
  }
  if (static_cast<int>(node.size()) != particles.nlocal)
    throw InputError("torch_script: on one rank atoms need unique IDs, which identify their images");
  for (int i = 0; i < particles.nlocal; ++i)
    rows.each(i, [&](int j, const double d[3]) { add_edge(out.graph, i, node.at(tag(j)), d); });
  return out;
}

}  // namespace cambium::torch_potential
