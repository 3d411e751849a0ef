#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/tensor_ref.hpp"

namespace cambium::train {

/// Numbers of samples in the device's memory, a row for each: its fields one after the other, in the type of a network
/// (f64 or f32). Brought once; batches are gathered by their rows' numbers.
class ResidentRows {
 public:
  /// Room for so many rows of fields of these widths; four fields at most.
  ResidentRows(DType dtype, std::int64_t rows, std::vector<std::int64_t> widths);
  ~ResidentRows();

  std::int64_t row_numbers() const;  ///< of one row
  /// Brings rows that stand side by side on the host.
  void bring(std::int64_t first, std::int64_t count, const void* host);
  /// Starts to write to `into` (all on the device) the first field of each chosen row, then the second of each, and so
  /// on: count x its width.
  void gather(const std::int32_t* rows, std::int64_t count, void* into) const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// Numbers of rows in the device's memory, such as the order of an epoch.
class RowNumbers {
 public:
  RowNumbers();
  ~RowNumbers();
  /// Brings other ones; a kernel that reads those before is done by then.
  void bring(const std::vector<std::int32_t>& host);
  const std::int32_t* data() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace cambium::train
