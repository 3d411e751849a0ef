#pragma once
#include <cstdint>
#include <vector>

#include "core/train/kinds/batch_plan.hpp"

namespace cambium::train {

/// Pseudo-random permutation of 0..size-1 without a table: a Feistel network of 8 rounds over two digits, whose round
/// functions are counter-based random numbers. Values beyond the size are permuted again until one is inside (Black
/// and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). A pure function of (seed, epoch, position).
class FeistelOrder {
 public:
  FeistelOrder() = default;
  FeistelOrder(std::uint64_t seed, std::int64_t epoch, std::int64_t size);
  std::int64_t at(std::int64_t position) const;
  std::int64_t place_of(std::int64_t id) const;  ///< the inverse

 private:
  static constexpr int rounds = 8;
  std::uint64_t round_value(int round, std::uint64_t digit) const;

  std::uint64_t seed_ = 1, epoch_ = 0, size_ = 0;
  std::uint64_t high_ = 1, low_ = 1;  ///< numbers of values of the two digits; their product is at least the size
};

/// The order of one epoch of a plan, and its inverse. A stored order takes 4 bytes per sample for each of the two, a
/// computed one none.
class EpochOrder {
 public:
  EpochOrder() = default;
  /// Only with places; InternalError for a stored order of 2^32 samples or more.
  EpochOrder(const BatchPlan& plan, std::int64_t epoch);
  /// Makes at() available.
  void add_order();
  /// Sample at a position.
  std::int64_t at(std::int64_t position) const { return computed_ ? feistel_.at(position) : order_[position]; }
  /// Position of a sample.
  std::int64_t place_of(std::int64_t id) const { return computed_ ? feistel_.place_of(id) : place_[id]; }
  std::int64_t epoch() const { return epoch_; }  ///< -1 if there is none
  std::int64_t bytes() const;

 private:
  bool computed_ = false;
  std::int64_t epoch_ = -1;
  FeistelOrder feistel_;
  std::vector<std::uint32_t> order_, place_;
};

}  // namespace cambium::train
