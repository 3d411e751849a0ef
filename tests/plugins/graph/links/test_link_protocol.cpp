// Validation links: which links are trained on and which are candidates, beside rankings found by hand.
#include <cmath>
#include <fstream>
#include <set>

#include "core/io/hdf5/h5.hpp"
#include "plugins/graph/links/link_baselines.hpp"
#include "plugins/graph/links/link_files.hpp"
#include "plugins/graph/links/link_loss.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

using Pairs = std::set<std::pair<std::int32_t, std::int32_t>>;

Pairs pairs_in(const sparse::Csr<float>& links) {
  Pairs out;
  for (std::int64_t user = 0; user < links.rows; ++user)
    for (const auto item : links.columns_of(user)) out.emplace(static_cast<std::int32_t>(user), item);
  return out;
}

/// User 0: training 0, validation 1, test 2; user 1: training 1, validation 4, test 2 and 3.
LinkParts three_splits() {
  LinkParts parts;
  parts.source = "here";
  parts.users = 2;
  parts.items = 5;
  parts.training = {{0, 0}, {1, 1}};
  parts.validation = {{0, 1}, {1, 4}};
  parts.held_out = {{0, 2}, {1, 2}, {1, 3}};
  return parts;
}

LinkGraphPtr graph_of(ValidationUse use) {
  auto parts = three_splits();
  use_validation(parts, use);
  return make_links(std::move(parts));
}

/// Metrics with the scores 5, 4, 3, 2, 1 of items 0 to 4 for both users.
Ranking judged(const LinkGraph& graph, std::int64_t k) {
  Comm comm(MPI_COMM_SELF);
  return judge(graph, *products_of_rows(graph, {1, 1, 5, 4, 3, 2, 1}, 1), k, comm);
}

auto is(double value) { return Catch::Matchers::WithinAbs(value, 1e-12); }

}  // namespace

TEST_CASE("training and validation links are no candidates when test links are ranked", "[links]") {
  // Candidates of user 0: items 2, 3, 4; of user 1: 0, 2, 3.
  const auto graph = graph_of(ValidationUse::as_given);
  CHECK_THAT(judged(*graph, 1).recall, is(0.5 * (1.0 + 0.0)));
  const auto two = judged(*graph, 2);
  const double second = 1.0 / std::log2(3.0);
  CHECK_THAT(two.recall, is(0.5 * (1.0 + 0.5)));
  CHECK_THAT(two.ndcg, is(0.5 * (1.0 + second / (1.0 + second))));
  const std::vector<float> row{5, 4, 3, 2, 1};
  const auto items = best_items(*graph, 1, row, 5);
  REQUIRE(items.size() == 3);
  CHECK(items[0].item == 0);
  CHECK(items[1].item == 2);
  CHECK(items[2].item == 3);
  for (std::int64_t id = 0; id < 50; ++id) CHECK(judged_item(*graph, 1, id) == 0);
  // With validation trained on, the ranking has the same candidates.
  CHECK_THAT(judged(*graph_of(ValidationUse::train), 2).ndcg, is(two.ndcg));
  CHECK_THAT(judged(*graph_of(ValidationUse::apart), 2).ndcg, is(two.ndcg));
}

TEST_CASE("training links alone are no candidates when validation links are ranked", "[links]") {
  // Candidates of user 0: items 1 and 4; of user 1: 0 and 4, of which 4 comes last. Items 2 and 3 have links in the
  // test alone, which this graph does not hold.
  const auto graph = graph_of(ValidationUse::predict);
  CHECK(pairs_in(graph->held_out) == Pairs{{0, 1}, {1, 4}});
  CHECK_THAT(judged(*graph, 1).recall, is(0.5));
  CHECK_THAT(judged(*graph, 2).recall, is(1.0));
  CHECK_THAT(judged(*graph, 2).ndcg, is(0.5 * (1.0 + 1.0 / std::log2(3.0))));
}

TEST_CASE("uses of validation links that are also training links", "[links]") {
  const auto with = [](ValidationUse use) {
    LinkParts parts;
    parts.source = "here";
    parts.training = {{1, 1}, {0, 1}, {0, 0}};
    parts.validation = {{1, 2}, {0, 1}};
    parts.held_out = {{0, 2}, {1, 2}};
    use_validation(parts, use);
    return make_links(std::move(parts));
  };
  const auto given = with(ValidationUse::as_given), apart = with(ValidationUse::apart),
             trained = with(ValidationUse::train), predicted = with(ValidationUse::predict);
  CHECK(pairs_in(given->training) == Pairs{{0, 0}, {0, 1}, {1, 1}});
  CHECK(pairs_in(given->validation) == Pairs{{1, 2}});
  CHECK(given->notes.back() ==
        "1 of 2 validation links are also in training and stay there; train_on_validation: false takes them out");
  CHECK(pairs_in(apart->training) == Pairs{{0, 0}, {1, 1}});
  CHECK(pairs_in(apart->validation) == Pairs{{0, 1}, {1, 2}});
  CHECK(pairs_in(trained->training) == Pairs{{0, 0}, {0, 1}, {1, 1}, {1, 2}});
  CHECK(trained->validation.entries() == 0);
  CHECK(trained->duplicates == 0);
  CHECK(pairs_in(predicted->training) == Pairs{{0, 0}, {1, 1}});
  CHECK(pairs_in(predicted->held_out) == Pairs{{0, 1}, {1, 2}});
  // A network that was stopped by the validation links may be judged on the test links.
  CHECK(apart->fingerprint == predicted->fingerprint);
  CHECK(apart->fingerprint != given->fingerprint);
  for (const auto& graph : {given, apart, trained}) {
    CHECK(pairs_in(graph->held_out) == Pairs{{0, 2}});  // a link of two splits is not looked for
    CHECK(graph->known == 1);
  }
}

TEST_CASE("validation links of a plain graph lead both ways", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.bipartite = false;
  parts.training = {{0, 1}, {2, 1}, {2, 3}};
  parts.validation = {{1, 2}, {3, 0}};
  use_validation(parts, ValidationUse::apart);
  const auto graph = make_links(std::move(parts));
  CHECK(pairs_in(graph->training) == Pairs{{0, 1}, {1, 0}, {2, 3}, {3, 2}});
  CHECK(pairs_in(graph->validation) == Pairs{{0, 3}, {1, 2}, {2, 1}, {3, 0}});
  const std::vector<float> row{1, 2, 3, 4};
  const auto items = best_items(*graph, 0, row, 4);
  REQUIRE(items.size() == 1);
  CHECK(items[0].item == 2);
}

TEST_CASE("powers are chosen on validation links where there are some", "[links]") {
  LinkParts parts;
  parts.source = "here";
  for (std::int32_t user = 0; user < 60; ++user)
    for (std::int32_t k = 0; k < 12; ++k) {
      const Link link{user, (user % 3) * 10 + (user * 7 + k * k) % 13};
      (user < 7 && k == 4 ? parts.validation : parts.training).push_back(link);
    }
  std::erase_if(parts.training, [&](const Link& a) {
    return std::any_of(parts.validation.begin(), parts.validation.end(),
                       [&](const Link& b) { return a.user == b.user && a.item == b.item; });
  });
  Comm comm(MPI_COMM_SELF);
  const auto graph = make_links(parts);
  const auto powers = tuned_powers(*graph, 5, comm);
  CHECK(powers.users == 7);
  parts.held_out = std::move(parts.validation);
  parts.validation.clear();
  const auto predicted = make_links(parts);
  CHECK(powers.recall == judge(*predicted, *scaled_filter(*predicted, powers.item, powers.user), 5, comm).recall);
}

TEST_CASE("validation links of files and texts", "[links]") {
  Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  {
    auto file = io::File::create(scratch.file("links.h5"));
    file.set_attribute("users", 2);
    file.set_attribute("items", 5);
    const auto list = [&](const std::string& group, const std::vector<std::int64_t>& start,
                          const std::vector<std::int32_t>& items) {
      file.write(group + "/indptr", start);
      file.write(group + "/items", items);
    };
    list("train", {0, 1, 2}, {0, 1});
    list("validation", {0, 1, 2}, {1, 4});
    list("test", {0, 1, 3}, {2, 2, 3});
  }
  const auto text = [&](const std::string& name, const std::string& lines) {
    std::ofstream(scratch.file(name)) << lines;
    return scratch.file(name);
  };
  LinkText from{text("train.txt", "0 0\n1 1\n"), text("test.txt", "0 2\n1 2\n1 3\n"), true, 0, 0, {}};
  from.validation = text("validation.txt", "0 1\n1 4\n");
  for (const auto& graph :
       {make_links(read_links(scratch.file("links.h5"), false)), make_links(read_link_lines(from))}) {
    CHECK(pairs_in(graph->training) == Pairs{{0, 0}, {1, 1}});
    CHECK(pairs_in(graph->validation) == Pairs{{0, 1}, {1, 4}});
    CHECK(pairs_in(graph->held_out) == Pairs{{0, 2}, {1, 2}, {1, 3}});
  }
  from.validation = text("empty.txt", "# none\n");
  CHECK_THROWS_WITH(read_link_lines(from),
                    "'" + from.validation + "' holds no link; give some, or leave validation_edges out");
}

TEST_CASE("settings are chosen on validation links and the test is judged without them", "[links]") {
  Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  std::ofstream train(scratch.file("train.txt")), validation(scratch.file("validation.txt")),
      test(scratch.file("test.txt"));
  for (int user = 0; user < 40; ++user)
    for (int k = 0; k < 8; ++k) {
      const int item = (user % 4) * 8 + (user / 4 + k) % 8;
      (k < 5 ? train : k < 6 ? validation : test) << user << ' ' << item << '\n';
    }
  train.close(), validation.close(), test.close();
  const std::string data = "{type: links, edges: " + scratch.file("train.txt") +
                           ", held_out_edges: " + scratch.file("test.txt") +
                           ", validation_edges: " + scratch.file("validation.txt");
  Place place(comm, scratch.file("learned"));
  place.run("train", "{network: {type: light_gcn, width: 8, negatives: 16}, dataset: " + data +
                         "}, validation: " + data +
                         ", tuning: true, held_out: true}, batch: 100, epochs: 2, validate: {every: 1, batch: 40}, "
                         "optimizer: adam, learning_rate: {type: constant, start: 0.01}}");
  const auto judge_with = [&](const std::string& more) {
    Place judging(comm, scratch.file("judged"));
    const auto task = judging.registry.make<Task>(
        "predict_links",
        deck::parse("{models: [" + scratch.file("learned") +
                        "/model.h5], low_pass: 0, singular_vectors: 4, users: [0, 1, 2, 3], dataset: " + data + more +
                        "}}",
                    "test"),
        judging.context);
    task->run(judging.context);
    return task->lines();
  };
  const auto lines = judge_with("");
  CHECK(std::find(lines.begin(), lines.end(), "validation links, no candidates in the ranking: 40") != lines.end());
  std::ifstream predictions(scratch.file("judged") + "/predictions.csv");
  std::string line;
  int rows = 0;
  std::getline(predictions, line);
  for (int user = 0, place_of = 0, item = 0; std::getline(predictions, line); ++rows) {
    REQUIRE(std::sscanf(line.c_str(), "%d,%d,%d", &user, &place_of, &item) == 3);
    for (int k = 0; k < 6; ++k) CHECK(item != (user % 4) * 8 + (user / 4 + k) % 8);
  }
  CHECK(rows == 4 * 20);
  judge_with(", tuning: true");  // the same training links
  CHECK_THROWS_WITH(judge_with(", train_on_validation: true"),
                    Catch::Contains("these are not the links that this light_gcn was trained on"));
}
