// Links from text and made up: what is counted once, what is held out.
#include <fstream>
#include <set>

#include "core/base/error.hpp"
#include "plugins/graph/links/link_files.hpp"
#include "plugins/graph/links/link_loss.hpp"
#include "plugins/graph/links/made_links.hpp"
#include "plugins/graph/links/ranking.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

std::set<std::pair<std::int32_t, std::int32_t>> pairs_of(const sparse::Csr<float>& links) {
  std::set<std::pair<std::int32_t, std::int32_t>> out;
  for (std::int64_t user = 0; user < links.rows; ++user)
    for (const auto item : links.columns_of(user)) out.emplace(static_cast<std::int32_t>(user), item);
  return out;
}

LinkParts made(double share) {
  LinkParts parts;
  parts.source = "made";
  parts.users = 50;
  parts.items = 40;
  parts.share = share;
  MadeLinks keys;
  keys.users = 50;
  keys.items = 40;
  keys.links = 8;
  parts.training = draw_links(keys);
  return parts;
}

}  // namespace

TEST_CASE("a link counts once, and is held out or trained on", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.training = {{1, 2}, {0, 1}, {1, 2}, {0, 0}};
  parts.held_out = {{0, 2}, {0, 1}};
  const auto graph = make_links(parts);
  CHECK(graph->users == 2);
  CHECK(graph->items == 3);
  CHECK(pairs_of(graph->training) == std::set<std::pair<std::int32_t, std::int32_t>>{{0, 0}, {0, 1}, {1, 2}});
  CHECK(pairs_of(graph->held_out) == std::set<std::pair<std::int32_t, std::int32_t>>{{0, 2}});
  CHECK(graph->duplicates == 1);
  CHECK(graph->known == 1);
  CHECK(graph->nodes() == 5);
}

TEST_CASE("links of a plain graph lead both ways and never to the node itself", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.bipartite = false;
  parts.training = {{0, 1}, {1, 0}, {2, 2}, {2, 1}};
  const auto graph = make_links(parts);
  CHECK(pairs_of(graph->training) == std::set<std::pair<std::int32_t, std::int32_t>>{{0, 1}, {1, 0}, {1, 2}, {2, 1}});
  CHECK(graph->loops == 1);
  CHECK(graph->duplicates == 1);
  CHECK(graph->nodes() == 3);
}

TEST_CASE("a drawn share is held out, and users keep a link", "[links]") {
  const auto all = make_links(made(0.0)), some = make_links(made(0.3));
  const auto left = pairs_of(some->training), taken = pairs_of(some->held_out);
  CHECK(left.size() + taken.size() == pairs_of(all->training).size());
  CHECK(taken.size() > left.size() / 4);
  for (std::int64_t user = 0; user < 50; ++user)
    CHECK((some->training.length(user) > 0) == (all->training.length(user) > 0));
  CHECK(make_links(made(0.3))->fingerprint == some->fingerprint);
  auto other = made(0.3);
  other.seed = 2;
  CHECK(make_links(other)->fingerprint != some->fingerprint);
}

TEST_CASE("every node of a plain graph keeps a link when some are held out", "[links]") {
  // A star whose 30 leaves have one link each, and a path of 11 nodes that begins at its centre.
  LinkParts parts;
  parts.source = "here";
  parts.bipartite = false;
  parts.share = 0.6;
  for (std::int32_t leaf = 1; leaf <= 30; ++leaf) parts.training.push_back({0, leaf});
  for (std::int32_t node = 31; node < 42; ++node) parts.training.push_back({node == 31 ? 0 : node - 1, node});
  const auto graph = make_links(parts);
  CHECK(graph->held_out.entries() > 0);
  CHECK(graph->training.entries() + graph->held_out.entries() == 2 * 41);
  for (std::int64_t node = 0; node < graph->users; ++node) {
    INFO("node " << node);
    CHECK(graph->training.length(node) > 0);
  }
}

TEST_CASE("items drawn against a link are none of its user's", "[links]") {
  const auto graph = make_links(made(0.3));
  for (std::int32_t user = 0; user < 50; ++user)
    for (std::int64_t id = 0; id < 20; ++id) {
      CHECK_FALSE(linked(graph->training, user, drawn_item(*graph, user, 3, 5, id)));
      CHECK_FALSE(linked(graph->training, user, judged_item(*graph, user, id)));
      CHECK_FALSE(linked(graph->held_out, user, judged_item(*graph, user, id)));
    }
}

TEST_CASE("what no link names is never drawn against a link", "[links]") {
  // Fifty users and forty items, of whose numbers eight in nine are those of nobody.
  auto parts = made(0.3);
  for (auto* links : {&parts.training, &parts.held_out})
    for (auto& link : *links) link.item *= 9;
  parts.items = 360;
  const auto sparse = make_links(parts), dense = make_links(made(0.3));
  CHECK(std::ssize(sparse->named_items) == dense->items);
  CHECK(dense->named_items.empty());
  const LinkLossKeys keys;
  const auto shared = shared_items(*sparse, keys, 3, 5), close = shared_items(*dense, keys, 3, 5);
  for (std::size_t k = 0; k < shared.size(); ++k) CHECK(shared[k] == 9 * close[k]);
  for (std::int32_t user = 0; user < 50; ++user)
    for (std::int64_t id = 0; id < 20; ++id) {
      CHECK(judged_item(*sparse, user, id) == 9 * judged_item(*dense, user, id));
      CHECK(drawn_item(*sparse, user, 3, 5, id) == 9 * drawn_item(*dense, user, 3, 5, id));
    }
}

TEST_CASE("links of weight 0 or less are counted, since labels and signs may state none", "[links]") {
  Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  std::ofstream(scratch.file("signs.csv")) << "user,item,weight\n0,1,1\n0,2,0\n1,1,-1\n1,2,0.5\n";
  std::ofstream(scratch.file("tests.csv")) << "user,item,weight\n0,3,0\n";
  const auto graph =
      make_links(read_link_lines({scratch.file("signs.csv"), scratch.file("tests.csv"), true, 0, 0, {}}));
  CHECK(graph->training.entries() == 4);
  CHECK(graph->not_positive == 3);
  Log log{nullptr, false};
  report(*graph, log);
  REQUIRE(log.warnings().size() == 1);
  CHECK(log.warnings()[0].text.find(": 3 links given with a weight of 0 or less") != std::string::npos);
}

TEST_CASE("what no link names is not ranked, whatever its score", "[links]") {
  LinkParts parts;
  parts.source = "here";
  parts.users = 2;
  parts.items = 6;
  parts.training = {{0, 1}, {1, 4}};
  parts.validation = {{1, 1}};
  parts.held_out = {{0, 3}};
  const auto graph = make_links(parts);
  const std::vector<float> scores{9, 8, 7, 1, 2, 6};
  const auto items = [&](std::int32_t user, std::int64_t k) {
    std::vector<std::int32_t> out;
    for (const auto& ranked : best_items(*graph, user, scores, k)) out.push_back(ranked.item);
    return out;
  };
  CHECK(items(0, 1) == std::vector<std::int32_t>{4});
  CHECK(items(0, 6) == std::vector<std::int32_t>{4, 3});
  CHECK(items(1, 6) == std::vector<std::int32_t>{3});
  parts.bipartite = false;  // nodes 0 and 5 of {1, 2, 3, 4} have no link
  parts.users = parts.items = 6;
  parts.training = {{1, 2}, {2, 3}, {3, 4}};
  parts.validation.clear();
  parts.held_out = {{1, 3}};
  const auto plain = make_links(parts);
  const auto of_one = best_items(*plain, 1, scores, 6);
  REQUIRE(of_one.size() == 2);
  CHECK(of_one[0].item == 4);
  CHECK(of_one[1].item == 3);
}

TEST_CASE("lines of text are links", "[links]") {
  Comm comm(MPI_COMM_SELF);
  const SharedScratch scratch(comm);
  std::ofstream(scratch.file("links.txt")) << "# likes\n0 3\n\n2 1  # late\n";
  std::ofstream(scratch.file("more.txt")) << "1 0\n";
  const auto graph = make_links(read_link_lines({scratch.file("links.txt"), scratch.file("more.txt"), true, 0, 0, {}}));
  // Items 0, 1 and 3: no line names 2.
  CHECK(pairs_of(graph->training) == std::set<std::pair<std::int32_t, std::int32_t>>{{0, 2}, {2, 1}});
  CHECK(pairs_of(graph->held_out) == std::set<std::pair<std::int32_t, std::int32_t>>{{1, 0}});
  CHECK(graph->items == 3);
  CHECK(graph->item_numbers.all() == std::vector<std::int64_t>{0, 1, 3});
  const auto said = make_links(read_link_lines({scratch.file("links.txt"), scratch.file("more.txt"), true, 0, 4, {}}));
  CHECK(pairs_of(said->training) == std::set<std::pair<std::int32_t, std::int32_t>>{{0, 3}, {2, 1}});
  CHECK(said->items == 4);
}

TEST_CASE("more users and items than 32 bits tell apart", "[messages]") {
  LinkParts parts;
  parts.source = "huge";
  parts.users = parts.items = 2'000'000'000;
  parts.training = {{0, 0}};
  std::string said;
  try {
    make_links(std::move(parts));
  } catch (const InputError& error) {
    said = error.what();
  }
  CHECK(said == "huge: 4000000000 users and items; 2147483647 are the most");
}
