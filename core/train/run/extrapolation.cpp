#include "core/train/run/extrapolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::train {

namespace {

struct Range {
  double lowest = 0.0, highest = 0.0;
  bool holds() const { return lowest <= highest; }
};

/// True where `here` leaves `seen` by more than `share` of it. Differences within rounding are ignored, which is
/// `noise` at least.
bool leaves(const Range& here, const Range& seen, double share, double noise = 0.0) {
  if (!seen.holds() || !here.holds()) return false;
  const double rounding = std::max(noise, 1e-6 * std::max(std::abs(seen.lowest), std::abs(seen.highest))),
               slack = std::max(share * (seen.highest - seen.lowest), rounding);
  return here.lowest < seen.lowest - slack || here.highest > seen.highest + slack;
}

/// Two ranges with the fewest digits, at least four, that show their difference.
std::pair<std::string, std::string> ranges_text(const Range& one, const Range& other) {
  const auto text = [](const Range& r, int digits) {
    return fmt::format("[{:.{}g}, {:.{}g}]", r.lowest, digits, r.highest, digits);
  };
  int digits = 4;
  while (digits < 17 && text(one, digits) == text(other, digits)) ++digits;
  return {text(one, digits), text(other, digits)};
}

/// A sentence about the first value of a row that leaves its own range; empty if none does.
std::string about_values(const FieldRange& here, const FieldRange& seen) {
  constexpr double share = 0.25;  // of one column: the ends of a few hundred samples differ from set to set
  std::string out;
  std::size_t others = 0;
  if (here.each_lowest.size() != seen.each_lowest.size()) return out;
  // A value that is 0 up to rounding of the largest ones, as an element of a tensor, has no range of its own.
  const double epsilon = here.info.dtype == DType::f64   ? std::numeric_limits<double>::epsilon()
                         : here.info.dtype == DType::f32 ? std::numeric_limits<float>::epsilon()
                                                         : 0.0,
               noise = 4.0 * epsilon * std::max(std::abs(seen.lowest), std::abs(seen.highest));
  for (std::size_t k = 0; k < seen.each_lowest.size(); ++k) {
    const Range found{here.each_lowest[k], here.each_highest[k]}, known{seen.each_lowest[k], seen.each_highest[k]};
    if (!leaves(found, known, share, noise)) continue;
    if (!out.empty()) {
      ++others;
      continue;
    }
    const auto [a, b] = ranges_text(found, known);
    out = fmt::format("value {} of field '{}' (counted from 0) spans {}, but training saw {}: the model extrapolates",
                      k, here.info.name, a, b);
  }
  if (others > 0) out += fmt::format("; so {} {} of its other values", others == 1 ? "does" : "do", others);
  return out;
}

/// A sentence about images that training read as bytes and these data hold as fractions of 255: they lie within the
/// range of training, but are black to the model. Empty if they are not such.
std::string about_bytes(const FieldRange& here, const FieldRange& seen) {
  constexpr double byte = 255.0, bright = 64.0;
  constexpr std::int64_t pixels = 16;
  const bool real = here.info.dtype == DType::f64 || here.info.dtype == DType::f32;
  std::int64_t values = 1;
  for (const auto extent : here.info.shape) values *= extent;
  const bool fractions = here.lowest >= 0.0 && here.highest > 0.0 && here.highest <= 1.0,
             bytes = seen.lowest >= 0.0 && seen.highest >= bright && seen.highest <= byte;
  if (!real || values < pixels || !fractions || !bytes) return {};
  const auto [a, b] = ranges_text({here.lowest, here.highest}, {seen.lowest, seen.highest});
  return fmt::format(
      "field '{}' spans {}, but training saw {}: if these are bytes divided by 255, give them to the model as bytes",
      here.info.name, a, b);
}

}  // namespace

/// Models extrapolate poorly beyond the range of their training data. Text (bytes of any value) has no range.
void warn_of_ranges(const ArtifactInfo& info, Dataset& data, Log& log) {
  for (const auto& here : field_ranges(data, 256))
    for (const auto& seen : info.fields) {
      const bool words = here.info.dtype == DType::u8 && here.info.shape == std::vector<std::int64_t>{-1};
      if (seen.info.name != here.info.name || words) continue;
      const Range found{here.lowest, here.highest}, known{seen.lowest, seen.highest};
      if (leaves(found, known, 0.05)) {
        const auto [a, b] = ranges_text(found, known);
        log.warn(fmt::format("field '{}' spans {}, but training saw {}: the model extrapolates", here.info.name, a, b));
      } else if (const auto about = about_values(here, seen); !about.empty()) {
        log.warn(about);
      } else if (const auto scaled = about_bytes(here, seen); !scaled.empty()) {
        log.warn(scaled);
      }
    }
}

}  // namespace cambium::train
