#pragma once
#include <cstdint>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Positions of a network's tensors in a flat buffer. Tensors keep the network's order and begin at multiples of 16
/// elements (of `alignment` if larger), so they are aligned to 64 bytes in float32 and float64. Runs of tensors form
/// groups (buckets of the reduction); a group's length is a multiple of `padding` elements. Padding is always zero.
class FlatLayout {
 public:
  struct Tensor {
    ParameterInfo info;
    std::int64_t offset = 0, elements = 0;
    int group = 0;
  };
  struct Group {
    std::int64_t begin = 0, end = 0;  ///< elements
    int first = 0, last = 0;  ///< tensors first..last-1; for a group given as a list, 0 and the number of tensors
    std::int64_t elements() const { return end - begin; }
  };

  /// Groups hold at most `group_elements`, or one larger tensor. Group 0 holds the last tensors, since back-propagation
  /// finishes them first.
  FlatLayout(std::vector<ParameterInfo> parameters, std::int64_t group_elements, std::int64_t padding = 64,
             std::int64_t alignment = 16);

  /// Given groups: each a list of tensors in ascending order, every tensor in exactly one group.
  FlatLayout(std::vector<ParameterInfo> parameters, const std::vector<std::vector<int>>& groups, std::int64_t padding,
             std::int64_t alignment = 16);
  /// Layout of the elements [begin, end) of another layout: the parts of its tensors in that range, in one group.
  FlatLayout(const FlatLayout& whole, std::int64_t begin, std::int64_t end);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Group>& groups() const { return groups_; }
  std::int64_t size() const { return size_; }              ///< elements with padding
  std::int64_t parameters() const { return parameters_; }  ///< elements without padding

 private:
  void add(std::vector<ParameterInfo> parameters);
  std::vector<Tensor> tensors_;
  std::vector<Group> groups_;
  std::int64_t size_ = 0, parameters_ = 0;
};

}  // namespace cambium::train
