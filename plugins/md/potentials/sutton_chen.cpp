#include "plugins/md/potentials/sutton_chen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "plugins/md/potentials/sutton_chen_kernel.hpp"

namespace cambium::md {
namespace {

using constants::pi;

struct Published {
  const char* element;
  int n, m;
  double epsilon, c, a;  // eV, -, Å
};

/// Table 1 of Sutton and Chen (1990).
constexpr std::array<Published, 10> published = {{{"Ni", 9, 6, 1.5707e-2, 39.432, 3.52},
                                                  {"Cu", 9, 6, 1.2382e-2, 39.432, 3.61},
                                                  {"Rh", 12, 6, 4.9371e-3, 144.41, 3.80},
                                                  {"Pd", 12, 7, 4.1790e-3, 108.27, 3.89},
                                                  {"Ag", 12, 6, 2.5415e-3, 144.41, 4.09},
                                                  {"Ir", 14, 6, 2.4489e-3, 334.94, 3.84},
                                                  {"Pt", 10, 8, 1.9833e-2, 34.408, 3.92},
                                                  {"Au", 10, 8, 1.2793e-2, 34.408, 4.08},
                                                  {"Pb", 10, 7, 5.5765e-3, 45.778, 4.95},
                                                  {"Al", 7, 6, 3.3147e-2, 16.399, 4.05}}};

SuttonChen::Numbers published_numbers(const std::string& element) {
  std::string known;
  for (const auto& p : published) {
    if (element == p.element) return {p.epsilon, p.a, p.c, p.n, p.m, 0.0, {}, 0.0, 0.0};
    known += (known.empty() ? "" : ", ") + std::string(p.element);
  }
  throw KeyError(
      "sutton_chen.element.unknown", "element",
      fmt::format("sutton_chen has no published parameters for {}: it has {}; or give `epsilon`, `a`, `c`, `n` and `m`",
                  element, known));
}

/// Integral of 4 pi r^2 (1 - S) (a/r)^k from the start of the switch to infinity: by Simpson's rule inside the switch,
/// exactly beyond.
double taken_away(const SuttonChen::Numbers& s, double start, int k) {
  const int intervals = 2000;
  const double h = (s.cutoff - start) / intervals;
  double sum = 0.0;
  for (int i = 0; i <= intervals; ++i) {
    const double r = start + i * h;
    Pack<double, 1> weight, unused;
    s.smooth(Pack<double, 1>(r * r), weight, unused);
    const double simpson = i == 0 || i == intervals ? 1.0 : i % 2 ? 4.0 : 2.0;
    sum += simpson * r * r * (1.0 - weight.v) * std::pow(s.a / r, k);
  }
  return 4.0 * pi * (sum * h / 3.0 + s.a * s.a * s.a / (k - 3) * std::pow(s.a / s.cutoff, k - 3));
}

/// Passes of one evaluation: densities, their exchange, and forces.
struct Work {
  const SuttonChen::Numbers& s;
  View<double*> slope;
  const Particles& particles;
  const NeighborList& list;
  GhostExchange& ghosts;
  const ForceRequest& request;

  template <class Exponents>
  void run(ForceOutput& out) const {
    const double density = particles.nglobal / particles.box.volume();
    dispatch(request, [&]<Outputs outputs>() {
      const SuttonChenDensity<KernelPack, outputs, Exponents> kernel{s,
                                                                     density * s.tail_m,
                                                                     0.5 * s.epsilon * density * s.tail_n,
                                                                     particles.x.data(),
                                                                     list.offset.data(),
                                                                     list.count.data(),
                                                                     list.index.data(),
                                                                     slope.data(),
                                                                     out.atom_energy.data(),
                                                                     out.atom_virial.data()};
      run_atoms<outputs>("sutton_chen_density", particles.nlocal, kernel, out);
    });
    ghosts.forward(slope);
    compute_pairs("sutton_chen", SuttonChenPair<Exponents>{s, slope.data()}, particles, list, request, out);
  }
};

/// Sum of weight(r) (a/r)^k over an fcc lattice with constant `b` around one of its atoms, to distance `reach`.
template <class Weight>
double lattice_sum(double a, double b, int k, double reach, Weight weight) {
  const int cells = static_cast<int>(std::ceil(2.0 * reach / b));  // half-edges: fcc points have an even sum
  double sum = 0.0;
  for (int x = -cells; x <= cells; ++x)
    for (int y = -cells; y <= cells; ++y)
      for (int z = -cells; z <= cells; ++z) {
        if ((x + y + z) % 2 != 0 || (x == 0 && y == 0 && z == 0)) continue;
        const double r = 0.5 * b * std::sqrt(static_cast<double>(x * x + y * y + z * z));
        if (r < reach) sum += weight(r) * std::pow(a / r, k);
      }
  return sum;
}

}  // namespace

SuttonChen::SuttonChen(const Params& params, Context&) : params_(params) {
  if (params.element) numbers_ = published_numbers(*params.element);
  Numbers& s = numbers_;
  s.epsilon = params.epsilon.value_or(s.epsilon);
  s.a = params.a.value_or(s.a);
  s.c = params.c.value_or(s.c);
  s.n = params.n.value_or(s.n);
  s.m = params.m.value_or(s.m);
  if (!(s.epsilon > 0.0 && s.a > 0.0 && s.c > 0.0 && s.n > 0 && s.m > 0))
    throw KeyError("sutton_chen.element.missing", "",
                   "sutton_chen needs `element`, or all of `epsilon`, `a`, `c`, `n` and `m`");
  if (!(s.n > s.m && s.m > 3))
    throw KeyError("sutton_chen.n.range", "n",
                   fmt::format("sutton_chen: n = {} and m = {}; it needs n > m > 3", s.n, s.m));
  s.cutoff = params.cutoff.value_or(2.0 * s.a);
  // With a tail a wide switch is best: shells of atoms then fade smoothly into the medium. For copper at twice a:
  // lattice constant to 2e-5, energy to 1.3e-4, bulk modulus to 3e-4, compared with 2e-3, 9e-4 and 0.11 for a tenth.
  const double width = params.switch_width.value_or((params.tail ? 0.5 : 0.2) * s.cutoff);
  if (!(width < s.cutoff))
    throw KeyError(
        "sutton_chen.switch_width.range", "switch_width",
        fmt::format("sutton_chen: `switch_width` is {} Å; it must be below the cut-off, {} Å", width, s.cutoff));
  s.smooth = SwitchFunction(s.cutoff - width, s.cutoff);
  if (params.tail) {
    s.tail_n = taken_away(s, s.cutoff - width, s.n);
    s.tail_m = taken_away(s, s.cutoff - width, s.m);
  }
}

void SuttonChen::bind(std::span<const Species> species) {
  if (species.size() == 1 && (!params_.element || *params_.element == species[0].symbol)) return;
  std::string names;
  for (const auto& s : species) names += (names.empty() ? "" : ", ") + s.symbol;
  throw KeyError("sutton_chen.one_species", "",
                 fmt::format("sutton_chen describes one species{}, but the deck has {}",
                             params_.element ? ", " + *params_.element : "", names));
}

void SuttonChen::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                         const ForceRequest& request, ForceOutput& out, Context&) {
  if (static_cast<int>(slope_.extent(0)) < particles.capacity())
    slope_ = View<double*>("sutton_chen_slope", particles.capacity());
  const Work work{numbers_, slope_, particles, list, ghosts, request};
  if (numbers_.n == 9 && numbers_.m == 6)
    work.run<Exponents<9, 6>>(out);
  else if (numbers_.n == 12 && numbers_.m == 6)
    work.run<Exponents<12, 6>>(out);
  else
    work.run<Exponents<0, 0>>(out);
}

double SuttonChen::crystal_energy(double lattice_constant, bool with_cutoff) const {
  const Numbers& s = numbers_;
  const double density = 4.0 / (lattice_constant * lattice_constant * lattice_constant);
  auto sum = [&](int k, double tail) {
    if (with_cutoff)
      return density * tail + lattice_sum(s.a, lattice_constant, k, s.cutoff, [&](double r) {
               Pack<double, 1> weight, unused;
               s.smooth(Pack<double, 1>(r * r), weight, unused);
               return weight.v;
             });
    // With a smooth edge at a large distance the sum converges to its integral without the noise of single shells.
    Numbers wide = s;
    wide.cutoff = 14.0 * lattice_constant;
    const double start = 8.0 * lattice_constant;
    wide.smooth = SwitchFunction(start, wide.cutoff);
    return density * taken_away(wide, start, k) + lattice_sum(s.a, lattice_constant, k, wide.cutoff, [&](double r) {
             Pack<double, 1> weight, unused;
             wide.smooth(Pack<double, 1>(r * r), weight, unused);
             return weight.v;
           });
  };
  return s.epsilon * (0.5 * sum(s.n, s.tail_n) - s.c * std::sqrt(sum(s.m, s.tail_m)));
}

std::string SuttonChen::summary() const {
  const Numbers& s = numbers_;
  const double exact = crystal_energy(s.a, false), here = crystal_energy(s.a, true);
  return fmt::format(
      "Sutton-Chen{} {}-{}, eps {:g} eV, a {:g} Å, c {:g}, cut-off {:g} Å{}; the perfect crystal has {:.4f} eV/atom, "
      "{:+.1e} eV from the converged lattice sum",
      params_.element ? " " + *params_.element : "", s.n, s.m, s.epsilon, s.a, s.c, s.cutoff,
      params_.tail ? " with tail" : "", here, here - exact);
}

std::vector<Citation> SuttonChen::citations() const {
  return {{"SuttonChen1990",
           "@article{SuttonChen1990,\n  author = {Sutton, A. P. and Chen, J.},\n  title = {Long-range "
           "{Finnis-Sinclair} potentials},\n  journal = {Philosophical Magazine Letters},\n  volume = {61},\n  pages = "
           "{139--146},\n  year = {1990},\n  doi = {10.1080/09500839008206493}\n}\n"}};
}

}  // namespace cambium::md
