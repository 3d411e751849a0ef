#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"

namespace cambium::relate {

/// Output of a script that times PyTorch on one thread for some sizes; none, with a reason in the log, on several
/// ranks, for the script "none", and if it or python3 with torch is missing.
std::optional<nlohmann::json> ask_peer(const std::string& script, const std::vector<std::int64_t>& sizes,
                                       Context& context);

}  // namespace cambium::relate
