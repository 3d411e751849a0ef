// Edges with the headers of the archives that state counts: DIMACS, SNAP, KONECT.
#include "tests/catch.hpp"
#include "tests/plugins/graph/spellings/edge_case.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

TEST_CASE("graphs of DIMACS: undirected edges, directed arcs with lengths, isolated nodes") {
  const EdgeFile file;
  const std::string remark = "c made, 'for' a {test\nc\n";
  auto expected = ring(1);
  expected.nodes.insert(7);
  std::string once, both;
  for (const auto& [pair, weight] : expected.edges) {
    once += fmt::format("e {} {}\n", pair.first, pair.second);
    both += fmt::format("e {1} {0}\ne {0} {1}\n", pair.first, pair.second);
  }
  for (const auto& text : {remark + "p edge 7 7\n" + once, "p col 7 7\nc more\nn 3 5\n" + once,
                           remark + "p edge 7 7\n" + both, "p edge 7 14\n" + both, "p edge 7 14\n" + once}) {
    INFO(text);
    CHECK(file.graph(file.write(text)) == expected);
    CHECK(file.network(file.write(text)) == expected);
  }
  const auto directed = [&](const std::string& text) { return read_edge_list({file.write(text), "", 0, true, {}}); };
  CHECK(directed("p edge 3 2\ne 1 2\ne 3 2\n")->edges == 4);
  CHECK(directed("p edge 3 2\ne 1 2\ne 2 1\ne 3 2\ne 2 3\n")->edges == 4);
  const auto arcs = directed("p sp 3 3\na 1 2 5\na 2 1 7\na 3 3 1\n");
  CHECK(arcs->edges == 3);
  CHECK(arcs->loops == 1);
  CHECK(arcs->weights.values_of(0)[0] == 7.0);                                      // of the arc that arrives
  CHECK(file.graph(file.write("c d\n0 1\n")) == Content{{0, 1}, {{{0, 1}, 1.0}}});  // names of columns
}

TEST_CASE("graphs of DIMACS that cannot be", "[messages]") {
  const EdgeFile file;
  const auto says = [&](const std::string& text) {
    const auto path = file.write(text);
    return file.says([&] { file.graph(path); });
  };
  CHECK(says("p edge 3 3\ne 1 2\ne 2 3\n") ==
        "edges.txt: the line 'p edge 3 3' states 3 edges, but 2 follow; is the file cut short?");
  CHECK(says("p sp 3 1\na 1 2 1\na 2 1 1\n") ==
        "edges.txt: the line 'p sp 3 1' states 1 arcs, but 2 follow; is the file cut short?");
  CHECK(says("p edge 3 1\ne 0 2\n") ==
        "edges.txt:2: there is no node 0; those of DIMACS are numbered from 1, here to 3");
  CHECK(says("p edge 3 1\ne 1 4\n") ==
        "edges.txt:2: there is no node 4; those of DIMACS are numbered from 1, here to 3");
  CHECK(says("p edge 3 1\ne 1\n") ==
        "edges.txt:2: 'e u v' was expected, but the line has 2 words; is the file cut short?");
  CHECK(says("p sp 3 1\na 1 2\n") ==
        "edges.txt:2: 'a u v length' was expected, but the line has 3 words; is the file cut short?");
  CHECK(says("p edge 3 1\na 1 2 5\n") ==
        "edges.txt:2: expected 'e u v', according to the problem line 'p edge 3 1', but the line begins with 'a'");
  CHECK(says("p cnf 3 1\n1 2 0\n") ==
        "edges.txt:1: the problem 'cnf' of DIMACS is none of edge, col and sp; save the graph as one of these, or as "
        "lines 'u v'");
  CHECK(says("p edge 0 0\n") == "edges.txt:1: the number of nodes must be 1 or more, that of edges 0 or more");
  CHECK(says("p sp 2 1\na 1 2 -5\n") ==
        "edges.txt:2: the weight between nodes 1 and 2 is -5; weights are finite and 0 or more");
}

TEST_CASE("counts of headers of SNAP and KONECT are those of the lines", "[messages]") {
  const EdgeFile file;
  const auto says = [&](const std::string& text, std::optional<bool> counts = {}) {
    EdgeTextKeys keys;
    keys.counts = counts;
    const auto path = file.write(text);
    return file.says([&] { file.graph(path, keys); });
  };
  const std::string snap = "# Undirected graph\n# Nodes: 6 Edges: 7\n# FromNodeId\tToNodeId\n";
  const auto whole = lines(ring(), "\t");
  const auto cut = whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1);
  const std::string ending = "; is the file cut short? Correct the header, or set counts: false to ignore it";
  CHECK(says(snap + whole) == "no error");
  CHECK(says(snap + cut) == "edges.txt: its header states 7 edges, but 6 lines follow" + ending);
  CHECK(says(snap + cut, false) == "no error");
  CHECK(says("# Nodes: 6 Edges: 7\n" + lines(ring(0), " ") + lines(ring(0), "\t")) == "no error");  // given twice
  CHECK(says("# Nodes: 5 Edges: 7\n" + whole) == "edges.txt: its header states 5 nodes, but the lines name 6" + ending);
  CHECK(says("# Nodes: 9 Edges: 7\n" + whole) == "no error");
  const auto from1 = lines(ring(1));
  CHECK(says("% sym unweighted\n% 7 6 6\n" + from1) == "no error");
  CHECK(says("% sym unweighted\n% 8 6 6\n" + from1) ==
        "edges.txt: its header states 8 edges, but 7 lines follow" + ending);
  CHECK(says("% sym unweighted\n% 7 6 6\n" + lines(ring())) ==
        "edges.txt:3: there is no node 0; KONECT numbers nodes from 1");
  CHECK(says("% sym unweighted\n" + lines(ring())) == "edges.txt:2: there is no node 0; KONECT numbers nodes from 1");
}
