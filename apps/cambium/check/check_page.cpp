#include "apps/cambium/check/check_page.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/parallel/memory.hpp"

namespace cambium {

std::string time_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.2g} s", seconds);
  if (seconds < 7200.0) return fmt::format("{:.2g} min", seconds / 60.0);
  if (seconds < 172800.0) return fmt::format("{:.2g} h", seconds / 3600.0);
  return fmt::format("{:.3g} days", seconds / 86400.0);
}

static std::string memory_line(const Check::Stage& stage) {
  double sum = 0.0;
  std::vector<std::string> parts;
  for (const auto& [what, bytes] : stage.memory) {
    sum += bytes;
    parts.push_back(fmt::format("{} {}", what, bytes_text(bytes)));
  }
  if (parts.empty()) return "memory: not estimated";
  return fmt::format("memory: at least {} on each of as many ranks as here ({})", bytes_text(sum), join(parts));
}

std::vector<std::string> lines_of(const Check::Stage& stage) {
  std::vector<std::string> out;
  std::vector<std::string> files;
  for (const auto& promise : stage.promises) files.push_back(promise.name);
  if (!files.empty()) out.push_back("will write: " + join(files));
  out.push_back(memory_line(stage));
  out.push_back(stage.seconds ? fmt::format("time: about {} ({})", time_text(*stage.seconds), stage.basis)
                              : "time: not estimated");
  return out;
}

}  // namespace cambium
