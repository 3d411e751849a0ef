#include "core/train/tables/row_store.hpp"

#include <algorithm>

#include "core/parallel/random.hpp"
#include "core/train/optimizers/split.hpp"
#include "core/train/tables/row_rule.hpp"

namespace cambium::train {

template <class T>
RowStore<T>::RowStore(std::span<const TableInfo> tables, const TablePlaces& places, TableKeys::Rule rule, int rank)
    : split_(rule == TableKeys::Rule::split_sgd) {
  if (split_) require_float32("split_sgd", dtype_of<T>());
  for (int k = 0; k < std::ssize(tables); ++k) {
    const TableInfo& info = tables[k];
    Table table;
    table.width = info.width;
    table.state_width = state_width(rule, info.width);
    table.reach = info.reach;
    table.first = places.first(k, rank);
    table.stride = places.stride();
    table.held = places.held(k, rank);
    const auto numbers = static_cast<std::size_t>(table.held * table.width);
    if (split_) {
      table.high.assign(numbers, 0);
      table.low.assign(numbers, 0);
    } else {
      table.weights.assign(numbers, T(0));
      table.states.assign(table.held * table.state_width, T(0));
    }
    tables_.push_back(std::move(table));
  }
}

template <class T>
void RowStore<T>::set(Table& table, std::size_t number, double value) {
  if (!split_) return static_cast<void>(table.weights[number] = static_cast<T>(value));
  const auto single = static_cast<float>(value);
  set_high(table.high[number], single);
  table.low[number] = low_half(single);
}

template <class T>
void RowStore<T>::start(std::uint64_t seed) {
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    Table& table = tables_[k];
    for (std::int64_t i = 0; i < table.held; ++i) {
      const auto row = static_cast<std::uint64_t>(table.first + i * table.stride);
      for (std::int64_t j = 0; j < table.width; ++j) {
        // Networks number their own parameters from 0 in this stream; tables use far larger addresses.
        const Random4 random(seed, Stream::model_weights, row,
                             (std::uint64_t{1 + k} << 40) + static_cast<std::uint64_t>(j / 4));
        set(table, static_cast<std::size_t>(i * table.width + j),
            table.reach * (2.0 * random.uniform(static_cast<int>(j % 4)) - 1.0));
      }
    }
    std::fill(table.states.begin(), table.states.end(), T(0));
  }
}

template <class T>
void RowStore<T>::add_row(int table, std::int64_t index, T* to) const {
  const Table& t = at(table);
  if (split_)
    for (std::int64_t k = 0; k < t.width; ++k)
      to[k] += static_cast<T>(join(t.high[index * t.width + k], std::uint16_t{0}));
  else
    for (std::int64_t k = 0; k < t.width; ++k) to[k] += t.weights[index * t.width + k];
}

/// Prefetches the cache lines of `count` values starting at `first`, for writing or reading.
template <bool write, class Numbers>
static void ask_for(const Numbers& numbers, std::int64_t first, std::int64_t count) {
  constexpr std::uintptr_t line = 64;
  if (numbers.empty() || count == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(numbers.data() + first) / line * line;
  const auto end = reinterpret_cast<std::uintptr_t>(numbers.data() + first + count);
  for (auto at = begin; at < end; at += line) __builtin_prefetch(reinterpret_cast<const void*>(at), write);
}

/// Sums the members of a bag: `own` and a lambda provide value(k) of local and received rows. The first member is
/// stored as 0 + x, bitwise identical to adding it to zeros, without clearing memory first.
template <class T, class Own>
static void sum_bag(std::span<const std::int64_t> members, std::int64_t width, Own&& own, const T* got, T* to) {
  bool fresh = true;
  const auto bring = [&](auto&& value) {
    if (fresh)
      for (std::int64_t k = 0; k < width; ++k) to[k] = T(0) + value(k);
    else
      for (std::int64_t k = 0; k < width; ++k) to[k] += value(k);
    fresh = false;
  };
  for (const auto at : members) {
    if (at < 0)
      own(~at * width, bring);
    else
      bring([from = got + at](std::int64_t k) { return from[k]; });
  }
  if (fresh) std::fill_n(to, width, T(0));
}

template <class T>
void RowStore<T>::sum_bags(int table, std::span<const std::int64_t> first, std::span<const std::int64_t> where,
                           const T* got, T* out) const {
  constexpr std::int64_t ahead = 24;  // prefetch distance in members
  const Table& t = at(table);
  const std::int64_t width = t.width, members = std::ssize(where);
  const auto ask = [&](std::int64_t k) {
    if (k >= members || where[k] >= 0) return;
    const std::int64_t row = ~where[k] * width;
    split_ ? ask_for<false>(t.high, row, width) : ask_for<false>(t.weights, row, width);
  };
  for (std::int64_t k = 0; k < ahead; ++k) ask(k);
  for (std::size_t b = 0; b + 1 < first.size(); ++b) {
    for (std::int64_t k = first[b]; k < first[b + 1]; ++k) ask(k + ahead);
    const auto bag = where.subspan(first[b], static_cast<std::size_t>(first[b + 1] - first[b]));
    const auto own = [&](std::int64_t row, auto&& bring) {
      if (split_)
        bring([high = t.high.data() + row](std::int64_t k) { return static_cast<T>(join(high[k], std::uint16_t{0})); });
      else
        bring([weights = t.weights.data() + row](std::int64_t k) { return weights[k]; });
    };
    sum_bag(bag, width, own, got, out + static_cast<std::int64_t>(b) * width);
  }
}

template <class T>
void RowStore<T>::ask_to_change(int table, std::int64_t index) const {
  const Table& t = at(table);
  ask_for<true>(t.weights, index * t.width, t.width), ask_for<true>(t.states, index * t.state_width, t.state_width);
  ask_for<true>(t.high, index * t.width, t.width), ask_for<true>(t.low, index * t.width, t.width);
}

template <class T>
void RowStore<T>::update(int table, std::int64_t index, const TableKeys& keys, double rate, const T* gradient) {
  Table& t = at(table);
  const auto begin = static_cast<std::size_t>(index * t.width);
  if (!split_)
    return update_row<T>(keys, rate, t.width, gradient, t.weights.data() + begin,
                         t.states.data() + index * t.state_width);
  for (std::size_t k = 0; k < static_cast<std::size_t>(t.width); ++k) {
    T value = static_cast<T>(join(t.high[begin + k], t.low[begin + k]));
    update_row<T>(keys, rate, 1, gradient + k, &value, nullptr);
    set(t, begin + k, static_cast<double>(value));
  }
}

template <class T>
std::int64_t RowStore<T>::width(int table, Part which) const {
  return which == Part::states ? at(table).state_width : at(table).width;
}

template <class T>
void RowStore<T>::copy_out(int table, Part which, std::int64_t first, std::int64_t rows, T* out) const {
  const Table& t = at(table);
  const std::int64_t width = this->width(table, which), count = rows * width;
  if (split_) {
    const auto& from = which == Part::states                         ? t.low
                       : which == Part::best && !t.best_high.empty() ? t.best_high
                                                                     : t.high;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto bits = from[first * width + k];
      out[k] = which == Part::states ? static_cast<T>(bits) : static_cast<T>(join(bits, std::uint16_t{0}));
    }
    return;
  }
  const auto& from = which == Part::states ? t.states : which == Part::best && !t.best.empty() ? t.best : t.weights;
  std::copy_n(from.data() + first * width, count, out);
}

template <class T>
void RowStore<T>::copy_in(int table, Part which, std::int64_t first, std::int64_t rows, const T* in) {
  Table& t = at(table);
  const std::int64_t width = this->width(table, which), count = rows * width;
  if (split_) {
    if (which == Part::best) t.best_high.resize(t.high.size());
    auto& to = which == Part::states ? t.low : which == Part::best ? t.best_high : t.high;
    for (std::int64_t k = 0; k < count; ++k) {
      auto& bits = to[first * width + k];
      if (which == Part::states)
        bits = static_cast<std::uint16_t>(in[k]);
      else
        set_high(bits, static_cast<float>(in[k]));
    }
    return;
  }
  if (which == Part::best) t.best.resize(t.weights.size());
  auto& to = which == Part::states ? t.states : which == Part::best ? t.best : t.weights;
  std::copy_n(in, count, to.data() + first * width);
}

template <class T>
void RowStore<T>::keep_best() {
  for (auto& table : tables_) {
    table.best = table.weights;
    table.best_high = table.high;
  }
}

template <class T>
double RowStore<T>::bytes() const {
  double out = 0.0;
  for (const auto& t : tables_)
    out += sizeof(T) * static_cast<double>(t.weights.size() + t.states.size() + t.best.size()) +
           2.0 * static_cast<double>(t.high.size() + t.low.size() + t.best_high.size());
  return out;
}

template class RowStore<double>;
template class RowStore<float>;

}  // namespace cambium::train
