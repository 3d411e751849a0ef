// Models in safetensors files of their state dict, and what is said of files that hold something else.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>

#include "core/base/error.hpp"
#include "plugins/mace/archive/model_archive.hpp"
#include "plugins/mace/potentials/mace.hpp"
#include "tests/plugins/mace/random_mace.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;
using Parameters = std::vector<RandomMace::Parameter>;

namespace {

std::string scratch() { return (std::filesystem::temp_directory_path() / "cambium_mace.safetensors").string(); }

template <class T>
std::string bytes_of(const Values& values) {
  std::string out;
  for (const double value : values) {
    const T stored = static_cast<T>(value);
    char raw[sizeof stored];
    std::memcpy(raw, &stored, sizeof stored);
    out.append(raw, sizeof stored);
  }
  return out;
}

/// As Python's safetensors writes it: whole numbers as int64, everything else as float64.
void write(const Parameters& parameters, const std::string& metadata) {
  std::string data, header = "{\"__metadata__\":{" + metadata + "}";
  for (const auto& [name, shape, values] : parameters) {
    const bool whole = name == "atomic_numbers" || name == "num_interactions";
    const std::size_t begin = data.size();
    data += whole ? bytes_of<std::int64_t>(values) : bytes_of<double>(values);
    std::string sizes;
    for (const auto size : shape) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    header += ",\"" + name + "\":{\"dtype\":\"" + (whole ? "I64" : "F64") + "\",\"shape\":[" + sizes +
              "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  std::ofstream(scratch(), std::ios::binary) << little(header.size(), 8) << header << data;
}

const std::string neighbours = "\"avg_num_neighbors\":\"" + std::to_string(RandomMace::neighbours) + "\"";

PotentialCase case_of(const std::string& path, World& world) {
  PotentialCase c;
  const double rows[3][3] = {{4.1, 0, 0}, {0.4, 4.6, 0}, {-0.3, 0.5, 5.2}};
  c.box = Box::from_vectors(rows);
  c.positions = {{0.1, 0.2, 0.3}, {1.9, 0.4, 0.2}, {0.3, 2.2, 0.6}, {2.1, 2.4, 1.1}, {1.7, 0.8, 3.3}};
  c.types = {0, 1, 0, 1, 0};
  c.species = {{"H", 1.008}, {"O", 15.999}};
  c.potential = std::make_unique<mace::Mace>(mace::Mace::Params{path}, world.context);
  c.potential->bind(c.species);
  c.gradient_step = 2e-4;
  return c;
}

void check_model(const RandomMace& model) {
  World world;
  write(model.state_dict(), neighbours);
  auto c = case_of(scratch(), world);
  c.oracle = [&model](const PeriodicSystem& s) { return model.energy(s); };
  check_energy_against_oracle(c, world);
  check_forces_are_gradient(c, world);
  const std::string archive = scratch() + ".model";
  model.write(archive);
  auto d = case_of(archive, world);
  auto s = c.system();
  const Evaluation a = c.evaluate(s, world), b = d.evaluate(s, world);
  CHECK(a.energy == Approx(b.energy).epsilon(1e-13));
  for (std::size_t i = 0; i < a.forces.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(a.forces[i][k] - b.forces[i][k]) < 1e-12 * largest(b.forces));
  std::filesystem::remove(archive);
  std::filesystem::remove(scratch());
}

/// What is said of a sound model after `change`.
std::string refusal(const std::function<void(Parameters&)>& change, const std::string& metadata = neighbours) {
  Parameters parameters = RandomMace::standard(1, 4).state_dict();
  change(parameters);
  write(parameters, metadata);
  std::string text = "accepted";
  try {
    mace::MaceModel::load(scratch());
  } catch (const InputError& error) {
    text = error.what();
  }
  std::filesystem::remove(scratch());
  return text;
}

RandomMace::Parameter& named(Parameters& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

void check_says(const std::string& found, const std::string& expected) {
  INFO(found);
  CHECK(found.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("mace: the state dict in a safetensors file is the model of the archive") {
  check_model(RandomMace::standard(1, 4));
  check_model(RandomMace::standard(2, 4));
  check_model(RandomMace::standard(3, 3));
}

namespace {

/// The tensors of an archive that a state dict of its model has.
Parameters parameters_of(const mace::ModelArchive& archive, const std::string& prefix) {
  Parameters out;
  const auto add = [&](const std::string& name) {
    if (!archive.has(prefix + name)) return;
    const auto tensor = archive.tensor(prefix + name);
    out.push_back({name, tensor.shape, tensor.values});
  };
  for (const char* name :
       {"atomic_numbers", "num_interactions", "r_max", "atomic_energies_fn.atomic_energies", "scale_shift.scale",
        "scale_shift.shift", "radial_embedding.bessel_fn.prefactor", "radial_embedding.bessel_fn.bessel_weights",
        "radial_embedding.cutoff_fn.p", "node_embedding.linear.weight"})
    add(name);
  for (int k = 0; k < 3; ++k) {
    const std::string number = std::to_string(k);
    for (const char* name : {"linear_up", "linear", "skip_tp", "conv_tp_weights.layer0", "conv_tp_weights.layer1",
                             "conv_tp_weights.layer2", "conv_tp_weights.layer3"})
      add("interactions." + number + "." + name + ".weight");
    for (int j = 0; j < 3; ++j)
      for (const char* name : {"U_matrix_1", "U_matrix_2", "U_matrix_3", "weights_max", "weights.0", "weights.1"})
        add("products." + number + ".symmetric_contractions.contractions." + std::to_string(j) + "." + name);
    add("products." + number + ".linear.weight");
    for (const char* name : {"linear", "linear_1", "linear_2"}) add("readouts." + number + "." + name + ".weight");
  }
  return out;
}

void check_same(const mace::LinearMap& a, const mace::LinearMap& b) {
  REQUIRE(a.parts.size() == b.parts.size());
  for (std::size_t p = 0; p < a.parts.size(); ++p) {
    CHECK(a.parts[p].in == b.parts[p].in);
    CHECK(a.parts[p].out == b.parts[p].out);
    REQUIRE(a.parts[p].weight.size() == b.parts[p].weight.size());
    double worst = 0.0;
    for (std::size_t k = 0; k < a.parts[p].weight.size(); ++k)
      worst = std::max(worst, std::abs(a.parts[p].weight[k] - b.parts[p].weight[k]));
    CHECK(worst < 1e-12);
  }
}

}  // namespace

TEST_CASE("mace: what a state dict leaves out is as e3nn wrote it into an archive", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: MACE archive: CAMBIUM_DATA is not set\n";
    return;
  }
  const std::string file = std::string(data) + "/models/MACE_scratch_run-3.model-cp2k.pth";
  const mace::ModelArchive archive(file);
  std::string prefix;
  REQUIRE(archive.find_class({"ScaleShiftMACE", "MACE"}, prefix));
  const double mean = archive.real(prefix + "interactions.0.avg_num_neighbors");
  write(parameters_of(archive, prefix), fmt::format("\"avg_num_neighbors\":\"{:.17g}\"", mean));
  const auto found = mace::MaceModel::load(scratch()), expected = mace::MaceModel::load(file);
  std::filesystem::remove(scratch());
  CHECK(found.lmax == expected.lmax);
  CHECK(found.activation == Approx(expected.activation).epsilon(1e-12));
  REQUIRE(found.interactions.size() == expected.interactions.size());
  for (std::size_t k = 0; k < found.interactions.size(); ++k) {
    const auto &a = found.interactions[k], &b = expected.interactions[k];
    CHECK(a.residual == b.residual);
    check_same(a.up, b.up);
    check_same(a.linear, b.linear);
    check_same(a.product, b.product);
    check_same(a.readout.first, b.readout.first);
    for (std::size_t s = 0; s < a.skip.size(); ++s) check_same(a.skip[s], b.skip[s]);
    CHECK(a.contraction.coefficients == b.contraction.coefficients);
    REQUIRE(a.paths.size() == b.paths.size());
    for (std::size_t p = 0; p < a.paths.size(); ++p) {
      CHECK(a.paths[p].in == b.paths[p].in);
      CHECK(a.paths[p].out == b.paths[p].out);
      CHECK(a.paths[p].weight == b.paths[p].weight);
      REQUIRE(a.paths[p].terms.size() == b.paths[p].terms.size());
      for (std::size_t t = 0; t < a.paths[p].terms.size(); ++t)
        CHECK(a.paths[p].terms[t].factor == Approx(b.paths[p].terms[t].factor).epsilon(1e-12));
    }
  }
}

TEST_CASE("mace: a mean number of neighbours among the tensors is used") {
  Parameters parameters = RandomMace::standard(1, 4).state_dict();
  write(parameters, neighbours);
  const double expected = mace::MaceModel::load(scratch()).interactions[0].linear.parts[0].weight[0];
  parameters.push_back({"interactions.0.avg_num_neighbors", {}, {2.0 * RandomMace::neighbours}});
  write(parameters, neighbours);
  const double found = mace::MaceModel::load(scratch()).interactions[0].linear.parts[0].weight[0];
  CHECK(2.0 * found == Approx(expected).epsilon(1e-14));
  std::filesystem::remove(scratch());
}

TEST_CASE("mace: state dicts that cannot be read") {
  CHECK(refusal([](Parameters&) {}) == "accepted");
  check_says(refusal([](Parameters&) {}, ""),
             ": the mean number of neighbours is missing; write it into the file's metadata as avg_num_neighbors");
  check_says(refusal([](Parameters& p) { named(p, "r_max").name = "range"; }),
             " has no 'r_max': it is no MACE model, or one of a version that is not known");
  check_says(refusal([](Parameters& p) {
               named(p, "r_max") = {"r_max", {2}, {1.0, 2.0}};
             }),
             ": 'r_max' has 2 elements; it must be one value");
  check_says(refusal([](Parameters& p) {
               p.push_back({"pair_repulsion_fn.a_exp", {}, {0.3}});
             }),
             ": the model has 'pair_repulsion_fn', which is not supported");
  check_says(refusal([](Parameters& p) {
               p.push_back({"interactions.0.density_fn.layer0.weight", {1}, {0.3}});
             }),
             ": interaction 'RealAgnosticDensityInteractionBlock' is not supported");
  check_says(refusal([](Parameters& p) {
               auto& weight = named(p, "interactions.0.linear.weight");
               weight.values.pop_back();
               weight.shape = {static_cast<std::int64_t>(weight.values.size())};
             }),
             ": 'interactions.0.linear' does not fit the rest of the model");
  check_says(refusal([](Parameters& p) {
               named(p, "products.0.symmetric_contractions.contractions.0.U_matrix_1").name = "U";
             }),
             " has no 'products.0.symmetric_contractions.contractions.0.U_matrix_1'");
  std::ofstream(scratch()) << "text";
  CHECK_THROWS_WITH(mace::MaceModel::load(scratch()), Catch::Contains("is no safetensors file, or is cut short"));
  std::filesystem::remove(scratch());
}
