#pragma once
#include <string>
#include <vector>

namespace cambium {

/// Copies the plugin template to the folder `destination` and gives it a name of its own: `my_pair` becomes `name`,
/// `MyPair` its CamelCase, in texts and file names. Returns the files written, relative to `destination`.
/// Throws InputError when the name is no C++ identifier in lower case, or the folder is there already.
std::vector<std::string> new_plugin(const std::string& name, const std::string& destination, const std::string& template_folder);

}  // namespace cambium
