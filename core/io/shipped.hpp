#pragma once
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium {

/// The folder share/cambium/NAME of the installation or build of this program.
std::string shared_folder(const std::string& name);

/// `given` if it is a file; else the file of this name among those shipped with the program:
/// shipped_file("md/copper_melting", "inputs", comm) is share/cambium/inputs/md/copper_melting.yaml. `given` itself if
/// there is neither. A path that begins with / or . is never looked up. Collective: rank 0 checks.
std::string shipped_file(const std::string& given, const std::string& folder, const Comm& comm);

/// Names of the YAML files of a shared folder as shipped_file() takes them, sorted.
std::vector<std::string> shipped_names(const std::string& folder);

}  // namespace cambium
