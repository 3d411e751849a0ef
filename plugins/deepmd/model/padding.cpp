#include "plugins/deepmd/model/padding.hpp"

#include "plugins/deepmd/model/embedding_rows.hpp"

namespace cambium::deepmd {

namespace {

/// Environment rows of empty slots, [neighbour type][component]; the radial descriptor sums G itself: factor 1.
struct EmptySlots {
  View<double* [4]> row;
  View<double*> input;

  EmptySlots(const DeepPotentialModel& m, int centre)
      : row("padding: rows", m.type_map.size()), input("padding: inputs", m.type_map.size()) {
    auto rows = Kokkos::create_mirror_view(row);
    auto inputs = Kokkos::create_mirror_view(input);
    for (int t = 0; t < m.ntypes(); ++t) {
      const auto pair = static_cast<std::size_t>(centre * m.ntypes() + t);
      for (std::size_t k = 0; k < 4; ++k)
        rows(t, k) = k < static_cast<std::size_t>(m.components()) ? -m.mean[pair][k] / m.deviation[pair][k] : 0.0;
      inputs(t) = rows(t, 0);
      if (m.components() == 1) rows(t, 0) = 1.0;
    }
    Kokkos::deep_copy(row, rows);
    Kokkos::deep_copy(input, inputs);
  }
};

template <class T>
View<T**> empty_padding(const DeepPotentialModel& m) {
  return View<T**>("deep_potential: padding", m.type_map.size(),
                   static_cast<std::size_t>(m.components() * padded<T>(m.width())));
}

/// out(type, :) = g row^T for one pack of G.
template <class T>
KOKKOS_INLINE_FUNCTION void outer(const View<T**>& out, int type, int pack, int components, Lane<T> g,
                                  const View<double* [4]>& row) {
  for (int k = 0; k < components; ++k)
    (g * Lane<T>(static_cast<T>(row(type, k)))).store(&out(type, (pack * components + k) * lanes<T>));
}

}  // namespace

template <class T>
View<T**> padding_of_tables(const DeepPotentialModel& m, const TableSet<T>& tables, int centre) {
  const EmptySlots empty(m, centre);
  const View<T**> out = empty_padding<T>(m);
  const View<double* [4]> row = empty.row;
  const View<double*> input = empty.input;
  const TableSet<T> set = tables;
  const TableRows<T> rows{set.coefficients.data(), set.stride()};
  const int n = packs<T>(m.width()), components = m.components();
  for (int t = 0; t < m.ntypes(); ++t) {
    if (m.embedding[m.embedding_index(centre, t)].layers.empty()) continue;
    Kokkos::parallel_for(
        "deep_potential: padding", Range(0, n), KOKKOS_LAMBDA(const int pack) {
          int slot[2] = {0, 0};
          double at, inverse;
          set.grid(centre, t).locate(input(t), slot[0], at, inverse);
          outer(out, t, pack, components, rows.value(slot, static_cast<T>(at), pack), row);
        });
  }
  return out;
}

template <class T>
View<T**> padding_of_networks(const DeepPotentialModel& m, const std::vector<EmbeddingNet<T>>& nets,
                              typename EmbeddingNet<T>::Workspace& work, int centre) {
  const EmptySlots empty(m, centre);
  const View<T**> out = empty_padding<T>(m);
  const View<double* [4]> row = empty.row;
  const View<double*> input = empty.input;
  const int n = packs<T>(m.width()), components = m.components();
  View<T*> x("padding: input", m.type_map.size());
  Kokkos::parallel_for(
      "deep_potential: padding inputs", Range(0, m.ntypes()),
      KOKKOS_LAMBDA(const int t) { x(t) = static_cast<T>(input(t)); });
  Matrix<T> embedded;
  reserve(embedded, "padding: embedded", 2, m.width());
  const NetworkRows<T> rows{embedded.data(), static_cast<int>(embedded.extent(1))};
  for (int t = 0; t < m.ntypes(); ++t) {
    const EmbeddingNet<T>& net = nets[m.embedding_index(centre, t)];
    if (net.width() == 0) continue;
    net.evaluate(1, x, t, work, embedded, 0);
    Kokkos::parallel_for(
        "deep_potential: padding", Range(0, n), KOKKOS_LAMBDA(const int pack) {
          const int slot[2] = {0, 1};
          outer(out, t, pack, components, rows.value(slot, T(0), pack), row);
        });
  }
  return out;
}

#define CAMBIUM_PADDING(T)                                                                               \
  template View<T**> padding_of_tables(const DeepPotentialModel&, const TableSet<T>&, int);              \
  template View<T**> padding_of_networks(const DeepPotentialModel&, const std::vector<EmbeddingNet<T>>&, \
                                         EmbeddingNet<T>::Workspace&, int);
CAMBIUM_PADDING(double)
CAMBIUM_PADDING(float)

}  // namespace cambium::deepmd
