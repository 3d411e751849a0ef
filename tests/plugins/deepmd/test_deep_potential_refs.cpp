// The reference frames that DeePMD-kit keeps for three of its own models; see CAMBIUM_DATA/README.md.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "plugins/deepmd/engine/evaluate.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using Json = nlohmann::json;

namespace {

std::optional<std::string> data_folder() {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: Deep Potential reference frames: CAMBIUM_DATA is not set\n";
    return {};
  }
  return std::string(data) + "/deepmd";
}

struct Frame {
  std::vector<std::array<double, 3>> x;
  std::vector<int> types;
  std::optional<Box> box;

  explicit Frame(const Json& j) : types(j.at("atype").get<std::vector<int>>()) {
    const auto coord = j.at("coord").get<std::vector<double>>();
    for (std::size_t k = 0; k < coord.size(); k += 3) x.push_back({coord[k], coord[k + 1], coord[k + 2]});
    if (j.at("box").is_null()) return;
    const auto h = j.at("box").get<std::vector<double>>();
    const double rows[3][3] = {{h[0], h[1], h[2]}, {h[3], h[4], h[5]}, {h[6], h[7], h[8]}};
    box = Box::from_vectors(rows);
  }
};

template <class V>
std::vector<double> flat(const V& rows) {
  std::vector<double> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

/// Largest difference over the largest reference value.
double relative_error(const std::vector<double>& found, const Json& expected) {
  const auto reference = expected.get<std::vector<double>>();
  REQUIRE(found.size() == reference.size());
  double worst = 0.0, scale = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    worst = std::max(worst, std::abs(found[k] - reference[k]));
    scale = std::max(scale, std::abs(reference[k]));
  }
  return worst / scale;
}

}  // namespace

TEST_CASE("stored models give the energies, forces and virials of DeePMD-kit's reference frames", "[data]") {
  const auto folder = data_folder();
  if (!folder) return;
  const Json refs = Json::parse(std::ifstream(*folder + "/refs.json"));
  int compared = 0;
  for (const auto& [name, reference] : refs.items())
    for (const char* suffix : {".yaml", ".dp"}) {
      auto engine = make_engine(DeepPotentialModel::load(*folder + "/models/" + name + suffix), {});
      for (const Json& r : reference.at("results")) {
        const Frame frame(r);
        const Evaluation e = evaluate(*engine, frame.x, frame.types, frame.box);
        INFO(name << suffix << " " << r.value("source", ""));
        const double tolerance = 1e-10;
        CHECK(e.energy == Approx(r.at("energy").get<double>()).epsilon(1e-13).margin(1e-10));
        CHECK(relative_error(flat(e.force), r.at("force")) < tolerance);
        CHECK(relative_error(std::vector<double>(e.virial, e.virial + 9), r.at("virial")) < tolerance);
        CHECK(relative_error(e.atom_energy, r.at("atomic_energy")) < tolerance);
        CHECK(relative_error(flat(e.atom_virial), r.at("atomic_virial")) < tolerance);
        ++compared;
      }
    }
  CHECK(compared == 16);
}
