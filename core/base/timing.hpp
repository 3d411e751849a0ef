#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cambium {

/// Seconds since an arbitrary fixed point (monotonic).
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Wall time by named section, in the order in which sections first appeared. Sections do not nest:
/// entering one suspends the one around it, so the rows of the table add up to the loop.
class Timing {
 public:
  struct Section {
    std::string name;
    double seconds = 0.0;
    long calls = 0;
  };

  /// Adds the time of its own life to one section.
  class Scope {
   public:
    Scope(Timing& timing, std::string_view name) : timing_(timing), outer_(timing.enter(name)) {}
    ~Scope() { timing_.leave(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Timing& timing_;
    int outer_;
  };

  Scope scope(std::string_view name) { return Scope(*this, name); }
  const std::vector<Section>& sections() const { return sections_; }
  void reset();

 private:
  int enter(std::string_view name);
  void leave(int outer);
  std::vector<Section> sections_;
  int current_ = -1;
  double since_ = 0.0;
};

}  // namespace cambium
