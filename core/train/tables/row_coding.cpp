#include "core/train/tables/row_coding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/codec/packed.hpp"
#include "core/codec/rows/rows.hpp"
#include "core/parallel/gather.hpp"

namespace cambium::train {

namespace {

constexpr std::int64_t sorted_every = 1024, tried_every = 64, sampled_rows = 1024;

std::uint64_t hash_of(std::span<const std::byte> row, std::uint64_t table) {
  return lowp::checksum(row, 0xcbf29ce484222325ull + table);
}

/// Distinct rows over all ranks.
std::vector<std::uint64_t> all_different(std::vector<std::uint64_t> own, const Comm& comm) {
  auto all = all_gather(own, comm);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

template <class T>
RowCoding<T>::RowCoding(std::span<const TableInfo> tables, const RowCodeKeys& keys)
    : tables_(tables), keys_(keys), factor_(tables.size(), 1.0), bounds_(tables.size(), keys.bound),
      gradient_bounds_(tables.size(), 1.0), own_(tables.size(), 0.0), references_(tables.size(), 1) {
  for (const auto& [name, bound] : keys_.bounds) {
    const auto at = std::find_if(tables_.begin(), tables_.end(), [&](const auto& info) { return info.name == name; });
    if (at == tables_.end()) {
      std::string names;
      for (const auto& info : tables_) names += (names.empty() ? "" : ", ") + info.name;
      throw InputError(fmt::format("tables: codec: bounds: no table is named '{}'; the network has {}", name, names));
    }
    if (!(bound > 0.0))
      throw InputError(fmt::format("tables: codec: bounds: {} has the bound {}; give a positive number", name, bound));
    own_[at - tables_.begin()] = bound;
  }
}

template <class T>
void RowCoding<T>::sort_tables(const RowStore<T>& store, const TablePlaces& places, const Comm& comm) {
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const int table = static_cast<int>(t);
    const std::int64_t width = tables_[t].width,
                       rows = places.held_below(table, comm.rank(), std::min(tables_[t].rows, sampled_rows));
    std::vector<T> row(width);
    std::vector<std::int64_t> multiples(row.size());
    std::vector<std::uint64_t> exact, quantised;
    for (std::int64_t r = 0; r < rows; ++r) {
      store.copy_out(table, RowStore<T>::Part::weights, r, 1, row.data());
      exact.push_back(hash_of(std::as_bytes(std::span(row)), 0));
      for (std::size_t k = 0; k < row.size(); ++k)
        multiples[k] = std::llrint(static_cast<double>(row[k]) / (2.0 * keys_.bound));
      quantised.push_back(hash_of(std::as_bytes(std::span(multiples)), 1));
    }
    const auto different = static_cast<double>(all_different(std::move(exact), comm).size());
    const auto left = static_cast<double>(all_different(std::move(quantised), comm).size());
    const double index = different > 0.0 ? 1.0 - left / different : 0.0;
    factor_[t] = index > 2.0 / 3.0 ? 1.0 : index > 1.0 / 3.0 ? 3.0 : 5.0;
  }
}

template <class T>
void RowCoding<T>::begin_step(const RowStore<T>& store, const TablePlaces& places, const Comm& comm) {
  if (keys_.by == RowCodeKeys::By::homogenisation && step_ % sorted_every == 0) sort_tables(store, places, comm);
  const double left = std::max(0.0, 1.0 - static_cast<double>(step_) / static_cast<double>(keys_.steps));
  for (std::size_t t = 0; t < bounds_.size(); ++t)
    bounds_[t] = (own_[t] > 0.0 ? own_[t] : keys_.bound * factor_[t]) * (1.0 + (keys_.start - 1.0) * left);
  ++step_;
}

template <class T>
std::vector<std::vector<T>> RowCoding<T>::gathered(const Found& found, const T* rows) const {
  std::vector<std::vector<T>> out(tables_.size());
  for (std::size_t t = 0; t < tables_.size(); ++t)
    for (const auto at : found[t]) out[t].insert(out[t].end(), rows + at, rows + at + tables_[t].width);
  return out;
}

template <class T>
void RowCoding<T>::scatter(const Found& found, const std::vector<std::vector<T>>& values, T* rows) const {
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const T* from = values[t].data();
    for (const auto at : found[t]) std::copy_n(from, tables_[t].width, rows + at), from += tables_[t].width;
  }
}

/// Encodes the rows of one table with and without references, and selects the smaller.
template <class T>
void RowCoding<T>::choose_references(std::size_t table, std::vector<T> rows) {
  std::size_t bytes[2];
  for (const bool repeated : {false, true}) {
    auto copy = rows;
    const lowp::RowGroup<T> group{copy, tables_[table].width, bounds_[table], repeated};
    lowp::ByteWriter out;
    lowp::encode_rows<T>(std::span(&group, 1), out);
    bytes[repeated] = out.bytes().size();
  }
  references_[table] = bytes[1] < bytes[0];
}

template <class T>
void RowCoding<T>::encode(const Found& found, T* rows, lowp::ByteWriter& out) {
  auto values = gathered(found, rows);
  std::vector<lowp::RowGroup<T>> groups;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (step_ % tried_every == 1 && !values[t].empty()) choose_references(t, values[t]);
    groups.push_back({values[t], tables_[t].width, bounds_[t], references_[t] != 0});
    before_ += static_cast<double>(sizeof(T) * values[t].size());
  }
  const std::size_t begin = out.bytes().size();
  lowp::encode_rows<T>(groups, out);
  after_ += static_cast<double>(out.bytes().size() - begin);
  scatter(found, values, rows);
}

template <class T>
void RowCoding<T>::decode(const Found& found, std::span<const std::byte> bytes, T* rows) const {
  auto values = gathered(found, rows);
  std::vector<lowp::RowGroup<T>> groups;
  for (std::size_t t = 0; t < tables_.size(); ++t) groups.push_back({values[t], tables_[t].width, 1.0, false});
  lowp::ByteReader in(bytes);
  try {
    lowp::decode_rows<T>(in, groups);
  } catch (const lowp::DamagedStream&) {
    throw InternalError("a message of encoded rows is not what was sent");
  }
  scatter(found, values, rows);
}

template <class T>
void RowCoding<T>::begin_gradients(std::vector<double> largest, const Comm& comm) {
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), static_cast<int>(largest.size()), MPI_DOUBLE, MPI_MAX, comm.handle());
  // For a table without gradients, or with one that is not finite, every value is stored exactly.
  for (std::size_t t = 0; t < largest.size(); ++t) {
    const double bound = *keys_.gradients * largest[t];
    gradient_bounds_[t] =
        bound > 0.0 && std::isfinite(bound) ? bound : static_cast<double>(std::numeric_limits<T>::min());
  }
}

template <class T>
void RowCoding<T>::encode_gradients(const Found& found, T* gradients, lowp::ByteWriter& out) const {
  auto values = gathered(found, gradients);
  std::vector<lowp::RowGroup<T>> groups;
  for (std::size_t t = 0; t < tables_.size(); ++t)
    groups.push_back({values[t], tables_[t].width, gradient_bounds_[t], false});
  lowp::encode_rows<T>(groups, out);
  scatter(found, values, gradients);
}

template <class T>
std::vector<double> RowCoding<T>::state() const {
  std::vector<double> out{static_cast<double>(step_)};
  out.insert(out.end(), factor_.begin(), factor_.end());
  return out;
}

template <class T>
void RowCoding<T>::restore(const std::vector<double>& state) {
  if (state.size() != factor_.size() + 1) return;
  step_ = static_cast<std::int64_t>(state[0]);
  std::copy(state.begin() + 1, state.end(), factor_.begin());
}

template <class T>
std::string RowCoding<T>::text() const {
  const auto [least, most] = std::minmax_element(bounds_.begin(), bounds_.end());
  const auto with = [&](double factor) { return std::count(factor_.begin(), factor_.end(), factor); };
  std::string out = fmt::format("bounds {:.3g} to {:.3g}", *least, *most);
  if (keys_.by == RowCodeKeys::By::homogenisation)
    out += fmt::format(" ({} tables with 1, {} with 3, {} with 5 times the least)", with(1.0), with(3.0), with(5.0));
  return out;
}

template class RowCoding<double>;
template class RowCoding<float>;

}  // namespace cambium::train
