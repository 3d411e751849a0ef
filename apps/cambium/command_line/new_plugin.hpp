#pragma once
#include <string>
#include <vector>

namespace cambium {

/// The kinds of plugins that there are templates of, in alphabetical order: the folders of `templates`.
std::vector<std::string> plugin_kinds(const std::string& templates);

/// Folder of the template of a kind; InputError names the nearest one when there is none.
std::string template_of(const std::string& kind, const std::string& templates);

/// Copies the template in `template_folder` to the folder `destination` and gives it a name of its own: `my_pair`,
/// `my_physics` or `my_model` becomes `name`, `MyPair` and the like its CamelCase, in texts and file names. Returns the
/// files written, relative to `destination`. Throws InputError when the name is no C++ identifier in lower case, or the
/// folder is there already.
std::vector<std::string> new_plugin(const std::string& name, const std::string& destination,
                                    const std::string& template_folder);

}  // namespace cambium
