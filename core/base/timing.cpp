#include "core/base/timing.hpp"

#include "core/base/recorder.hpp"

namespace cambium {

int Timing::enter(std::string_view name) {
  if (const auto listen = section_listener().enter) listen(name);
  if (Recorder* found = recorder()) found->enter_section(name);
  const double now = wall_seconds();
  if (current_ >= 0) sections_[current_].seconds += now - since_;
  since_ = now;
  const int outer = current_;
  for (current_ = 0; current_ < std::ssize(sections_); ++current_)
    if (sections_[current_].name == name) break;
  if (current_ == static_cast<int>(sections_.size())) sections_.push_back({std::string(name)});
  ++sections_[current_].calls;
  return outer;
}

void Timing::leave(int outer) {
  const double now = wall_seconds();
  sections_[current_].seconds += now - since_;
  since_ = now;
  current_ = outer;
  if (Recorder* found = recorder()) found->leave();
  if (const auto listen = section_listener().leave) listen();
}

void Timing::reset() {
  for (auto& section : sections_) section = {section.name};
  since_ = wall_seconds();
}

}  // namespace cambium
