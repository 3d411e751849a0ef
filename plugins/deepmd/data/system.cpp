#include "plugins/deepmd/data/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::deepmd {

DataSystem DataSystem::load(const std::string& path) {
  SystemFrames stored(path);
  DataSystem system;
  system.folder_ = path;
  system.type_map_ = stored.type_map();
  system.types_ = stored.types();
  system.frames_ = stored.read(0, stored.frames());
  return system;
}

std::vector<int> model_types(const std::vector<int>& types, const std::vector<std::string>& own,
                             const std::string& folder, const std::vector<std::string>& type_map,
                             const std::string& model) {
  std::vector<int> out;
  for (int type : types) {
    if (own.empty() && type >= 0 && type < std::ssize(type_map)) {
      out.push_back(type);  // a folder without names uses the model's type indices
      continue;
    }
    if (type < 0 || type >= static_cast<int>(own.size()))
      throw InputError(
          fmt::format("{}/type.raw: type {} has no name; type_map.raw lists {}", folder, type, fmt::join(own, ", ")));
    const std::string& symbol = own[type];
    const auto found = std::find(type_map.begin(), type_map.end(), symbol);
    if (found == type_map.end())
      throw InputError(fmt::format("species '{}' of {} is unknown to the model {}; its species: {}", symbol, folder,
                                   model, fmt::join(type_map, ", ")));
    out.push_back(static_cast<int>(found - type_map.begin()));
  }
  return out;
}

std::vector<int> model_types(const DataSystem& system, std::size_t frame, const std::vector<std::string>& type_map,
                             const std::string& model) {
  return model_types(system.types(frame), system.type_map(), system.folder(), type_map, model);
}

}  // namespace cambium::deepmd
