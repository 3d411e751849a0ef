#pragma once

namespace cambium {

/// One turn: an amount per second, of the calling rank.
template <class T>
double one_gemm_rate(int n);  ///< flops/s
template <class T>
double vector_rate();  ///< flops/s of multiply-adds on independent packs
/// bytes/s of a = b + s c, the best of `turns`, with 64 MiB in each array; write-allocate traffic of `a` is not
/// counted.
double triad_rate(int turns);

}  // namespace cambium
