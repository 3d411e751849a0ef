#pragma once
#include <string>
#include <utility>
#include <vector>

namespace cambium {

/// A library that adds types and is loaded when one of them is first asked for, because what it links takes long to
/// load (LibTorch: several times as long as the rest of the program). CMake makes one by cambium_load_later();
/// Registry::add_later() declares it.
struct LateLibrary {
  std::string plugin;    ///< whose types they are
  std::string file;      ///< its path, or its name beside the library of core
  std::string function;  ///< extern "C" void function(Registry&), which adds the types
  /// Kind and name of each. None: it adds benches alone, and is loaded when those are asked for.
  std::vector<std::pair<std::string, std::string>> types;
};

}  // namespace cambium
