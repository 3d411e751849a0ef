// Scores without training and their judgement, beside numbers found by hand.
#include <cmath>

#include "plugins/graph/links/link_baselines.hpp"
#include "plugins/graph/links/propagation.hpp"
#include "plugins/graph/links/spectrum.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

/// Users 0: {0, 1}, 1: {1, 2}, 2: {0}; held out 0: {2}, 2: {1, 3}.
LinkGraphPtr small() {
  LinkParts parts;
  parts.source = "here";
  parts.items = 4;
  parts.training = {{0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 0}};
  parts.held_out = {{0, 2}, {2, 1}, {2, 3}};
  return make_links(parts);
}

void check(LinkScores& scores, std::int32_t user, const std::vector<double>& expected) {
  std::vector<float> row(expected.size());
  scores.scores({&user, 1}, row.data());
  for (std::size_t k = 0; k < row.size(); ++k) {
    INFO("item " << k);
    CHECK_THAT(row[k], Catch::Matchers::WithinAbs(expected[k], 1e-6));
  }
}

}  // namespace

TEST_CASE("the most popular items", "[links]") {
  const auto graph = small();
  check(*most_popular(*graph), 1, {2, 2, 1, 0});
}

TEST_CASE("item-item cosine", "[links]") {
  const auto graph = small();
  // Columns: item 0 of users {0, 2}, item 1 of {0, 1}, item 2 of {1}; user 0 has items 0 and 1.
  const double c01 = 0.5, c12 = std::sqrt(0.5);
  check(*item_cosine(*graph), 0, {1.0 + c01, c01 + 1.0, c12, 0.0});
  check(*item_cosine(*graph), 1, {c01, 1.0 + c12, c12 + 1.0, 0.0});  // item 2 is rarer than item 1 and counts no more
  std::vector<float> both(8);
  const std::vector<std::int32_t> users{1, 0};
  item_cosine(*graph)->scores(users, both.data());
  CHECK_THAT(both[0], Catch::Matchers::WithinAbs(c01, 1e-6));
  CHECK_THAT(both[4], Catch::Matchers::WithinAbs(1.0 + c01, 1e-6));
}

TEST_CASE("the linear filter", "[links]") {
  const auto graph = small();
  // N: user 0 has 1/2 for items 0 and 1, user 1 1/2 for item 1 and root 1/2 for item 2, user 2 root 1/2 for item 0.
  const double root = std::sqrt(0.5);
  check(*linear_filter(*graph), 2, {0.25 + 0.5, 0.25, 0.0, 0.0});
  check(*linear_filter(*graph), 1, {0.25, 0.25 + 0.25 + 0.5 * root, 0.5 * root + 0.5, 0.0});
}

TEST_CASE("the scaled linear filter is the linear one at powers 1/2 and 1, and its formula at others", "[links]") {
  const auto graph = small();
  std::vector<float> plain(4), scaled(4);
  for (const std::int32_t user : {0, 1, 2}) {
    linear_filter(*graph)->scores({&user, 1}, plain.data());
    scaled_filter(*graph, 0.5, 1.0)->scores({&user, 1}, scaled.data());
    for (std::size_t k = 0; k < 4; ++k) CHECK_THAT(scaled[k], Catch::Matchers::WithinAbs(plain[k], 1e-6));
  }
  // User 2 has item 0 (two users: 0, who has two links, and 2, who has one): 2^-a (d_u^-b sums) 2^-(1 - a).
  check(*scaled_filter(*graph, 0.7, 0.5), 2, {0.5 * (1.0 + std::sqrt(0.5)), 0.5 * std::sqrt(0.5), 0.0, 0.0});
  // Item 2 of user 1 has one user: 2^-0.3 by item 1 and 1 by item 2, by user 1 of two links.
  const float third = [&] {
    std::vector<float> row(4);
    const std::int32_t user = 1;
    scaled_filter(*graph, 0.3, 0.5)->scores({&user, 1}, row.data());
    return row[2];
  }();
  CHECK_THAT(third, Catch::Matchers::WithinAbs(std::sqrt(0.5) * (std::pow(2.0, -0.3) + 1.0), 1e-6));
}

TEST_CASE("powers are chosen on training links alone, alike on any number of ranks", "[links]") {
  LinkParts parts;
  parts.source = "here";
  for (std::int32_t user = 0; user < 60; ++user)
    for (std::int32_t k = 0; k < 12; ++k) parts.training.push_back({user, (user % 3) * 10 + (user * 7 + k * k) % 13});
  parts.held_out = {{0, 30}, {1, 5}};
  const auto other_parts = [&] {
    auto out = parts;
    out.held_out = {{2, 7}};
    return out;
  }();
  Comm comm(MPI_COMM_SELF);
  const auto first = tuned_powers(*make_links(parts), 5, comm),
             second = tuned_powers(*make_links(other_parts), 5, comm);
  CHECK(first.users > 30);
  CHECK(first.recall > 0.0);
  CHECK(first.recall <= 1.0);
  CHECK(first.users == second.users);
}

TEST_CASE("shared neighbours of a plain graph", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.bipartite = false;
  parts.training = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 4}};  // degrees 2, 2, 3, 2, 1
  const auto graph = make_links(parts);
  check(*shared_neighbours(*graph, SharedNeighbours::number), 0, {2, 0, 0, 2, 1});
  const double two = 1.0 / std::log(2.0), three = 1.0 / std::log(3.0);
  check(*shared_neighbours(*graph, SharedNeighbours::adamic_adar), 0, {two + three, 0, 0, two + three, three});
  check(*shared_neighbours(*graph, SharedNeighbours::resource_allocation), 0,
        {1.0 / 2 + 1.0 / 3, 0, 0, 1.0 / 2 + 1.0 / 3, 1.0 / 3});
}

TEST_CASE("a low pass of all vectors gives the known links back", "[links]") {
  const auto graph = small();
  std::vector<float> plain(4), passed(4);
  for (const std::int32_t user : {0, 1, 2}) {
    linear_filter(*graph)->scores({&user, 1}, plain.data());
    low_pass_filter(*graph, 2.0, 3)->scores({&user, 1}, passed.data());
    for (std::int32_t item = 0; item < 4; ++item)
      CHECK_THAT(passed[item] - plain[item],
                 Catch::Matchers::WithinAbs(linked(graph->training, user, item) ? 2.0 : 0.0, 1e-5));
  }
}

TEST_CASE("leading singular vectors", "[links]") {
  const auto graph = small();
  const auto n = scaled_links<double>(graph->training);
  const auto s = leading_spectrum(n, 2, 20, 1);
  REQUIRE(s.count == 2);
  CHECK_THAT(s.values[0], Catch::Matchers::WithinAbs(1.0, 1e-12));  // of connected links, with vectors root(D)
  CHECK_THAT(s.right[0] / s.right[2], Catch::Matchers::WithinAbs(1.0, 1e-10));
  CHECK_THAT(s.right[4] / s.right[0], Catch::Matchers::WithinAbs(std::sqrt(0.5), 1e-10));
  for (int j = 0; j < 2; ++j)
    for (std::int64_t user = 0; user < 3; ++user) {
      double sum = 0.0;
      for (std::size_t e = 0; e < n.length(user); ++e)
        sum += n.values_of(user)[e] * s.right[n.columns_of(user)[e] * 2 + j];
      CHECK_THAT(sum, Catch::Matchers::WithinAbs(s.values[j] * s.left[user * 2 + j], 1e-10));
    }
}

TEST_CASE("recall, NDCG and the best items", "[links]") {
  const auto graph = small();
  Comm comm(MPI_COMM_SELF);
  // Users are 1, items are their scores: 4, 3, 2, 1 for items 0 to 3.
  const auto scores = products_of_rows(*graph, {1, 1, 1, 4, 3, 2, 1}, 1);
  const auto one = judge(*graph, *scores, 1, comm);
  CHECK(one.users == 2);
  CHECK_THAT(one.recall,
             Catch::Matchers::WithinAbs(0.5 * (1.0 + 0.5), 1e-12));  // user 0: item 2; user 2: item 1 of two
  CHECK_THAT(one.ndcg, Catch::Matchers::WithinAbs(1.0, 1e-12));
  const auto three = judge(*graph, *scores, 3, comm);
  CHECK_THAT(three.recall, Catch::Matchers::WithinAbs(1.0, 1e-12));
  const double best = 1.0 + 1.0 / std::log2(3.0), found = 1.0 + 1.0 / std::log2(4.0);  // user 2: places 1 and 3
  CHECK_THAT(three.ndcg, Catch::Matchers::WithinAbs(0.5 * (1.0 + found / best), 1e-12));
  const std::vector<float> row{1, 5, 5, 2};
  const auto items = best_items(*graph, 2, row, 2);
  REQUIRE(items.size() == 2);
  CHECK(items[0].item == 1);  // equal scores in the order of numbers; item 0 is known
  CHECK(items[1].item == 2);
}

TEST_CASE("a plain graph's nodes are not offered themselves", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.bipartite = false;
  parts.training = {{0, 1}, {1, 2}, {2, 3}};
  const auto graph = make_links(parts);
  const std::vector<float> row{4, 3, 2, 1};
  const auto items = best_items(*graph, 1, row, 5);
  REQUIRE(items.size() == 1);
  CHECK(items[0].item == 3);
}
