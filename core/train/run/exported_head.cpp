#include "core/train/run/exported_head.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/deck/node.hpp"
#include "core/plugin/registry.hpp"

namespace cambium::train {

using Json = nlohmann::json;

std::map<std::string, std::string> metadata_of(const ArtifactInfo& info) {
  Json fields = Json::array();
  for (const auto& field : info.fields) fields.push_back({{"name", field.info.name}, {"unit", field.info.unit}});
  return {
      {"format", "pt"}, {"type", info.type}, {"config", info.config}, {"state", info.state}, {"fields", fields.dump()}};
}

std::optional<LoadedModel> exported_head(const SafetensorsFile& file, Context& context) {
  const auto& metadata = file.metadata();
  for (const char* key : {"type", "config", "state"})
    if (!metadata.contains(key)) return {};
  LoadedModel out;
  out.info.type = metadata.at("type");
  out.info.config = metadata.at("config");
  out.info.state = metadata.at("state");
  try {
    if (const auto fields = metadata.find("fields"); fields != metadata.end())  // earlier versions wrote none
      for (const auto& field : Json::parse(fields->second))
        out.info.fields.push_back({{field.at("name"), field.at("unit"), {}, DType::f64}});
    out.network =
        context.registry->make<Network>(out.info.type, deck::parse(out.info.config, file.path() + ":config"), context);
    out.network->restore(out.info.state);
  } catch (const Json::exception& error) {
    throw InputError(
        fmt::format("the metadata of '{}' are damaged: {}; export the weights again", file.path(), error.what()));
  }
  out.layout = std::make_unique<FlatLayout>(out.network->parameters(), 1'000'000);
  return out;
}

}  // namespace cambium::train
