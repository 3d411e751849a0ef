#include "core/base/recorder.hpp"

#include <array>
#include <chrono>
#include <stdexcept>

namespace cambium {

namespace {

/// Written by begin() and end() only; the thread-local flag is checked only if it is set.
Recorder* at_work = nullptr;
thread_local bool recorded_thread = false;

std::vector<std::function<void(bool)>>& sources() {
  static std::vector<std::function<void(bool)>> all;
  return all;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

const char* name_of(WorkKind kind) {
  constexpr std::array<const char*, work_kinds> names{"matrix",   "elementwise",   "reduction", "transcendental",
                                                      "movement", "communication", "files",     "host"};
  return names[static_cast<std::size_t>(kind)];
}

Recorder* recorder() { return at_work && recorded_thread ? at_work : nullptr; }

void add_region_source(std::function<void(bool)> source) {
  if (at_work) source(true);
  sources().push_back(std::move(source));
}

SectionListener& section_listener() {
  static SectionListener listener;
  return listener;
}

Recorder::Recorder(std::size_t most_events) : most_events_(most_events) { events_.reserve(most_events); }

Recorder::~Recorder() {
  if (at_work == this) end();
}

void Recorder::begin() {
  if (at_work) throw std::logic_error("two recorders at once");
  at_work = this;
  recorded_thread = true;
  for (const auto& source : sources()) source(true);
  began_ = since_ = now_seconds();
}

void Recorder::end() {
  ended_ = charge();
  for (const auto& source : sources()) source(false);
  at_work = nullptr;
  recorded_thread = false;
}

/// The time since the last change belongs to the innermost region.
double Recorder::charge() {
  const double now = now_seconds();
  (stack_.empty() ? idle_ : rows_[stack_.back().row].seconds) += now - since_;
  since_ = now;
  return now;
}

/// Tries the row last found for a name at this address; its name is compared, since addresses are reused.
std::size_t Recorder::row_of(std::string_view name, WorkKind kind, int word) {
  const auto address = reinterpret_cast<std::uintptr_t>(name.data());
  std::size_t& recent = recent_[(address / 8 + static_cast<std::size_t>(section_) * 67) % recent_.size()];
  if (recent > 0) {
    const Row& row = rows_[recent - 1];
    if (row.name == name && (row.word < 8) == (word < 8) && row.section == sections_[section_]) return recent - 1;
  }
  const std::size_t row = found_row(name, kind, word);
  recent = row + 1;
  return row;
}

std::size_t Recorder::found_row(std::string_view name, WorkKind kind, int word) {
  Names& known = names_[section_][word < 8];
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  known.emplace(std::string(name), rows_.size());
  rows_.push_back({sections_[section_], std::string(name), kind, word});
  return rows_.size() - 1;
}

int Recorder::section_of(std::string_view name) {
  for (std::size_t k = 0; k < sections_.size(); ++k)
    if (sections_[k] == name) return static_cast<int>(k);
  sections_.emplace_back(name);
  names_.emplace_back();
  return static_cast<int>(sections_.size()) - 1;
}

void Recorder::enter(std::string_view name, WorkKind kind, const Amount& amount, bool closed) {
  const std::size_t row = row_of(name, kind, amount.word);
  Row& counted = rows_[row];
  ++counted.calls;
  counted.flops += amount.flops;
  counted.bytes += amount.bytes;
  stack_.push_back({row, charge(), section_, closed});
}

void Recorder::enter_section(std::string_view name) {
  const int outer = section_;
  section_ = section_of(name);
  enter(name, WorkKind::host);
  stack_.back().outer_section = outer;
}

void Recorder::add(const Amount& amount) {
  Row& row = rows_[stack_.back().row];
  row.flops += amount.flops;
  row.bytes += amount.bytes;
}

void Recorder::leave() {
  if (stack_.empty()) return;  // entered before the recorder began
  const double now = charge();
  const Frame frame = stack_.back();
  stack_.pop_back();
  section_ = frame.outer_section;
  if (events_.size() < most_events_)
    events_.push_back({frame.row, frame.start - began_, now - frame.start});
  else
    ++lost_;
}

}  // namespace cambium
