#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/choice.hpp"
#include "core/deck/node.hpp"
#include "core/deck/placed_error.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

class State;
class Task;

/// Writer of a file: a kind, and a name of that kind.
struct Origin {
  enum Kind { unknown, network, output, physics, stage, model_of, fields_of, ensemble_of };
  Kind kind = unknown;
  std::string name = {};  ///< type in a deck; empty: any of this kind

  bool known() const { return kind != unknown; }
  /// True if output of `other` is of this origin.
  bool covers(const Origin& other) const;
  /// "network deep_potential", "fields of reconstruct"; "network *" for any.
  std::string text() const;
};

/// Files that a stage will have written when it ends, as far as that is known before it runs.
struct Promise {
  std::string name;  ///< in the stage's folder; "train/" is a folder, * is a step or a name: "restart.*.h5"
  Origin by = {};    ///< unknown: not specified
  std::vector<std::string> holds = {};  ///< species of a model, columns of a table; empty: not known
  std::int64_t every = 0, last = 0;     ///< steps for which there is such a file, *, and the last one; 0: not known
};

/// State of `cambium check` from stage to stage, and its interface. Every rank does the
/// same.
class Check {
 public:
  /// `directory`: of the run. Nothing is written there. The context outlives this.
  Check(std::string directory, Context& context) : directory_(std::move(directory)), context_(context) {}

  Context& context() { return context_; }

  /// Runs `action`; an InputError or NumericalError from it becomes a problem at `keys`, a KeyError at its key inside
  /// of them, and the result is false. Errors that have their location keep it.
  bool look(const deck::Node& keys, const std::function<void()>& action);
  /// Examines an object of any kind, if it is Checked, whose keys are these. False if it has a problem.
  template <class T>
  bool ask(T* object, const deck::Node& keys);

  // Description of a type.
  void will_write(Promise promise);
  /// Adds a line to "not checked", at the end of the report.
  void not_looked_at(const std::string& what);
  /// Memory on each rank, at least. Call it before allocating.
  void memory(const std::string& what, double bytes);
  /// Files that exist and are among the values of `keys` are about to be read: their bytes and the time for them.
  void reads(const deck::Node& keys);
  /// Rough seconds that the first state, or the first batch, and one step of it take here.
  void effort(double seconds) { stage().effort += seconds; }
  /// Estimated duration of the stage, without its output; `basis` explains the estimate.
  void duration(double seconds, const std::string& basis);

  /// Collective. True if the memory and effort reported so far in this stage are small enough to be tried within
  /// seconds, and there is no problem so far; the same result on every rank.
  bool small() const;
  /// File that an earlier stage of this deck will write at a path; none if no stage announced it.
  std::optional<Promise> written_before(const std::string& path) const;
  /// Exported models (Origin::model_of) that the stage which writes this path announced.
  std::vector<Promise> models_beside(const std::string& path) const;
  /// A path in the folder of a stage, which has it only once it ran; the first such path among the values of `keys`.
  bool waits(const std::string& path) const;
  std::optional<std::string> waits(const deck::Node& keys) const;
  /// KeyError about `key`, which names the path, when an earlier stage will write there, and not by one of these.
  void require_written_by(const std::string& key, const std::string& path, const std::vector<Origin>& writers) const;
  /// The same of every path of a list.
  void require_written_by(const std::string& key, const std::vector<std::string>& paths,
                          const std::vector<Origin>& writers) const;
  /// The initial state of a simulation, for its writers; null if it was not constructed.
  const State* first_state() const { return state_; }
  void set_first_state(const State* state) { state_ = state; }

  // For `cambium check` and the start of a run.
  struct Stage {
    std::string name, folder;  ///< of its task; in the run's directory
    deck::Node keys;
    bool says_files = false;  ///< else it may write anything
    std::vector<Promise> promises;
    std::vector<std::pair<std::string, double>> memory;
    double effort = 0.0;
    std::optional<double> seconds;
    std::string basis;  ///< of the seconds
    std::size_t problems = 0;
    bool tried = true;     ///< false: only its files are examined
    bool computes = true;  ///< false: it is constructed, but no state, batch or step is made
  };
  void begin(Stage stage);
  /// Every path of these keys that is in the run's directory must be written by an earlier stage, or exist and belong
  /// to no stage.
  void resolve_paths(const deck::Node& keys, const std::vector<std::string>& folders);
  Stage& stage() { return stages_.back(); }
  const std::vector<deck::PlacedText>& problems() const { return problems_; }
  const std::vector<std::string>& unseen() const { return unseen_; }

 private:
  void problem(deck::PlacedText one);
  /// Path relative to the run's directory and without "#7"; none if it is not inside.
  std::optional<std::string> inside(const std::string& path) const;
  std::string problem_of_path(const std::string& path, const std::vector<std::string>& folders) const;

  std::string directory_;
  Context& context_;
  std::vector<Stage> stages_;
  std::vector<deck::PlacedText> problems_;
  std::vector<std::string> unseen_;
  const State* state_ = nullptr;
};

/// Interface of a type of any kind but tasks (physics, potential, writer, data set, network) that has more to report to
/// `cambium check` than its keys (a task always has, see Task::examine): its output files, its requirements on files
/// and shapes, its memory. Called on every rank after everything was constructed, with nothing run; an InputError is a
/// problem of the deck. It allocates no memory that it has not reported, and takes no longer than a second or two.
class Checked {
 public:
  virtual ~Checked() = default;
  virtual void examine(Check&) = 0;
};

template <class T>
bool Check::ask(T* object, const deck::Node& keys) {
  auto* checked = dynamic_cast<Checked*>(object);
  return !checked || look(keys, [&] { checked->examine(*this); });
}

/// Collective: constructs a stage and examines it without computing anything (Check::Stage::computes), where nothing is
/// known of earlier stages. `context` is that of the stage, of a dry run. InputError if the stage refuses its keys.
void examine_stage(const deck::Choice<Task>& stage, Context& context);

/// In a constructor, under `cambium check`: true for a file in the folder of the run, which an earlier stage writes.
/// Under `cambium plan`: true for a missing file.
bool is_still_to_come(const std::string& path, const Context& context);

}  // namespace cambium
