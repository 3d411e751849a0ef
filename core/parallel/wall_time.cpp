#include "core/parallel/wall_time.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {

namespace {

constexpr const char* time_forms =
    "write HH:MM:SS (\"00:10:00\"), days before it (\"1-12:00:00\"), or units (12h, 90m, 1d 6h)";

[[noreturn]] void no_wall_time(const std::string& text) {
  throw InputError(fmt::format("walltime '{}' is not a time; {}", text, time_forms));
}

/// Seconds of the units d, h, m (or min) and s; 0 for any other word.
double seconds_of(std::string_view unit) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"d", 86400.0}, {"h", 3600.0}, {"min", 60.0}, {"m", 60.0}, {"s", 1.0}};
  for (const auto& [name, seconds] : units)
    if (unit == name) return seconds;
  return 0.0;
}

/// "1h30m", "1d 6 h": amounts with units, each smaller than the one before; none for any other text.
std::optional<double> with_units(std::string_view text) {
  double total = 0.0, last = std::numeric_limits<double>::infinity();
  for (text = trim(text); !text.empty(); text = trim(text)) {
    double amount = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc() || !(amount >= 0.0)) return std::nullopt;
    text = trim(text.substr(end - text.data()));
    const auto word = text.substr(0, std::min(text.find_first_not_of("dhmins"), text.size()));
    const double unit = seconds_of(word);
    if (unit == 0.0 || unit >= last) return std::nullopt;
    text.remove_prefix(word.size());
    total += amount * (last = unit);
  }
  return total;
}

/// "SS", "MM:SS" or "HH:MM:SS"; after "D-" also "HH" and "HH:MM", as Slurm reads them. None for any other text.
std::optional<double> with_colons(std::string_view text) {
  double days = 0.0, total = 0.0;
  const auto dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  const auto whole = [](std::string_view part, bool fraction) -> std::optional<double> {
    const auto value = parse_number(part);
    const auto good = fraction ? "0123456789." : "0123456789";
    if (!value || part.find_first_not_of(good) != std::string_view::npos) return std::nullopt;
    return value;
  };
  if (has_days) {
    const auto value = whole(text.substr(0, dash), false);
    if (!value) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  int parts = 0;
  for (bool more = true; more; ++parts) {
    const auto colon = std::min(text.find(':'), text.size());
    more = colon < text.size();
    const auto value = whole(text.substr(0, colon), !more);
    if (!value || parts == 3) return std::nullopt;
    total = 60.0 * total + *value;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  if (has_days)
    for (; parts < 3; ++parts) total *= 60.0;
  return 86400.0 * days + total;
}

}  // namespace

double parse_wall_time(const std::string& text) {
  const auto bare = trim(text);
  const auto seconds = bare.empty()                              ? std::nullopt
                       : bare.find_first_of("dhms") != bare.npos ? with_units(bare)
                                                                 : with_colons(bare);
  if (!seconds || !std::isfinite(*seconds)) no_wall_time(text);
  if (*seconds <= 0.0)
    throw InputError(
        fmt::format("walltime '{}' leaves no time to run; {}, or leave it out for no limit", text, time_forms));
  return *seconds;
}

}  // namespace cambium
