#include "core/run/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

namespace fs = std::filesystem;

void Rounds::Until::describe(deck::Describe<Until>& d) {
  d("result", &Until::result, "folder of a stage of the round and key of one of its results (results.json)")
      .example("label.labelled");
  d("at_most", &Until::at_most, "largest value at which the loop ends");
  d("at_least", &Until::at_least, "smallest value at which the loop ends");
  d.check([](const Until& u) {
    return u.at_most.has_value() == u.at_least.has_value() ? "give either at_most or at_least" : "";
  });
}

void Rounds::Params::describe(deck::Describe<Params>& d) {
  d("rounds", &Params::rounds, "maximum number of rounds").at_least(1).def(10);
  d("until", &Params::until, "target of a result, at which the loop ends; default: none, all rounds");
  d("stages", &Params::stages,
    "stages of a round; in their texts {round} is the folder of the round, and an item of a list with {rounds} is "
    "replaced by that path in every earlier round that wrote it")
      .keyed();
  d.check([](const Params& p) { return p.stages.empty() ? "stages names no stage to repeat" : ""; });
}

/// As the folders of a run's stages are named.
std::vector<std::string> Rounds::folders() const {
  std::map<std::string, int> seen;
  std::vector<std::string> out;
  for (const auto& stage : params_.stages) {
    const int n = ++seen[stage.type];
    out.push_back(n == 1 ? stage.type : fmt::format("{}_{}", stage.type, n));
  }
  return out;
}

Rounds::Rounds(const Params& params, Context&) : params_(params) {
  if (!params.until) return;
  const auto names = folders();
  const std::string stage = params.until->result.substr(0, params.until->result.find('.'));
  if (std::find(names.begin(), names.end(), stage) == names.end() || stage == params.until->result)
    throw KeyError("loop.until.stage", "until.result",
                   fmt::format("'{}' is not STAGE.RESULT with a stage of the round; these are: {}",
                               params.until->result, join(names)));
}

namespace {

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), by);
  return text;
}

deck::Node with_round(const deck::Node& node, const RoundPlace& place) {
  if (node.is_scalar() && node.text().find("{round}") != std::string::npos)
    return deck::Node::scalar(replaced(node.text(), "{round}", place.folder), true, node.mark());
  if (node.is_list() && !node.is_alternatives()) {
    std::vector<deck::Node> items;
    for (const auto& item : node.items()) {
      if (!item.is_scalar() || item.text().find("{rounds}") == std::string::npos) {
        items.push_back(with_round(item, place));
        continue;
      }
      for (const auto& folder : place.earlier)
        if (const std::string path = replaced(item.text(), "{rounds}", folder); fs::exists(path))
          items.push_back(deck::Node::scalar(path, true, item.mark()));
    }
    return deck::Node::list(std::move(items), node.mark());
  }
  if (!node.is_map()) return node;
  std::vector<deck::Node::Entry> entries;
  for (const auto& entry : node.entries()) entries.emplace_back(entry.key, entry.mark, with_round(entry.value, place));
  return deck::Node::map(std::move(entries), node.mark());
}

constexpr const char* list_file = "rounds.txt";

std::string round_folder(int round) { return fmt::format("round_{:03}", round); }

}  // namespace

deck::Node keys_of_round(const deck::Node& keys, const RoundPlace& place) {
  return with_round(keys, place).at_path(keys.path());
}

/// The keys of every stage; files that the stages read and write depend on the round.
void Rounds::examine(Check& check) {
  for (const std::string& folder : {std::string("last"), round_folder(1)}) check.will_write({folder + "/"});
  check.will_write({"rounds.csv", {Origin::stage, "loop"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.log.info(fmt::format("loop: at most {} rounds of {}", params_.rounds, join(folders())));
  for (std::size_t k = 0; k < params_.stages.size(); ++k) {
    const auto& stage = params_.stages[k];
    const RoundPlace place{context.run_directory + "/" + round_folder(1), {}};
    deck::about_key("", deck::child_path("stages", k) + "." + stage.type,
                    [&] { context.registry->make<Task>(stage.type, keys_of_round(stage.node, place), context); });
  }
  check.not_looked_at("files and models of the rounds: earlier rounds write them");
}

/// Finished stages of an earlier call, on every rank; none if the loop starts over, and then its folders are removed.
std::vector<Rounds::Done> Rounds::done_before(const Context& context) const {
  std::string text;
  io::on_root(context.comm, [&] {
    if (context.resume) {
      text = text_of_file(context.run_directory + "/" + list_file);
      return;
    }
    if (!fs::exists(context.run_directory)) return;
    for (const auto& entry : fs::directory_iterator(context.run_directory)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("round_") || name == "last" || name == list_file) fs::remove_all(entry.path());
    }
  });
  context.comm.broadcast(text);
  std::vector<Done> out;
  std::istringstream in(text);
  for (Done one; in >> one.stage >> one.value;) out.push_back(one);
  return out;
}

void Rounds::write_done(const std::vector<Done>& done, const Context& context) const {
  std::string text;
  for (const Done& one : done) text += fmt::format("{} {}\n", one.stage, one.value);
  io::on_root(context.comm, [&] { io::write_file_atomically(context.run_directory + "/" + list_file, text); });
}

/// True for the stage whose result `until` names.
bool Rounds::watched(const std::string& folder) const {
  return params_.until && params_.until->result.starts_with(folder + ".");
}

bool Rounds::reached(double value) const {
  if (!params_.until) return false;
  return params_.until->at_most ? value <= *params_.until->at_most : value >= *params_.until->at_least;
}

/// False if it was stopped early. `value` is set to the watched result if this stage has it.
bool Rounds::run_stage(std::size_t k, const RoundPlace& place, bool resume, double& value, Context& context) {
  const auto& stage = params_.stages[k];
  const std::string folder = folders()[k];
  Context own = context;
  own.run_directory = place.folder + "/" + folder;
  own.resume = resume;
  own.seed = context.seed + 1000 * place.earlier.size();
  io::on_root(context.comm, [&] { fs::create_directories(own.run_directory); });
  context.log.info(fmt::format("\nround {} of at most {}: {} -> {}", place.earlier.size() + 1, params_.rounds, folder,
                               own.run_directory));
  own.timing.reset();
  const std::string key = deck::child_path("stages", k) + "." + stage.type;
  return deck::about_key("", key, [&] {
    const auto task = context.registry->make<Task>(stage.type, keys_of_round(stage.node, place), own);
    const double started = wall_seconds();
    if (task->run(own) == Outcome::stopped_early) return false;
    StageSummary page = stage_summary_of(*task);
    if (!page.work.seconds) page.work.seconds = wall_seconds() - started;
    print_stage_summary(page, own);
    cited_.insert(cited_.end(), page.citations.begin(), page.citations.end());
    if (!watched(folder)) return true;
    const std::string name = params_.until->result.substr(folder.size() + 1);
    const auto found =
        std::find_if(page.results.begin(), page.results.end(), [&](const Result& r) { return r.key == name; });
    if (found == page.results.end()) {
      std::vector<std::string> names;
      for (const Result& r : page.results) names.push_back(r.key);
      throw InputError(
          fmt::format("loop: the stage has no result '{}', which 'until' watches; it has: {}", name, join(names)));
    }
    value = found->value;
    return true;
  });
}

/// The table of rounds, and `last`, which leads to the folder of the last one.
void Rounds::finish(const std::string& last, const Context& context) const {
  io::on_root(context.comm, [&] {
    std::vector<double> number(values_.size());
    for (std::size_t k = 0; k < number.size(); ++k) number[k] = static_cast<double>(k + 1);
    std::vector<io::Column> columns = {{"round", "", "number of the round"}};
    std::vector<std::vector<double>> table = {number};
    if (params_.until) {
      columns.push_back({params_.until->result, "", "result that ends the loop"});
      table.push_back(values_);
    }
    io::write_csv(context.run_directory + "/rounds.csv", columns, table);
    const fs::path link = fs::path(context.run_directory) / "last";
    fs::remove(link);
    fs::create_directory_symlink(last, link);
  });
}

Task::Outcome Rounds::run(Context& context) {
  std::vector<Done> done = done_before(context);
  const auto names = folders();
  bool resume = context.resume;
  RoundPlace place;
  for (int round = 1; round <= params_.rounds; ++round) {
    place.folder = context.run_directory + "/" + round_folder(round);
    double value = 0.0;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::size_t number = (static_cast<std::size_t>(round) - 1) * names.size() + k;
      if (number < done.size()) {
        if (watched(names[k])) value = done[number].value;
        continue;
      }
      if (context.stop && number > 0 && context.stop->agreed_before_stage()) return Outcome::stopped_early;
      if (!run_stage(k, place, resume, value, context)) return Outcome::stopped_early;
      resume = false;
      done.push_back({round_folder(round) + "/" + names[k], watched(names[k]) ? value : 0.0});
      write_done(done, context);
    }
    values_.push_back(value);
    place.earlier.push_back(place.folder);
    if (params_.until) context.log.info(fmt::format("round {}: {} = {:g}", round, params_.until->result, value));
    if (reached(value)) break;
  }
  finish(fs::path(place.folder).filename().string(), context);
  context.timing.reset();  // each stage has had a table of its own
  return Outcome::done;
}

std::vector<Result> Rounds::results() const {
  std::vector<Result> out = {{"rounds", "rounds", static_cast<double>(values_.size())}};
  if (params_.until && !values_.empty())
    out.push_back({"last_value", params_.until->result + " of the last round", values_.back()});
  return out;
}

std::vector<std::string> Rounds::lines() const {
  if (!params_.until || values_.empty() || reached(values_.back())) return {};
  return {fmt::format("target not reached after {} rounds: {} = {:g}", values_.size(), params_.until->result,
                      values_.back())};
}

}  // namespace cambium
