#include "core/train/run/extrapolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cambium::train {

/// Two ranges with the fewest digits, at least four, that show their difference.
static std::pair<std::string, std::string> ranges_text(const FieldRange& one, const FieldRange& other) {
  const auto text = [](const FieldRange& r, int digits) {
    return fmt::format("[{:.{}g}, {:.{}g}]", r.lowest, digits, r.highest, digits);
  };
  int digits = 4;
  while (digits < 17 && text(one, digits) == text(other, digits)) ++digits;
  return {text(one, digits), text(other, digits)};
}

/// Models extrapolate poorly beyond the range of their training data. Text (bytes of any value) has no range, and
/// differences within rounding are ignored.
void warn_of_ranges(const ArtifactInfo& info, Dataset& data, Log& log) {
  for (const auto& here : field_ranges(data, 256))
    for (const auto& seen : info.fields) {
      const bool words = here.info.dtype == DType::u8 && here.info.shape == std::vector<std::int64_t>{-1};
      if (seen.info.name != here.info.name || words || !(seen.lowest <= seen.highest)) continue;
      const double rounding = 1e-6 * std::max(std::abs(seen.lowest), std::abs(seen.highest)),
                   slack = std::max(0.05 * (seen.highest - seen.lowest), rounding);
      if (!(here.lowest < seen.lowest - slack || here.highest > seen.highest + slack)) continue;
      const auto [found, known] = ranges_text(here, seen);
      log.warn(fmt::format("field '{}' spans {}, but training saw {}: the model extrapolates", here.info.name, found,
                           known));
    }
}

}  // namespace cambium::train
