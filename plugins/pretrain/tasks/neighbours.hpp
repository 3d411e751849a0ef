#pragma once
#include <functional>
#include <optional>
#include <span>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/search/index_keys.hpp"
#include "plugins/pretrain/tasks/judgement.hpp"

namespace cambium::pretrain {

/// The stage `neighbours`: for every query the most similar entries of an archive (by cosine), and the accuracy of the
/// nearest one, for the encoder and for methods without training. Writes scores.csv, neighbours.csv and pictures.h5
/// (some queries with their neighbours' fields).
class Neighbours : public Task {
 public:
  enum class By { simulation, parameters, label, partner };
  enum class Compare { all, other_moments, pairs_of_moments };
  struct Params {
    std::optional<std::string> model;
    deck::Choice<train::Dataset> archive;
    deck::Choice<train::Dataset> queries;
    By by = By::simulation;
    Compare compare = Compare::all;
    std::int64_t neighbours = 5, batch = 64;
    std::optional<IndexKeys> index;
    static void describe(deck::Describe<Params>& d);
  };
  Neighbours(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "neighbours.csv", "pictures.h5"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  std::vector<Method> methods(train::Dataset& archive, train::Dataset& queries, Context& context);
  Questions questions() const;
  void write(const std::vector<Method>& methods, const std::vector<SearchScore>& scores, Context& context);
  /// Called with the entries of one query after the other, the most similar first.
  using Found = std::function<void(std::int64_t query, std::span<const std::int64_t> entries)>;
  void search(const Method& method, const Found& found) const;
  void write_neighbours(const Method& method, Context& context);

  Params params_;
  Table archive_, queries_;
  Entries indexed_;  ///< of the index, if there is one
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::pretrain
