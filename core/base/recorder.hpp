#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cambium {

/// Kinds of time of a program, by the part of the machine in use.
enum class WorkKind : unsigned char {
  matrix,          ///< products of matrices, factorizations
  elementwise,     ///< vector unit: one result for each element
  reduction,       ///< vector unit: sums, scans
  transcendental,  ///< vector unit: exponentials and their like
  movement,        ///< copies, gathers, packing
  communication,   ///< messages, and waiting for them
  files,           ///< input and output
  host,            ///< code between all these: lists, decisions, loops that nothing names
};
constexpr int work_kinds = 8;
/// "matrix", "elementwise", ...
const char* name_of(WorkKind kind);

/// Cost of a piece of work, counted and not measured; 0 if unknown.
struct Amount {
  double flops = 0.0, bytes = 0.0;  ///< bytes: that must pass memory, the network or the file system at least
  int word = 8;                     ///< bytes of a number: the roofs of 4 and 8 differ
};

/// Regions of one thread during profiling: number of calls, time without nested regions, amounts of work. Regions nest;
/// time outside any region is idle.
class Recorder {
 public:
  struct Row {
    std::string section, name;  ///< section: that of Timing around it, "" outside
    WorkKind kind;
    int word;  ///< work in double and in float gives two rows
    std::int64_t calls = 0;
    double seconds = 0.0;  ///< without the regions inside
    double flops = 0.0, bytes = 0.0;
  };
  struct Event {
    std::size_t row;
    double start, seconds;  ///< from begin(); with the regions inside
  };

  /// `most_events`: of the trace; later ones are counted in the rows only.
  explicit Recorder(std::size_t most_events);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Records the calling thread's regions from here to end(). std::logic_error if another recorder is active.
  void begin();
  void end();

  void enter(std::string_view name, WorkKind kind, const Amount& amount = {}, bool closed = false);
  void enter_section(std::string_view name);
  void leave();
  /// Adds to the amounts of the innermost region.
  void add(const Amount& amount);
  /// True in a region whose inside is not to be recorded, such as a product that is a kernel on some back ends.
  bool closed() const { return !stack_.empty() && stack_.back().closed; }

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Event>& events() const { return events_; }
  std::int64_t lost_events() const { return lost_; }
  double seconds() const { return ended_ - began_; }
  double idle() const { return idle_; }

 private:
  struct Frame {
    std::size_t row;
    double start;
    int outer_section;
    bool closed;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Names = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;

  double charge();
  std::size_t row_of(std::string_view name, WorkKind kind, int word);
  std::size_t found_row(std::string_view name, WorkKind kind, int word);
  int section_of(std::string_view name);

  std::vector<Row> rows_;
  std::vector<std::string> sections_{""};
  std::vector<std::array<Names, 2>> names_{1};  ///< per section: for values of 8 bytes, and for narrower ones
  std::array<std::size_t, 256> recent_{};       ///< row + 1 of names by their address: most are literals
  std::vector<Frame> stack_;
  std::vector<Event> events_;
  std::size_t most_events_;
  std::int64_t lost_ = 0;
  int section_ = 0;
  double since_ = 0.0, began_ = 0.0, ended_ = 0.0, idle_ = 0.0;
};

/// That which records the calling thread; null when nothing does, which is the usual case and costs one test.
Recorder* recorder();

/// Registers regions of other libraries (kernels, operators): `source` is called with true when a recorder begins and
/// with false when it ends. For the entire program.
void add_region_source(std::function<void(bool)> source);

/// Callbacks for sections of Timing, called whether or not a profile is taken; unused if null.
struct SectionListener {
  void (*enter)(std::string_view name) = nullptr;
  void (*leave)() = nullptr;
};
SectionListener& section_listener();

/// Records its own lifetime as a region; nested regions are recorded, too.
class Region {
 public:
  Region(std::string_view name, WorkKind kind, const Amount& amount = {}) : Region(name, kind, amount, false) {}
  ~Region() {
    if (recorder_) recorder_->leave();
  }
  /// For amounts known only when the work is done.
  void add(const Amount& amount) const {
    if (recorder_) recorder_->add(amount);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 protected:
  Region(std::string_view name, WorkKind kind, const Amount& amount, bool closed) : recorder_(recorder()) {
    if (recorder_ && recorder_->closed()) recorder_ = nullptr;
    if (recorder_) recorder_->enter(name, kind, amount, closed);
  }

 private:
  Recorder* recorder_;
};

/// Region whose interior is not recorded: a kernel with the amounts given by its shape.
class KernelRegion : public Region {
 public:
  KernelRegion(std::string_view name, WorkKind kind, const Amount& amount = {}) : Region(name, kind, amount, true) {}
};

}  // namespace cambium
