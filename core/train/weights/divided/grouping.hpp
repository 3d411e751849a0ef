#pragma once
#include <cstdint>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Unit of sharding, gathering and sending: lists of tensors in ascending order, every tensor in one of them.
struct Grouping {
  std::vector<std::vector<int>> tensors;
  std::vector<int> modules;  ///< of each list; -1 for small tensors, and for all of a network without modules
};

/// The larger tensors of each module, the last module first; then the small ones, of fewer than `whole_below` elements.
/// Without modules: runs of tensors of at most `group_elements` from the end. `modules` holds the first tensor of each.
Grouping group_tensors(const std::vector<ParameterInfo>& parameters, const std::vector<int>& modules,
                       std::int64_t whole_below, std::int64_t group_elements);

/// Elements of which a group's length is a multiple, for this many ranks.
std::int64_t group_padding(std::int64_t ranks);

}  // namespace cambium::train
