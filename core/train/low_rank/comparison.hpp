#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/plugin/task.hpp"
#include "core/train/low_rank/compress_keys.hpp"
#include "core/train/low_rank/compress_table.hpp"
#include "core/train/low_rank/ways.hpp"

namespace cambium::train {

/// The networks of a stage compress: ranks by table and by search, and baselines of the same time, before and after
/// training. Collective.
class Comparison {
 public:
  struct Samples {
    std::vector<SamplePtr> chosen_by, judged_by, timed;
  };
  Comparison(const CompressKeys& keys, LoadedModel& whole, const Samples& samples, Dataset& data, Context& context);
  /// Measures, chooses and evaluates; writes model.h5 to the run folder, and a model.h5 of each baseline to a
  /// subfolder.
  CompressTable run();

  const Task::Work& work() const { return work_; }
  const std::vector<Citation>& citations() const { return citations_; }
  const std::vector<std::string>& folders() const { return folders_; }
  /// Files in the run folder in the network's own formats and of the training.
  const std::vector<std::string>& exported() const { return exported_; }

 private:
  std::vector<Way> ways();
  void judge(const Way& way);
  const Way& chosen_of(const std::vector<Way>& ways) const;
  Task::Outcome train_on(const Way& way, const std::string& folder);
  void export_model(Assembled& factors, Context& context);
  Task::Outcome train_smaller(const Way& chosen);
  Task::Outcome train(const deck::Node& network, std::int64_t steps, double rate, const std::string& start_from,
                      Context& context);
  double trained_loss(const std::string& folder);
  double seconds_of(Network& network, FlatBuffer& weights);
  Context context_of(const std::string& folder) const;

  const CompressKeys& keys_;
  LoadedModel& whole_;
  const Samples& samples_;
  Dataset& data_;
  Context& context_;
  CostTable costs_;
  Ways ways_;
  CompressTable table_;
  double whole_seconds_ = 0.0;
  std::map<std::string, double> chosen_by_;  ///< loss by the key of a strategy
  Task::Work work_;
  std::vector<Citation> citations_;
  std::vector<std::string> folders_, exported_;
};

}  // namespace cambium::train
