#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/codec/bytes.hpp"
#include "core/parallel/comm.hpp"
#include "core/train/tables/row_store.hpp"

namespace cambium::train {

/// Rows in messages within error bounds (core/codec/rows), one for each table, which fall over the steps. Which rows
/// a step sees does not depend on the number of ranks: those that a rank holds itself change by the same code.
template <class T>
class RowCoding {
 public:
  /// Tables outlive this. InputError for bounds of a table that is not one of them.
  RowCoding(std::span<const TableInfo> tables, const RowCodeKeys& keys);

  /// Collective, at the begin of each step: its bounds. Now and then tables are sorted anew by how many of their first
  /// rows become equal by the bound (1 - different rows quantised / different rows; Feng et al., SC24).
  void begin_step(const RowStore<T>& store, const TablePlaces& places, const Comm& comm);
  double bound(std::size_t table) const { return bounds_[table]; }

  /// Where the rows of each table lie in an array, in the order of the message.
  using Found = std::vector<std::vector<std::int64_t>>;
  /// `rows` become what decode() gives on the other side.
  void encode(const Found& found, T* rows, lowp::ByteWriter& out);
  void decode(const Found& found, std::span<const std::byte> bytes, T* rows) const;

  bool codes_gradients() const { return keys_.gradients.has_value(); }
  /// Collective, before the gradients of a step are encoded: bounds by the largest of each table on any rank.
  /// `largest`: of this rank, by table.
  void begin_gradients(std::vector<double> largest, const Comm& comm);
  /// `gradients` become what decode() gives on the other side.
  void encode_gradients(const Found& found, T* gradients, lowp::ByteWriter& out) const;

  /// State in files from which a training resumes: the step, and each table's factor.
  std::vector<double> state() const;
  void restore(const std::vector<double>& state);
  double bytes_before() const { return before_; }
  double bytes_after() const { return after_; }
  /// Bounds as of now, and how many tables have 1, 3 and 5 of the least one.
  std::string text() const;

 private:
  void sort_tables(const RowStore<T>& store, const TablePlaces& places, const Comm& comm);
  void choose_references(std::size_t table, std::vector<T> rows);
  std::vector<std::vector<T>> gathered(const Found& found, const T* rows) const;
  void scatter(const Found& found, const std::vector<std::vector<T>>& values, T* rows) const;

  std::span<const TableInfo> tables_;
  RowCodeKeys keys_;
  std::int64_t step_ = 0;
  std::vector<double> factor_, bounds_, gradient_bounds_;
  std::vector<double> own_;       ///< bounds that a table was given by name; 0: none
  std::vector<char> references_;  ///< repeated rows of a table are references: fewer bytes by the last trial
  double before_ = 0.0, after_ = 0.0;
};

extern template class RowCoding<double>;
extern template class RowCoding<float>;

}  // namespace cambium::train
