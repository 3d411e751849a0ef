#include "plugins/graph/graphs/split_masks.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/key_error.hpp"

namespace cambium::graph {

SplitShape split_shape_of(const std::string& source, const std::string& what, std::span<const std::int64_t> shape,
                          std::int64_t nodes) {
  if (shape.size() == 1 && shape[0] == nodes) return {1, true};
  if (shape.size() == 2 && shape[0] == nodes) return {shape[1], true};
  if (shape.size() == 2 && shape[1] == nodes) return {shape[0], false};
  std::string found;
  for (const auto extent : shape) found += fmt::format("{}{}", found.empty() ? "" : " x ", extent);
  throw InputError(fmt::format("'{}': {} has the shape {}; expected {} (nodes), nodes x splits or splits x nodes",
                               source, what, found.empty() ? "1" : found, nodes));
}

void require_split(const std::string& source, std::int64_t split, std::int64_t splits) {
  if (split < splits) return;
  throw KeyError(
      "graph.split.range", "split",
      fmt::format("{}: there is no split {}; the file has {}, numbered from 0 (with split: each, give at most as "
                  "many models)",
                  source, split, splits));
}

static const char* name_of(Role role) {
  return role == Role::training ? "training" : role == Role::validation ? "validation" : "test";
}

void add_role(const std::string& source, std::span<const std::int32_t> mask, std::int64_t first, Role role,
              std::vector<Role>& roles) {
  roles.resize(mask.size(), Role::none);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    if (roles[i] != Role::none)
      throw InputError(fmt::format("'{}': node {} is marked for {} and for {}; masks of a split share no node", source,
                                   first + static_cast<std::int64_t>(i), name_of(roles[i]), name_of(role)));
    roles[i] = role;
  }
}

void add_role_of_listed(const std::string& source, const std::string& name, std::span<const std::int64_t> listed,
                        std::int64_t nodes, sparse::Range held, Role role, std::vector<Role>& roles) {
  std::vector<std::int32_t> mask(static_cast<std::size_t>(held.size()), 0);
  for (const auto node : listed) {
    if (node < 0 || node >= nodes)
      throw InputError(fmt::format("'{}': {} lists node {}; the graph has {}, numbered 0 to {}", source, name, node,
                                   nodes, nodes - 1));
    if (held.holds(node)) mask[static_cast<std::size_t>(node - held.begin)] = 1;
  }
  add_role(source, mask, held.begin, role, roles);
}

}  // namespace cambium::graph
