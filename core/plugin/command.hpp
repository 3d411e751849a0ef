#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"

namespace cambium {

/// A tool that a plugin adds to the program: `cambium <plugin> <verb> arguments...` (`cambium <verb>` for core itself).
/// It parses its own arguments (with CLI11, whose help and errors the program prints) and returns an exit code.
struct Command {
  std::string plugin, verb, doc;
  std::function<int(std::vector<std::string> arguments, Context&)> run;
};

}  // namespace cambium
