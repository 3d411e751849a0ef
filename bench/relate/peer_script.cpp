#include "bench/relate/peer_script.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/child.hpp"

namespace cambium::relate {

std::optional<nlohmann::json> ask_peer(const std::string& script, const std::vector<std::int64_t>& sizes,
                                       Context& context) {
  if (context.comm.size() > 1 || script == "none") return std::nullopt;
  const auto python = python_with({"torch"});
  const auto no_peer = [&](const std::string& why) {
    context.log.info("no peer: " + why);
    return std::nullopt;
  };
  if (!python) return no_peer("there is no python3 with torch (CAMBIUM_PYTHON names one)");
  if (!std::filesystem::exists(script)) return no_peer("'" + script + "' is not there (peer=PATH, cosine_peer=PATH)");
  std::vector<std::string> words{"env", "OMP_NUM_THREADS=1", *python, script};
  for (const auto size : sizes) words.push_back(std::to_string(size));
  const ChildOutput said = output_of(words);
  if (said.status != 0) return no_peer(fmt::format("{} ended with exit code {}", script, said.status));
  return nlohmann::json::parse(said.text);
}

}  // namespace cambium::relate
