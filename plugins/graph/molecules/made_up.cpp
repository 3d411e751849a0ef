#include "plugins/graph/molecules/made_up.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel/random.hpp"

namespace cambium::graph {

namespace {

struct Element {
  std::int32_t number;
  double radius, reference;  ///< Å, kcal/mol
};
constexpr Element elements[] = {{1, 0.35, -12.0}, {6, 0.75, -60.0}, {7, 0.70, -45.0}, {8, 0.66, -30.0}};
constexpr double repulsion = 30.0, steepness = 8.0, attraction = 90.0, decay = 2.5;  // kcal/mol, 1, kcal/mol, 1
constexpr double cutoff = 4.0;                                                       // Å

const Element& element_of(std::int32_t number) {
  return *std::find_if(std::begin(elements), std::end(elements), [&](const auto& e) { return e.number == number; });
}

/// A value and its derivative by r.
struct Jet {
  double value, slope;
};
Jet times(Jet a, Jet b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
Jet exponential(double rate, double r, double r0) {
  const double value = std::exp(-rate * (r / r0 - 1.0));
  return {value, -rate / r0 * value};
}
/// 1 at r = 0, 0 beyond the cutoff, where its first two derivatives vanish.
Jet cut(double r) {
  const double x = r / cutoff;
  if (x >= 1.0) return {0.0, 0.0};
  return {1.0 + x * x * x * (-10.0 + x * (15.0 - 6.0 * x)), x * x * (-30.0 + x * (60.0 - 30.0 * x)) / cutoff};
}

/// Sequence of random numbers for one molecule.
class MoleculeDraws {
 public:
  MoleculeDraws(std::int64_t seed, std::int64_t id)
      : seed_(static_cast<std::uint64_t>(seed)), id_(static_cast<std::uint64_t>(id)) {}
  double uniform() { return Random4(seed_, Stream::made_samples, id_, next_++).uniform(0); }
  double normal() { return Random4(seed_, Stream::made_samples, id_, next_++).normal(0); }
  std::int64_t below(std::int64_t n) {
    return std::min(static_cast<std::int64_t>(uniform() * static_cast<double>(n)), n - 1);
  }

 private:
  std::uint64_t seed_, id_, next_ = 0;
};

/// Position at the given distance from atom `from`, in a random direction.
std::array<double, 3> beside(const Molecule& m, std::int64_t from, double distance, MoleculeDraws& draws) {
  std::array<double, 3> u{};
  double norm = 0.0;
  for (auto& x : u) {
    x = draws.normal();
    norm += x * x;
  }
  for (int k = 0; k < 3; ++k) u[k] = m.position[3 * from + k] + distance * u[k] / std::sqrt(norm);
  return u;
}

bool has_room(const Molecule& m, const std::array<double, 3>& x, const Element& e) {
  for (std::int64_t a = 0; a < m.atoms(); ++a) {
    double square = 0.0;
    for (int k = 0; k < 3; ++k) square += std::pow(m.position[3 * a + k] - x[k], 2);
    if (std::sqrt(square) < 0.85 * (element_of(m.species[a]).radius + e.radius)) return false;
  }
  return true;
}

/// Adds an atom bonded to an earlier one. If it is too close to others, another neighbour is tried: there is always
/// space outside.
void add_atom(Molecule& m, MoleculeDraws& draws) {
  const Element& e = elements[draws.below(std::ssize(elements))];
  std::array<double, 3> x{};
  std::int64_t from = -1;
  while (m.atoms() > 0) {
    from = draws.below(m.atoms());
    const double length = element_of(m.species[from]).radius + e.radius;
    x = beside(m, from, length * (0.9 + 0.2 * draws.uniform()), draws);
    if (has_room(m, x, e)) break;
  }
  if (from >= 0)
    m.bond.insert(m.bond.end(), {static_cast<std::int32_t>(from), static_cast<std::int32_t>(m.atoms()), 1});
  m.species.push_back(e.number);
  m.position.insert(m.position.end(), x.begin(), x.end());
}

/// Calls use(a, b, r, r0) for every pair within the cutoff.
template <class F>
void for_pairs(const Molecule& m, F&& use) {
  for (std::int64_t a = 0; a < m.atoms(); ++a)
    for (std::int64_t b = a + 1; b < m.atoms(); ++b) {
      double square = 0.0;
      for (int k = 0; k < 3; ++k) square += std::pow(m.position[3 * a + k] - m.position[3 * b + k], 2);
      if (square < cutoff * cutoff)
        use(a, b, std::sqrt(square), element_of(m.species[a]).radius + element_of(m.species[b]).radius);
    }
}

}  // namespace

void MadeUp::describe(deck::Describe<MadeUp>& d) {
  d("molecules", &MadeUp::molecules, "number of molecules").at_least(1).def(200);
  d("atoms", &MadeUp::atoms, "minimum and maximum number of atoms of a molecule").def({4, 9});
  d("noise", &MadeUp::noise, "standard deviation of the noise added to the energies")
      .unit("kcal/mol")
      .non_negative()
      .def(0.0);
  d("seed", &MadeUp::seed, "seed of positions and noise").at_least(0).def(1);
  d.check([](const MadeUp& p) -> std::string {
    return p.atoms[0] >= 1 && p.atoms[0] <= p.atoms[1] && p.atoms[1] <= 200
               ? ""
               : "'atoms' needs 1 <= fewest <= most <= 200";
  });
}

void made_energy(Molecule& m) {
  const auto n = static_cast<std::size_t>(m.atoms());
  std::vector<double> density(n, 1e-12);
  for_pairs(m, [&](auto a, auto b, double r, double r0) {
    const double value = times(exponential(2.0 * decay, r, r0), cut(r)).value;
    density[a] += value;
    density[b] += value;
  });
  m.energy = 0.0;
  m.force.assign(3 * n, 0.0);
  for (std::size_t a = 0; a < n; ++a)
    m.energy += element_of(m.species[a]).reference - attraction * std::sqrt(density[a]);
  for_pairs(m, [&](auto a, auto b, double r, double r0) {
    const Jet push = times(exponential(steepness, r, r0), cut(r)),
              pull = times(exponential(2.0 * decay, r, r0), cut(r));
    m.energy += repulsion * push.value;
    const double slope = repulsion * push.slope -
                         0.5 * attraction * pull.slope * (1.0 / std::sqrt(density[a]) + 1.0 / std::sqrt(density[b]));
    for (int k = 0; k < 3; ++k) {
      const double f = -slope * (m.position[3 * a + k] - m.position[3 * b + k]) / r;
      m.force[3 * a + k] += f;
      m.force[3 * b + k] -= f;
    }
  });
}

MoleculeTable make_molecules(const MadeUp& recipe) {
  MoleculeTable out;
  out.forces = out.bonds = true;
  out.energy_unit = "kcal/mol";
  for (std::int64_t id = 0; id < recipe.molecules; ++id) {
    MoleculeDraws draws(recipe.seed, id);
    Molecule m;
    const auto atoms = recipe.atoms[0] + draws.below(recipe.atoms[1] - recipe.atoms[0] + 1);
    while (m.atoms() < atoms) add_atom(m, draws);
    made_energy(m);
    m.energy += recipe.noise * draws.normal();
    out.molecules.push_back(std::move(m));
  }
  return out;
}

}  // namespace cambium::graph
