#include "core/run/thermo.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cambium {

static int width_of(const Observable& o) {
  return std::max<int>(15, static_cast<int>(std::max(o.name.size(), o.unit.size())) + 2);
}

ThermoLines::ThermoLines(std::vector<Observable> observables, std::string time_unit)
    : observables_(std::move(observables)), time_unit_(std::move(time_unit)) {}

std::string ThermoLines::header() const {
  std::string line = fmt::format("{:>10}{:>12}", "step", "time");
  for (const auto& o : observables_)
    if (o.printed) line += fmt::format("{:>{}}", o.name, width_of(o));
  return line;
}

std::string ThermoLines::units() const {
  std::string line = fmt::format("{:>10}{:>12}", "", time_unit_);
  for (const auto& o : observables_)
    if (o.printed) line += fmt::format("{:>{}}", o.unit, width_of(o));
  return line;
}

std::string ThermoLines::row(std::int64_t step, double time, std::span<const double> values) const {
  std::string line = fmt::format("{:>10}{:>12.6g}", step, time);
  for (std::size_t k = 0; k < observables_.size(); ++k)
    if (observables_[k].printed) line += fmt::format("{:>{}.8g}", values[k], width_of(observables_[k]));
  return line;
}

}  // namespace cambium
