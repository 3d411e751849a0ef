// Models and references that tests/plugins/deepmd/oracle/deep_potential.py makes from the formulas.
#include "core/parallel/context.hpp"
#include "core/plugin/committee.hpp"
#include "plugins/deepmd/potentials/deep_potential.hpp"
#include "tests/plugins/deepmd/oracle_models.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;
using Json = nlohmann::json;

namespace {

Configuration configuration(const Json& frame) {
  Configuration c;
  c.x = frame.at("x").get<std::vector<Position>>();
  c.types = frame.at("types").get<std::vector<int>>();
  if (frame.at("cell").is_null()) return c;
  const auto h = frame.at("cell").get<std::vector<std::vector<double>>>();
  const double rows[3][3] = {{h[0][0], h[0][1], h[0][2]}, {h[1][0], h[1][1], h[1][2]}, {h[2][0], h[2][1], h[2][2]}};
  c.box = Box::from_vectors(rows);
  return c;
}

Evaluation evaluate_case(const std::string& file, const Json& item, EngineOptions options) {
  const Json& frame = item.at("frame");
  options.fparam = frame.at("fparam").get<std::vector<double>>();
  const auto rows = frame.at("aparam").get<std::vector<std::vector<double>>>();
  options.aparam = rows[0];
  auto engine = make_engine(DeepPotentialModel::load(file), options);
  const Configuration c = configuration(frame);
  return evaluate(*engine, c.x, c.types, c.box, flat(rows));
}

double worst_error(const Evaluation& e, const Json& reference) {
  const auto expected = [&](const char* key) {
    return flat(reference.at(key).get<std::vector<std::vector<double>>>());
  };
  double worst = relative_error(e.atom_energy, reference.at("atom_energy").get<std::vector<double>>());
  worst = std::max(worst, relative_error(flat(e.force), expected("force")));
  return std::max(worst, relative_error(std::vector<double>(e.virial, e.virial + 9), expected("virial")));
}

}  // namespace

TEST_CASE("every kind of model agrees with the oracle's padded form and complex-step derivatives") {
  if (oracle_folder().empty()) return;
  const Json all = oracle_cases();
  REQUIRE(all.at("cases").size() >= 20);
  for (const Json& item : all.at("cases"))
    for (const char* suffix : {".yaml", ".dp"}) {
      const std::string name = item.at("name");
      INFO(name << suffix);
      EngineOptions options;
      options.float32_cutoffs = item.at("single_cutoffs");
      const Evaluation e = evaluate_case(oracle_folder() + "/" + name + suffix, item, options);
      CHECK(worst_error(e, item.at("reference")) < 1e-12);
      double sum = 0.0;
      for (double energy : e.atom_energy) sum += energy;
      CHECK(e.energy == Approx(sum).epsilon(1e-13));
    }
}

TEST_CASE("the float32 rounding of cut-offs is an option, and it matters") {
  if (oracle_folder().empty()) return;
  const Json all = oracle_cases();
  for (const Json& item : all.at("cases")) {
    if (!item.at("single_cutoffs")) continue;
    const std::string file = oracle_folder() + "/" + item.at("name").get<std::string>() + ".dp";
    const double plain = worst_error(evaluate_case(file, item, {}), item.at("reference"));
    CHECK(plain > 1e-10);
    CHECK(plain < 1e-6);
  }
}

TEST_CASE("mixed precision agrees with the oracle to float32") {
  if (oracle_folder().empty()) return;
  const Json all = oracle_cases();
  for (const Json& item : all.at("cases")) {
    INFO(item.at("name"));
    EngineOptions options;
    options.precision = EnginePrecision::mixed;
    options.float32_cutoffs = item.at("single_cutoffs");
    const std::string file = oracle_folder() + "/" + item.at("name").get<std::string>() + ".dp";
    CHECK(worst_error(evaluate_case(file, item, options), item.at("reference")) < 2e-5);
  }
}

TEST_CASE("a committee reports the deviation of its models and moves by the first") {
  if (oracle_folder().empty()) return;
  const Json all = oracle_cases();
  const Json &item = all.at("cases")[0], &expected = all.at("deviation");
  REQUIRE(item.at("name") == "one_side");
  DeepPotential::Params params;
  params.model = oracle_folder() + "/one_side.dp";
  params.committee = {oracle_folder() + "/one_side_second.yaml"};
  Comm comm(MPI_COMM_SELF);
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  DeepPotential potential(params, context);
  const Configuration c = configuration(item.at("frame"));
  const std::vector<Species> species = {{"H", 1.0}, {"O", 16.0}};  // the deck's order is not the model's
  std::vector<int> types;
  for (int t : c.types) types.push_back(1 - t);
  ImageSystem system(c.x, types, c.box, species, potential.cutoff());
  potential.bind(species);
  ForceOutput out;
  out.f = View<double* [3]>("f", static_cast<std::size_t>(system.particles().total()));
  potential.compute(system.particles(), system.list(), system, {}, out, context);
  system.reverse_add(out.f);

  auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  std::vector<double> force;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    for (int k = 0; k < 3; ++k) force.push_back(f(i, k));
  CHECK(relative_error(force, flat(item.at("reference").at("force").get<std::vector<std::vector<double>>>())) < 1e-12);

  REQUIRE(potential.committee());
  const auto& d = static_cast<const ModelDeviation&>(potential.committee()->deviation());
  auto per_atom = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), d.force);
  CHECK(relative_error(std::vector<double>(per_atom.data(), per_atom.data() + c.x.size()),
                       expected.at("force").get<std::vector<double>>()) < 1e-12);
  CHECK(d.force_max == Approx(expected.at("force_max").get<double>()).epsilon(1e-12));
  CHECK(d.force_min == Approx(expected.at("force_min").get<double>()).epsilon(1e-12));
  CHECK(d.force_mean == Approx(expected.at("force_mean").get<double>()).epsilon(1e-12));
  CHECK(d.virial_max == Approx(expected.at("virial_max").get<double>()).epsilon(1e-10));
  CHECK(d.virial_min == Approx(expected.at("virial_min").get<double>()).epsilon(1e-10));
  CHECK(d.virial_rms == Approx(expected.at("virial_rms").get<double>()).epsilon(1e-10));
}

TEST_CASE("models survive writing and reading in both formats") {
  if (oracle_folder().empty()) return;
  const Json all = oracle_cases();
  Scratch scratch("deep_potential_round_trip");
  std::string written = "same";
  for (const Json& item : all.at("cases")) {
    const std::string name = item.at("name");
    const DeepPotentialModel model = DeepPotentialModel::load(oracle_folder() + "/" + name + ".dp");
    save_model_tree(model.to_tree(), scratch.file(name + ".dp"));
    save_model_tree(load_model_tree(scratch.file(name + ".dp")), scratch.file(name + ".yaml"));
    for (const char* suffix : {".dp", ".yaml"}) {
      INFO(name << suffix);
      EngineOptions options;
      options.float32_cutoffs = item.at("single_cutoffs");
      CHECK(worst_error(evaluate_case(scratch.file(name + suffix), item, options), item.at("reference")) < 1e-12);
    }
    written += " " + scratch.file(name + ".dp") + " " + scratch.file(name + ".yaml");
  }
  CHECK(run_oracle(written));  // other libraries read the same numbers from both
}
