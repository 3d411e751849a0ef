#pragma once
#include <functional>

#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/tasks/node_baselines.hpp"
#include "plugins/graph/tasks/two_classes.hpp"

namespace cambium::graph {

/// The stage `classify_nodes`: node classes predicted by trained networks and their accuracy, compared with cheap
/// baselines: the most frequent class, label propagation along edges, and networks without edges.
class ClassifyNodes : public Task {
 public:
  struct Params {
    std::vector<std::string> models;
    deck::Choice<train::Dataset> dataset;
    bool baselines = true;
    LabelPropagationKeys label_propagation;
    FeatureNetworkKeys mlp;
    static void describe(deck::Describe<Params>& d);
  };
  ClassifyNodes(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "nodes.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Row {
    std::string method;
    std::vector<double> test, validation;  ///< accuracy of each network
    std::vector<double> by_class;          ///< means over the classes of the accuracy for each, on test nodes
    std::vector<TwoClassScore> two_classes;
  };
  /// One train/validation/test split of the graph, and the evaluated nodes.
  struct Split {
    std::unique_ptr<train::Dataset> data;
    GraphPtr graph;
    std::vector<std::int32_t> nodes;
  };
  void open_splits(Context& context);
  const Split& split_of(const class NodeNetwork& network, const std::string& file, Log& log) const;
  Row row_of(const std::string& entry, Context& context);
  Row row_of_features(Context& context) const;
  Row row_of_baseline(const std::string& method, const std::function<Judgement(const Graph&)>& judge, Context& context);
  void keep(Judgement judged, const std::string& method, const Split& split);
  void write(const std::vector<Row>& rows, Context& context);
  void write_two_classes(const std::vector<Row>& rows, const Graph& graph);
  static TwoClassScore means_of(const Row& row);
  void write_nodes(Context& context) const;

  Params params_;
  std::vector<Split> splits_;  ///< one, or each of a file's
  Judgement best_;             ///< of the networks, by validation; this rank's local part of the nodes
  const Split* best_split_ = nullptr;
  std::string best_method_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::graph
