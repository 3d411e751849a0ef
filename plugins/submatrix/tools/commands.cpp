#include <CLI/CLI.hpp>

#include "core/base/error.hpp"
#include "core/plugin/arguments.hpp"
#include "plugins/submatrix/tools/tools.hpp"

namespace cambium::submatrix {

static int convert(std::vector<std::string> arguments, Context& context) {
  CLI::App app("A deck for an input of DFTB+", "cambium submatrix convert-input");
  std::string input, output;
  app.add_option("input", input, "dftb_in.hsd of DFTB+")->required();
  app.add_option("output", output, "deck to write; printed where it is left out");
  if (const auto code = answered(app, std::move(arguments), context.comm)) return *code;
  if (context.comm.root()) {
    const std::string text = convert_dftb_input(input, output);
    std::size_t from = 0;
    for (std::size_t end; (end = text.find('\n', from)) != std::string::npos; from = end + 1)
      context.log.info(text.substr(from, end - from));
  }
  return static_cast<int>(ExitCode::done);
}

std::vector<Command> dftb_commands() {
  return {{"submatrix", "convert-input", "a deck for an input of DFTB+ (dftb_in.hsd)", convert}};
}

}  // namespace cambium::submatrix
