#include "core/base/log.hpp"

#include <unistd.h>

#include <cstdlib>

namespace cambium {

/// A launcher such as mpirun gives its ranks a terminal of its own, whatever its output really is; then the launcher's
/// output decides.
static bool is_terminal(std::FILE* out) {
  if (!isatty(fileno(out))) return false;
  if (!std::getenv("OMPI_COMM_WORLD_SIZE") && !std::getenv("PMI_SIZE")) return true;
  char target[256] = {};
  const std::string link = "/proc/" + std::to_string(getppid()) + "/fd/1";
  if (readlink(link.c_str(), target, sizeof target - 1) < 0) return false;
  return std::string_view(target).starts_with("/dev/");
}

Log::Log(std::FILE* out, bool speaking) : out_(out), speaking_(speaking), terminal_(out && is_terminal(out)) {}

Log::~Log() {
  if (file_) std::fclose(file_);
}

void Log::tee(const std::string& path) {
  if (speaking_ && !file_) file_ = std::fopen(path.c_str(), "a");
}

void Log::info(std::string_view text) {
  if (!speaking_) return;
  if (out_) {
    if (progress_shown_) std::fputs("\r\033[K", out_);
    progress_shown_ = false;
    std::fprintf(out_, "%.*s\n", static_cast<int>(text.size()), text.data());
    std::fflush(out_);
  }
  if (file_) {
    std::fprintf(file_, "%.*s\n", static_cast<int>(text.size()), text.data());
    std::fflush(file_);
  }
}

void Log::warn(const std::string& text) {
  if (counts_[text]++ > 0) return;
  order_.push_back(text);
  info("warning: " + text);
}

void Log::progress(std::string_view text) {
  if (!speaking_ || !out_ || !terminal_) return;
  std::fprintf(out_, "\r\033[K%.*s", static_cast<int>(text.size()), text.data());
  std::fflush(out_);
  progress_shown_ = true;
}

std::vector<Log::Warning> Log::warnings() const {
  std::vector<Warning> out;
  for (const auto& text : order_) out.push_back({text, counts_.at(text)});
  return out;
}

}  // namespace cambium
