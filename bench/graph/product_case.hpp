#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/core/peer_process.hpp"
#include "bench/graph/bench_matrices.hpp"

namespace cambium::graph {

/// The peers that one program has.
struct PeerProgram {
  std::unique_ptr<PeerProcess> process;
  std::vector<std::string> names;
};

/// How products are measured.
struct ProductTurns {
  int turns = 5;
  double seconds = 0.05;  ///< of one turn of one contestant, about
};

/// Number k of row i of the dense factor, and the weights by which a product is brought to one number for comparison:
/// sum over i, k of row_weight(i) * out(i, k) * column_weight(k). Peers compute the same.
double factor_number(std::int64_t i, std::int64_t k);
double row_weight(std::int64_t i);
double column_weight(std::int64_t k);

/// One matrix, width and number type T (double, float) by all contestants in turns. Results go into `out` under keys
/// that begin with `prefix`; what went wrong is added to `faults`. `copy_rate`: bytes per second of copying.
template <class T>
void measure_product(const BenchMatrix& m, std::int64_t width, const ProductTurns& turns, double copy_rate,
                     std::vector<PeerProgram>& peers, const std::string& prefix, nlohmann::json& out,
                     std::vector<std::string>& faults);

/// Bytes per second of a large copy in memory, read and written.
double copy_rate();

}  // namespace cambium::graph
