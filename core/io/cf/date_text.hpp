#pragma once
#include <optional>
#include <string_view>

#include "core/io/cf/calendar.hpp"

namespace cambium::io::cf {

/// A point in time, UTC.
struct Moment {
  std::int64_t day = 0;  ///< day_number() of the calendar
  double second = 0.0;   ///< in the day, 0 <= second < 86400
};

/// A date, with or without clock and zone, as UDUNITS-2 writes them ("UDUNITS-2 Manual", grammar of timestamps):
/// 1990-1-1, 1990-01, 1990, 19900101, 1990-01-01T06:00:00.5Z, 1990-1-1 6 UTC, 19900101T0600, 1990-1-1 0:0:0 -6:00.
/// None for other text and for days that the calendar does not have.
std::optional<Moment> moment_of(std::string_view text, Calendar calendar);

}  // namespace cambium::io::cf
