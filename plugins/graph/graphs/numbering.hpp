#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cambium::graph {

/// Maps the node IDs of a file to the indices from 0 that are used here, in ascending order of the IDs.
class Numbering {
 public:
  Numbering() = default;
  /// IDs base to base + count - 1, whether they occur in a line or not.
  explicit Numbering(std::int64_t count, std::int64_t base = 0) : count_(count), base_(base) {}
  /// One node for each ID in a list, in ascending order: IDs between them are not nodes.
  static Numbering of_named(std::vector<std::int64_t> numbers);

  std::int64_t size() const { return count_; }
  /// ID of a node in the file.
  std::int64_t number(std::int64_t node) const { return numbers_.empty() ? base_ + node : numbers_[node]; }
  /// The node of an ID; none if there is no such node.
  std::optional<std::int32_t> node(std::int64_t number) const;
  /// True if the ID of every node is its index, from 0.
  bool plain() const { return numbers_.empty() && base_ == 0; }
  /// IDs of all nodes in the file.
  std::vector<std::int64_t> all() const;
  /// The IDs that are nodes: "numbered 0 to 4", or "numbered 5 to 600 with gaps".
  std::string range() const;
  std::int64_t bytes() const { return 8 * std::ssize(numbers_); }

 private:
  std::vector<std::int64_t> numbers_;  ///< ascending; empty: base_ + node
  std::int64_t count_ = 0, base_ = 0;
};

}  // namespace cambium::graph
