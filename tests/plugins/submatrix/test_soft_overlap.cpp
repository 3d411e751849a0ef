// Overlaps that are nearly singular: what is refused, warned of, and left out.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/submatrix/blocks/smallest_eigenvalue.hpp"
#include "plugins/submatrix/submatrices/inverse_root.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/dense_samples.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::size_t n,
                            bool transpose_b) {
  std::vector<double> out(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * (transpose_b ? b[j * n + k] : b[k * n + j]);
  return out;
}

/// Where the function is that another one nearly copies.
enum class Copies { inside, across };

/// Molecules with a gap in an orthogonal basis, H0, seen in another basis T: H = T H0 T^T and S = T T^T, so that the
/// levels are those of H0 whatever T is. In every third molecule the third function is a copy, but for `part` of what
/// it was, of the first or of the second one of the next molecule: S has eigenvalues of about part^2 / 2 there.
struct Soft {
  DensePair pair;
  int occupied = 0;

  Soft(int blocks, double part, unsigned seed, Copies copies) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (int b = 0; b < blocks; ++b) pair.sizes.push_back(3 + static_cast<int>(engine() % 2));
    const auto n = static_cast<std::size_t>(pair.n());
    std::vector<double> h(n * n, 0.0), t(n * n, 0.0);
    std::size_t first = 0;
    std::vector<int> block;
    for (int b = 0; b < blocks; ++b)
      for (int i = 0; i < pair.sizes[b]; ++i) block.push_back(b);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const double fall = std::exp(-1.5 * std::abs(block[i] - block[j]));
        h[i * n + j] = h[j * n + i] = 0.05 * fall * uniform(engine);
        t[i * n + j] = t[j * n + i] = 0.05 * fall * uniform(engine);
      }
    for (int b = 0; b < blocks; ++b) {
      const auto size = static_cast<std::size_t>(pair.sizes[b]);
      for (std::size_t i = 0; i < size; ++i) {
        h[(first + i) * n + first + i] = i < 1 ? -0.6 + 0.1 * uniform(engine) : 0.5 + 0.2 * uniform(engine);
        t[(first + i) * n + first + i] = 1.0;
      }
      const std::size_t copied = copies == Copies::inside ? first : first + size + 1;
      if (b % 3 == 1 && b + 1 < blocks)
        for (std::size_t j = 0; j < n; ++j)
          t[(first + 2) * n + j] = std::sqrt(1.0 - part * part) * (copies == Copies::inside ? t[copied * n + j]
                                                                   : j == copied            ? 1.0
                                                                                            : 0.0) +
                                   part * t[(first + 2) * n + j];
      first += size;
    }
    occupied = blocks;
    pair.h = product(product(t, h, n, false), t, n, true);
    pair.s = product(t, t, n, true);
  }
};

}  // namespace

namespace {

/// Energy in the eigenvectors of S with eigenvalues above `threshold`, and how many are not.
std::pair<double, int> canonical(const Soft& soft, double threshold) {
  const int n = soft.pair.n();
  const auto size = static_cast<std::size_t>(n);
  const Dense s = dense_eigen(soft.pair.s, n);
  std::vector<double> x(size * size, 0.0);
  int left_out = 0;
  for (std::size_t k = 0; k < size; ++k) {
    left_out += s.value[k] <= threshold;
    if (s.value[k] > threshold)
      for (std::size_t i = 0; i < size; ++i) x[k * size + i] = s.vector[i * size + k] / std::sqrt(s.value[k]);
  }
  std::vector<double> inside = product(product(x, soft.pair.h, size, false), x, size, true);
  for (std::size_t k = 0; k < size; ++k)
    if (s.value[k] <= threshold) inside[k * size + k] = 1e3;
  return {band_energy(dense_eigen(inside, n).value, soft.occupied), left_out};
}

DensityOptions exactly(const Soft& soft) {
  DensityOptions options;
  options.electrons = 2.0 * soft.occupied;
  options.eps = options.eps_overlap = 1e-8;
  return options;
}

double mev_per_block(double energy, const MatrixSystem& system) { return 27211.386 * energy / system.layout->blocks(); }

}  // namespace

TEST_CASE("what canonical orthogonalisation leaves out is what a diagonalisation of all of S leaves out") {
  World world;
  for (unsigned seed = 0; seed < 4; ++seed)
    for (const Copies copies : {Copies::inside, Copies::across})
      for (const double part : {1e-2, 1e-4}) {
        Soft soft(30, part, seed, copies);
        // What is left out must stay empty also where all levels lie above zero.
        const double origin = seed % 2 == 0 ? 0.0 : 1.5;
        for (std::size_t k = 0; k < soft.pair.h.size(); ++k) soft.pair.h[k] += origin * soft.pair.s[k];
        const auto [exact, left_out] = canonical(soft, 1e-3);
        REQUIRE(left_out > 8);
        const MatrixSystem system = soft.pair.system(world.comm, 2.0 * soft.occupied);
        for (const Form form : {Form::orthogonal, Form::local}) {
          DensityOptions options = exactly(soft);
          options.overlap_threshold = 1e-3;
          options.form = form;
          options.solver = form == Form::local ? SolverKind::diagonalise : SolverKind::lanczos;
          options.energy_weighted = true;
          const auto result = density_matrix(system, options, world.context);
          INFO("seed " << seed << ", part " << part << ", form " << static_cast<int>(form) << ": E off by "
                       << mev_per_block(result.energy - exact, system) << " meV a block, N by "
                       << result.electrons - options.electrons << ", " << result.left_out << " left out");
          CHECK(std::abs(mev_per_block(result.energy - exact, system)) < 2e-3);
          CHECK(std::abs(result.electrons - options.electrons) < 1e-5);
          if (form == Form::orthogonal) CHECK(std::abs(result.left_out - left_out) < 1e-2);
          CHECK(std::abs(trace(result.density, system.overlap, world.comm) - options.electrons) < 1e-4);
          CHECK(std::abs(trace(result.density, system.hamiltonian, world.comm) - result.energy) < 1e-4);
          CHECK(std::abs(trace(*result.energy_weighted, system.overlap, world.comm) - result.energy) < 1e-4);
        }
      }
}

TEST_CASE(
    "a nearly singular overlap is warned of with its smallest eigenvalue, and refused where S^-1/2 cannot be had") {
  World world;
  for (unsigned seed = 0; seed < 4; ++seed)
    for (const Form form : {Form::orthogonal, Form::local}) {
      const Soft soft(20, 4e-3, seed, Copies::inside), singular(20, 1e-3, seed, Copies::inside);
      const auto with_form = [form](DensityOptions options) {
        options.form = form;
        options.solver = form == Form::local ? SolverKind::diagonalise : SolverKind::lanczos;
        return options;
      };
      const double smallest = dense_eigen(soft.pair.s, soft.pair.n()).value.front();
      const MatrixSystem system = soft.pair.system(world.comm, 2.0 * soft.occupied);
      World own;
      const auto result = density_matrix(system, with_form(exactly(soft)), own.context);
      CHECK(std::abs(mev_per_block(result.energy - band_energy(soft.pair.levels(), soft.occupied), system)) < 2e-3);
      CHECK(result.smallest_overlap == Approx(smallest).epsilon(0.05));
      REQUIRE(own.log.warnings().size() == 1);
      const std::string text = own.log.warnings().front().text;
      CHECK(text.starts_with("S is nearly singular: an eigenvalue of "));
      CHECK(text.find(" (counted from 0), which magnifies errors of truncation; compare with overlap_threshold: 1e-5, "
                      "which leaves out such combinations of functions, or with blocks of S below 1e-08") !=
            std::string::npos);
      const MatrixSystem bad = singular.pair.system(world.comm, 2.0 * singular.occupied);
      const std::string refused = message([&] { density_matrix(bad, with_form(exactly(singular)), world.context); });
      CHECK(refused.starts_with("S is nearly singular: an eigenvalue of "));
      CHECK(refused.find(" near block ") != std::string::npos);
      CHECK(refused.find(" (counted from 0), less than 1e-06; add overlap_threshold: 1e-5, which leaves out such "
                         "combinations of functions, or leave the most diffuse functions out of the basis") !=
            std::string::npos);
    }
}

namespace {

/// A ring of molecules with an occupied level each and a diffuse function that overlaps with those of the neighbours:
/// no few of them depend on each other, all together do, with the eigenvalue `smallest` of S (alternating signs).
/// `weak`: further elements of S and H three and four molecules away, and thrice that five and six away, which leave
/// that eigenvalue where it is.
DensePair diffuse(int blocks, double smallest, double weak) {
  DensePair out;
  out.sizes.assign(blocks, 2);
  const auto n = static_cast<std::size_t>(out.n());
  out.h.assign(n * n, 0.0);
  out.s.assign(n * n, 0.0);
  for (std::size_t b = 0; b < static_cast<std::size_t>(blocks); ++b) {
    const std::size_t tight = 2 * b, wide = tight + 1;
    out.s[tight * n + tight] = out.s[wide * n + wide] = 1.0;
    out.h[tight * n + tight] = -0.6;
    out.h[wide * n + wide] = 0.5;
    out.h[tight * n + wide] = out.h[wide * n + tight] = 0.05;
    for (const auto& [apart, s, h] :
         {std::tuple(1, 0.5 * (1.0 - smallest), 0.1), std::tuple(3, weak, weak), std::tuple(5, 3.0 * weak, 3.0 * weak),
          std::tuple(6, 3.0 * weak, 3.0 * weak), std::tuple(4, weak, weak)}) {
      const std::size_t other = 2 * ((b + static_cast<std::size_t>(apart)) % static_cast<std::size_t>(blocks)) + 1;
      out.s[wide * n + other] = out.s[other * n + wide] = s;
      out.h[wide * n + other] = out.h[other * n + wide] = h;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the smallest eigenvalue of a whole matrix is that of a diagonalisation, on any number of ranks") {
  World world;
  for (unsigned seed = 0; seed < 6; ++seed) {
    const DensePair pair = seed < 3 ? Soft(24, seed == 0 ? 1e-1 : 1e-3, seed, Copies::across).pair
                                    : diffuse(40, std::pow(10.0, -static_cast<double>(seed)), 0.0);
    const double exact = dense_eigen(pair.s, pair.n()).value.front();
    const MatrixSystem system = pair.system(world.comm, 0.0);
    for (const bool with_root : {false, true}) {
      std::optional<RootResult> root;
      if (with_root) {
        std::int64_t bytes = 0;
        double flops = 0.0;
        root.emplace(inverse_root(system.overlap, system.ranges, 1e-8, 0.0, *make_diagonaliser(system.layout->blocks()),
                                  world.comm, bytes, flops));
      }
      const LowestState lowest =
          smallest_eigenvalue({system.overlap, root ? &root->root : nullptr}, system.ranges, world.comm, 200);
      INFO("seed " << seed << (with_root ? ", with S^-1/2" : "") << ": " << lowest.value << " in block " << lowest.block
                   << " after " << lowest.products << " products, exact " << exact);
      CHECK(lowest.value > exact * (1.0 - 1e-6) - 1e-13);
      // Without S^-1/2 many small eigenvalues at once are met one after the other; what matters is that they are small.
      CHECK(lowest.value < (with_root || seed == 0 || seed >= 3 ? exact * 1.05 + 1e-12 : 3e-5));
      if (with_root) CHECK(lowest.products < 60);
    }
  }
}

namespace {

/// The eigenvalue that a message about a whole S names.
double value_in(const std::string& text) {
  const std::string before = "S is nearly singular: an eigenvalue of ";
  REQUIRE(text.starts_with(before));
  CHECK(text.find(" or less, most of it near block ") != std::string::npos);
  return std::stod(text.substr(before.size()));
}

}  // namespace

TEST_CASE("a small eigenvalue of S that no submatrix sees is warned of and refused as others are") {
  for (const Form form : {Form::orthogonal, Form::local})
    for (const double smallest : {1e-3, 2e-5, 2e-7}) {
      World world;
      const DensePair pair = diffuse(60, smallest, 0.9e-5);
      const MatrixSystem system = pair.system(world.comm, 120.0);
      DensityOptions options;
      options.electrons = 120.0;
      options.form = form;
      if (form == Form::local) options.solver = SolverKind::diagonalise;
      const auto run = [&] { return density_matrix(system, options, world.context); };
      INFO("form " << static_cast<int>(form) << ", smallest eigenvalue " << smallest);
      if (smallest < 1e-6) {
        const std::string refused = message(run);
        INFO(refused);
        CHECK(value_in(refused) == Approx(smallest).epsilon(0.3));
        CHECK(refused.find(" (counted from 0), that no submatrix shows (the smallest of theirs is ") !=
              std::string::npos);
        CHECK(
            refused.ends_with("), so that overlap_threshold does not find it; leave the most diffuse functions out of "
                              "the basis"));
        continue;
      }
      const auto result = run();
      const auto said = world.log.warnings();
      const auto of_overlap =
          std::find_if(said.begin(), said.end(), [](const auto& w) { return w.text.starts_with("S is nearly"); });
      CHECK((of_overlap != said.end()) == (smallest < 1e-4));
      if (of_overlap == said.end()) continue;
      CHECK(result.smallest_overlap == Approx(smallest).epsilon(0.01));
      INFO(of_overlap->text);
      CHECK(value_in(of_overlap->text) == Approx(smallest).epsilon(0.02));
      CHECK(
          of_overlap->text.ends_with(fmt::format("), so that overlap_threshold does not find it; errors of truncation "
                                                 "are magnified: compare with {} 1e-06, or "
                                                 "leave the most diffuse functions out of the basis",
                                                 form == Form::local ? "eps_filter:" : "eps_filter_overlap:")));
    }
}

TEST_CASE("what overlap_threshold leaves out is no eigenvalue of S that was overlooked, what it does not find is") {
  World world;
  const Soft soft(30, 1e-4, 1, Copies::inside);
  DensityOptions options = exactly(soft);
  options.overlap_threshold = 1e-5;
  density_matrix(soft.pair.system(world.comm, 2.0 * soft.occupied), options, world.context);
  CHECK(world.log.warnings().empty());
  options.electrons = 120.0;
  options.eps = options.eps_overlap = 1e-5;
  const MatrixSystem overlooked = diffuse(60, 2e-7, 0.9e-5).system(world.comm, 120.0);
  const std::string refused = message([&] { density_matrix(overlooked, options, world.context); });
  CHECK(refused.find("that no submatrix shows (what is up to 1e-05 there is left out), so that overlap_threshold does "
                     "not find it; leave") != std::string::npos);
}
