#pragma once
#include <vector>

#include "core/plugin/command.hpp"

namespace cambium {

/// `cambium compress FILE OUT KEY=VALUE...`, with the keys of `compress` of a deck's output, and `cambium decompress
/// FILE OUT`: copies of HDF5 files with real arrays stored within an error bound, and back to files that every program
/// reads.
std::vector<Command> compress_commands();

}  // namespace cambium
