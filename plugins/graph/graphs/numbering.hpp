#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cambium::graph {

/// The numbers that a file gives to the nodes of a graph, which are counted from 0 here, in the order of these numbers.
class Numbering {
 public:
  Numbering() = default;
  /// Nodes base to base + count - 1, whether a line names them or not.
  explicit Numbering(std::int64_t count, std::int64_t base = 0) : count_(count), base_(base) {}
  /// One node for each number that stands in a list, in ascending order: numbers between them are no nodes.
  static Numbering of_named(std::vector<std::int64_t> numbers);

  std::int64_t size() const { return count_; }
  /// The file's number of a node.
  std::int64_t number(std::int64_t node) const { return numbers_.empty() ? base_ + node : numbers_[node]; }
  /// The node of a number; none where no node has it.
  std::optional<std::int32_t> node(std::int64_t number) const;
  /// True if every node is called by its place among all, counted from 0.
  bool plain() const { return numbers_.empty() && base_ == 0; }
  /// The file's numbers of all nodes.
  std::vector<std::int64_t> all() const;
  /// Which numbers are nodes: "numbered 0 to 4", or "numbered 5 to 600 with gaps".
  std::string range() const;
  std::int64_t bytes() const { return 8 * std::ssize(numbers_); }

 private:
  std::vector<std::int64_t> numbers_;  ///< ascending; empty: base_ + node
  std::int64_t count_ = 0, base_ = 0;
};

}  // namespace cambium::graph
