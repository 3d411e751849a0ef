#pragma once
#include <string>
#include <vector>

#include "core/plugin/result.hpp"
#include "core/train/run/applied_model.hpp"

namespace cambium::train {

/// Output files of predictions; empty: not written.
struct PredictionPaths {
  std::string h5, csv;
};

/// Values per sample above which a table is written only on request.
constexpr std::int64_t most_columns = 64;
/// Total of these outputs.
std::int64_t numbers_of(std::span<const FieldInfo> outputs);

/// Statistics of all predictions.
struct PredictionSummary {
  struct Range {
    std::string name, unit;
    double mean = 0.0, lowest = 0.0, highest = 0.0, mean_of = 0.0;
    std::int64_t not_finite = 0;  ///< NaN or infinite values, excluded from the other statistics
    void add(double value);
  };
  std::int64_t samples = 0;
  std::vector<Range> outputs;                       ///< on rank 0; empty on the other ranks
  std::vector<std::pair<TermInfo, double>> errors;  ///< if the data have labels
  std::vector<Result> results() const;
  std::vector<std::string> lines() const;
};

/// Collective: predictions for all samples of an open data set, in blocks of `batch` samples that are assigned to
/// ranks, so that a rank holds one block at a time. Files are identical for any number of ranks except for their
/// provenance. InputError as AppliedModel::outputs_of and the data set's read().
PredictionSummary apply_model(AppliedModel& model, Dataset& data, std::int64_t batch, const PredictionPaths& paths,
                              Context& context);

}  // namespace cambium::train
