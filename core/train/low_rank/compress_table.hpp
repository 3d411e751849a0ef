#pragma once
#include <string>
#include <vector>

#include "core/plugin/result.hpp"
#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// Results of a stage `compress`: the layers with their ranks, and the networks that were compared.
struct CompressTable {
  struct Row {
    std::string name;
    double loss = 0.0, seconds = 0.0, predicted = 0.0;  ///< predicted: 0 where nothing was
    double time_over = 0.0;        ///< of baselines: over the chosen ranks' time, measured in turns; 0 of others
    double multiplications = 0.0;  ///< of one sample
    std::vector<std::int64_t> ranks = {};  ///< empty of whole networks
  };
  std::vector<FactorLayer> layers;  ///< whole
  std::vector<std::int64_t> ranks;  ///< that were chosen
  std::vector<Row> rows;            ///< the whole network, its products, and these and their baselines trained on
  std::int64_t samples = 0, batch = 0;
  bool counted = false;  ///< the budget is one of multiplications
  double wanted = 0.0;   ///< s, or multiplications of a sample
  std::string chosen;    ///< name of the row whose ranks they are
  std::string problem;   ///< what was asked for and not reached; empty where all was
  bool stopped = false;  ///< by a signal, before it was trained on

  /// For each row, all of which stand in the table of lines(): loss, seconds, multiplications.
  std::vector<Result> results() const;
  std::vector<std::string> lines() const;
  /// Layer by layer: rank and multiplications.
  void write(const std::string& path) const;
  /// The rows, for programs.
  std::string json() const;
};

/// Where ranks that were searched are, or lose, what equal shares do: a sentence for the summary; else nothing.
std::string gain_of_search(const CompressTable& table);

double multiplications_of(const std::vector<FactorLayer>& layers, const std::vector<std::int64_t>& ranks);

}  // namespace cambium::train
