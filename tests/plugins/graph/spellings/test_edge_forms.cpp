// Texts of edges as archives and other programs write them, and what is refused.
#include <random>

#include "plugins/graph/links/link_baselines.hpp"
#include "plugins/graph/links/ranking.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/spellings/edge_case.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

using Column = EdgeTextKeys::Column;

}  // namespace

TEST_CASE("the same graph in the forms of archives") {
  const EdgeFile file;
  const auto from0 = ring(), from1 = ring(1), gaps = ring(10, 5);
  const std::vector<std::pair<std::string, Content>> forms{
      {lines(from0), from0},
      {lines(from1), from1},
      {lines(gaps), gaps},
      {"# Undirected graph\n# Nodes: 6 Edges: 7\n# FromNodeId\tToNodeId\n" + lines(from0, "\t"), from0},
      {"% sym unweighted\n% 7 6 6\n" + lines(from1), from1},
      {"% sym unweighted\n" + lines(from1, " ", " 1 1082008561\n"), from1},
      {"%%MatrixMarket matrix coordinate pattern symmetric\n% ring\n6 6 7\n" + lines(from1), from1},
      {"%%matrixmarket MATRIX Coordinate Pattern General\n\n6 6 7\n" + lines(from1), from1},
      {"%%MatrixMarket matrix coordinate real general\n6 6 7\n" + lines(from1, " ", " 1.0\n"), from1},
      {lines(from0, ","), from0},
      {lines(from0, ";"), from0},
      {lines(from0, "::"), from0},
      {lines(from0, "\t", "\t0,5\n"), from0},
      {"id_1,id_2\n" + lines(from0, ","), from0},
      {"source target\n" + lines(from0), from0},
      {"\xef\xbb\xbf\"Source\",\"Target\"\r\n" + lines(from0, ",", "\r\n"), from0},
      {"user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + lines(from0, "\t", "\t3.5\t881250949\n"),
       from0},
      {lines(from0, " ", " {}\n"), from0},
      {lines(from0, " ", " {'color': '#ff0000, {x}', 'size': 3}  # a remark\n"), from0},
      {lines(from0, ".000000000000000000e+00 ", ".000000000000000000e+00\n"), from0},
      {"// made by hand\n" + lines(from0, " ", "  // an edge\n") + "\n% end\n", from0},
      {"6 7\n" + lines(from0), from0},
      {"6 7\n" + lines(from1), from1},
      {"7 6\n" + lines(from0), from0},
      {"6 6 7\n" + lines(from1), from1},
      {"6 7\n" + lines(gaps), gaps},
      {"6\n" + lines(from0), from0},
      {"6 7\n" + lines(from0) + lines(from0), from0},
      {lines(from0, " ", " 1082008561\n"), from0}};
  for (const auto& [text, expected] : forms) {
    INFO(text.substr(0, 60));
    const auto path = file.write(text);
    auto unweighted = expected;
    CHECK(file.links(path) == unweighted);
    const bool halves = text.find("\t0,5") != std::string::npos;
    for (auto& [pair, weight] : unweighted.edges) weight = halves ? 0.5 : 1.0;
    CHECK(file.graph(path) == unweighted);
    CHECK(file.network(path) == unweighted);
  }
}

TEST_CASE("weights of dictionaries, of columns by name, and of Matrix Market") {
  const EdgeFile file;
  Content expected;
  expected.nodes = {0, 1, 2};
  expected.edges = {{{0, 1}, 0.5}, {{1, 2}, 2.0}};
  for (const char* text :
       {"0 1 0.5\n1 2 2\n", "0 1 {'weight': 0.5}\n2 1 {'label': 'a', 'weight': 2.0}\n", "0;1;0,5\n1;2;2,0\n",
        "0 1 {\"weight\": 5e-1}\n1 2 {\"weight\": 2}\n", "weight,source,time,target\n0.5,0,9,1\n2,1,8,2\n",
        "0 1 0.5 1082008561\n1 2 2 1082008562\n", "0 1 0.5\n1 0 0.5\n1 2 2\n2 1 2\n"}) {
    INFO(text);
    const auto path = file.write(text);
    CHECK(file.graph(path) == expected);
    CHECK(file.network(path) == expected);
  }
  Content shifted;
  shifted.nodes = {1, 2, 3};
  shifted.edges = {{{1, 2}, 0.5}, {{2, 3}, 2.0}};
  const auto market = file.write("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 2\n");
  CHECK(file.graph(market) == shifted);
  CHECK(file.network(market) == shifted);
}

TEST_CASE("nodes that a header or a line of counts says, but no edge names, are there and are linked to nobody") {
  const EdgeFile file;
  for (const std::string head :
       {"%%MatrixMarket matrix coordinate pattern symmetric\n8 8 7\n", "% sym unweighted\n% 7 8 8\n", "8 7\n"}) {
    const auto path = file.write(head + lines(ring(1)));
    const auto graph = file.graph(path), links = file.links(path);
    CHECK(graph.nodes == std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(graph.edges == ring(1).edges);
    CHECK(file.network(path) == graph);
    CHECK(links == ring(1));
  }
}

TEST_CASE("both directions of an edge count once, weights of one direction are added, other weights are refused") {
  const EdgeFile file;
  const auto once = file.write(lines(ring()), "once.txt");
  std::string both = lines(ring());
  for (const auto& [pair, weight] : ring().edges) both += fmt::format("{} {}\n", pair.second, pair.first);
  const auto read = [&](const std::string& path, bool directed) { return read_edge_list({path, "", 0, directed, {}}); };
  const auto a = read(once, false), b = read(file.write(both), false);
  CHECK(a->fingerprint == b->fingerprint);
  CHECK(b->mutual == 7);
  CHECK(read(file.write(both), true)->edges == 14);
  CHECK(read(file.write("0 1\n0 1\n1 0\n"), true)->weights.value == std::vector<double>{1.0, 1.0});
  const auto conflict = file.write("0 1 2\n5 0 1\n1 0 3\n");
  CHECK(file.says([&] { file.graph(conflict); }) ==
        "edges.txt: the edge between nodes 1 and 0 has the weight 3 in one direction and 2 in the other; give it one "
        "weight, or make the graph directed");
  CHECK(file.says([&] { file.network(conflict); }).find("the edge between nodes 0 and 1 has the weight 2 in one") !=
        std::string::npos);
  // As scipy.io.mmwrite writes a matrix in coordinate form: the sum of entries at the same place.
  Content summed;
  summed.nodes = {1, 2, 3};
  summed.edges = {{{1, 2}, 3.5}, {{2, 3}, 0.25}};
  const auto matrix = file.write(
      "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 2 1.5\n2 1 3.5\n1 2 2\n2 3 0.125\n2 3 0.125\n3 2 0.125\n"
      "3 2 0.125\n");
  CHECK(file.network(matrix) == summed);
  CHECK(file.graph(matrix) == summed);
  const auto text = file.write("1 2 1.5\n2 3 0.125\n1 2 2\n2 3 0.125\n");
  CHECK(file.network(text) == summed);
  CHECK(file.graph(text) == summed);
  const auto plain = file.write("0 1\n0 1\n1 0\n");
  CHECK(file.network(plain).edges.at({0, 1}) == 1.0);
}

TEST_CASE("a first line that may or may not be counts is said, decided by a key, or refused") {
  const EdgeFile file;
  std::string path = "5 4\n";
  for (int i = 4; i > 0; --i) path += fmt::format("{} {}\n", i, i - 1);
  const auto reversed = file.write(path);  // five nodes and four edges, or six nodes in a row
  EdgeTextKeys as_edge, as_counts;
  as_edge.counts = false;
  as_counts.counts = true;
  CHECK(file.graph(reversed).nodes.size() == 5);
  CHECK(file.graph(reversed, as_counts).nodes.size() == 5);
  CHECK(file.graph(reversed, as_edge).nodes.size() == 6);
  const auto text = read_edge_text(reversed, {}, false);
  REQUIRE(text.notes.size() == 1);
  CHECK(
      text.notes[0].ends_with("edges.txt:1: '5 4' is read as a line of counts (5 nodes, 4 edges), which the 4 lines "
                              "that follow match; counts: false reads it as an edge"));
  std::string cut = "13 15\n";
  for (int i = 0; i < 12; ++i) cut += fmt::format("{} {}\n", i, i + 1);
  const auto short_file = file.write(cut, "cut.txt");
  CHECK(file.says([&] { file.graph(short_file); }) ==
        "cut.txt:1: '13 15' looks like counts of nodes and edges, but 12 lines follow: is the file cut short? If it is "
        "an "
        "edge, set counts: false, if it holds counts, correct them or remove the line");
  CHECK(file.graph(short_file, as_edge).nodes.size() == 15);
  CHECK(file.says([&] { file.graph(file.write("5 7\n0 1\n"), as_counts); }) ==
        "edges.txt:1: '5 7' are not the counts of nodes and edges of the 1 lines that follow; is the file cut short? "
        "Correct "
        "the line, or remove it and 'counts'");
  CHECK(file.says([&] { file.graph(file.write("0 0.5\n0 1\n"), as_counts); }) ==
        "edges.txt:1: the first line holds no counts, which would be two or three whole numbers; correct it, or remove "
        "'counts'");
  CHECK(file.graph(file.write("2 3\n0 1\n")).nodes.size() == 4);  // a small graph of two edges
}

TEST_CASE("names in the remark before the lines say what columns are") {
  const EdgeFile file;
  const auto from0 = ring();
  std::string times, counted, labels;
  int k = 0;
  for (const auto& [pair, weight] : from0.edges) {
    times += fmt::format("{}\t{}\t{}\n", pair.first, pair.second, 37 * k);
    counted += fmt::format("{} {} {}\n", k, pair.first, pair.second);
    labels += fmt::format("{},{},{}\n", pair.second, pair.first, k++);
  }
  for (const auto& text : {"# Nodes: 6 Edges: 7\n# FromNodeId\tToNodeId\tTimestamp\n" + times,
                           "# id source target\n" + counted, "%target,source,label\n" + labels}) {
    INFO(text);
    CHECK(file.graph(file.write(text)) == from0);
    CHECK(file.network(file.write(text)) == from0);
  }
  Content weighted;
  weighted.nodes = {0, 1, 2};
  weighted.edges = {{{0, 1}, 0.5}, {{1, 2}, 2.0}};
  CHECK(file.graph(file.write("# source target time weight\n0 1 9 0.5\n1 2 8 2\n")) == weighted);
  CHECK(file.graph(file.write("# three columns follow\n0 1 0.5\n1 2 2\n")) == weighted);
  CHECK(file.graph(file.write("3 2\n0 1 1082008561\n1 2 1082008562\n")).edges ==
        Content{{}, {{{0, 1}, 1.0}, {{1, 2}, 1.0}}}.edges);
  const auto signs = file.write("# FromNodeId\tToNodeId\tSign\n0\t1\t1\n1\t2\t-1\n");
  CHECK(file.says([&] { file.graph(signs); }) ==
        "edges.txt:3: the weight between nodes 1 and 2 is -1; weights are finite and 0 or more");
  const auto directed = [&](const std::string& text) { return read_edge_list({file.write(text), "", 0, true, {}}); };
  CHECK(directed("tail,head\n0,1\n1,2\n")->fingerprint == directed("0,1\n1,2\n")->fingerprint);
  CHECK(directed("head,relation,tail\n0,5,1\n1,5,2\n")->fingerprint == directed("0,1\n1,2\n")->fingerprint);
  CHECK(read_edge_text(file.write("0 1 0.5\n1 2 2\n"), {}, false)
            .notes.front()
            .ends_with("edges.txt: the third column, 0.5 to 2, is read as weights; the key 'columns' changes this"));
}

TEST_CASE("lists of neighbours are no edges", "[messages]") {
  const EdgeFile file;
  const auto says = [&](const std::string& text, const EdgeTextKeys& keys = {}) {
    const auto path = file.write(text);
    return file.says([&] { file.graph(path, keys); });
  };
  EdgeTextKeys edges, counts;
  edges.columns = {Column::source, Column::target, Column::weight};
  counts.counts = true;
  const std::string behind =
      " line i lists the neighbours of node i, as in a graph of METIS; save the graph as a list "
      "of edges, or, if a line is an edge, set counts: true";
  const std::string circle = "6 6\n2 6\n1 3\n2 4\n3 5\n4 6\n1 5\n";
  CHECK(says(circle) == "edges.txt: after the line of counts '6 6'" + behind);
  CHECK(says(circle, counts) == "no error");
  CHECK(says("% all to all\n4 6\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n") ==
        "edges.txt: after the line of counts '4 6'" + behind);
  CHECK(says("4 2 011\n5 2 7\n6 1 7\n5 4 1\n4 3 1\n") == "edges.txt: after the line of counts '4 2 11'" + behind);
  CHECK(says("4 2 10\n1 2\n3 1\n1 4\n1 3\n") == "edges.txt: after the line of counts '4 2 10'" + behind);
  CHECK(says("3 3\n2 3\n1 3\n1 2\n") == "no error");  // the same graph either way
  CHECK(says("6 6\n1 2\n2 3\n3 4\n4 5\n5 6\n1 6\n") == "no error");
  const std::string header = "#write.py\n# GMT Sat Nov 28 20:11:28 2026\n# \n";
  CHECK(says(header + "0 1 2\n1 2 0\n2 0 1\n") ==
        "edges.txt: its header is that of networkx's write_adjlist and write_multiline_adjlist, whose lines name the "
        "neighbours of a node; save the graph by write_edgelist, or, if a line is an edge, set columns: [source, "
        "target]");
  CHECK(says(header + "0 1 2\n1 2 0\n2 0 1\n", edges) == "no error");
  CHECK(says("# 0\n1 5\n2 5\n# 1\n2 5\n") ==
        "edges.txt: comments between the lines hold node indices, as in LGL files, where the lines that follow list "
        "the neighbours of that node; save the graph as a list of edges, or, if a line is an edge, set columns: "
        "[source, target]");
  const std::string items = "0 31\n1 32 33\n2 34\n3 31 35\n";
  const std::string or_columns =
      "; set columns: [source, target, weight] if the third column holds weights, or as its columns are";
  CHECK(says(items) ==
        "edges.txt: some lines have two whole numbers, some three, as if they named the neighbours of the first node" +
            or_columns);
  CHECK(says(items, edges) == "no error");
  CHECK(says("0 31\n1 32 0.5\n") == "no error");
  std::string counted, chain, ratings;
  for (int k = 0; k < 24; ++k) {
    counted += fmt::format("{},{},{}\n", k, k % 12, (k + 1) % 12);
    chain += fmt::format("{} {} {}\n", k, k + 1, k + 100);
    ratings += fmt::format("{}\t{}\t{}\n", k, 7 * k % 12, 1 + k % 5);  // one of each user, held out
  }
  CHECK(says(counted) ==
        "edges.txt: the first column counts the lines, and the third may be nodes as well as weights" + or_columns);
  CHECK(read_edge_text(file.write(ratings), {}, true).size() == 24);
  CHECK(says(chain) == "no error");
  CHECK(says("0;1;950\n1;2;12,000\n") ==
        "edges.txt: some weights have a comma before three digits, as 12,000, others have none: it may be a decimal "
        "point or a thousands separator; write decimal points as points, without thousands separators");
  CHECK(says("0;1;1,500\n1;2;12,000\n") ==
        "edges.txt: every weight has a comma before three digits, as 12,000: it may be a decimal point or a thousands "
        "separator; write decimal points as points, without thousands separators");
  CHECK(says("0;1;1,500\n1;2;12,5\n") == "no error");
  CHECK(says("0;1;1.500\n1;2;12.000\n") == "no error");
  CHECK(says("0;1\n1;12,000\n") ==
        "edges.txt:2: '12,000' may be node 12 or 12000: write whole numbers without separators");
  CHECK(says("1,000;2,000\n0;1\n") ==
        "edges.txt:1: '1,000' may be node 1 or 1000: write whole numbers without separators");
}

TEST_CASE("links of users and items number each side by itself") {
  const EdgeFile file;
  const auto read = [&](const std::string& text, bool bipartite = true) {
    return make_links(read_link_lines({file.write(text), "", bipartite, 0, 0, {}}));
  };
  const auto links =
      read("userId,movieId,rating,timestamp\n10,7,4.5,964982703\n20,7,3,964982704\n20,900,1,964982705\n");
  CHECK(links->users == 2);
  CHECK(links->items == 2);
  CHECK(links->item_numbers.number(1) == 900);
  CHECK(read("% bip unweighted\n% 2 3 4\n1 4\n3 1\n")->items == 2);
  CHECK(read("%%MatrixMarket matrix coordinate pattern general\n3 4 2\n1 4\n3 1\n")->users == 2);
  CHECK(read("3 4 2\n1 4\n3 1\n")->users == 2);
  CHECK(file.says([&] { read("% bip unweighted\n1 4\n3 1\n", false); }) ==
        "edges.txt: it is bipartite, by its header: its two columns index different sets, which would be merged here; "
        "read it as links of users and items");
  CHECK(file.says([&] { read("% sym unweighted\n1 4\n3 1\n"); }) ==
        "edges.txt: both columns index the same nodes, by its header; set bipartite: false");
  CHECK(file.says([&] { read("%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 4\n", false); }) ==
        "edges.txt: a matrix of 3 rows and 4 columns is no graph of one kind of nodes; read it as links of users and "
        "items, or give a square one");
}

TEST_CASE("headers, columns and attributes that cannot be", "[messages]") {
  const EdgeFile file;
  const auto says = [&](const std::string& text, std::vector<Column> columns = {}) {
    EdgeTextKeys keys;
    keys.columns = std::move(columns);
    const auto path = file.write(text);
    return file.says([&] { file.graph(path, keys); });
  };
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  const std::string or_neighbours =
      "; if a line lists the neighbours of a node, as in a graph of METIS, save the graph as a list of edges";
  CHECK(says("%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n") ==
        "edges.txt: the banner '%%MatrixMarket matrix array real general' has 'array', but edges are the entries of a "
        "sparse matrix; save it as coordinate");
  CHECK(says(banner + "complex general\n2 2 1\n1 2 1 1\n") ==
        "edges.txt: the banner '" + banner +
            "complex general' has 'complex', but weights are real, integer or pattern");
  CHECK(says(banner + "real skew-symmetric\n2 2 1\n2 1 1\n") ==
        "edges.txt: the banner '" + banner +
            "real skew-symmetric' has 'skew-symmetric', but weights are general or symmetric");
  CHECK(says(banner + "real\n2 2 1\n2 1 1\n") ==
        "edges.txt: the banner '" + banner + "real' is not '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'; correct it");
  CHECK(says(banner + "pattern general\n2 2\n2 1\n") ==
        "edges.txt:2: a matrix's rows, columns and entries were expected, but the line has 2 words");
  CHECK(says(banner + "pattern general\n2 two 1\n2 1\n") ==
        "edges.txt:2: expected a whole number for a size, found 'two'");
  CHECK(says(banner + "pattern general\n2 2 2\n2 1\n") ==
        "edges.txt: the matrix states 2 entries, but 1 lines follow; the file is cut short or damaged");
  CHECK(says(banner + "pattern general\n2 2 1\n2 1 5\n") ==
        "edges.txt:3: 2 values were expected, but the line has 3; is the file cut short?");
  CHECK(says(banner + "pattern general\n2 2 1\n3 1\n") ==
        "edges.txt:3: there is no entry (3, 1) in a matrix of 2 rows and 2 columns, counted from 1");
  CHECK(says("edge,start,stop,colour\n0,1,2,3\n") == "no error");
  CHECK(says("edge,a,b\n0,1,2\n") ==
        "edges.txt:1: the names 'edge', 'a', 'b' do not identify the two columns of nodes of an edge; call them source "
        "and target, or set columns: [source, target, ...]");
  CHECK(says("source,target,weight,value\n0,1,2,3\n") ==
        "edges.txt:1: two of the names 'source', 'target', 'weight', 'value' are weights; set columns: [source, "
        "target, weight, other], for example");
  CHECK(says("0 1 1 1\n") ==
        "edges.txt: lines have four columns, of which the last is not a time; describe them, columns: [source, target, "
        "weight, other], for example");
  CHECK(
      says("0 1 1 1 1\n") ==
      "edges.txt:1: 'u v' or 'u v weight' was expected, but the line has 5 words; describe them by the key 'columns'" +
          or_neighbours);
  CHECK(says("4 4\n2 3\n1 3 4\n1 2 4 4\n2 3\n") ==
        "edges.txt: lines have four columns, of which the last is not a time; describe them, columns: [source, target, "
        "weight, other], for example" +
            or_neighbours);
  CHECK(says(banner + "real symmetric\n3 3 3\n2 1 1\n3 2 1\n1 2 1\n") ==
        "edges.txt:3: entries (2, 1) and (1, 2) are both there, but a symmetric matrix stores one of them; write "
        "'general' in the banner, or remove one triangle");
  CHECK(says(banner + "real symmetric\n3 3 3\n2 1 1\n3 3 1\n1 3 1\n") == "no error");
  CHECK(says("7 0 1 0.5\n8 1 2 2\n", {Column::other, Column::source, Column::target, Column::weight}) == "no error");
  CHECK(says("0 1\n", {Column::source, Column::weight}) == "columns: there must be one 'target', not 0");
  CHECK(says("0 1 5\n1\n", {Column::source, Column::target, Column::time}) ==
        "edges.txt:2: 3 columns were expected, but the line has 1; is the file cut short?");
  CHECK(says("0 1 {'weight': heavy}\n") == "edges.txt:1: expected a number for 'weight' in '{'weight': heavy}'");
  CHECK(says("0 1 {'weight': 1\n") ==
        "edges.txt:1: the attributes that begin with '{' have no '}'; is the file cut short?");
  CHECK(says("0 1 {} 3\n") == "edges.txt:1: only a comment may follow the attributes between '{' and '}'");
  CHECK(says("0 1\n1 1.5\n") == "edges.txt:2: expected a whole number for a node, found '1.5'");
  CHECK(says("0 1\n1 Ann\n") ==
        "edges.txt:2: expected a whole number for a node, found 'Ann'; number names, as pandas.factorize does");
  const auto format = [&](const std::string& name, const std::string& reader) {
    return "edges.txt: the file is written in " + name +
           ", expected lines 'u v' or 'u v weight'; networkx makes them: " + reader +
           ", convert_node_labels_to_integers, write_edgelist";
  };
  CHECK(says("<?xml version='1.0'?>\n<graphml xmlns=\"a\">\n") == format("GraphML", "read_graphml"));
  CHECK(says("<gexf version=\"1.2\">\n") == format("GEXF", "read_gexf"));
  CHECK(says("Creator \"me\"\ngraph [\n  directed 0\n") == format("GML", "read_gml"));
  CHECK(says("*Vertices 3\n1 \"a\"\n") == format("Pajek's format", "read_pajek"));
  CHECK(says("strict graph  {\n0 -- 1;\n}\n") == format("DOT", "nx_pydot.read_dot"));
  CHECK(says("{\"directed\": false, \"nodes\": []}\n") == format("JSON", "node_link_graph"));
  CHECK(says("0,1\n1,,2\n") == "edges.txt:2: expected a whole number for a node, found ''");
}

TEST_CASE("numbers far apart are nodes of their own, and classes go by these numbers") {
  const EdgeFile file;
  const auto edges = file.write("5000000000 12\n12 40000000\n"),
             labels =
                 file.write("node;class;role\n12;1;training\n40000000;0;test\n5000000000;0;validation\n100;1;test\n",
                            "labels.txt");
  const auto graph = read_edge_list({edges, labels, 0, false, {}});
  CHECK(graph->numbering.all() == std::vector<std::int64_t>{12, 100, 40000000, 5000000000});
  CHECK(graph->classes_alone == 1);
  CHECK(graph->labels == std::vector<std::int32_t>{1, 1, 0, 0});
  CHECK(graph->roles == std::vector<Role>{Role::training, Role::test, Role::test, Role::validation});
  const auto counted = read_edge_list({file.write("1 2\n2 3\n"), "", 3, false, {}});
  CHECK(counted->numbering.all() == std::vector<std::int64_t>{1, 2, 3});
  CHECK(read_edge_list({file.write("1 2\n2 3\n"), "", 4, false, {}})->numbering.all() ==
        std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("links are found equally well whatever numbers their nodes have and whether the file begins with counts") {
  const EdgeFile file;
  std::mt19937 draw(8);
  std::vector<Pair> edges;
  for (int i = 0; i < 60; ++i)
    for (int j = i + 1; j < 60; ++j)
      if (draw() % 100 < (i % 3 == j % 3 ? 30u : 4u)) edges.emplace_back(i, j);
  const auto text = [&](std::int64_t first, std::int64_t step) {
    std::string out;
    for (const auto& [u, v] : edges) out += fmt::format("{} {}\n", first + step * u, first + step * v);
    return out;
  };
  const Comm comm(MPI_COMM_SELF);
  const auto judged = [&](const std::string& content) {
    auto parts = read_link_lines({file.write(content), "", false, 0, 0, {}});
    parts.share = 0.2;
    const auto graph = make_links(std::move(parts));
    const auto found = judge(*graph, *linear_filter(*graph), 10, comm);
    return std::tuple(graph->users, found.recall, found.ndcg, found.auc);
  };
  const auto plain = judged(text(0, 1));
  CHECK(std::get<0>(plain) == 60);
  CHECK(judged(text(1, 1)) == plain);
  CHECK(judged(text(0, 5)) == plain);
  CHECK(judged(text(1000000007, 1000)) == plain);
  CHECK(judged(fmt::format("60 {}\n", edges.size()) + text(0, 1)) == plain);
  CHECK(judged(fmt::format("60 60 {}\n", edges.size()) + text(1, 1)) == plain);
  CHECK(judged(fmt::format("90 {}\n", edges.size()) + text(0, 1)) == plain);
}
