#pragma once
#include <span>
#include <string>

#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Which dimension of an array counts nodes, and how many splits the other one counts.
struct SplitShape {
  std::int64_t splits = 1;
  bool nodes_first = true;
};
/// Of an array `what` with one value of each node, or one of each node and split, in either order. InputError where its
/// shape is neither.
SplitShape split_shape_of(const std::string& source, const std::string& what, std::span<const std::int64_t> shape,
                          std::int64_t nodes);

/// InputError where a file has no such split.
void require_split(const std::string& source, std::int64_t split, std::int64_t splits);

/// Adds a role to the nodes that a mask marks: mask[i] is of node first + i. InputError where a node has one already.
void add_role(const std::string& source, std::span<const std::int32_t> mask, std::int64_t first, Role role,
              std::vector<Role>& roles);

/// Adds a role to nodes that an array lists, where they lie in `held`, of which roles[0] is the first. InputError for a
/// number that is no node, and where a node has a role already.
void add_role_of_listed(const std::string& source, const std::string& name, std::span<const std::int64_t> listed,
                        std::int64_t nodes, sparse::Range held, Role role, std::vector<Role>& roles);

/// Names under which masks of a role are published, of one split and of several, and the numbers of its nodes.
struct MaskNames {
  Role role;
  const char *one, *several;
  const char* places[3];
};
inline constexpr MaskNames mask_names[] = {
    {Role::training, "train_mask", "train_masks", {"train_idx", "train_index", "train"}},
    {Role::validation, "val_mask", "val_masks", {"val_idx", "valid_idx", "valid"}},
    {Role::test, "test_mask", "test_masks", {"test_idx", "test_index", "test"}}};

}  // namespace cambium::graph
