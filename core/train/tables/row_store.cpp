#include "core/train/tables/row_store.hpp"

#include "core/parallel/random.hpp"
#include "core/train/tables/row_rule.hpp"

namespace cambium::train {

template <class T>
RowStore<T>::RowStore(std::span<const TableInfo> tables, const TablePlaces& places, TableKeys::Rule rule, int rank) {
  for (int k = 0; k < static_cast<int>(tables.size()); ++k) {
    const TableInfo& info = tables[static_cast<std::size_t>(k)];
    Table table;
    table.width = info.width, table.state_width = state_width(rule, info.width), table.reach = info.reach;
    table.first = places.first(k, rank), table.stride = places.stride();
    const auto held = static_cast<std::size_t>(places.held(k, rank));
    table.weights.assign(held * static_cast<std::size_t>(table.width), T(0));
    table.states.assign(held * static_cast<std::size_t>(table.state_width), T(0));
    tables_.push_back(std::move(table));
  }
}

template <class T>
void RowStore<T>::start(std::uint64_t seed) {
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    Table& table = tables_[k];
    const std::int64_t held = std::ssize(table.weights) / table.width;
    for (std::int64_t i = 0; i < held; ++i) {
      const auto row = static_cast<std::uint64_t>(table.first + i * table.stride);
      for (std::int64_t j = 0; j < table.width; ++j) {
        // Networks number their own parameters from 0 in this stream; tables come from far above.
        const Random4 random(seed, Stream::model_weights, row,
                             (std::uint64_t{1 + k} << 40) + static_cast<std::uint64_t>(j / 4));
        table.weights[static_cast<std::size_t>(i * table.width + j)] =
            static_cast<T>(table.reach * (2.0 * random.uniform(static_cast<int>(j % 4)) - 1.0));
      }
    }
    table.states.assign(table.states.size(), T(0));
  }
}

template <class T>
std::span<T> RowStore<T>::part(int table, Part which) {
  Table& t = at(table);
  if (which == Part::states) return t.states;
  if (which == Part::weights) return t.weights;
  if (t.best.size() != t.weights.size()) t.best = t.weights;
  return t.best;
}

template <class T>
std::int64_t RowStore<T>::width(int table, Part which) const {
  const Table& t = tables_[static_cast<std::size_t>(table)];
  return which == Part::states ? t.state_width : t.width;
}

template <class T>
void RowStore<T>::keep_best() {
  for (auto& table : tables_) table.best = table.weights;
}

template <class T>
double RowStore<T>::bytes() const {
  double out = 0.0;
  for (const auto& t : tables_)
    out += sizeof(T) * static_cast<double>(t.weights.size() + t.states.size() + t.best.size());
  return out;
}

template class RowStore<double>;
template class RowStore<float>;

}  // namespace cambium::train
