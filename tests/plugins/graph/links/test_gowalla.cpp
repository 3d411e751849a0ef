// Held-out links of Gowalla: baselines as computed by other means from the same file, and what light_gcn finds.
// Minutes.
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

/// The file; empty, with a reason printed, where there is none.
std::string gowalla() {
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string path = data ? std::string(data) + "/relate/gowalla.h5" : "";
  if (!path.empty() && std::filesystem::exists(path)) return path;
  std::printf("SKIPPED: links of Gowalla: CAMBIUM_DATA names no folder with relate/gowalla.h5\n");
  return "";
}

/// Recall and NDCG by the first word of a method.
std::map<std::string, std::pair<double, double>> judged(Comm& comm, const std::string& folder,
                                                        const std::string& keys) {
  Place place(comm, folder);
  const auto task = place.registry.make<Task>("predict_links", deck::parse(keys, "test"), place.context);
  task->run(place.context);
  std::map<std::string, std::pair<double, double>> out;
  for (const auto& line : task->lines()) {
    std::printf("%s\n", line.c_str());
    if (line.size() > 58 && !line.starts_with("held-out") && !line.starts_with("predictions"))
      out[line.substr(0, line.find(' '))] = {std::stod(line.substr(34, 12)), std::stod(line.substr(46, 12))};
  }
  return out;
}

}  // namespace

TEST_CASE("baselines and light_gcn on Gowalla", "[data]") {
  const auto file = gowalla();
  if (file.empty()) return;
  Comm comm;
  SharedScratch scratch(comm);
  Place place(comm, scratch.file("train"));
  place.run(
      "train",
      "{network: {type: light_gcn, width: 128, layers: 3, temperature: 0.1, negatives: 1024, draw: links, "
      "skip_known: true, judge_lengths: 0.5, start: spectral}, dataset: {type: links, file: " +
          file +
          "}, batch: 8192, steps: 1200, optimizer: adam, learning_rate: {type: cosine, start: 3e-3, stop: 3e-5}}");
  const auto found =
      judged(comm, scratch.file("judge"),
             "{models: [\"" + scratch.file("train") + "/model.h5\"], dataset: {type: links, file: " + file + "}}");
  const auto near = [&](const std::string& method, double recall, double ndcg) {
    INFO(method);
    CHECK_THAT(found.at(method).first, Catch::Matchers::WithinAbs(recall, 5e-4));
    CHECK_THAT(found.at(method).second, Catch::Matchers::WithinAbs(ndcg, 5e-4));
  };
  near("most", 0.0416, 0.0317);
  near("item-item", 0.1273, 0.0944);
  near("linear", 0.1682, 0.1331);
  near("GF-CF", 0.1865, 0.1534);
  CHECK(found.at("light_gcn").first >= 0.180);
}
