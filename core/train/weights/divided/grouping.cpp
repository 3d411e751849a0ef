#include "core/train/weights/divided/grouping.hpp"

#include <algorithm>
#include <numeric>

#include "core/train/kinds/layout.hpp"

namespace cambium::train {

static Grouping runs_of(const std::vector<ParameterInfo>& parameters, std::int64_t group_elements) {
  Grouping out;
  const FlatLayout runs(parameters, group_elements);
  for (const auto& group : runs.groups()) {
    out.tensors.emplace_back(static_cast<std::size_t>(group.last - group.first));
    std::iota(out.tensors.back().begin(), out.tensors.back().end(), group.first);
    out.modules.push_back(-1);
  }
  return out;
}

Grouping group_tensors(const std::vector<ParameterInfo>& parameters, const std::vector<int>& modules,
                       std::int64_t whole_below, std::int64_t group_elements) {
  if (modules.empty()) return runs_of(parameters, group_elements);
  Grouping out;
  std::vector<int> small;
  for (std::size_t m = modules.size(); m-- > 0;) {
    const int end = m + 1 < modules.size() ? modules[m + 1] : static_cast<int>(parameters.size());
    std::vector<int> large;
    for (int k = modules[m]; k < end; ++k) {
      std::int64_t elements = 1;
      for (auto extent : parameters[k].shape) elements *= extent;
      (elements < whole_below ? small : large).push_back(k);
    }
    if (!large.empty()) {
      out.tensors.push_back(std::move(large));
      out.modules.push_back(static_cast<int>(m));
    }
  }
  std::sort(small.begin(), small.end());
  if (!small.empty()) {
    out.tensors.push_back(std::move(small));
    out.modules.push_back(-1);
  }
  return out;
}

std::int64_t group_padding(std::int64_t ranks) { return std::lcm<std::int64_t>(64, ranks); }

}  // namespace cambium::train
