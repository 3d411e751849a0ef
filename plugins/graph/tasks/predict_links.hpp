#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/links/link_baselines.hpp"
#include "plugins/graph/links/ranking.hpp"

namespace cambium::graph {

/// The stage `predict_links`: ranking metrics of the held-out links for trained networks (k best items of each user),
/// compared with baselines without training: popularity, item cosine similarity, common neighbours in a plain graph, a
/// linear filter of the graph, the same with exponents of the degrees chosen on training links, and with an ideal
/// low-pass filter (GF-CF).
class PredictLinks : public Task {
 public:
  struct Params {
    std::vector<std::string> models;
    deck::Choice<train::Dataset> dataset;
    std::int64_t k = 20, singular_vectors = 256;
    double low_pass = 0.3;
    std::vector<std::int64_t> users;
    static void describe(deck::Describe<Params>& d);
  };
  PredictLinks(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "predictions.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Row {
    std::string method;
    std::vector<double> recall, ndcg, auc;  ///< of each network
  };
  void judge_baselines(Context& context);
  void judge_models(const std::string& entry, Context& context);
  void add(Row& row, LinkScores& scores, Context& context) const;
  void predict(LinkScores& scores, const std::string& method);
  void write(Context& context);

  Params params_;
  LinkGraphPtr graph_;
  FilterPowers powers_;
  std::vector<Row> rows_;
  std::string predictions_, predicted_by_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::graph
