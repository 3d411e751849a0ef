#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"
#include "core/train/low_rank/search_ranks.hpp"

namespace cambium::train {

/// Keys of the stage `compress`.
struct CompressKeys {
  enum class Choose { better, table, search };  ///< ranks to be fine-tuned
  struct FineTune {
    std::int64_t steps = 1000, batch = 32;
    double learning_rate = 1e-3;
    static void describe(deck::Describe<FineTune>& d);
  };
  /// Training from scratch of the smaller network that is the baseline of the low-rank one.
  struct FromScratch {
    std::optional<std::int64_t> steps;
    double learning_rate = 3e-3;
    static void describe(deck::Describe<FromScratch>& d);
  };
  std::string model;
  deck::Choice<Dataset> dataset;
  std::optional<deck::Choice<Dataset>> validation;
  std::optional<double> budget, latency;  ///< fraction of the time; s
  std::optional<double> multiplications;  ///< fraction of the full network's
  std::int64_t samples = 256, batch = 32, multiple = 8;
  Choose choose = Choose::better;
  SearchKeys search;
  std::optional<FineTune> fine_tune;
  std::vector<std::string> against;
  FromScratch from_scratch;
  std::optional<double> accept;
  static void describe(deck::Describe<CompressKeys>& d);
};

}  // namespace cambium::train
