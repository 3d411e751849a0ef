#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/codec/bytes.hpp"
#include "core/parallel/comm.hpp"
#include "core/train/tables/row_store.hpp"

namespace cambium::train {

/// Error-bounded messages of rows (core/codec/rows), with one bound per table that decreases over the steps. Results do
/// not depend on the number of ranks: local rows are changed by the same code.
template <class T>
class RowCoding {
 public:
  /// Tables must outlive this. InputError for a bound of an unknown table.
  RowCoding(std::span<const TableInfo> tables, const RowCodeKeys& keys);

  /// Collective, at the start of each step: updates its bounds. Periodically tables are classified again by how many of
  /// their first rows become equal within the bound (1 - different rows quantised / different rows; Feng et al., SC24).
  void begin_step(const RowStore<T>& store, const TablePlaces& places, const Comm& comm);
  double bound(std::size_t table) const { return bounds_[table]; }

  /// Positions of the rows of each table in an array, in message order.
  using Found = std::vector<std::vector<std::int64_t>>;
  /// `rows` are replaced by the values that decode() returns on the receiver.
  void encode(const Found& found, T* rows, lowp::ByteWriter& out);
  void decode(const Found& found, std::span<const std::byte> bytes, T* rows) const;

  bool codes_gradients() const { return keys_.gradients.has_value(); }
  /// Collective, before the gradients of a step are encoded: bounds relative to the largest gradient of each table on
  /// any rank. `largest`: of this rank, by table.
  void begin_gradients(std::vector<double> largest, const Comm& comm);
  /// `gradients` are replaced by the values that decode() returns on the receiver.
  void encode_gradients(const Found& found, T* gradients, lowp::ByteWriter& out) const;

  /// State in files for a restart: the step, and each table's factor.
  std::vector<double> state() const;
  void restore(const std::vector<double>& state);
  double bytes_before() const { return before_; }
  double bytes_after() const { return after_; }
  /// Current bounds, and how many tables have 1, 3 and 5 times the smallest one.
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
  std::vector<double> own_;       ///< bounds given for a table by name; 0: none
  std::vector<char> references_;  ///< repeated rows of a table are sent as references: fewer bytes in the last trial
  double before_ = 0.0, after_ = 0.0;
};

extern template class RowCoding<double>;
extern template class RowCoding<float>;

}  // namespace cambium::train
