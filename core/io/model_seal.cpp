#include "core/io/model_seal.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/seal.hpp"

namespace cambium::io {

static Seal seal_of_text_file(const std::string& path) { return seal_of_text(text_of_file(path)); }

bool require_sound_model(const std::string& path) {
  const bool text = path.ends_with(".yaml") || path.ends_with(".yml");
  if (text && std::filesystem::is_directory(path))
    throw InputError(fmt::format("'{}' is a folder, not a model; name a model file in it", path));
  const Seal found = text ? seal_of_text_file(path) : seal_of(path);
  if (found == Seal::broken)
    throw InputError(
        fmt::format("'{}' is damaged: what it holds is not what was written; put back a copy of it, or have the stage "
                    "that wrote it write it again{}",
                    path, text ? "; if you changed it yourself, remove its last line, the checksum" : ""));
  return found == Seal::sound;
}

std::string no_checksum_note(const std::string& path) {
  return fmt::format(
      "'{}' carries no checksum: another program or an earlier version wrote it, or it was changed "
      "since; damage to it would not be noticed",
      path);
}

}  // namespace cambium::io
