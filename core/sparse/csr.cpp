#include "core/sparse/csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/numerics/bfloat16.hpp"

namespace cambium::sparse {

namespace {

void check_shape(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows < 0 || columns < 0 || rows > most || columns > most)
    throw InputError(fmt::format("a sparse matrix of {} x {}: both must be between 0 and {}", rows, columns, most));
}

void check_index(std::size_t number, const char* what, std::int32_t found, std::int64_t size) {
  if (found >= 0 && found < size) return;
  throw InputError(fmt::format("entry {} of a sparse matrix: {} {} is none of the {} there are{}", number, what, found,
                               size, size == 0 ? "" : fmt::format(" (0 to {})", size - 1)));
}

void check_entries(std::int64_t rows, std::int64_t columns, std::span<const Entry> entries) {
  check_shape(rows, columns);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Entry& e = entries[k];
    check_index(k, "row", e.row, rows);
    check_index(k, "column", e.column, columns);
    if (!std::isfinite(e.value))
      throw InputError(
          fmt::format("entry {} of a sparse matrix (row {}, column {}): the value is {}, not a finite number", k, e.row,
                      e.column, e.value));
  }
}

/// Indices into `keys` in ascending order of the key, stable with respect to `order`: one pass of a radix sort.
template <class Key>
std::vector<std::int64_t> counted_order(std::int64_t buckets, std::span<const std::int64_t> order, Key key) {
  std::vector<std::int64_t> first(at(buckets) + 1, 0), out(order.size());
  for (std::int64_t k : order) ++first[at(key(k)) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (std::int64_t k : order) out[at(first[at(key(k))]++)] = k;
  return out;
}

/// To the nearest, in one rounding.
template <class To, class From>
To rounded(From x) {
  if constexpr (std::is_same_v<To, Bf16> && std::is_same_v<From, double>) {
    // A double that becomes a tie between two bfloat16 only by its own rounding to float is moved off the tie.
    float f = static_cast<float>(x);
    std::uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if ((bits & 0xffff) == 0x8000 && static_cast<double>(f) != x)
      f = std::nextafter(f, static_cast<double>(f) < x ? std::numeric_limits<float>::infinity()
                                                       : -std::numeric_limits<float>::infinity());
    return Bf16(f);
  } else if constexpr (std::is_same_v<From, Bf16>) {
    return static_cast<To>(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace

Gathered csr_from_entries(std::int64_t rows, std::int64_t columns, std::span<const Entry> entries) {
  check_entries(rows, columns, entries);
  std::vector<std::int64_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order = counted_order(columns, order, [&](std::int64_t k) { return entries[at(k)].column; });
  order = counted_order(rows, order, [&](std::int64_t k) { return entries[at(k)].row; });

  Gathered out;
  auto& m = out.matrix;
  m.rows = rows;
  m.columns = columns;
  m.start.assign(at(rows) + 1, 0);
  m.column.reserve(entries.size());
  m.value.reserve(entries.size());
  const Entry* before = nullptr;
  for (std::int64_t k : order) {
    const Entry& e = entries[at(k)];
    if (before && before->row == e.row && before->column == e.column) {
      m.value.back() += e.value;
      ++out.duplicates;
    } else {
      m.column.push_back(e.column);
      m.value.push_back(e.value);
      ++m.start[at(e.row) + 1];
    }
    before = &e;
  }
  std::partial_sum(m.start.begin(), m.start.end(), m.start.begin());
  return out;
}

template <class T>
Csr<T> transposed(const Csr<T>& a) {
  Csr<T> out;
  out.rows = a.columns;
  out.columns = a.rows;
  out.start.assign(at(out.rows) + 1, 0);
  out.column.resize(a.column.size());
  out.value.resize(a.value.size());
  for (std::int32_t j : a.column) ++out.start[at(j) + 1];
  std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
  std::vector<std::int64_t> next(out.start.begin(), out.start.end() - 1);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e) {
      const auto to = at(next[at(a.column[at(e)])]++);
      out.column[to] = static_cast<std::int32_t>(i);
      out.value[to] = a.value[at(e)];
    }
  return out;
}

template <class T>
Csr<T> permuted(const Csr<T>& a, std::span<const std::int32_t> order) {
  if (a.rows != a.columns || std::ssize(order) != a.rows)
    throw InternalError("permuted: an order of other length than a square matrix");
  std::vector<std::int32_t> place(order.size(), -1);
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k] < 0 || order[k] >= a.rows || place[at(order[k])] >= 0)
      throw InternalError("permuted: the order does not hold every row once");
    place[at(order[k])] = static_cast<std::int32_t>(k);
  }
  Csr<T> out;
  out.rows = a.rows;
  out.columns = a.columns;
  out.start.reserve(a.start.size());
  out.column.reserve(a.column.size());
  out.value.reserve(a.value.size());
  std::vector<std::pair<std::int32_t, std::int64_t>> row;  // new column, old entry
  for (std::int32_t old : order) {
    row.clear();
    for (auto e = a.start[at(old)]; e < a.start[at(old) + 1]; ++e) row.emplace_back(place[at(a.column[at(e)])], e);
    std::sort(row.begin(), row.end());
    for (const auto& [column, entry] : row) {
      out.column.push_back(column);
      out.value.push_back(a.value[at(entry)]);
    }
    out.start.push_back(static_cast<std::int64_t>(out.column.size()));
  }
  return out;
}

template <class To, class From>
Csr<To> converted(const Csr<From>& a) {
  Csr<To> out;
  out.rows = a.rows;
  out.columns = a.columns;
  out.start = a.start;
  out.column = a.column;
  out.value.reserve(a.value.size());
  for (From x : a.value) out.value.push_back(rounded<To>(x));
  return out;
}

#define CAMBIUM_CSR(T)                                                    \
  template Csr<T> transposed(const Csr<T>&);                              \
  template Csr<T> permuted(const Csr<T>&, std::span<const std::int32_t>); \
  template Csr<T> converted(const Csr<double>&);                          \
  template Csr<T> converted(const Csr<float>&);                           \
  template Csr<T> converted(const Csr<Bf16>&);
CAMBIUM_CSR(double)
CAMBIUM_CSR(float)
CAMBIUM_CSR(Bf16)
#undef CAMBIUM_CSR

}  // namespace cambium::sparse
