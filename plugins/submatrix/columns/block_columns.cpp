#include "plugins/submatrix/columns/block_columns.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::submatrix {

BlockLayout::BlockLayout(std::vector<int> sizes) : size_(std::move(sizes)), offset_{0} {
  offset_.reserve(size_.size() + 1);
  for (int size : size_) {
    if (size <= 0) throw InternalError("BlockLayout: a block of size " + std::to_string(size));
    offset_.push_back(offset_.back() + size);
    largest_ = std::max(largest_, size);
  }
}

int ColumnRanges::owner(int column) const {
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), column) - first.begin()) - 1;
}

ColumnRanges ColumnRanges::balanced(std::span<const double> cost, int ranks) {
  double total = 0.0;
  for (double c : cost) total += c;
  ColumnRanges out;
  double sum = 0.0;
  int column = 0;
  const int n = static_cast<int>(cost.size());
  for (int rank = 1; rank < ranks; ++rank) {
    // A column belongs to the range that contains its midpoint.
    while (column < n && sum + 0.5 * cost[column] < total * rank / ranks) sum += cost[column++];
    out.first.push_back(column);
  }
  out.first.push_back(n);
  return out;
}

void BlockColumns::start_column(int column) {
  if (!columns_.empty() && column <= columns_.back()) throw InternalError("BlockColumns: columns must ascend");
  columns_.push_back(column);
  begin_.push_back(begin_.back());
}

double* BlockColumns::add_block(int row) {
  if (begin_.back() > begin_[begin_.size() - 2] && row <= row_.back())
    throw InternalError("BlockColumns: rows must ascend");
  row_.push_back(row);
  offset_.push_back(static_cast<std::int64_t>(value_.size()));
  value_.resize(value_.size() + static_cast<std::size_t>(layout_->size(row) * layout_->size(columns_.back())), 0.0);
  ++begin_.back();
  return value_.data() + offset_.back();
}

void BlockColumns::add_block(int row, const double* values) {
  double* out = add_block(row);
  std::copy_n(values, layout_->size(row) * layout_->size(columns_.back()), out);
}

void BlockColumns::reserve(const BlockColumns& like) {
  row_.reserve(like.row_.size());
  offset_.reserve(like.row_.size());
  value_.reserve(like.value_.size());
}

BlockColumns BlockColumns::from_parts(std::shared_ptr<const BlockLayout> layout, std::span<const int> index,
                                      std::vector<double> values) {
  BlockColumns out(std::move(layout));
  std::int64_t at = 0;
  for (std::size_t k = 0; k < index.size();) {
    const int id = index[k++], count = index[k++];
    out.columns_.push_back(id);
    for (int e = 0; e < count; ++e, ++k) {
      out.row_.push_back(index[k]);
      out.offset_.push_back(at);
      at += out.layout_->size(index[k]) * out.layout_->size(id);
    }
    out.begin_.push_back(static_cast<std::int64_t>(out.row_.size()));
  }
  if (at != static_cast<std::int64_t>(values.size()))
    throw InternalError("block columns: the values do not fit the index");
  out.value_ = std::move(values);
  out.finish();
  return out;
}

void BlockColumns::finish() {
  norm_.resize(row_.size());
  for (std::size_t e = 0; e < row_.size(); ++e) {
    const std::size_t end = e + 1 < row_.size() ? static_cast<std::size_t>(offset_[e + 1]) : value_.size();
    double sum = 0.0;
    for (auto k = static_cast<std::size_t>(offset_[e]); k < end; ++k) sum += value_[k] * value_[k];
    norm_[e] = std::sqrt(sum);
  }
}

std::int64_t BlockColumns::bytes() const {
  return static_cast<std::int64_t>(8 * (value_.size() + norm_.size() + offset_.size() + begin_.size()) +
                                   4 * (row_.size() + columns_.size()));
}

int BlockColumns::find(int column) const {
  // Most sets are one contiguous range.
  if (columns_.empty()) return -1;
  const int guess = column - columns_.front();
  if (guess >= 0 && guess < std::ssize(columns_) && columns_[guess] == column) return guess;
  const auto at = std::lower_bound(columns_.begin(), columns_.end(), column);
  return at != columns_.end() && *at == column ? static_cast<int>(at - columns_.begin()) : -1;
}

BlockColumn BlockColumns::at(int position) const {
  const auto first = static_cast<std::size_t>(begin_[position]);
  const auto last = static_cast<std::size_t>(begin_[static_cast<std::size_t>(position) + 1]);
  return {{row_.data() + first, last - first}, offset_.data() + first, value_.data(), norm_.data() + first};
}

const double* BlockColumns::block(int row, int column) const {
  const int position = find(column);
  if (position < 0) return nullptr;
  const BlockColumn c = at(position);
  const auto found = std::lower_bound(c.rows.begin(), c.rows.end(), row);
  if (found == c.rows.end() || *found != row) return nullptr;
  return c.block(static_cast<std::size_t>(found - c.rows.begin()));
}

BlockColumns filtered(const BlockColumns& matrix, double threshold) {
  BlockColumns out(matrix.shared_layout());
  out.reserve(matrix);
  for (std::size_t k = 0; k < matrix.columns().size(); ++k) {
    const int column = matrix.columns()[k];
    const BlockColumn c = matrix.at(static_cast<int>(k));
    out.start_column(column);
    bool diagonal = false;
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      if (!diagonal && c.rows[e] >= column) {
        diagonal = true;
        if (c.rows[e] > column) out.add_block(column);
      }
      if (c.norms[e] >= threshold || c.rows[e] == column) out.add_block(c.rows[e], c.block(e));
    }
    if (!diagonal) out.add_block(column);
  }
  out.finish();
  return out;
}

}  // namespace cambium::submatrix
