#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/train/weights/artifact.hpp"
#include "core/train/weights/safetensors.hpp"

namespace cambium::train {

/// Metadata of a safetensors file: type, keys and statistics of the network, and the fields that it was trained on.
std::map<std::string, std::string> metadata_of(const ArtifactInfo& info);

/// The model of such a file without its weights; none for a file of another program. InputError if the metadata are
/// damaged, or if this build lacks the type.
std::optional<LoadedModel> exported_head(const SafetensorsFile& file, Context& context);

}  // namespace cambium::train
