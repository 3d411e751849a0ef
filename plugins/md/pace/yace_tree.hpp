#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cambium::md {

/// A node of a YAML file with many numbers: a scalar, a list or a map. A list of only numbers is stored as such.
struct YaceNode {
  enum class Kind { scalar, numbers, list, map };
  Kind kind = Kind::scalar;
  int line = 0;                ///< from 1
  std::string text;            ///< of a scalar
  std::vector<double> values;  ///< of a list of numbers
  std::vector<YaceNode> items;
  std::vector<std::pair<std::string, YaceNode>> entries;  ///< a key that is a list of numbers is stored as "0,1"

  /// Value of a key of a map; null if absent.
  const YaceNode* find(std::string_view key) const;
};

/// Reads the first document of a YAML file as a stream of events: models have up to millions of numbers. InputError
/// "path:line: text" if it is not valid YAML, or ends within a value.
YaceNode read_yace_tree(const std::string& path);

}  // namespace cambium::md
