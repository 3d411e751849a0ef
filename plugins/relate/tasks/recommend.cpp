#include "plugins/relate/tasks/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/numerics/gemm.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"

namespace cambium::relate {

void Recommend::Params::describe(deck::Describe<Params>& d) {
  d("models", &Params::models, "model files of stages train").def({}).example("[\"{run}/train/model.h5\"]");
  d("dataset", &Params::dataset,
    "data set of interactions, whose test split is predicted; with split: validation its validation split, to choose "
    "settings");
  d("k", &Params::best, "items that a user is offered").formerly("best").range(1, 1000).def(20);
  d("users", &Params::users,
    "number of users to evaluate, evenly spaced among those with interactions to predict; 0 for all")
      .at_least(0)
      .def(500);
  d("ease_lambda", &Params::ease_lambda,
    "ridge of the baseline EASE; of several the best on validation is taken, or on a tenth of training where there is "
    "no validation; []: without EASE")
      .positive()
      .def({10.0, 30.0, 100.0, 300.0, 1000.0});
  d("ease_memory", &Params::ease_memory,
    "largest matrix of the baseline EASE on each rank, 4 B for each pair of users or of items, whichever are fewer; "
    "EASE is left out above it")
      .unit("B")
      .range(0.0, 8.5e9)
      .def(1e9);
}

void Recommend::examine(Check& check) {
  for (const char* name : {"scores.csv", "recommended.csv"}) check.will_write({name, {Origin::stage, "recommend"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(fmt::format("items for users by {} model file{}, and by baselines without networks",
                               params_.models.size(), params_.models.size() == 1 ? "" : "s"));
  check.require_written_by("models", params_.models, {{Origin::network}});
}

void Recommend::choose_users(const ChoiceTable& table) {
  std::vector<std::int32_t> all;
  for (std::size_t u = 0; u < table.test.size(); ++u)
    if (!table.test[u].empty()) all.push_back(static_cast<std::int32_t>(u));
  if (all.empty())
    throw InputError(fmt::format("{}: no user has {} interactions; give some", table.source, table.held_out));
  const auto most = params_.users == 0 ? all.size() : std::min(all.size(), static_cast<std::size_t>(params_.users));
  users_.clear();
  for (std::size_t k = 0; k < most; ++k) users_.push_back(all[k * all.size() / most]);
}

void Recommend::note(const ListScore& score, std::size_t user, Judged& out) const {
  double* to = out.numbers.data() + user * each();
  to[0] = score.recall;
  to[1] = score.ndcg;
  to[2] = score.recall_new;
  to[3] = score.has_new ? 1.0 : 0.0;
  for (std::size_t r = 0; r < score.best.size(); ++r) to[4 + r] = 1.0 + score.best[r];  // 0: none
}

Recommend::Judged Recommend::judge(const ChoiceTable& table, const ChoiceBaseline& baseline, const Comm& comm) const {
  Judged out{baseline.method, std::vector<double>(users_.size() * each(), 0.0)};
  for (auto k = static_cast<std::size_t>(comm.rank()); k < users_.size(); k += static_cast<std::size_t>(comm.size()))
    note(judge_list(table, popular_, users_[k], baseline.scores(users_[k]), params_.best), k, out);
  comm.sum(out.numbers);
  return out;
}

/// Users are distributed over ranks, which process blocks of items together, because rows come from all of them.
Recommend::Judged Recommend::judge(const std::shared_ptr<const ChoiceTable>& table, TrainedModel& model,
                                   const Comm& comm) const {
  constexpr std::int64_t block = 4096;
  Judged out{model.method(), std::vector<double>(users_.size() * each(), 0.0)};
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (std::size_t turn = 0; turn < users_.size(); turn += ranks) {
    const std::size_t k = turn + static_cast<std::size_t>(comm.rank());
    const auto candidates = k < users_.size() ? share(candidate_records(table, users_[k])) : nullptr;
    std::vector<double> scores;
    for (std::int64_t first = 0; first < table->items; first += block) {
      std::vector<train::SamplePtr> samples;
      for (auto i = first; candidates && i < std::min(first + block, table->items); ++i)
        samples.push_back(sample_of(candidates, i));
      const auto said = model.of(samples);
      scores.insert(scores.end(), said.begin(), said.end());
    }
    if (candidates) note(judge_list(*table, popular_, users_[k], scores, params_.best), k, out);
  }
  comm.sum(out.numbers);
  return out;
}

/// Vectors of all items, on every rank.
static std::vector<double> vectors_of_items(const std::shared_ptr<const ChoiceTable>& table, TrainedModel& model) {
  constexpr std::int64_t block = 4096;
  const auto items = share(candidate_records(table, 0));
  std::vector<double> out;
  for (std::int64_t first = 0; first < table->items; first += block) {
    std::vector<train::SamplePtr> samples;
    for (auto i = first; i < std::min(first + block, table->items); ++i) samples.push_back(sample_of(items, i));
    const auto some = model.by_vectors(samples)->item_vectors(samples);
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

/// Blocks of users are distributed over ranks; scores of a block are one matrix product.
Recommend::Judged Recommend::judge_by_vectors(const std::shared_ptr<const ChoiceTable>& table, TrainedModel& model,
                                              const Comm& comm) const {
  constexpr std::size_t block = 64;
  Judged out{model.method(), std::vector<double>(users_.size() * each(), 0.0)};
  const auto items = vectors_of_items(table, model);
  const int n = static_cast<int>(table->items), width = static_cast<int>(std::ssize(items) / table->items);
  const auto ranks = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::vector<double> scores(block * static_cast<std::size_t>(n));
  for (std::size_t turn = 0; turn < users_.size(); turn += ranks * block) {
    const std::size_t first = std::min(turn + rank * block, users_.size()),
                      last = std::min(first + block, users_.size());
    const auto records = share(user_records(table, std::span(users_).subspan(first, last - first)));
    std::vector<train::SamplePtr> samples;
    for (std::size_t k = first; k < last; ++k)
      samples.push_back(sample_of(records, static_cast<std::int64_t>(k - first)));
    auto* network = model.by_vectors(samples);
    if (samples.empty()) continue;
    const auto users = network->user_vectors(samples);
    host_gemm<double>(false, true, static_cast<int>(samples.size()), n, width, 1.0, users.data(), width, items.data(),
                      width, 0.0, scores.data(), n);
    for (std::size_t k = first; k < last; ++k)
      note(judge_list(*table, popular_, users_[k],
                      std::span(scores).subspan((k - first) * static_cast<std::size_t>(n), static_cast<std::size_t>(n)),
                      params_.best),
           k, out);
  }
  comm.sum(out.numbers);
  return out;
}

/// Mean of metric `which` over all users; for new items, over users who have any.
double Recommend::mean(const Judged& judged, std::size_t which) const {
  double sum = 0.0, count = 0.0;
  for (std::size_t k = 0; k < users_.size(); ++k) {
    const double* of = judged.numbers.data() + k * each();
    if (which == 2 && of[3] == 0.0) continue;
    sum += of[which];
    count += 1.0;
  }
  return sum / count;
}

void Recommend::write(const std::vector<Judged>& all, const ChoiceTable& table, Context& context) {
  lines_.push_back(
      fmt::format("{:<44}{:>12}{:>12}{:>12}", fmt::format("{} users, {} items each", users_.size(), params_.best),
                  fmt::format("Recall@{}", params_.best), fmt::format("NDCG@{}", params_.best), "new items"));
  std::string scores = "method,recall,ndcg,recall_new\n";
  for (const auto& judged : all) {
    const double recall = mean(judged, 0), ndcg = mean(judged, 1), fresh = mean(judged, 2);
    lines_.push_back(fmt::format("{:<44}{:>12.4f}{:>12.4f}{:>12}", judged.method, recall, ndcg,
                                 std::isnan(fresh) ? "-" : fmt::format("{:.4f}", fresh)));
    const auto name = key_of(judged.method);
    results_.push_back(in_table("recall_" + name, "recall: " + judged.method, recall));
    results_.push_back(in_table("ndcg_" + name, "NDCG: " + judged.method, ndcg));
    if (!std::isnan(fresh))
      results_.push_back(in_table("recall_new_" + name, "recall of new items: " + judged.method, fresh));
    scores += fmt::format("{},{},{},{}\n", judged.method, number_text(recall), number_text(ndcg), number_text(fresh));
  }
  lines_.push_back(
      fmt::format("new items: recall of items without an interaction in training, over users with such items in {}",
                  table.held_out));
  lines_.insert(lines_.end(), settings_.begin(), settings_.end());
  std::string text = "user,place,item,chosen\n";
  for (std::size_t k = 0; k < users_.size(); ++k)
    for (std::int64_t r = 0; r < params_.best; ++r) {
      const auto item = static_cast<std::int32_t>(all.back().numbers[k * each() + 4 + static_cast<std::size_t>(r)]) - 1;
      if (item >= 0)
        text += fmt::format("{},{},{},{}\n", users_[k], r + 1, item, table.chose(Role::test, users_[k], item) ? 1 : 0);
    }
  io::on_root(context.comm, [&] {
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "scores.csv").string(), scores);
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "recommended.csv").string(), text);
  });
}

/// Warns of a network that learned interactions by which it is judged here, or may have. `given`: of the data set.
static void warn_of_learned(const std::string& path, std::uint64_t learned, const ChoiceTable& given, bool validates,
                            Log& log) {
  if (learned == 0 || learned == hash_of(given.training)) return;
  ChoiceTable other = given;
  if (!given.joined.empty()) {
    for (std::size_t u = 0; u < other.training.size(); ++u)
      std::erase_if(other.training[u],
                    [&](auto i) { return std::binary_search(given.joined[u].begin(), given.joined[u].end(), i); });
  } else {
    join_validation(other);
  }
  const bool of_file = learned == hash_of(other.training);
  if (of_file && !validates) return;
  log.warn(of_file ? fmt::format("models: '{}' was trained on the validation split, too, so its ranking of that split "
                                 "is no prediction; judge one trained without train_on_validation",
                                 path)
                   : fmt::format("models: '{}' was trained on other interactions than those for training in {}, which "
                                 "may include some of those that are ranked; train it on the same file",
                                 path, given.source));
}

Task::Outcome Recommend::run(Context& context) {
  results_.clear();
  lines_.clear();
  settings_.clear();
  citations_.clear();
  const auto data = context.registry->make<train::Dataset>(params_.dataset, context);
  data->open(context);
  const auto* choices = dynamic_cast<const InteractionSet*>(data.get());
  if (!choices)
    throw KeyError("recommend.dataset.type", "dataset",
                   "recommend offers items to users; give a dataset of type interactions");
  const bool validates = choices->part() == Role::validation;
  const auto table =
      validates ? std::make_shared<const ChoiceTable>(for_validation(*choices->table())) : choices->table();
  if (validates) settings_.push_back("ranked for the validation split; items of the test split are candidates");
  choose_users(*table);
  popular_ = popularity(*table);
  std::vector<Judged> all;
  for (const auto& baseline : choice_baselines(table, {params_.best, params_.ease_lambda, params_.ease_memory})) {
    if (!baseline.settings.empty()) settings_.push_back(fmt::format("{}: {}", baseline.method, baseline.settings));
    if (baseline.scores) all.push_back(judge(*table, baseline, context.comm));
  }
  for (const auto& path : params_.models) {
    TrainedModel model(path, *data, context);
    warn_of_learned(path, model.learned(), *choices->table(), validates, context.log);
    all.push_back(model.has_vectors() ? judge_by_vectors(table, model, context.comm)
                                      : judge(table, model, context.comm));
    for (const auto& work : model.citations()) citations_.push_back(work);
  }
  citations_.push_back(
      {"sarwar2001",
       "@inproceedings{sarwar2001,\n  author = {Sarwar, Badrul and Karypis, George and Konstan, Joseph and Riedl, "
       "John},\n  title = {Item-based collaborative filtering recommendation algorithms},\n  booktitle = {Proceedings "
       "of "
       "the 10th International Conference on World Wide Web},\n  pages = {285--295},\n  year = {2001}\n}\n"});
  write(all, *table, context);
  work_ = {std::ssize(users_), "user"};
  return Outcome::done;
}

}  // namespace cambium::relate
