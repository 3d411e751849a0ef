// What users chose: files, records, baselines and lists against plain forms of themselves.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "plugins/relate/datasets/interactions.hpp"
#include "plugins/relate/tasks/choice_baselines.hpp"
#include "plugins/relate/tasks/scores.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

std::shared_ptr<const ChoiceTable> made() { return std::make_shared<const ChoiceTable>(make_choices({})); }

/// Three users and four items, written and read again.
struct Files {
  Comm comm{MPI_COMM_SELF};
  SharedScratch scratch{comm};
  std::string path = scratch.file("choices.h5");

  void write(const std::vector<std::int64_t>& start, const std::vector<std::int32_t>& items, bool more = true) {
    auto file = io::File::create(path);
    file.set_attribute("users", 3);
    file.set_attribute("items", 4);
    file.write("train/indptr", start);
    file.write("train/items", items);
    if (!more) return;
    file.write("test/indptr", std::vector<std::int64_t>{0, 1, 1, 2});
    file.write("test/items", std::vector<std::int32_t>{3, 0});
    file.write("validation/indptr", std::vector<std::int64_t>{0, 0, 1, 1});
    file.write("validation/items", std::vector<std::int32_t>{2});
    file.write("item_tags/indptr", std::vector<std::int64_t>{0, 1, 3, 4, 5});
    file.write("item_tags/items", std::vector<std::int32_t>{1, 0, 5, 2, 2});
  }
};

}  // namespace

TEST_CASE("choices are read, and validation is taken out of training") {
  Files files;
  files.write({0, 2, 4, 5}, {2, 0, 1, 2, 3});
  const auto table = read_choices(files.path);
  CHECK(table.training == ChoiceTable::Lists{{0, 2}, {1}, {3}});
  CHECK(table.validation == ChoiceTable::Lists{{}, {2}, {}});
  CHECK(table.test == ChoiceTable::Lists{{3}, {}, {0}});
  CHECK(table.tags == 6);
  CHECK(table.tags_of == ChoiceTable::Lists{{1}, {0, 5}, {2}, {2}});
}

TEST_CASE("a choice of tests that stands in training or validation, too, is left out and counted") {
  Files files;
  files.write({0, 2, 4, 5}, {3, 0, 1, 2, 0});  // users 0 and 2 have their test item in training
  const auto table = read_choices(files.path);
  CHECK(table.training == ChoiceTable::Lists{{0, 3}, {1}, {0}});
  CHECK(table.test == ChoiceTable::Lists{{}, {}, {}});
  CHECK(table.known == 2);
}

TEST_CASE("choices held for validation join those for training, in their order") {
  auto table = make_choices({});
  const auto before = table;
  join_validation(table);
  REQUIRE(table.validation.empty());
  for (std::size_t u = 0; u < table.training.size(); ++u) {
    auto all = before.training[u];
    all.insert(all.end(), before.validation[u].begin(), before.validation[u].end());
    std::sort(all.begin(), all.end());
    CHECK(table.training[u] == all);
  }
  CHECK(table.test == before.test);
  Comm comm{MPI_COMM_SELF};
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
  InteractionSet::Params params;
  params.made_up.emplace();
  params.others = 0;
  InteractionSet apart(params, context);
  params.join_validation = true;
  InteractionSet joined(params, context);
  apart.open(context);
  joined.open(context);
  CHECK(joined.size() > apart.size());
  CHECK(joined.table()->training == table.training);
}

TEST_CASE("candidates of the validation and of the test split, beside rankings found by hand") {
  // User 0: training 0, validation 1, test 2; user 1: training 1, validation 4, test 2 and 3.
  ChoiceTable table;
  table.source = "here";
  table.users = 2;
  table.items = 5;
  table.training = {{0}, {1}};
  table.validation = {{1}, {4}};
  table.test = {{2}, {2, 3}};
  const std::vector<double> scores{5, 4, 3, 2, 1};
  const auto popular = popularity(table);
  const auto judged = [&](const ChoiceTable& of, std::int32_t user, std::int64_t k) {
    return judge_list(of, popular, user, scores, k);
  };
  CHECK(judged(table, 0, 5).best == std::vector<std::int32_t>{2, 3, 4});
  CHECK(judged(table, 0, 1).recall == 1.0);
  CHECK(judged(table, 1, 5).best == std::vector<std::int32_t>{0, 2, 3});
  CHECK(judged(table, 1, 2).recall == 0.5);
  const double second = 1.0 / std::log2(3.0);
  CHECK_THAT(judged(table, 1, 2).ndcg, Catch::Matchers::WithinAbs(second / (1.0 + second), 1e-12));
  const auto validating = for_validation(table);
  CHECK(judged(validating, 0, 5).best == std::vector<std::int32_t>{1, 2, 3, 4});
  CHECK(judged(validating, 0, 1).recall == 1.0);
  CHECK(judged(validating, 1, 5).best == std::vector<std::int32_t>{0, 2, 3, 4});
  CHECK(judged(validating, 1, 3).recall == 0.0);
  CHECK_THAT(judged(validating, 1, 4).ndcg, Catch::Matchers::WithinAbs(1.0 / std::log2(5.0), 1e-12));
  join_validation(table);
  CHECK(judged(table, 1, 5).best == std::vector<std::int32_t>{0, 2, 3});
}

TEST_CASE("the stage ranks the validation split of a data set with split: validation") {
  Comm self{MPI_COMM_SELF};
  SharedScratch scratch(self);
  Place place(self, scratch.file("ranked"));
  const auto lines_for = [&](const std::string& split) {
    return place
        .run("recommend",
             "{dataset: {type: interactions, synthetic: {}, split: " + split + "}, ease_lambda: [10.0, 1000.0]}")
        ->lines();
  };
  const auto table = made();
  const auto validating = for_validation(*table);
  double recall = 0.0, users = 0.0;
  for (std::int32_t u = 0; u < table->users; ++u) {
    if (validating.test[u].empty()) continue;
    recall += judge_list(validating, popularity(*table), u, popularity(*table), 20).recall;
    users += 1.0;
  }
  const auto lines = lines_for("validation");
  REQUIRE(lines[1].starts_with("most popular "));
  CHECK(std::stod(lines[1].substr(44, 12)) == Approx(recall / users).margin(5.1e-5));
  CHECK(std::count(lines.begin(), lines.end(),
                   "ranked for the validation split; items of the test split are candidates") == 1);
  CHECK(lines_for("test")[1] == lines_for("training")[1]);
  CHECK(lines_for("test")[1] != lines[1]);

  // The interactions of the validation split are ranked, so settings are chosen by others, and the summary says which.
  const auto ending = [](const std::vector<std::string>& of, const std::string& end) {
    return std::count_if(of.begin(), of.end(), [&](const auto& line) { return line.ends_with(end); });
  };
  CHECK(ending(lines, " on a tenth of training") == 2);  // item neighbours, EASE
  CHECK(ending(lines, " on validation") == 0);
  CHECK(ending(lines, "over users with such items in validation") == 1);
  CHECK(ending(lines_for("test"), " on validation") == 2);
  CHECK(ending(lines_for("test"), "over users with such items in test") == 1);
}

TEST_CASE("networks that learned ranked interactions, or may have, are warned of") {
  Comm self{MPI_COMM_SELF};
  SharedScratch scratch(self);
  const std::string apart = "{type: interactions, synthetic: {}, num_negatives: 0}",
                    joined = "{type: interactions, synthetic: {}, num_negatives: 0, train_on_validation: true}",
                    other = "{type: interactions, synthetic: {seed: 2}, num_negatives: 0}";
  const auto warning = [&](const std::string& network, const std::string& learned, const std::string& ranked) {
    Place here(self, scratch.file("learned"));
    here.run("train", "{network: " + network + ", dataset: " + learned +
                          ", batch: 256, steps: 1, optimizer: adam, learning_rate: {type: constant, start: 1e-2}}");
    here.run("recommend", "{models: ['" + here.context.run_directory + "/model.h5'], dataset: " + ranked +
                              ", users: 5, ease_lambda: []}");
    std::string out;
    for (const auto& each : here.log.warnings())
      if (each.text.starts_with("models: ")) out += each.text;
    return out;
  };
  const std::string validating = "{type: interactions, synthetic: {}, split: validation}";
  for (const std::string network : {"{type: cosine_factorization, embedding_dim: 4, num_negatives: 8}",
                                    "{type: factorization_machine, embedding_dim: 4}"}) {
    CAPTURE(network);
    CHECK(warning(network, apart, apart).empty());
    CHECK(warning(network, apart, validating).empty());
    CHECK(warning(network, apart, joined).empty());  // no test interaction was learned
    CHECK(warning(network, joined, apart).empty());
    CHECK(warning(network, joined, joined).empty());
    CHECK(warning(network, joined, validating).find("was trained on the validation split, too") != std::string::npos);
    CHECK(warning(network, other, apart).find("was trained on other interactions") != std::string::npos);
    CHECK(warning(network, other, validating).find("was trained on other interactions") != std::string::npos);
  }
}

TEST_CASE("damaged files of choices are refused") {
  Files files;
  const auto quoted = "'" + files.path + "'";
  files.write({0, 2, 4}, {2, 0, 1, 2, 3});
  CHECK_THROWS_WITH(read_choices(files.path), quoted +
                                                  ": /train/indptr must hold 4 values from 0 to 5, the count of "
                                                  "/train/items; the file is cut short or damaged");
  files.write({0, 4, 3, 5}, {2, 0, 1, 2, 3});
  CHECK_THROWS_WITH(read_choices(files.path), quoted + ": /train/indptr falls at user 1; it must rise");
  files.write({0, 2, 4, 5}, {2, 0, 1, 4, 3});
  CHECK_THROWS_WITH(read_choices(files.path), quoted + ": /train/items of user 1 holds 4; they are numbered 0 to 3");
  files.write({0, 2, 4, 5}, {2, 0, 1, 2, 3}, false);
  CHECK_THROWS_WITH(read_choices(files.path),
                    quoted +
                        " has no group test; a file of interactions has the groups train and test, "
                        "of each indptr and items");
}

TEST_CASE("made-up parts share nothing, and new items stand in tests alone") {
  const auto table = made();
  const auto popular = popularity(*table);
  std::set<std::int32_t> tested;
  std::size_t chosen = 0;
  for (std::size_t u = 0; u < table->training.size(); ++u) {
    std::set<std::int32_t> all;
    for (const auto role : {Role::training, Role::validation, Role::test})
      for (const auto item : table->part(role)[u]) {
        CHECK(all.insert(item).second);
        if (role == Role::test) tested.insert(item);
      }
    chosen += all.size();
  }
  CHECK(chosen == 300 * 15);
  CHECK(std::any_of(tested.begin(), tested.end(), [&](auto i) { return popular[i] == 0.0; }));
}

TEST_CASE("drawn records are of items that a user did not choose, and know nothing of tests") {
  const auto table = made();
  const auto records = choice_records(table, Role::training, 3, 1);
  require_sound(records);
  bool of_tests = false;
  std::int64_t yes = 0;
  for (std::int64_t r = 0; r < records.size(); ++r) {
    const auto user = records.bag_of(r, 0)[0], item = records.bag_of(r, 1)[0];
    const bool answer = records.answers[r] == 1.0;
    CHECK(table->chose(Role::training, user, item) == answer);
    of_tests = of_tests || (!answer && table->chose(Role::test, user, item));
    yes += answer ? 1 : 0;
    const auto tags = records.bag_of(r, 2);
    CHECK(std::equal(tags.begin(), tags.end(), table->tags_of[item].begin()));
  }
  CHECK(records.size() == 4 * yes);
  CHECK(of_tests);
  const auto again = choice_records(table, Role::training, 3, 1), other = choice_records(table, Role::training, 3, 2);
  const auto items = [](const RecordSet& set) {
    std::vector<std::int32_t> out;
    for (std::int64_t r = 0; r < set.size(); ++r) out.push_back(set.bag_of(r, 1)[0]);
    return out;
  };
  CHECK(items(again) == items(records));
  CHECK(items(other) != items(records));
}

TEST_CASE("item-item cosines are those of the columns of the table of choices") {
  const auto table = made();
  const auto baselines = choice_baselines(table, {.ease_lambda = {10.0}});
  REQUIRE(baselines.size() == 5);
  const auto popular = popularity(*table);
  CHECK(baselines[0].scores(7) == popular);
  CHECK(baselines[1].method == "item-item cosine");  // the name and the method of predict_links (plugin graph)
  for (const std::int32_t user : {0, 11}) {
    const auto found = baselines[1].scores(user);
    for (std::int32_t i = 0; i < table->items; i += 7) {
      double expected = 0.0;
      for (const auto j : table->training[user]) {
        double both = 0.0;
        for (std::int32_t u = 0; u < table->users; ++u)
          if (table->chose(Role::training, u, i) && table->chose(Role::training, u, j)) both += 1.0;
        const double root = std::sqrt(popular[i] * popular[j]);
        if (both > 0.0) expected += both / root;
      }
      CHECK(found[i] == Approx(expected).margin(1e-12));
    }
  }
}

TEST_CASE("a list is judged by what the user chose in tests, among what was not chosen before") {
  ChoiceTable table;
  table.users = 2;
  table.items = 6;
  table.training = {{0}, {1, 2}};
  table.validation = {{1}, {}};
  table.test = {{2, 4, 5}, {}};
  const auto popular = popularity(table);
  const std::vector<double> scores{9.0, 8.0, 5.0, 7.0, 6.0, 1.0};
  // 0 and 1 were chosen before; then 3, 4, 2, 5. Items 4 and 5 are new, as is 3.
  const auto found = judge_list(table, popular, 0, scores, 3);
  CHECK(found.best == std::vector<std::int32_t>{3, 4, 2});
  CHECK(found.recall == Approx(2.0 / 3.0));
  CHECK(found.ndcg == Approx((1.0 / std::log2(3.0) + 0.5) / (1.0 + 1.0 / std::log2(3.0) + 0.5)));
  CHECK(found.has_new);
  CHECK(found.recall_new == Approx(0.5));
}

TEST_CASE("factors finds new items by their tags, which baselines without tags cannot", "[ranks]") {
  Comm world, self{MPI_COMM_SELF};
  SharedScratch scratch(world);
  Place place(world, scratch.file("together"));
  const std::string data = "{type: interactions, made_up: {}}", tests = "{type: interactions, made_up: {}, part: test}";
  place.run("train",
            "{network: {type: factorization_machine, width: 8}, dataset: " + data +
                ", batch: 256, epochs: 10, optimizer: adam, learning_rate: {type: constant, start: 1e-2}, "
                "reduce: {mode: ordered, micro_batches: 8}, tables: {optimizer: adagrad, rate: 5, decay: 0.1}}");
  const std::string judge =
      "{models: ['" + place.context.run_directory + "/model.h5'], dataset: " + tests + ", users: 150}";
  const auto lines = place.run("recommend", judge)->lines();
  Place alone(self, scratch.file("alone" + std::to_string(world.rank())));
  CHECK(alone.run("recommend", judge)->lines() == lines);
  REQUIRE(lines.size() == 10);
  const auto number = [&](std::size_t line, std::size_t column) {
    return std::stod(lines[line].substr(44 + 12 * column, 12));
  };
  for (const auto& line : lines) UNSCOPED_INFO(line);
  CHECK(number(6, 0) > number(1, 0));  // recall: popularity
  CHECK(number(6, 0) > number(5, 0));  // logistic regression
  CHECK(number(6, 2) > 1.2 * number(5, 2));
  CHECK(number(2, 2) < 0.05);  // cosines see no new item but by the order of numbers
}
