#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/parallel/context.hpp"

namespace cambium {

/// Collective. The checkpoint from which the stage in context.run_directory goes on; none when it is to begin, or left
/// none. `free`: keys of the stage that may differ from those of the deck by which the checkpoint was written ("steps",
/// "output[].every"; what stands inside them, too). `instead` completes "begin a new run with run.directory=PATH".
/// InputError when other keys or run.seed differ, or when the checkpoint belongs to another run.
std::optional<std::string> resume_point(const Context& context, std::span<const std::string_view> free,
                                        std::string_view instead);

}  // namespace cambium
