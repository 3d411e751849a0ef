#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plugin/result.hpp"
#include "core/train/kinds/batch_plan.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Local part of one global batch.
struct Batch {
  std::int64_t step = 0;     ///< counted from 0
  std::int64_t epoch = 0;    ///< counted from 0
  std::int64_t samples = 0;  ///< of the global batch on all ranks; the gradient is divided by it
  /// Samples of this rank, in the order in which the gradients of slices are added. Slices may be empty.
  std::vector<std::vector<SamplePtr>> slices;
};

/// Indices of a batch's samples in the data set, for callers that already have the samples.
struct BatchNumbers {
  std::int64_t epoch = 0, samples = 0;                        ///< as in Batch
  std::span<const std::int64_t> order;                        ///< of the entire epoch, valid until the next call
  std::vector<std::pair<std::int64_t, std::int64_t>> slices;  ///< this rank's, as [first, last) of `order`
};

/// Counters of a loader on this rank, for the run summary.
struct LoaderCounts {
  std::int64_t samples = 0;       ///< delivered
  std::int64_t from_buffer = 0;   ///< of these, found in the buffer
  std::int64_t bytes_read = 0;    ///< from storage
  std::int64_t bytes_needed = 0;  ///< values of the samples that were read because a batch needed them
  std::int64_t reads = 0;         ///< planned reads from storage: chunks, or samples that are not stored in chunks
  double waited = 0.0;            ///< s that the trainer waited for data
};

/// Delivers samples of a data set to the trainer. The plan alone determines which samples make up a global batch and,
/// if ordered, to which slice each belongs. Otherwise a loader may assign the samples of a global batch to other ranks
/// than slices_of() does, as long as each is computed once: the reduction is weighted by samples.
class Loader {
 public:
  using Kind = Loader;
  static constexpr std::string_view kind = "loader";
  virtual ~Loader() = default;

  /// Once, on every rank, before the first batch(). `data` outlives the loader.
  virtual void open(Dataset& data, const BatchPlan& plan, Context&) = 0;
  /// Batch of this step. Steps are requested in order, starting anywhere (a resumed run): the step is the loader's only
  /// state, so nothing else needs to be saved.
  virtual Batch batch(std::int64_t step) = 0;
  /// Indices only, without the samples; none from a loader that reassigns or reorders samples.
  virtual std::optional<BatchNumbers> numbers(std::int64_t /*step*/) { return std::nullopt; }
  virtual LoaderCounts counts() const { return {}; }
  /// Bytes read and waiting time. Collective.
  virtual std::vector<Result> results(Context&) const { return {}; }
};

}  // namespace cambium::train
