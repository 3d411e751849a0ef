// Files that networkx, numpy, scipy and meshio write are read as these read them.
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/plugins/graph/spellings/edge_case.hpp"
#include "tests/plugins/graph/spellings/mesh_case.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

/// The lines that the script says of its files; empty, and said, where a library is missing.
std::vector<std::string> written(const EdgeFile& file) {
  const auto list = file.scratch.file("list.txt");
  const std::string script = CAMBIUM_SOURCE_DIR "/tests/plugins/graph/spellings/written_elsewhere.py";
  std::vector<std::string> out;
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    if (std::system(
            fmt::format("{} {} {} > {} 2>/dev/null", python, script, file.scratch.folder.string(), list).c_str()) != 0)
      continue;
    std::ifstream in(list);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  std::cout << "SKIPPED: graphs and meshes of other programs: no python3 with networkx, scipy and meshio\n";
  return out;
}

Content edges_in(std::istringstream& words) {
  Content out;
  for (std::string word; words >> word;) {
    std::replace(word.begin(), word.end(), ',', ' ');
    std::istringstream numbers(word);
    std::int64_t u = 0, v = 0;
    double weight = 0.0;
    numbers >> u >> v >> weight;
    out.nodes.insert({u, v});
    out.edges[ordered(u, v)] = weight;
  }
  return out;
}

MeshContent mesh_in(std::istringstream& words) {
  MeshContent out;
  words >> out.nodes >> out.triangles >> out.area;
  out.boundary[""] = 4.0;
  for (std::string word; words >> word;)
    out.boundary[word.substr(0, word.find('='))] = std::stod(word.substr(word.find('=') + 1));
  return out;
}

}  // namespace

TEST_CASE("files of networkx, numpy, scipy and meshio") {
  const EdgeFile file;
  for (const auto& line : written(file)) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    INFO(name);
    if (kind == "mesh") {
      CHECK(mesh_content(file.scratch.file(name)).near(mesh_in(words)));
      continue;
    }
    const auto expected = edges_in(words);
    const auto found = file.graph(file.scratch.file(name));
    CHECK(found.edges == expected.edges);
    CHECK(file.network(file.scratch.file(name)).edges == expected.edges);
  }
}
