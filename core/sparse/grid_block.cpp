#include "core/sparse/grid_block.hpp"

#include <cstring>

#include "core/base/counts.hpp"

namespace cambium::sparse {

namespace {

template <class V>
std::byte* write(std::byte* to, const std::vector<V>& values) {
  if (!values.empty()) std::memcpy(to, values.data(), values.size() * sizeof(V));
  return to + values.size() * sizeof(V);
}

template <class V>
const std::byte* read(const std::byte* from, std::vector<V>& values) {
  if (!values.empty()) std::memcpy(values.data(), from, values.size() * sizeof(V));
  return from + values.size() * sizeof(V);
}

}  // namespace

template <class T>
GridBlocks<T>::GridBlocks(Csr<T> own, const Comm& row)
    : own_(std::move(own)), row_(row), entries_(row.all_gather(own_.entries())) {}

template <class T>
void GridBlocks<T>::broadcast(int m, std::vector<std::byte>& bytes, Messages& messages) const {
  if (row_.size() == 1) return;
  const std::int64_t entries = entries_[at(m)];
  bytes.resize(at(entries > 0 ? bytes_of(entries) : 0));
  if (m == row_.rank() && entries > 0) {
    std::vector<std::int32_t> lengths(at(own_.rows));
    for (std::int64_t i = 0; i < own_.rows; ++i) lengths[at(i)] = static_cast<std::int32_t>(own_.length(i));
    write(write(write(bytes.data(), lengths), own_.column), own_.value);
  }
  messages.broadcast(bytes.data(), std::ssize(bytes), m, 0, entries);
}

template <class T>
const Csr<T>& GridBlocks<T>::received(int m, std::int64_t columns, const std::vector<std::byte>& bytes,
                                      Csr<T>& into) const {
  if (m == row_.rank()) return own_;
  std::vector<std::int32_t> lengths(at(own_.rows), 0);
  into.rows = own_.rows;
  into.columns = columns;
  into.column.resize(at(entries_[at(m)]));
  into.value.resize(at(entries_[at(m)]));
  if (!bytes.empty()) read(read(read(bytes.data(), lengths), into.column), into.value);
  into.start.assign(1, 0);
  for (std::int32_t length : lengths) into.start.push_back(into.start.back() + length);
  return into;
}

template class GridBlocks<double>;
template class GridBlocks<float>;

}  // namespace cambium::sparse
