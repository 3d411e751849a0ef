#pragma once
#include <optional>

namespace cambium {

constexpr const char* keep_going_flag = "--keep-going";

/// `cambium run --keep-going --ranks 4,4,2 DECK`: a process beside the ranks, without MPI, that starts them by the
/// launcher and starts them again when one of them has died: with the next number of ranks, from the copies that they
/// keep in the memory of their node (--copy-every) or from the newest checkpoint on disk. Anything but
/// a loss ends it, with the exit code of the ranks. None where the command line asks for something else.
std::optional<int> keep_going(int argc, char** argv);

}  // namespace cambium
