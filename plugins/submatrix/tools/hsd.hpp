#pragma once
#include <string>
#include <vector>

namespace cambium::submatrix {

/// Entry of an input of DFTB+ ("human-friendly structured data": DFTB+ manual, "The HSD format"). `Name [unit] = value`
/// and `Name { ... }`; a method, `Name = Method { ... }`, is an only child.
struct HsdNode {
  std::string name;
  std::string unit;  ///< in brackets behind the name
  std::string text;  ///< values, without quotes and comments; lines are kept
  std::vector<HsdNode> children;
  std::string included;  ///< file of an only `<<< "file"`, as named
  int line = 0;
};

/// Reads a file and those that it includes, from its folder on. InputError "file:line: ..." where braces, brackets or
/// quotes are not closed, and for the signs of merging (+ * ? ! /).
HsdNode read_hsd(const std::string& path);

}  // namespace cambium::submatrix
