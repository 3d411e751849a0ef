#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/table_file.hpp"
#include "core/train/run/event_file.hpp"
#include "core/train/run/gradient_norms.hpp"
#include "core/train/run/held_out_loss.hpp"
#include "core/train/step/progress.hpp"
#include "core/train/step/training_step.hpp"

namespace cambium::train {

/// Log of a running training: rows on the screen and in training.csv, errors in validation.csv, losses of both sets in
/// learning_curve.csv.
class TrainingLog {
 public:
  /// Optional output in addition to the standard tables.
  struct Extra {
    bool tensorboard = false, gradient_norms = false;
  };
  /// Step and context must outlive this.
  TrainingLog(TrainingStep& step, Context& context, Extra extra) : step_(step), context_(context), extra_(extra) {}

  /// Collective, once the weights exist. `resumed_at`, `checkpoint`: the step at which a run resumes, and the file that
  /// recorded the length of the tables.
  void open(bool validates, std::optional<std::int64_t> resumed_at = {}, const std::string& checkpoint = {});
  /// Names and units of the columns on the screen.
  void header() const;
  /// Collective: writes means since the last row and starts a new window.
  void row(Progress& progress, double epoch);
  /// Sums over the validation set.
  struct Judged {
    const std::vector<TermSum>& metrics;
    const std::vector<TermSum>& terms;  ///< of the loss; empty if the network does not provide them
  };
  /// Collective: logs errors of a validation, one per metric, and training loss since the last one with the held-out
  /// loss.
  void validation(Progress& progress, double epoch, const std::vector<double>& errors, const Judged& sums, bool better);

  /// Collective, between gradient and update of a step whose row is written: norms by module, if enabled.
  void gradients(std::int64_t step, std::int64_t samples);
  bool wants_gradients() const { return norms_.has_value(); }

  std::vector<const io::TableFile*> tables() const;
  std::vector<std::string> files() const;

 private:
  void open_gradients(std::optional<std::int64_t> resumed_at, std::optional<io::TableMark> mark);

  TrainingStep& step_;
  Context& context_;
  Extra extra_;
  std::optional<GradientNorms> norms_;
  std::optional<EventFile> events_;
  std::optional<HeldOutLoss> loss_;  ///< of the validation set, if the network provides it
  std::unique_ptr<io::TableFile> training_, validation_, curve_, gradients_;
};

}  // namespace cambium::train
