#include "core/train/kinds/epoch_order.hpp"

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::train {

constexpr Stream computed_stream = stream("train.computed_order");

FeistelOrder::FeistelOrder(std::uint64_t seed, std::int64_t epoch, std::int64_t size)
    : seed_(seed), epoch_(static_cast<std::uint64_t>(epoch)), size_(static_cast<std::uint64_t>(size)) {
  if (size <= 1) return;
  high_ = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(size))));
  low_ = (size_ + high_ - 1) / high_;
}

/// 64 random bits of a round, addressed by the digit that it leaves unchanged.
std::uint64_t FeistelOrder::round_value(int round, std::uint64_t digit) const {
  const Random4 random(seed_, computed_stream, digit, epoch_ * rounds + static_cast<std::uint64_t>(round));
  return static_cast<std::uint64_t>(random.bits[0]) << 32 | random.bits[1];
}

std::int64_t FeistelOrder::at(std::int64_t position) const {
  auto value = static_cast<std::uint64_t>(position);
  do {
    std::uint64_t high = value / low_, low = value % low_;
    for (int round = 0; round < rounds; round += 2) {
      high = (high + round_value(round, low) % high_) % high_;
      low = (low + round_value(round + 1, high) % low_) % low_;
    }
    value = high * low_ + low;
  } while (value >= size_);
  return static_cast<std::int64_t>(value);
}

std::int64_t FeistelOrder::place_of(std::int64_t id) const {
  auto value = static_cast<std::uint64_t>(id);
  do {
    std::uint64_t high = value / low_, low = value % low_;
    for (int round = rounds - 2; round >= 0; round -= 2) {
      low = (low + low_ - round_value(round + 1, high) % low_) % low_;
      high = (high + high_ - round_value(round, low) % high_) % high_;
    }
    value = high * low_ + low;
  } while (value >= size_);
  return static_cast<std::int64_t>(value);
}

static std::vector<std::uint32_t> inverse(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::uint32_t>(k);
  return place;
}

EpochOrder::EpochOrder(const BatchPlan& plan, std::int64_t epoch)
    : computed_(plan.permutation == BatchPlan::Permutation::computed), epoch_(epoch) {
  if (computed_) {
    feistel_ = FeistelOrder(plan.seed, epoch, plan.samples);
    return;
  }
  if (plan.samples > std::numeric_limits<std::uint32_t>::max())
    throw InternalError("a stored order has 2^32 samples or more");
  place_ = inverse(shuffled<std::uint32_t>(plan.seed, epoch, plan.samples));
}

void EpochOrder::add_order() {
  if (!computed_ && order_.empty()) order_ = inverse(place_);
}

std::int64_t EpochOrder::bytes() const {
  return static_cast<std::int64_t>((order_.capacity() + place_.capacity()) * sizeof(std::uint32_t));
}

}  // namespace cambium::train
