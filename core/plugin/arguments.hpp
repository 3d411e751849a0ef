#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace CLI {
class App;
}

namespace cambium {

/// Reads the arguments of a command (those after its name) into what `app` fills. Empty when the command is to be
/// carried out; else its exit code, after rank 0 has printed the help that was asked for (0) or what is wrong (2).
std::optional<int> answered(CLI::App& app, std::vector<std::string> arguments, const Comm& comm);

}  // namespace cambium
