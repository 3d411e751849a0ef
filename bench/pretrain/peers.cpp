#include "bench/pretrain/peers.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/child.hpp"
#include "core/base/error.hpp"

namespace cambium::pretrain {

namespace fs = std::filesystem;

Peers::Peers(const std::string& script, bool wanted, nlohmann::json& out, Context& context)
    : folder_((fs::temp_directory_path() / fmt::format("cambium-bench-pretrain-{}", ::getpid())).string()),
      context_(context) {
  fs::create_directories(folder_);
  for (const char* name : {"torch", "faiss"}) out[std::string("peer_") + name] = "not there";
  if (!wanted) return;
  const auto python = python_with({"numpy"});
  if (!python || !fs::exists(script)) {
    context.log.info(fmt::format(
        "no peers: {}", python ? "'" + script + "' is not there (script=PATH)" : "there is no python3 with numpy"));
    return;
  }
  process_ = std::make_unique<PeerProcess>(std::vector<std::string>{*python, script});
  const auto names = ask("names");
  if (!names.is_object()) return;
  for (const auto& [name, version] : names.items()) {
    names_.push_back(name);
    out["peer_" + name] = version;
  }
}

Peers::~Peers() {
  process_.reset();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool Peers::has(const std::string& name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

nlohmann::json Peers::ask(const std::string& line) {
  if (!process_) return {};
  const auto answer = process_->ask(line);
  auto out = answer ? nlohmann::json::parse(*answer, nullptr, false) : nlohmann::json();
  if (!answer || out.is_discarded() || out.contains("failed")) {
    context_.log.info(fmt::format("no answer of the peers to '{}': {}", line, answer.value_or("they have ended")));
    return {};
  }
  return out;
}

std::string Peers::raw_file(const std::string& name, const void* data, std::size_t bytes) {
  const auto path = (fs::path(folder_) / name).string();
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!file) throw InputError(fmt::format("bench pretrain: cannot write '{}'; set TMPDIR to a folder with room", path));
  return path;
}

}  // namespace cambium::pretrain
