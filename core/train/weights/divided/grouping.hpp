#pragma once
#include <cstdint>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Units of sharding, gathering and communication: lists of tensors in ascending order, every tensor in exactly one.
struct Grouping {
  std::vector<std::vector<int>> tensors;
  std::vector<int> modules;  ///< of each list; -1 for small tensors, and for networks without modules
};

/// The larger tensors of each module, the last module first; then the small ones, of fewer than `whole_below` elements.
/// Without modules: runs of tensors of at most `group_elements`, from the end. `modules` holds the first tensor of
/// each.
Grouping group_tensors(const std::vector<ParameterInfo>& parameters, const std::vector<int>& modules,
                       std::int64_t whole_below, std::int64_t group_elements);

/// The length of a group is a multiple of this number of elements, for this many ranks.
std::int64_t group_padding(std::int64_t ranks);

}  // namespace cambium::train
