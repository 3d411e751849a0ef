#pragma once
#include <string>
#include <vector>

#include "core/plugin/result.hpp"
#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// Results of a stage `compress`: layers with their ranks, and the compared networks.
struct CompressTable {
  struct Row {
    std::string name;
    double loss = 0.0, seconds = 0.0, predicted = 0.0;  ///< predicted: 0 if there is no prediction
    double time_over = 0.0;        ///< of baselines: relative to the chosen ranks, interleaved runs; 0 for others
    double multiplications = 0.0;  ///< per sample
    std::vector<std::int64_t> ranks = {};  ///< empty for unfactored networks
  };
  std::vector<FactorLayer> layers;  ///< unfactored
  std::vector<std::int64_t> ranks;  ///< chosen ranks
  std::vector<Row> rows;  ///< the full network, its low-rank form, then the latter and its baselines after fine-tuning
  std::int64_t samples = 0, batch = 0;
  bool counted = false;  ///< the budget counts multiplications
  double wanted = 0.0;   ///< budget in s, or multiplications per sample
  std::string chosen;    ///< name of the row with the chosen ranks
  std::string problem;   ///< unmet requirement; empty if all are met
  bool stopped = false;  ///< by a signal, before fine-tuning

  /// For each row, all of which appear in the table of lines(): loss, seconds, multiplications.
  std::vector<Result> results() const;
  std::vector<std::string> lines() const;
  /// Writes rank and multiplications, layer by layer.
  void write(const std::string& path) const;
  /// Rows in machine-readable form.
  std::string json() const;
};

/// Sentence for the summary if the chosen ranks equal those of equal fractions or have no lower loss; else empty.
std::string gain_of_search(const CompressTable& table);

double multiplications_of(const std::vector<FactorLayer>& layers, const std::vector<std::int64_t>& ranks);

}  // namespace cambium::train
