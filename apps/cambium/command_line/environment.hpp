#pragma once
#include <span>
#include <string_view>

namespace cambium {

/// A variable of the environment that the program, quickstart or the tests read.
struct EnvironmentVariable {
  std::string_view name, doc;
};

/// All of them; the manual page prints them and docs/using/environment.md explains them.
std::span<const EnvironmentVariable> environment_variables();

}  // namespace cambium
