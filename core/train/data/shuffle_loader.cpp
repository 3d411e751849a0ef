#include "core/train/data/shuffle_loader.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/timing.hpp"
#include "core/train/kinds/epoch_order.hpp"

namespace cambium::train {

void ShuffleLoader::open(Dataset& data, const BatchPlan& plan, Context&) {
  data_ = &data;
  plan_ = plan;
}

/// Reads in sorted order and returns samples in the requested order.
std::vector<SamplePtr> ShuffleLoader::read(std::span<const std::int64_t> ids) {
  std::vector<std::size_t> place(ids.size());
  std::iota(place.begin(), place.end(), std::size_t{0});
  std::stable_sort(place.begin(), place.end(), [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
  std::vector<std::int64_t> sorted;
  for (std::size_t k : place) sorted.push_back(ids[k]);
  const auto found = data_->read(sorted);
  std::vector<SamplePtr> out(ids.size());
  for (std::size_t k = 0; k < place.size(); ++k) out[place[k]] = found[k];
  return out;
}

std::optional<BatchNumbers> ShuffleLoader::numbers(std::int64_t step) {
  if (plan_.permutation == BatchPlan::Permutation::computed) return std::nullopt;
  BatchNumbers out;
  out.epoch = plan_.epoch_of(step);
  if (out.epoch != epoch_) order_ = epoch_order(plan_.seed, epoch_ = out.epoch, plan_.samples);
  out.order = order_;
  const auto ids = batch_of(plan_, order_, step);
  out.samples = std::ssize(ids);
  const std::int64_t first = ids.data() - order_.data();
  for (const auto& [from, to] : slices_of(plan_, out.samples)) out.slices.emplace_back(first + from, first + to);
  return out;
}

Batch ShuffleLoader::batch(std::int64_t step) {
  const double start = wall_seconds();
  Batch out;
  out.step = step;
  out.epoch = plan_.epoch_of(step);
  const std::int64_t begin = step % plan_.steps_per_epoch() * plan_.batch;
  out.samples = std::min(plan_.batch, plan_.samples - begin);
  // The slices of a rank are contiguous: one read returns them all.
  const auto slices = slices_of(plan_, out.samples);
  const auto first = slices.front().first;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(slices.back().second - first));
  if (const auto numbers = this->numbers(step)) {
    std::copy_n(numbers->order.begin() + begin + first, ids.size(), ids.begin());
  } else {
    const EpochOrder order(plan_, out.epoch);
    for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = order.at(begin + first + static_cast<std::int64_t>(k));
  }
  const auto mine = read(ids);
  for (const auto& [from, to] : slices)
    out.slices.emplace_back(mine.begin() + (from - first), mine.begin() + (to - first));
  counts_.samples += std::ssize(mine);
  counts_.waited += wall_seconds() - start;
  return out;
}

LoaderCounts ShuffleLoader::counts() const {
  LoaderCounts out = counts_;
  out.bytes_read = data_ ? data_->bytes_read() : 0;
  return out;
}

}  // namespace cambium::train
