#pragma once
#include <span>
#include <vector>

#include "plugins/deepmd/datasets/sample.hpp"

namespace cambium::deepmd {

/// Samples that a data set holds in memory, numbered in the order in which they were added.
class HeldSamples {
 public:
  void add(train::SamplePtr sample) {
    bytes_ += sample->bytes;
    samples_.push_back(std::move(sample));
  }
  std::int64_t size() const { return static_cast<std::int64_t>(samples_.size()); }
  std::int64_t bytes() const { return bytes_; }
  std::vector<train::SamplePtr> at(std::span<const std::int64_t> ids) const {
    std::vector<train::SamplePtr> out;
    for (const std::int64_t id : ids) out.push_back(samples_.at(id));
    return out;
  }

 private:
  std::vector<train::SamplePtr> samples_;
  std::int64_t bytes_ = 0;
};

}  // namespace cambium::deepmd
