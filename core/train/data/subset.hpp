#pragma once
#include "core/train/kinds/has_conditions.hpp"

namespace cambium::train {

/// Subset of a data set, numbered in the order of its ids. A sample keeps its id.
class Subset : public Dataset, public HasConditions {
 public:
  /// `ids` in ascending order. `whole` must be open and outlive it.
  Subset(Dataset& whole, std::vector<std::int64_t> ids) : whole_(whole), ids_(std::move(ids)) {}
  const Dataset& whole() const { return whole_; }
  void open(Context&) override {}
  std::int64_t size() const override { return std::ssize(ids_); }
  std::vector<FieldInfo> fields() const override { return whole_.fields(); }
  std::vector<SamplePtr> read(std::span<const std::int64_t> numbers) override;
  /// The samples of the subset in a chunk of the whole set, which lie between its ids.
  std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t number) const override;
  Origin origin() const override { return whole_.origin(); }
  bool plain() const override { return whole_.plain(); }
  std::int64_t most_packed_bytes() const override { return whole_.most_packed_bytes(); }
  std::int64_t bytes_read() const override { return whole_.bytes_read(); }
  std::vector<Citation> citations() const override { return whole_.citations(); }
  std::vector<Condition> conditions() const override { return conditions_of(whole_); }

 private:
  Dataset& whole_;
  std::vector<std::int64_t> ids_;
};

/// Ids of a random fraction of the samples and of the others, both ascending; a function of the seed.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> hold_out(std::uint64_t seed, std::int64_t samples,
                                                                         double share);

}  // namespace cambium::train
