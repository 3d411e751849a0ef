#include "plugins/graph/transport/components.hpp"

#include <algorithm>

namespace cambium::graph {

Components components_of(const sparse::Csr<double>& pattern, std::span<const std::int32_t> own) {
  std::vector<std::int32_t> part(pattern.rows, -1), reached;
  std::int32_t parts = 0;
  bool alone = false;
  for (std::int64_t from = 0; from < pattern.rows; ++from) {
    if (part[from] >= 0) continue;
    part[from] = parts;
    reached.assign(1, static_cast<std::int32_t>(from));
    for (std::size_t k = 0; k < reached.size(); ++k) {
      const auto columns = pattern.columns_of(reached[k]);
      const auto values = pattern.values_of(reached[k]);
      for (std::size_t e = 0; e < columns.size(); ++e)
        if (auto& of = part[columns[e]]; values[e] != 0.0 && of < 0) {
          of = parts;
          reached.push_back(columns[e]);
        }
    }
    if (reached.size() > 1)
      ++parts;
    else {
      part[from] = -2;
      alone = true;
    }
  }
  Components out{parts, {}};
  if (parts == 1 && !alone) return out;
  for (const auto i : own) out.of_node.push_back(std::max(part[i], -1));
  return out;
}

}  // namespace cambium::graph
