// What a user is told of an exception, and with which exit code the program ends.
#include "core/run/failure.hpp"

#include <yaml-cpp/yaml.h>

#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "core/base/key_error.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

Failure failure(const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    return failure_of(std::current_exception());
  }
  return {};
}

}  // namespace

TEST_CASE("damaged texts and memory that cannot be had are bad input, other exceptions defects") {
  const std::string end = "); copy the files that the deck names again from their source, or use others";
  const auto json = failure([] { const auto read = nlohmann::json::parse("{\"a\": "); });
  CHECK(json.code == ExitCode::bad_input);
  CHECK(json.text.starts_with("a text in JSON that a file holds is damaged or was changed ("));
  CHECK(json.text.ends_with(end));
  const auto field = failure([] { (void)nlohmann::json::parse("{}").at("layers"); });
  CHECK(field.code == ExitCode::bad_input);
  const auto yaml = failure([] { YAML::Load("[1, 2"); });
  CHECK(yaml.code == ExitCode::bad_input);
  CHECK(yaml.text.starts_with("a text in YAML that a file holds is damaged or was changed ("));
  CHECK(failure([] { throw std::bad_alloc(); }).code == ExitCode::bad_input);
  CHECK(failure([] { throw std::length_error("vector"); }).code == ExitCode::bad_input);
  CHECK(failure([] {
          throw InternalError(
              "Torch refused: DefaultCPUAllocator: can't allocate memory: you tried to allocate "
              "154618822656 bytes. Error code 12");
        }).code == ExitCode::bad_input);
  const auto thread =
      failure([] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)); });
  CHECK(thread.code == ExitCode::bad_input);
  CHECK(
      thread.text.ends_with("): this shell or job allows too little memory or too few processes; raise its limits "
                            "(ulimit -v, ulimit -u)"));
  CHECK(failure([] { throw InternalError("no way"); }).code == ExitCode::internal_error);
  CHECK(failure([] { throw std::runtime_error("no way"); }).text == "internal error, please report it: no way");
}

TEST_CASE("the identifier of an error about a key is said where it is asked for") {
  const auto error = std::make_exception_ptr(KeyError("md.timestep.range", "timestep", "too long"));
  CHECK(failure_of(error).text == "too long");
  CHECK(failure_of(error, true).text == "too long [md.timestep.range]");
  CHECK(failure_of(error).code == ExitCode::bad_input);
}
