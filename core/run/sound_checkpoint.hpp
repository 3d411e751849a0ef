#pragma once
#include <optional>
#include <string>

#include "core/parallel/context.hpp"

namespace cambium {

/// Collective. The newest intact `restart.<step>.h5` of a folder; none if there is no checkpoint at all. A newer one
/// with a wrong checksum, or that HDF5 cannot open, gives a warning and is renamed to `restart.<step>.h5.damaged`, so
/// that it no longer counts as a checkpoint. InputError, and nothing is renamed, if there are checkpoints and none is
/// intact.
std::optional<std::string> newest_sound_checkpoint(const std::string& folder, const Context& context);

}  // namespace cambium
