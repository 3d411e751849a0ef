#include "core/plugin/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/error.hpp"

namespace cambium {

std::optional<int> answered(CLI::App& app, std::vector<std::string> arguments, const Comm& comm) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::RequiredError& error) {
    throw InputError(fmt::format("{}; `{} --help` lists what it takes", error.what(), app.get_name()));
  } catch (const CLI::ParseError& error) {
    if (comm.root()) app.exit(error);
    return static_cast<int>(error.get_exit_code() == 0 ? ExitCode::done : ExitCode::bad_input);
  }
  return {};
}

}  // namespace cambium
