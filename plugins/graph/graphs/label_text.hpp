#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// A line of a text of classes.
struct Labelled {
  std::int64_t node = 0;
  std::int32_t label = 0;
  Role role = Role::none;
  std::int64_t line = 0;
};

/// Reads the classes of nodes from text, each line 'node class' or 'node class role', or with columns in the order of
/// the names in the first line, or in the comment before it. An unnamed first column, as of pandas, is skipped; roles
/// are read in any case. A class of -1, an empty one and a missing value are unknown: -1. InputError "file:line: ..."
/// for other lines and names.
std::vector<Labelled> read_labels(const std::string& path);

}  // namespace cambium::graph
