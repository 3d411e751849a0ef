#pragma once
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/parallel/context.hpp"

namespace cambium {

/// A tool that a plugin adds to the program: `cambium <plugin> <verb> arguments...` (`cambium <verb>` for core itself). It parses its own arguments (with
/// CLI11, whose help and errors the program prints) and returns an exit code.
struct Command {
  std::string plugin, verb, doc;
  std::function<int(std::vector<std::string> arguments, Context&)> run;
};

/// A measurement: `cambium bench NAME [--json] [key=value ...]`. Returns one flat object; the key `check` holds a
/// physical result of the timed run compared with its reference.
struct Bench {
  std::string name, doc;
  std::function<nlohmann::json(const nlohmann::json& options, Context&)> run;
};

}  // namespace cambium
