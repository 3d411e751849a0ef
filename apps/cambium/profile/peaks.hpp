#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/recorder.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Peaks of the machine for one rank while all ranks work: measured with this program's own kernels.
struct Peaks {
  double matrix_double = 0.0, matrix_float = 0.0;  ///< flops/s of gemm() on matrices of 768 rows
  double vector_double = 0.0, vector_float = 0.0;  ///< flops/s of multiply-adds that stay in registers
  double memory = 0.0;                             ///< bytes/s of a triad that no cache holds: two read, one written
  double network = 0.0;                            ///< bytes/s of 1 MiB messages, both directions at once; 0 for one
                                                   ///< rank
  double files = 0.0;                              ///< bytes/s of 16 MiB brought to the disk, by one rank
  bool stored = false;                             ///< taken from those stored by an earlier run

  /// The peak that bounds a row (matrix, vector, memory, messages, files), and the seconds that its amounts take there;
  /// no name and 0 if nothing is counted.
  struct Roof {
    std::string_view name;
    double seconds = 0.0;
  };
  Roof roof(const Recorder::Row& row) const;
  double floor(const Recorder::Row& row) const { return roof(row).seconds; }
};

/// Collective, the same on every rank. The first four and the memory are measured once per machine (CPU, BLAS, number
/// of ranks) and stored in $XDG_CACHE_HOME/cambium/peaks.json (~/.cache if that is not set; nowhere if it cannot be
/// written); network and files are measured now.
Peaks machine_peaks(const Context& context);

nlohmann::json to_json(const Peaks& peaks);

/// Flops/s of gemm() on square matrices of n rows, the best of `turns`. T: double or float.
template <class T>
double gemm_rate(int n, int turns);

}  // namespace cambium
