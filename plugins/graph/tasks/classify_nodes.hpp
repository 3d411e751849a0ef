#pragma once
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/tasks/node_rivals.hpp"
#include "plugins/graph/tasks/two_classes.hpp"

namespace cambium::graph {

/// The stage `classify_nodes`: the classes that trained networks give to nodes of a graph, and how often they are
/// right, beside baselines that cost little: the most frequent class, classes that spread along edges, and networks
/// that see no edge.
class ClassifyNodes : public Task, public Checked {
 public:
  struct Params {
    std::vector<std::string> models;
    deck::Choice<train::Dataset> dataset;
    bool rivals = true;
    LabelPropagationKeys label_propagation;
    FeatureNetworkKeys mlp;
    static void describe(deck::Describe<Params>& d);
  };
  ClassifyNodes(const Params& params, Context&) : params_(params) {}
  void check(Context&) override;
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
    std::vector<double> test, validation;  ///< shares that are right, of each network
    std::vector<double> by_class;          ///< means over the classes of the test nodes of the shares of each
    std::vector<TwoClassScore> two_classes;
  };
  Row row_of(const std::string& entry, const GraphPtr& graph, train::Dataset& nodes, Context& context);
  Row row_of_features(const GraphPtr& graph, Context& context) const;
  void keep(Judgement judged, const std::string& method);
  void write(const std::vector<Row>& rows, const Graph& graph, Context& context);
  void write_two_classes(const std::vector<Row>& rows, const Graph& graph);
  static TwoClassScore means_of(const Row& row);
  void write_nodes(const Graph& graph, Context& context) const;

  Params params_;
  std::vector<std::int32_t> nodes_;  ///< that are judged
  Judgement best_;                   ///< of the networks, by validation; of this rank's share of the nodes
  std::string best_method_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::graph
