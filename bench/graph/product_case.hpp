#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/core/peer_process.hpp"
#include "bench/graph/bench_matrices.hpp"

namespace cambium::graph {

/// The reference implementations of one program.
struct PeerProgram {
  std::unique_ptr<PeerProcess> process;
  std::vector<std::string> names;
};

/// Timing of products.
struct ProductTurns {
  int turns = 5;
  double seconds = 0.05;  ///< of one turn of one contestant, about
};

/// Entry k of row i of the dense factor, and the weights of the projection by which products are compared: sum over i,
/// k of row_weight(i) * out(i, k) * column_weight(k). Reference implementations compute the same.
double factor_number(std::int64_t i, std::int64_t k);
double row_weight(std::int64_t i);
double column_weight(std::int64_t k);

/// One matrix, width and value type T (double, float) by all contestants, interleaved. Results go into `out` under keys
/// that begin with `prefix`; errors are added to `faults`. `copy_rate`: bytes per second of copying.
template <class T>
void measure_product(const BenchMatrix& m, std::int64_t width, const ProductTurns& turns, double copy_rate,
                     std::vector<PeerProgram>& peers, const std::string& prefix, nlohmann::json& out,
                     std::vector<std::string>& faults);

/// Bytes per second of a large copy in memory, read and written.
double copy_rate();

}  // namespace cambium::graph
