#pragma once
#include <string>
#include <vector>

namespace cambium {

/// A type that a library will add. Its description is listed before that; if empty, the library is loaded for it.
struct LateType {
  std::string kind, name, doc = {};
};

/// A library that adds types and is loaded when one of them is first requested, because its dependencies take long to
/// load (LibTorch: several times as long as the rest of the program). CMake builds one by cambium_load_later();
/// Registry::add_later() declares it.
struct LateLibrary {
  std::string plugin;           ///< whose types they are
  std::string file;             ///< its path, or its name in the folder of the core library
  std::string function;         ///< extern "C" void function(Registry&), which adds the types
  std::vector<LateType> types;  ///< none: it only adds benches, and is loaded when these are requested
};

}  // namespace cambium
