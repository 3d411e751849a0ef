#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/parallel/context.hpp"

namespace cambium {

/// Collective. The checkpoint from which the stage in context.run_directory resumes; none if it starts from the
/// beginning, or left none. `free`: keys of the stage, with their contents, that may differ from the deck of the
/// checkpoint ("steps", "output[].every"). `instead` completes "begin a new run with run.directory=PATH". InputError if
/// other keys or run.seed differ, or if the checkpoint belongs to another run.
std::optional<std::string> resume_point(const Context& context, std::span<const std::string_view> free,
                                        std::string_view instead);

}  // namespace cambium
