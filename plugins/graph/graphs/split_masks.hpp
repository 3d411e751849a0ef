#pragma once
#include <span>
#include <string>

#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// The dimension of an array that counts nodes, and the number of splits in the other dimension.
struct SplitShape {
  std::int64_t splits = 1;
  bool nodes_first = true;
};
/// Shape of an array `what` with one value per node, or per node and split, in either order. InputError for any other
/// shape.
SplitShape split_shape_of(const std::string& source, const std::string& what, std::span<const std::int64_t> shape,
                          std::int64_t nodes);

/// InputError if a file has no such split.
void require_split(const std::string& source, std::int64_t split, std::int64_t splits);

/// Assigns a role to the nodes of a mask: mask[i] belongs to node first + i. InputError if a node already has a role.
void add_role(const std::string& source, std::span<const std::int32_t> mask, std::int64_t first, Role role,
              std::vector<Role>& roles);

/// Assigns a role to the listed nodes that are in `held`; roles[0] belongs to its first node. InputError for an index
/// that is not a node, and if a node already has a role.
void add_role_of_listed(const std::string& source, const std::string& name, std::span<const std::int64_t> listed,
                        std::int64_t nodes, sparse::Range held, Role role, std::vector<Role>& roles);

/// Published names of the masks of a role, for one split and for several, and of the lists of its node indices.
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
