#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/tensor_ref.hpp"

namespace cambium::train {

/// Samples in device memory, one row each: its fields one after the other, in the network's type (f64 or f32). Copied
/// once; batches are gathered by row indices.
class ResidentRows {
 public:
  /// Memory for this number of rows of fields with these widths; at most four fields.
  ResidentRows(DType dtype, std::int64_t rows, std::vector<std::int64_t> widths);
  ~ResidentRows();

  std::int64_t row_numbers() const;  ///< per row
  /// Copies rows that are contiguous on the host.
  void bring(std::int64_t first, std::int64_t count, const void* host);
  /// Starts to copy to `into` (all on the device) the first field of each chosen row, then the second of each, and so
  /// on: count x its width. Asynchronous.
  void gather(const std::int32_t* rows, std::int64_t count, void* into) const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// Row indices in device memory, such as the order of an epoch.
class RowNumbers {
 public:
  RowNumbers();
  ~RowNumbers();
  /// Copies new indices; kernels that read the previous ones have finished by then.
  void bring(const std::vector<std::int32_t>& host);
  const std::int32_t* data() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace cambium::train
