#pragma once
#include <optional>
#include <string>

#include "core/parallel/context.hpp"

namespace cambium {

/// Collective. The newest `restart.<step>.h5` of a folder that is whole; none where there is no checkpoint at all. A
/// newer one whose bytes are not those that were written, or that HDF5 cannot open, is named in a warning and renamed
/// to `restart.<step>.h5.damaged`, so that it counts as a checkpoint no more. InputError, and nothing is renamed, when
/// there are checkpoints and none is whole.
std::optional<std::string> newest_sound_checkpoint(const std::string& folder, const Context& context);

}  // namespace cambium
