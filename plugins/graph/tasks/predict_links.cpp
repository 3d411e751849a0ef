#include "plugins/graph/tasks/predict_links.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/graph/links/link_baselines.hpp"
#include "plugins/graph/links/samples.hpp"
#include "plugins/graph/networks/light_gcn.hpp"
#include "plugins/graph/tasks/model_files.hpp"

namespace cambium::graph {

void PredictLinks::Params::describe(deck::Describe<Params>& d) {
  d("models", &Params::models,
    "model files of stages train; one with a * in its name selects several networks, whose mean is reported")
      .def({})
      .example("[\"{run}/train/model.h5\"]");
  d("dataset", &Params::dataset, "data set links, whose held-out links are predicted");
  d("k", &Params::k, "items that every user is offered").at_least(1).at_most(10000).def(20);
  d("gfcf_weight", &Params::low_pass, "weight of the ideal low-pass filter in the baseline GF-CF")
      .formerly("low_pass")
      .non_negative()
      .def(0.3);
  d("gfcf_rank", &Params::singular_vectors, "number of singular vectors of the low-pass filter in the baseline GF-CF")
      .formerly("singular_vectors")
      .at_least(1)
      .at_most(10000)
      .def(256);
  d("users", &Params::users,
    "user indices whose predicted items are written to predictions.csv; default: the first five")
      .def({});
}

void PredictLinks::examine(Check& check) {
  for (const char* name : {"scores.csv", "predictions.csv"}) check.will_write({name, {Origin::stage, "predict_links"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(fmt::format("held-out links by {} model file{}, and by baselines that need no training",
                               params_.models.size(), params_.models.size() == 1 ? "" : "s"));
  for (std::size_t k = 0; k < params_.models.size(); ++k)
    if (params_.models[k].find('*') == std::string::npos)
      check.require_written_by(deck::child_path("models", k), params_.models[k], {{Origin::network}});
}

void PredictLinks::add(Row& row, LinkScores& scores, Context& context) const {
  const auto found = judge(*graph_, scores, params_.k, context.comm);
  row.recall.push_back(found.recall);
  row.ndcg.push_back(found.ndcg);
  row.auc.push_back(found.auc);
}

/// The table of predictions, once.
void PredictLinks::predict(LinkScores& scores, const std::string& method) {
  if (!predicted_by_.empty()) return;
  predicted_by_ = method;
  predictions_ = "user,place,item,score,held_out\n";
  auto users = params_.users;
  for (std::int64_t user = 0; params_.users.empty() && user < std::min<std::int64_t>(5, graph_->users); ++user)
    users.push_back(graph_->user_numbers.number(user));
  std::vector<float> row(graph_->items);
  for (const auto number : users) {
    const auto user = *graph_->user_numbers.node(number);
    scores.scores({&user, 1}, row.data());
    std::int64_t place = 0;
    for (const auto& [item, score] : best_items(*graph_, user, row, params_.k))
      predictions_ += fmt::format("{},{},{},{},{}\n", number, ++place, graph_->item_numbers.number(item),
                                  number_text(score), linked(graph_->held_out, user, item) ? 1 : 0);
  }
}

void PredictLinks::judge_baselines(Context& context) {
  const auto baseline = [&](const std::string& method, std::unique_ptr<LinkScores> scores) {
    rows_.push_back({method, {}, {}, {}});
    add(rows_.back(), *scores, context);
    return scores;
  };
  baseline("most popular", most_popular(*graph_));
  baseline("item-item cosine", item_cosine(*graph_));
  if (!graph_->bipartite) {
    baseline("common neighbours", shared_neighbours(*graph_, SharedNeighbours::number));
    baseline("Adamic-Adar", shared_neighbours(*graph_, SharedNeighbours::adamic_adar));
    baseline("resource allocation", shared_neighbours(*graph_, SharedNeighbours::resource_allocation));
  }
  baseline("linear filter", linear_filter(*graph_));
  powers_ = tuned_powers(*graph_, params_.k, context.comm);
  baseline("scaled linear filter", scaled_filter(*graph_, powers_.item, powers_.user));
  const auto method = fmt::format("GF-CF ({:g}; {} vectors)", params_.low_pass, params_.singular_vectors);
  const auto last = baseline(method, low_pass_filter(*graph_, params_.low_pass, params_.singular_vectors));
  if (params_.models.empty()) predict(*last, method);
}

void PredictLinks::judge_models(const std::string& entry, Context& context) {
  io::on_root(context.comm, [&] { files_of(entry); });
  Row row;
  for (const auto& file : files_of(entry)) {
    auto model = train::load_artifact(file, context);
    auto* network = dynamic_cast<LightGcn*>(model.network.get());
    if (!network)
      throw KeyError(
          "predict_links.models.type", "models",
          fmt::format("models: '{}' holds a {}, which gives links no score; light_gcn does", file, model.info.type));
    row.method = fmt::format("{} ({})", model.info.type, stage_of(entry));
    const auto scores = products_of_rows(*graph_, network->rows_of(graph_, model.weights.views()), network->width());
    add(row, *scores, context);
    predict(*scores, row.method);
    for (const auto& citation : network->citations()) citations_.push_back(citation);
  }
  rows_.push_back(std::move(row));
}

void PredictLinks::write(Context& context) {
  lines_.push_back(fmt::format("{:<34}{:>12}{:>12}{:>10}{:>10}{:>10}", "held-out links that are found",
                               fmt::format("Recall@{}", params_.k), fmt::format("NDCG@{}", params_.k), "AUC", "+-",
                               "networks"));
  std::string scores = "method,recall,ndcg,auc,deviation,networks,k\n";
  for (const auto& row : rows_) {
    const double spread = deviation(row.recall);
    lines_.push_back(fmt::format("{:<34}{:>12.4f}{:>12.4f}{:>10.4f}{:>10}{:>10}", row.method, mean(row.recall),
                                 mean(row.ndcg), mean(row.auc),
                                 row.recall.size() > 1 ? fmt::format("{:.4f}", spread) : "", row.recall.size()));
    const auto name = key_of(row.method);
    results_.push_back(in_table("recall_" + name, "recall: " + row.method, mean(row.recall)));
    results_.push_back(in_table("ndcg_" + name, "NDCG: " + row.method, mean(row.ndcg)));
    results_.push_back(in_table("auc_" + name, "AUC: " + row.method, mean(row.auc)));
    scores +=
        fmt::format("{},{},{},{},{},{},{}\n", row.method, number_text(mean(row.recall)), number_text(mean(row.ndcg)),
                    number_text(mean(row.auc)), number_text(spread), row.recall.size(), params_.k);
  }
  lines_.push_back(fmt::format(
      "scaled linear filter: powers {:g} (items) and {:g} (users){}", powers_.item, powers_.user,
      powers_.users > 0 ? fmt::format("; Recall@{} {:.4f} on {} links of {} users", params_.k, powers_.recall,
                                      graph_->validation.entries() > 0 ? "validation" : "training", powers_.users)
                        : ""));
  if (const auto entries = graph_->validation.entries(); entries > 0)
    lines_.push_back(
        fmt::format("validation links, no candidates in the ranking: {}", graph_->bipartite ? entries : entries / 2));
  lines_.push_back(fmt::format("predictions.csv: items for users by {}", predicted_by_));
  io::on_root(context.comm, [&] {
    const std::filesystem::path folder(context.run_directory);
    io::write_file_atomically((folder / "scores.csv").string(), scores);
    io::write_file_atomically((folder / "predictions.csv").string(), predictions_);
  });
}

static std::vector<Citation> citations_of_baselines() {
  return {{"shen2021", R"(@inproceedings{shen2021,
  author    = {Shen, Yifei and Wu, Yongji and Zhang, Yao and Shan, Caihua and Zhang, Jun and Letaief, Khaled B. and
               Li, Dongsheng},
  title     = {How Powerful is Graph Convolution for Recommendation?},
  booktitle = {Proceedings of the 30th ACM International Conference on Information and Knowledge Management},
  pages     = {1619--1629},
  year      = {2021},
  doi       = {10.1145/3459637.3482264}
})"},
          {"sarwar2001", R"(@inproceedings{sarwar2001,
  author    = {Sarwar, Badrul and Karypis, George and Konstan, Joseph and Riedl, John},
  title     = {Item-Based Collaborative Filtering Recommendation Algorithms},
  booktitle = {Proceedings of the 10th International Conference on World Wide Web},
  pages     = {285--295},
  year      = {2001},
  doi       = {10.1145/371920.372071}
})"}};
}

Task::Outcome PredictLinks::run(Context& context) {
  results_.clear();
  lines_.clear();
  rows_.clear();
  predicted_by_.clear();
  predictions_.clear();
  const auto data = context.registry->make<train::Dataset>(params_.dataset, context);
  data->open(context);
  const std::int64_t first[] = {0};
  const auto sample = data->read(first).front();
  const auto* samples = storage_of<LinkSamples>(*sample);
  if (!samples)
    throw KeyError("predict_links.dataset.type", "dataset",
                   "predict_links evaluates on held-out links; give a dataset of type links");
  graph_ = samples->graph;
  if (graph_->held_out.entries() == 0)
    throw KeyError("predict_links.dataset.held_out", "dataset",
                   fmt::format("{}: no link is held out; raise hold_out, or give held_out_edges", graph_->source));
  for (const auto user : params_.users)
    if (!graph_->user_numbers.node(user))
      throw KeyError("predict_links.users", "users",
                     fmt::format("users: there is no user {}; {} has {}, {}", user, graph_->source, graph_->users,
                                 graph_->user_numbers.range()));
  citations_ = citations_of_baselines();
  judge_baselines(context);
  for (const auto& model : params_.models) judge_models(model, context);
  write(context);
  work_ = {graph_->held_out.entries(), "link"};
  return Outcome::done;
}

}  // namespace cambium::graph
