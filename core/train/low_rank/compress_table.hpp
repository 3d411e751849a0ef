#pragma once
#include <string>
#include <vector>

#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// What a stage `compress` found: the layers with their ranks, and the networks that were compared.
struct CompressTable {
  struct Row {
    std::string name;
    double loss = 0.0, seconds = 0.0, predicted = 0.0;  ///< predicted: 0 where nothing was
    double multiplications = 0.0;                       ///< of one sample
  };
  std::vector<FactorLayer> layers;  ///< whole
  std::vector<std::int64_t> ranks;
  std::vector<Row> rows;  ///< the whole network, its factors, rivals of the same time, the factors trained on
  std::int64_t samples = 0, batch = 0;
  std::string problem;   ///< what was asked for and not reached; empty where all was
  bool stopped = false;  ///< by a signal, before it was trained on

  std::vector<std::string> lines() const;
  /// Layer by layer: rank and multiplications.
  void write(const std::string& path) const;
};

double multiplications_of(const std::vector<FactorLayer>& layers, const std::vector<std::int64_t>& ranks);

/// Rivals: the same share of every layer, the largest whose time is predicted to be within `seconds`; empty where there
/// is none.
std::vector<std::size_t> equal_shares(const CostTable& table, double seconds);

}  // namespace cambium::train
