#pragma once
#include <string>
#include <vector>

namespace cambium {

/// The kinds of plugins that there are templates of, in alphabetical order: the folders of `templates`.
std::vector<std::string> plugin_kinds(const std::string& templates);

/// Folder of the template of a kind; InputError names the nearest one when there is none.
std::string template_of(const std::string& kind, const std::string& templates);

/// Copies the template in `template_folder` to the folder `destination` and renames it: `my_pair`, `my_physics` or
/// `my_model` becomes `name`, `MyPair` etc. its CamelCase, in texts and file names. Returns the files written, relative
/// to `destination`. Throws InputError if the name is not a lower-case C++ identifier, or the folder exists.
std::vector<std::string> new_plugin(const std::string& name, const std::string& destination,
                                    const std::string& template_folder);

}  // namespace cambium
