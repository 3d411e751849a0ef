#pragma once
#include <optional>
#include <string>
#include <vector>

namespace cambium {

/// How a program ended and what it wrote to its standard output.
struct ChildOutput {
  int status = 127;  ///< exit status; 127 when it could not be started, 128 + its number when a signal ended it
  std::string text;
};

/// Runs a program to its end; no shell sees the words. The variables with which MPI knows its own ranks are not handed
/// on, so that a program with MPI can be started from one; what the program writes to standard error goes where ours
/// goes.
ChildOutput output_of(const std::vector<std::string>& words);

/// The environment, a `NAME=value` each, without the variables with which MPI knows its own ranks.
std::vector<std::string> environment_of_no_rank();
/// Words as posix_spawn() takes them: their addresses, then null.
std::vector<char*> null_ended(std::vector<std::string>& words);

/// A Python that has these modules: the one named by CAMBIUM_PYTHON, else python3 of the PATH, else /usr/bin/python3.
std::optional<std::string> python_with(const std::vector<std::string>& modules);

}  // namespace cambium
