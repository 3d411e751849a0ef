#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "core/deck/describe.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::kinetic {

/// The keys `every` and `interval` of an output, of which a deck gives one at most; `usual`: steps where it gives none.
template <class P>
void describe_times(deck::Describe<P>& d, std::int64_t usual) {
  d("every", &P::every,
    "number of steps between two outputs; default " + std::to_string(usual) + " if 'interval' is not given")
      .at_least(1);
  d("interval", &P::interval, "time between two outputs, in the unit of the physics, as an alternative to 'every'")
      .positive();
  d.check([](const P& p) {
    return p.every && p.interval ? "'every' and 'interval' exclude each other; leave one out" : "";
  });
}

/// Determines the steps at which an output with `interval` is due: the first one at or after each multiple of the
/// interval.
class OutputClock {
 public:
  explicit OutputClock(std::optional<double> interval) : interval_(interval) {}

  std::int64_t every(std::optional<std::int64_t> given, std::int64_t usual) const {
    return interval_ ? 1 : given.value_or(usual);
  }
  /// To be called once at each step of every().
  bool due(double time) {
    if (!interval_) return true;
    if (time < next_ - 1e-9 * *interval_) return false;
    next_ = (std::floor(time / *interval_ + 1e-6) + 1.0) * *interval_;
    seen_ = time;
    return true;
  }
  /// True if the end of a run is still to be written; due() is true then.
  bool shows_end(std::int64_t step, double time, std::int64_t every) {
    if (!interval_) return step % every != 0;
    if (time <= seen_) return false;
    next_ = time;
    return true;
  }
  /// In a checkpoint.
  void save(io::Group& group) const {
    if (interval_) group.set_attribute("shown", seen_);
  }
  void load(const io::Group& group) {
    if (!interval_ || !group.has_attribute("shown")) return;
    next_ = 0.0;
    due(group.attribute<double>("shown"));
  }

 private:
  std::optional<double> interval_;
  double next_ = 0.0, seen_ = -1.0;
};

}  // namespace cambium::kinetic
