#pragma once
#include <string>
#include <vector>

#include "core/plugin/result.hpp"
#include "core/train/run/applied_model.hpp"

namespace cambium::train {

/// Where predictions go; empty: not written.
struct PredictionPaths {
  std::string h5, csv;
};

/// Numbers of a sample from which on no table is written unless one is asked for.
constexpr std::int64_t most_columns = 64;
/// For these outputs, all together.
std::int64_t numbers_of(std::span<const FieldInfo> outputs);

/// Statistics of all predictions.
struct PredictionSummary {
  struct Range {
    std::string name, unit;
    double mean = 0.0, lowest = 0.0, highest = 0.0, mean_of = 0.0;
    std::int64_t not_finite = 0;  ///< numbers that are NaN or infinite, left out of the others
    void add(double value);
  };
  std::int64_t samples = 0;
  std::vector<Range> outputs;                       ///< of rank 0; the other ranks saw none
  std::vector<std::pair<TermInfo, double>> errors;  ///< where the data have labels
  std::vector<Result> results() const;
  std::vector<std::string> lines() const;
};

/// Collective: the model's answers to all samples of an open data set, in blocks of `batch` samples that are dealt out
/// to the ranks, so that a rank holds one block at a time. The same bytes in the files for any number of ranks, but for
/// their provenance. InputError as AppliedModel::outputs_of and the data set's read().
PredictionSummary apply_model(AppliedModel& model, Dataset& data, std::int64_t batch, const PredictionPaths& paths,
                              Context& context);

}  // namespace cambium::train
