// The deck inputs/graph/molecules.yaml on 960 molecules of GDB-13, five folds, at full size. This file sees no Torch.
#include "core/deck/node.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_case.hpp"
#include "tests/plugins/graph/molecules/molecule_stages.hpp"

using namespace cambium;
using namespace cambium::graph::testing;

namespace {

std::string deck_text() {
  std::ifstream in(CAMBIUM_SOURCE_DIR "/inputs/graph/molecules.yaml");
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  std::size_t at = text.find(what), count = 0;
  for (; at != std::string::npos; at = text.find(what, at + by.size()), ++count) text.replace(at, what.size(), by);
  REQUIRE(count > 0);
}

}  // namespace

TEST_CASE("mean absolute error on gdb1k over five folds", "[.long][data]") {
  const auto path = gdb1k_file();
  if (path.empty()) return;
  std::map<std::string, double> mean;
  for (int fold = 0; fold < 5; ++fold) {
    Stages stages;
    std::string text = deck_text();
    replace(text, "made_up: {molecules: 600, atoms: [4, 9], noise: 1 kcal/mol}", "file: " + path + ", group: gdb1k");
    replace(text, "fold: 0", "fold: " + std::to_string(fold));
    replace(text, "{run}", stages.scratch.folder);
    const auto deck = deck::parse(text, "molecules.yaml");
    for (const auto& [type, keys] : std::vector<std::pair<std::string, deck::Node>>{
             {"train", deck["stages"][0]["train"]}, {"molecule_energies", deck["stages"][2]["molecule_energies"]}})
      stages.run(type, deck::to_line(keys), type);
    for (const auto& [method, error] : stages.errors("molecule_energies")) mean[method] += error / 5.0;
    std::printf("fold %d:", fold);
    for (const auto& [method, error] : stages.errors("molecule_energies"))
      std::printf(" %s %.3f", method.c_str(), error);
    std::printf("\n"), std::fflush(stdout);
  }
  for (const auto& [method, error] : mean) std::printf("mean over folds: %s %.3f kcal/mol\n", method.c_str(), error);
  CHECK(mean.at("mean") <= 8.0);
  for (const char* baseline : {"atoms", "bonds", "coulomb", "bag_of_bonds"}) CHECK(mean.at("mean") < mean.at(baseline));
}
