#pragma once
#include <optional>
#include <string>
#include <vector>

namespace cambium {

/// Exit status and standard output of a program.
struct ChildOutput {
  int status = 127;  ///< exit status; 127 when it could not be started, 128 + its number when a signal ended it
  std::string text;
};

/// Runs a program to completion without a shell. The environment variables that identify MPI ranks are not passed on,
/// so an MPI program can be started from one. The child's standard error goes to that of this process.
ChildOutput output_of(const std::vector<std::string>& words);

/// The environment as `NAME=value` strings, without the variables that identify MPI ranks.
std::vector<std::string> environment_of_no_rank();
/// Arguments as posix_spawn() expects them: their addresses, then a null pointer.
std::vector<char*> null_ended(std::vector<std::string>& words);

/// A Python that has these modules: the one named by CAMBIUM_PYTHON, else python3 of the PATH, else /usr/bin/python3.
std::optional<std::string> python_with(const std::vector<std::string>& modules);

}  // namespace cambium
