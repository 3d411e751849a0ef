#include "apps/cambium/command_line/new_plugin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

bool is_identifier(const std::string& name) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::all_of(name.begin(), name.end(), good);
}

std::string camel_case(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

std::vector<std::string> plugin_kinds(const std::string& templates) {
  std::vector<std::string> kinds;
  for (const auto& entry : fs::directory_iterator(templates))
    if (fs::is_regular_file(entry.path() / "register.cpp")) kinds.push_back(entry.path().filename());
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

std::string template_of(const std::string& kind, const std::string& templates) {
  const auto kinds = plugin_kinds(templates);
  if (kind == "model") return template_of("network", templates);  // former name
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return (fs::path(templates) / kind).string();
  throw InputError(fmt::format("there is no template of a plugin of kind '{}'{}", kind, suggestion(kind, kinds)));
}

std::vector<std::string> new_plugin(const std::string& name, const std::string& destination,
                                    const std::string& template_folder) {
  if (!is_identifier(name))
    throw InputError(fmt::format(
        "found '{}', expected the name of a plugin: small letters, digits and '_', beginning with a letter", name));
  if (!fs::is_regular_file(fs::path(template_folder) / "register.cpp"))
    throw InputError(fmt::format("there is no plugin template in '{}'", template_folder));
  if (fs::exists(destination))
    throw InputError(fmt::format("'{}' is there already; choose another folder", destination));
  const auto renamed = [&](std::string text) {
    for (const char* placeholder : {"my_pair", "my_physics", "my_network", "my_dataset", "my_writer", "my_task"})
      text = replaced(replaced(std::move(text), placeholder, name), camel_case(placeholder), camel_case(name));
    return text;
  };
  std::vector<std::string> written;
  for (auto file = fs::recursive_directory_iterator(template_folder); file != fs::recursive_directory_iterator();
       ++file) {
    if (file->is_directory() && file->path().filename() == "build") file.disable_recursion_pending();
    if (!file->is_regular_file()) continue;
    const auto relative = renamed(fs::relative(file->path(), template_folder).string());
    const auto target = fs::path(destination) / relative;
    fs::create_directories(target.parent_path());
    std::ifstream in(file->path());
    std::stringstream text;
    text << in.rdbuf();
    std::ofstream out(target);
    out << renamed(text.str());
    out.flush();
    if (!in || !out) throw InputError(fmt::format("cannot write '{}'", target.string()));
    written.push_back(relative);
  }
  std::sort(written.begin(), written.end());
  return written;
}

}  // namespace cambium
