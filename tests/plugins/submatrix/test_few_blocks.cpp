// Fewer block columns than ranks, and an overlap that is far from singular.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/dense_samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// A chain of blocks: H and S fall off from the diagonal.
DensePair chain(const std::vector<int>& sizes, double overlap) {
  DensePair out;
  out.sizes = sizes;
  const auto n = static_cast<std::size_t>(out.n());
  out.h.assign(n * n, 0.0);
  out.s.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double away = std::abs(static_cast<double>(i) - static_cast<double>(j));
      out.h[i * n + j] = i == j ? (i % 2 ? 0.5 : -0.5) : 0.02 * std::pow(0.5, away);
      out.s[i * n + j] = i == j ? 1.0 : overlap * std::pow(0.5, away);
    }
  return out;
}

double energy(const DensePair& pair, int electrons) {
  double sum = 0.0;
  const auto levels = pair.levels();
  for (int k = 0; k < electrons / 2; ++k) sum += 2.0 * levels[k];
  return sum;
}

}  // namespace

// Few of them: seven ranks on two cores wait long for each sum.
TEST_CASE("ranks without a block column take part in every sum") {
  struct Variant {
    std::vector<int> sizes;
    Form form;
    double threshold;
  };
  World world;
  for (const auto& [sizes, form, threshold] : {Variant{{2, 2, 2, 2, 2, 2}, Form::orthogonal, 0.0},
                                               {{2, 2, 2, 2}, Form::local, 0.0},
                                               {{2, 4, 2, 2, 4, 2, 2, 4, 2, 2, 4, 2}, Form::orthogonal, 0.0},
                                               {{2}, Form::orthogonal, 1e-5}}) {
    const DensePair pair = chain(sizes, 0.2);
    const int electrons = pair.n();
    DensityOptions options;
    options.electrons = electrons;
    options.eps = options.eps_overlap = 1e-12;
    options.form = form;
    options.overlap_threshold = threshold;
    if (form == Form::local) options.solver = SolverKind::diagonalise;
    const auto result = density_matrix(pair.system(world.comm, electrons), options, world.context);
    INFO(sizes.size() << " blocks on " << world.comm.size() << " ranks, form " << static_cast<int>(form));
    CHECK(result.energy == Approx(energy(pair, electrons)).epsilon(1e-5));
  }
}

TEST_CASE("an eps that is coarse for a good overlap is said to be that") {
  for (const Form form : {Form::orthogonal, Form::local}) {
    World world;
    const DensePair pair = chain({2, 2, 2, 2, 2, 2}, 0.05);
    DensityOptions options;
    options.electrons = 12;
    options.eps = form == Form::local ? 0.1 : 1e-9;
    options.eps_overlap = 0.1;
    options.form = form;
    if (form == Form::local) options.solver = SolverKind::diagonalise;
    density_matrix(pair.system(world.comm, 12), options, world.context);
    std::string said;
    for (const auto& warning : world.log.warnings()) {
      CHECK(warning.text.find("nearly singular") == std::string::npos);
      if (warning.text.find("drops blocks of S") != std::string::npos) said = warning.text;
    }
    const std::string key = form == Form::local ? "eps_filter" : "eps_filter_overlap";
    INFO(said);
    CHECK(said.starts_with(key + " 0.1 drops blocks of S that are not small compared with its smallest eigenvalues"));
    CHECK(said.ends_with("; take " + key + ": 0.05 or less"));
  }
}
