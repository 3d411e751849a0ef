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

/// Part of one rank in one global batch.
struct Batch {
  std::int64_t step = 0;     ///< counted from 0
  std::int64_t epoch = 0;    ///< counted from 0
  std::int64_t samples = 0;  ///< of the global batch on all ranks: what the gradient is divided by
  /// This rank's share, in the order in which the slices' gradients are added. Slices may be empty.
  std::vector<std::vector<SamplePtr>> slices;
};

/// Which samples make up a batch, by their numbers in the data set, for those who have the samples already.
struct BatchNumbers {
  std::int64_t epoch = 0, samples = 0;                        ///< as in Batch
  std::span<const std::int64_t> order;                        ///< of the whole epoch, until the next call
  std::vector<std::pair<std::int64_t, std::int64_t>> slices;  ///< this rank's, as [first, last) of `order`
};

/// Counters of a loader on this rank, for the end-of-run page.
struct LoaderCounts {
  std::int64_t samples = 0;      ///< handed out
  std::int64_t from_buffer = 0;  ///< of these, found in memory
  std::int64_t bytes_read = 0;   ///< from storage
  double waited = 0.0;           ///< s that the trainer waited for data
};

/// Brings samples from a data set to the trainer. Which samples make up a global batch is fixed by the plan alone; with
/// an ordered plan also which slice they belong to. Otherwise a loader may hand the samples of one global batch to
/// other ranks than slices_of() says, as long as each is computed once: the reduction is weighted by samples.
class Loader {
 public:
  using Kind = Loader;
  static constexpr std::string_view kind = "loader";
  virtual ~Loader() = default;

  /// Once, on every rank, before the first batch(). `data` outlives the loader.
  virtual void open(Dataset& data, const BatchPlan& plan, Context&) = 0;
  /// The batch of this step. Steps are asked for in order, beginning anywhere (a resumed run): the position of a loader
  /// is the step, nothing else needs saving.
  virtual Batch batch(std::int64_t step) = 0;
  /// The same without the samples; none from a loader that hands them to other ranks or in another order.
  virtual std::optional<BatchNumbers> numbers(std::int64_t /*step*/) { return std::nullopt; }
  virtual LoaderCounts counts() const { return {}; }
  /// Bytes read, and time waited. Collective.
  virtual std::vector<Result> results(Context&) const { return {}; }
};

}  // namespace cambium::train
