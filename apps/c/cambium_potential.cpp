#include "apps/c/cambium_potential.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "apps/c/c_calls.hpp"
#include "apps/c/start.hpp"
#include "core/deck/problems.hpp"
#include "core/particles/elements.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/image_system.hpp"
#include "core/plugin/committee.hpp"
#include "core/plugin/potential.hpp"
#include "core/run/deck_file.hpp"

using namespace cambium;

/// A potential and its execution environment: one process.
struct cambium_potential {
  explicit cambium_potential(const std::string& what)
      : comm(MPI_COMM_SELF),
        log(nullptr), context{comm, log, timing, &c::filled(registry), 1, ".", "", "", nullptr, false, false} {
    const auto keys = keys_of(what);
    const auto type = keys.is_scalar() ? keys : keys["type"];
    if (!type.is_scalar())
      throw InputError(fmt::format("'{}' has no `type` of a potential; give {{type: sutton_chen, ...}}", what));
    const auto own = keys.is_scalar() ? deck::Node::map({}) : keys.without([](auto key) { return key == "type"; });
    potential = registry.make<Potential>(type.text(), own, context);
  }
  deck::Node keys_of(const std::string& what);
  void bind(const cambium_structure& structure);
  void evaluate(const cambium_structure& structure, const cambium_results& results);

  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  Context context;
  std::unique_ptr<Potential> potential;
  std::vector<Species> species;
  std::vector<int> types;
  std::string summary;
};

namespace {

using Position = std::array<double, 3>;

/// The first potential of a deck's stages.
deck::Node first_potential(const deck::Node& root) {
  for (const auto& stage : root["stages"].items())
    for (const auto& task : stage.entries())
      if (const auto found = task.value["potential"]; found.defined()) return found;
  return {};
}

/// True for a model in YAML, as DeePMD-kit and `cambium deepmd` write it: `model` is among its outermost keys. A deck
/// has other ones, and the keys of a potential have `type`.
bool is_model_in_yaml(const std::string& path) {
  std::ifstream in(path);
  bool model = false;
  for (std::string line; std::getline(in, line);) {
    std::string key = line.substr(0, line.find(':'));
    if (key.size() > 2 && key.front() == key.back() && (key[0] == '"' || key[0] == '\''))
      key = key.substr(1, key.size() - 2);
    if (key == "type" || key == "potential" || key == "stages") return false;
    model = model || key == "model";
  }
  return model;
}

/// "{deck}" and "{run}" in names of files, as in a run of the deck.
deck::Node with_places(const deck::Node& keys, const deck::Node& root, const std::string& path) {
  std::string text = deck::to_yaml(keys);
  if (text.find("{deck}") == std::string::npos && text.find("{run}") == std::string::npos) return keys;
  const auto given = root["run"]["directory"].text();
  const auto replace = [&](const std::string& word, const std::string& by) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
      text.replace(at, word.size(), by);
  };
  replace("{deck}", std::filesystem::absolute(path).parent_path().string());
  replace("{run}", given.empty() ? "runs/" + root["run"]["name"].text() : given);
  return deck::parse(text, path);
}

/// A cell as the caller gives it, in the form in which calculations have it.
struct Periodic {
  std::optional<Box> box;
  GivenAxes axes;
};

double norm(const double v[3]) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

void cross(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/// A direction at right angles to all vectors of a cell that are periodic, or to the first of them and an axis.
void free_direction(const double rows[3][3], const bool* known, int d, double out[3]) {
  const int e = (d + 1) % 3, f = (d + 2) % 3;
  double one[3] = {0.0, 0.0, 0.0}, two[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < 3; ++k) {
    one[k] = known[e] ? rows[e][k] : 0.0;
    two[k] = known[f] ? rows[f][k] : 0.0;
  }
  const double* only = known[e] ? one : two;
  if (!known[e] || !known[f]) {
    double axis[3] = {0.0, 0.0, 0.0};
    int least = 0;
    for (int k = 1; k < 3; ++k)
      if (std::abs(only[k]) < std::abs(only[least])) least = k;
    axis[least] = 1.0;
    cross(only, axis, out);
  } else {
    cross(one, two, out);
  }
  const double length = norm(out);
  for (int k = 0; k < 3; ++k) out[k] /= length;
}

/// For a non-periodic cell vector: one perpendicular to the others, so long that images do not interact.
void open_cell(double rows[3][3], const int* periodic, const std::vector<Position>& x, double range) {
  bool known[3] = {periodic[0] != 0, periodic[1] != 0, periodic[2] != 0};
  for (int d = 0; d < 3; ++d) {
    if (known[d]) continue;
    double along[3];
    free_direction(rows, known, d, along);
    double low = 1e300, high = -1e300;
    for (const auto& p : x) {
      const double s = p[0] * along[0] + p[1] * along[1] + p[2] * along[2];
      low = std::min(low, s);
      high = std::max(high, s);
    }
    for (int k = 0; k < 3; ++k) rows[d][k] = along[k] * (high - low + 2.0 * range + 1.0);
    known[d] = true;
  }
}

Periodic periodic_cell(const cambium_structure& s, const std::vector<Position>& x, double range) {
  if (!s.cell || (!s.periodic[0] && !s.periodic[1] && !s.periodic[2])) return {};
  double rows[3][3], rotation[3][3];
  std::copy_n(s.cell, 9, &rows[0][0]);
  open_cell(rows, s.periodic, x, range);
  double normal[3];
  cross(rows[0], rows[1], normal);
  const bool left = normal[0] * rows[2][0] + normal[1] * rows[2][1] + normal[2] * rows[2][2] < 0.0;
  for (int k = 0; left && k < 9; ++k) rows[k / 3][k % 3] *= -1.0;  // the same lattice, right-handed
  Periodic out;
  out.box = Box::from_vectors(rows, rotation);
  out.axes = GivenAxes(rotation);
  return out;
}

std::vector<Position> positions_of(const cambium_structure& s) {
  if (s.atoms < 1 || s.atoms > 100'000'000)
    throw InputError(fmt::format("the structure has {} atoms; give 1 to 100000000", s.atoms));
  if (!s.positions || !s.species) throw InputError("the structure has no positions or no species; both are needed");
  std::vector<Position> x(static_cast<std::size_t>(s.atoms));
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      x[i][k] = s.positions[3 * i + k];
      if (!std::isfinite(x[i][k])) throw InputError(fmt::format("the position of atom {} is not finite", i));
    }
  return x;
}

/// Coincident atoms give numbers that programs would take for a result.
void refuse_not_finite(const ForceOutput& out, std::size_t atoms) {
  std::string what = std::isfinite(out.energy) ? "" : "the energy";
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  for (std::size_t i = 0; i < atoms && what.empty(); ++i)
    if (!std::isfinite(f(i, 0) + f(i, 1) + f(i, 2))) what = fmt::format("the force on atom {}", i);
  if (what.empty()) return;
  throw InputError(fmt::format(
      "{} is not finite: atoms are at the same position, or nearer to each other than the potential allows", what));
}

void store_atoms(const cambium_results& to, const ForceOutput& out, const GivenAxes& axes, std::size_t atoms) {
  if (to.forces) {
    const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
    for (std::size_t i = 0; i < atoms; ++i) {
      const auto given = axes.vector(&f(i, 0));
      std::copy(given.begin(), given.end(), to.forces + 3 * i);
    }
  }
  if (to.atom_energies) {
    const auto energy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
    std::copy_n(energy.data(), atoms, to.atom_energies);
  }
  if (!to.atom_virials) return;
  const auto virial = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  for (std::size_t i = 0; i < atoms; ++i) {
    const auto given = axes.tensor(&virial(i, 0));
    std::copy(given.begin(), given.end(), to.atom_virials + 9 * i);
  }
}

cambium_potential& opened(cambium_potential* potential) {
  if (!potential) throw InputError("the potential is a null pointer; call cambium_potential_open first");
  return *potential;
}

}  // namespace

deck::Node cambium_potential::keys_of(const std::string& what) {
  std::error_code no_name;  // keys may be longer than the name of a file
  if (std::filesystem::is_regular_file(what, no_name)) {
    if ((!what.ends_with(".yaml") && !what.ends_with(".yml")) || is_model_in_yaml(what))
      return deck::Node::map(
          {{"type", deck::Node::scalar("deep_potential")}, {"model", deck::Node::scalar(what, true)}});
    deck::Problems problems;
    const auto root = load_deck(written_deck(what, comm), {}, registry, context, problems).root;
    if (root.has("type")) return root;
    const auto found = root.has("potential") ? root["potential"] : first_potential(root);
    if (!found.defined()) throw InputError(fmt::format("{} has no `potential` in any of its stages", what));
    return with_places(found, root, what);
  }
  const auto keys = deck::parse(what, "potential");
  if (keys.is_map()) return keys;
  throw InputError(
      fmt::format("'{}' is no file, and no keys of a potential; give a deck, a model file or {{type: ...}}", what));
}

void cambium_potential::bind(const cambium_structure& s) {
  std::vector<Species> now;
  types.clear();
  for (std::int64_t i = 0; i < s.atoms; ++i) {
    const std::string symbol = s.species[i] ? s.species[i] : "";
    const auto found = std::find_if(now.begin(), now.end(), [&](const auto& one) { return one.symbol == symbol; });
    types.push_back(static_cast<int>(found - now.begin()));
    if (found == now.end()) now.push_back({symbol, std::max(1.0, standard_mass(symbol))});
  }
  const auto same = [](const Species& a, const Species& b) { return a.symbol == b.symbol; };
  if (std::equal(now.begin(), now.end(), species.begin(), species.end(), same)) return;
  species.clear();  // where bind() throws, the next structure binds again
  potential->bind(now);
  species = now;
}

void cambium_potential::evaluate(const cambium_structure& s, const cambium_results& to) {
  auto x = positions_of(s);
  bind(s);
  refuse_open_boundaries(*potential, s.cell && s.periodic[0] && s.periodic[1] && s.periodic[2]);
  const double range = potential->cutoff();
  const auto cell = periodic_cell(s, x, range);
  for (auto& p : x) p = cell.axes.inside(p.data());
  ImageSystem system(x, types, cell.box, species, range);
  const auto rows = static_cast<std::size_t>(system.particles().total()) + 1;
  ForceOutput out;
  out.f = View<double* [3]>("potential: forces", rows);
  const ForceRequest request{true, to.atom_energies || to.atom_virials, !to.atom_virials};
  if (request.per_atom) {
    out.atom_energy = View<double*>("potential: energies", rows);
    out.atom_virial = View<double* [9]>("potential: virials", rows);
  }
  potential->compute(system.particles(), system.list(), system, request, out, context);
  if (potential->writes_ghost_forces()) {
    system.reverse_add(out.f);
    if (request.per_atom) system.reverse_add(out.atom_virial);
  }
  refuse_not_finite(out, x.size());
  if (to.energy) *to.energy = out.energy;
  if (to.virial) {
    const auto given = cell.axes.tensor(out.virial);
    std::copy(given.begin(), given.end(), to.virial);
  }
  store_atoms(to, out, cell.axes, x.size());
  if (!to.deviation) return;
  Committee* committee = potential->committee();
  if (!committee)
    throw InputError("a deviation was requested, but the potential is no committee of models; give NULL for it");
  const auto& deviation = committee->deviation();
  to.deviation[0] = deviation.force_max;
  to.deviation[1] = deviation.force_min;
  to.deviation[2] = deviation.force_mean;
}

extern "C" {

int cambium_potential_open(const char* what, cambium_potential** potential) {
  return c::guarded([&] {
    if (!potential) throw InputError("the pointer to the potential is null; give the address of one");
    *potential = nullptr;
    c::start();
    *potential = new cambium_potential(what ? what : "");
  });
}

void cambium_potential_close(cambium_potential* potential) { delete potential; }

const char* cambium_potential_summary(cambium_potential* potential) {
  if (!potential) return "";
  potential->summary = potential->potential->summary();
  return potential->summary.c_str();
}

double cambium_potential_cutoff(const cambium_potential* potential) {
  return potential ? potential->potential->cutoff() : 0.0;
}

int cambium_potential_is_committee(cambium_potential* potential) {
  return potential && potential->potential->committee() ? 1 : 0;
}

int cambium_potential_evaluate(cambium_potential* potential, const cambium_structure* structures,
                               const cambium_results* results, int64_t count) {
  return c::guarded([&] {
    if (count < 0 || (count > 0 && (!structures || !results)))
      throw InputError(
          fmt::format("{} structures, or null pointers to them; give arrays of `count` structures and results", count));
    for (int64_t k = 0; k < count; ++k) opened(potential).evaluate(structures[k], results[k]);
  });
}

const char* cambium_potential_message(void) { return c::last_message.c_str(); }

}  // extern "C"
