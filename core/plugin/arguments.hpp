#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace CLI {
class App;
}

namespace cambium {

/// Parses the arguments of a command (those after its name) into the variables of `app`. Empty if the command is to be
/// run; else its exit code, after rank 0 has printed the requested help (0) or the error (2).
std::optional<int> answered(CLI::App& app, std::vector<std::string> arguments, const Comm& comm);

}  // namespace cambium
