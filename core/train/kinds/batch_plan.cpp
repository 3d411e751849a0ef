#include "core/train/kinds/batch_plan.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel/random.hpp"

namespace cambium::train {

template <class T>
std::vector<T> shuffled(std::uint64_t seed, std::int64_t epoch, std::int64_t samples) {
  std::vector<T> order(samples);
  std::iota(order.begin(), order.end(), T{0});
  for (std::int64_t k = samples - 1; k > 0; --k) {
    const Random4 random(seed, Stream::shuffle, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(epoch));
    // 64 random bits modulo k + 1: the bias is below (k + 1) / 2^64.
    const std::uint64_t bits = static_cast<std::uint64_t>(random.bits[0]) << 32 | random.bits[1];
    std::swap(order[k], order[bits % static_cast<std::uint64_t>(k + 1)]);
  }
  return order;
}

template std::vector<std::int64_t> shuffled(std::uint64_t, std::int64_t, std::int64_t);
template std::vector<std::uint32_t> shuffled(std::uint64_t, std::int64_t, std::int64_t);

std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::int64_t epoch, std::int64_t samples) {
  return shuffled<std::int64_t>(seed, epoch, samples);
}

std::span<const std::int64_t> batch_of(const BatchPlan& plan, std::span<const std::int64_t> order, std::int64_t step) {
  const std::int64_t first = step % plan.steps_per_epoch() * plan.batch;
  const std::int64_t last = std::min(first + plan.batch, plan.samples);
  return order.subspan(first, static_cast<std::size_t>(last - first));
}

std::vector<std::pair<std::int64_t, std::int64_t>> slices_of(const BatchPlan& plan, std::int64_t batch_size) {
  const std::int64_t all = plan.all_slices();
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (std::int64_t own = 0; own < plan.own_slices(); ++own) {
    const std::int64_t k = std::min(plan.slice_number(own), all);
    if (k == all)
      out.emplace_back(batch_size, batch_size);
    else
      out.emplace_back(batch_size * k / all, batch_size * (k + 1) / all);
  }
  return out;
}

}  // namespace cambium::train
