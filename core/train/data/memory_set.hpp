#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// One array of a host program: samples along the first axis, any strides.
struct HostArray {
  std::string name;
  TensorRef values;  ///< host memory
  std::string unit;  ///< empty if dimensionless
};

/// Data set of samples given as arrays, numbered from 0; copied into its own memory.
class MemorySet : public Dataset {
 public:
  /// InputError if the arrays differ in their number of samples, or are not numeric host arrays.
  explicit MemorySet(std::span<const HostArray> arrays);
  /// Collective: the samples of all ranks, in rank order, on every rank.
  static MemorySet gathered(const MemorySet& own, const Comm& comm);

  void open(Context&) override {}
  std::int64_t size() const override { return std::ssize(samples_); }
  std::vector<FieldInfo> fields() const override { return fields_; }
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override;
  Origin origin() const override { return Origin::memory; }
  bool plain() const override { return true; }
  const std::vector<SamplePtr>& samples() const { return samples_; }

 private:
  MemorySet() = default;
  SamplePtr sample_from(const std::vector<char>& bytes, std::size_t at, std::int64_t id) const;
  std::size_t sample_bytes() const;

  std::vector<FieldInfo> fields_;
  std::vector<SamplePtr> samples_;
};

}  // namespace cambium::train
