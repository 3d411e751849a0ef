#include "plugins/submatrix/tasks/density_matrix.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/plugin/check.hpp"
#include "plugins/submatrix/density/electron_check.hpp"
#include "plugins/submatrix/density/per_cell.hpp"
#include "plugins/submatrix/density/purification_steps.hpp"
#include "plugins/submatrix/networks/level_model.hpp"
#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

void DensityTask::Groups::describe(deck::Describe<Groups>& d) {
  d("by", &Groups::by,
    "grouping of block columns: none, one submatrix each; space, neighbours; graph, columns with the most similar "
    "patterns; auto, the cheapest of these by the cost model")
      .options(
          {{"none", GroupBy::none}, {"space", GroupBy::space}, {"graph", GroupBy::graph}, {"auto", GroupBy::automatic}})
      .def(GroupBy::none);
  d("size", &Groups::size,
    "maximum number of block columns in a group (space, graph); default: the optimum of the cost model")
      .at_least(2);
  d.check([](const Groups& g) -> std::string {
    if (g.size && (g.by == GroupBy::none || g.by == GroupBy::automatic))
      return "groups.size is for by: space and by: graph; add one of them, or leave 'size' out";
    return {};
  });
}

void DensityTask::Prediction::describe(deck::Describe<Prediction>& d) {
  d("model", &Prediction::model, "model file that a train stage wrote with the network local_levels")
      .example("\"{run}/train/model.h5\"");
  d("outlier_factor", &Prediction::suspect,
    "a block column is named in the summary when its band energy is further from its prediction than this times the "
    "model's error on held-out samples")
      .formerly("suspect")
      .positive()
      .def(8.0);
}

/// Error message for keys that purification does not support; empty if there are none.
static std::string purification_problem(const DensityTask::Params& p) {
  if (p.method != DensityTask::Method::purification) {
    if (p.polynomial || p.threshold)
      return "polynomial and threshold go with method: purification; add it, or leave them out";
    return {};
  }
  if (p.temperature > 0.0)
    return "purification is for zero temperature; leave 'temperature' out, or write method: submatrix";
  if (p.mu) return "purification finds mu by the number of electrons; leave 'mu' out, or write method: submatrix";
  if (p.form == Form::local || p.groups.by != GroupBy::none || p.prediction || p.krylov_tolerance > 0.0 ||
      shows_no_states(p.solver))
    return "purification multiplies the full matrix; leave form, groups, prediction, krylov_tolerance and the solvers "
           "newton_schulz and pade out, or write method: submatrix";
  return {};
}

static std::string tight_binding_problem(const DensityTask::Params& p) {
  if (!p.matrices.tight_binding) return {};
  if (p.eps || p.eps_overlap || p.overlap_threshold > 0.0 || p.form != Form::orthogonal ||
      p.groups.by != GroupBy::none || p.precision != Precision::float64)
    return "tight_binding has no overlap and takes its submatrices by matrices.tight_binding.localisation_radius; "
           "leave eps_filter, eps_filter_overlap, overlap_threshold, form, groups and precision out";
  if (p.solver != SolverKind::lanczos && p.solver != SolverKind::diagonalise)
    return "tight_binding is for the solvers lanczos and diagonalise, which saturate the bonds that a submatrix cuts";
  return {};
}

/// Keys that exclude each other; empty where all is well.
static std::string conflict_of(const DensityTask::Params& p) {
  for (const auto& name : p.output)
    if (name != "density" && name != "energy_density" && name != "charges" && name != "sizes")
      return fmt::format("output has '{}'; known: density, energy_density, charges, sizes", name);
  if (const auto problem = purification_problem(p); !problem.empty()) return problem;
  if (const auto problem = tight_binding_problem(p); !problem.empty()) return problem;
  if (p.prediction && p.mu) return "mu is given, so there is nothing to predict; leave out mu or prediction";
  if (p.prediction && (p.form == Form::local || p.groups.by != GroupBy::none))
    return "prediction evaluates single block columns of an orthogonal Hamiltonian; leave form and groups out";
  if (p.mu && p.magnetisation) return "mu determines the electrons of each spin; leave 'magnetisation' out";
  if (p.form == Form::local && p.solver != SolverKind::diagonalise)
    return "form local solves generalised eigenproblems; add solver: diagonalise";
  if (p.form == Form::local && p.eps_overlap) return "form local has no S^-1/2; leave 'eps_filter_overlap' out";
  if (p.precision != Precision::float64 && p.solver == SolverKind::diagonalise)
    return "solver diagonalise works in float64; leave 'precision' out";
  if (p.precision == Precision::bfloat16 && p.solver == SolverKind::lanczos)
    return "precision bfloat16 is for the solvers newton_schulz and pade";
  return {};
}

static void describe_method(deck::Describe<DensityTask::Params>& d) {
  using P = DensityTask::Params;
  using Method = DensityTask::Method;
  d("method", &P::method,
    "submatrix: one submatrix of H for each block column; purification: polynomials of the full sparse matrix, as a "
    "baseline")
      .options({{"submatrix", Method::submatrix}, {"purification", Method::purification}})
      .def(Method::submatrix);
  d("polynomial", &P::polynomial,
    "polynomial of an iteration of purification: trs4, trace resetting of the fourth order; canonical, of Palser and "
    "Manolopoulos; default: trs4")
      .options({{"trs4", Polynomial::trs4}, {"canonical", Polynomial::canonical}});
  d("threshold", &P::threshold,
    "truncation of purification: blocks of an iterate with a smaller Frobenius norm are dropped; default: eps_filter")
      .positive()
      .less_than(1.0);
  d("eps_filter", &P::eps,
    "filtering threshold: blocks of the orthogonalised Hamiltonian with a smaller norm are dropped, which controls the "
    "error; default: 1e-5")
      .formerly("eps")
      .unit("hartree")
      .positive()
      .less_than(1.0);
}

void DensityTask::Params::describe(deck::Describe<Params>& d) {
  using P = Params;
  d("matrices", &P::matrices, "Hamiltonian and overlap");
  describe_method(d);
  d("eps_filter_overlap", &P::eps_overlap,
    "filtering threshold of the overlap in its inverse square root; default: eps_filter")
      .formerly("eps_overlap")
      .positive()
      .less_than(1.0);
  d("overlap_threshold", &P::overlap_threshold,
    "combinations of functions that are eigenvectors of the overlap with an eigenvalue up to this are left out of the "
    "basis (canonical orthogonalisation), for example 1e-5; 0: none")
      .non_negative()
      .less_than(1.0)
      .def(0.0);
  d("solver", &P::solver, "solver of the block column of each submatrix")
      .options({{"lanczos", SolverKind::lanczos},
                {"diagonalise", SolverKind::diagonalise},
                {"newton_schulz", SolverKind::newton_schulz},
                {"pade", SolverKind::pade}})
      .def(SolverKind::lanczos);
  d("form", &P::form,
    "orthogonal: H becomes S^-1/2 H S^-1/2 first; local: every submatrix of H and S is a problem of its own "
    "(eps_filter "
    "counts for the blocks of both)")
      .options({{"orthogonal", Form::orthogonal}, {"local", Form::local}})
      .def(Form::orthogonal);
  d("precision", &P::precision,
    "floating-point precision of the Krylov vectors or of the iterated matrix (bfloat16: iterations only)")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}, {"bfloat16", Precision::bfloat16}})
      .def(Precision::float64);
  d("krylov_tolerance", &P::krylov_tolerance,
    "convergence tolerance: fraction of D that the newest Krylov block may carry; 0: derived from eps_filter")
      .non_negative()
      .def(0.0);
  d("prune", &P::prune, "products of two blocks whose norms multiply to less than this times eps_filter are left out")
      .non_negative()
      .def(1e-4);
  d("mu", &P::mu, "chemical potential; default: determined by the number of electrons").unit("hartree");
  d("electrons", &P::electrons, "number of electrons; default: as in the matrix file").positive();
  d("magnetisation", &P::magnetisation,
    "magnetisation with two spin channels: electrons of spin up less those of spin down; each spin then has its own "
    "mu. Default: one mu for both");
  d("temperature", &P::temperature, "electronic temperature (Fermi function); 0 is the sign function")
      .unit("K")
      .non_negative()
      .def(0.0);
  d("groups", &P::groups,
    "groups of block columns that share one submatrix, with the rows of all of them: fewer, larger problems");
  d("prediction", &P::prediction, "trained surrogate model that gives the initial mu and screens the block columns");
  d("error_sample", &P::error_sample,
    "number of random submatrices that are solved again with tighter settings to estimate the error; 0, and for "
    "tight_binding: no estimate")
      .at_least(0)
      .def(8);
  d("output", &P::output, "files to write: density, energy_density, charges, sizes").def({"charges", "sizes"});
  d.check(conflict_of);
}

DensityTask::DensityTask(const Params& params, Context&) : params_(params) {}

DensityOptions DensityTask::options(const MatrixSystem& system) const {
  DensityOptions out;
  out.eps = system.bonds ? 0.0 : params_.eps.value_or(1e-5);
  out.eps_overlap = params_.eps_overlap.value_or(out.eps);
  out.orthogonal = system.bonds || params_.matrices.ring;
  out.overlap_threshold = params_.overlap_threshold;
  out.solver = params_.solver;
  out.form = params_.form;
  out.precision = params_.precision;
  out.prune = params_.prune;
  out.krylov_tolerance = params_.krylov_tolerance;
  out.kt = params_.temperature * boltzmann_hartree;
  out.mu = params_.mu;
  out.electrons = params_.electrons.value_or(system.electrons);
  out.sample = system.bonds ? 0 : params_.error_sample;
  out.groups = {params_.groups.by, params_.groups.size.value_or(0)};
  if (params_.method == Method::purification) {
    out.sample = 0;
    out.purification = PurificationOptions{.polynomial = params_.polynomial.value_or(Polynomial::trs4),
                                           .threshold = params_.threshold.value_or(params_.eps.value_or(1e-5))};
  }
  for (const auto& name : params_.output) out.energy_weighted |= name == "energy_density";
  if (params_.magnetisation && !system.hamiltonian_down)
    throw KeyError(
        "density_matrix.magnetisation.spin", "magnetisation",
        "magnetisation is for two spin channels: a file with K_down, or hamiltonian_down; leave it out, or add one of "
        "them");
  if (params_.prediction && system.hamiltonian_down)
    throw KeyError("density_matrix.prediction.spin", "prediction",
                   "prediction is for matrices without spin; leave it out, or leave out K_down and hamiltonian_down");
  if (params_.prediction && system.copies > 1)
    throw KeyError(
        "density_matrix.prediction.complex", "prediction",
        "prediction is for real matrices of one cell; leave it out, or take a supercell instead of k_points");
  if (!out.mu && out.electrons <= 0.0)
    throw KeyError("density_matrix.electrons.missing", "",
                   "neither mu nor electrons is given, and the matrix file does not contain the number of electrons; "
                   "add one of the two");
  return out;
}

/// Small systems are solved; of larger ones only keys and the number of electrons are checked.
void DensityTask::examine(Check& check) {
  for (const auto& name : params_.output) {
    const bool matrix = name == "density" || name == "energy_density";  // by spin where the matrices have two
    const auto file = matrix              ? name + "*.h5"
                      : name == "charges" ? std::string("charges.csv")
                                          : std::string("submatrices*.csv");
    check.will_write({file, {Origin::stage, "density_matrix"}});
  }
  if (!check.stage().tried) return;
  Context& context = check.context();
  const MatrixSystem system =
      deck::about_key("density_matrix.matrices", "matrices", [&] { return read_matrices(params_.matrices, context); });
  const auto functions = system.functions();
  DensityOptions options = this->options(system);
  for (const auto& line : describe_system(system, options, context.comm)) context.log.info(line);
  check_solver(options);
  check_electrons(options.electrons, functions, options);
  if (options.purification && !system.hamiltonian_down) check_purification(options);
  if (params_.magnetisation) check_spins(options.electrons, *params_.magnetisation, functions, options);
  if (params_.prediction) {
    check.require_written_by("prediction.model", params_.prediction->model, {{Origin::network, "local_levels"}});
    if (check.waits(params_.prediction->model)) return;
    options.predictor = deck::about_key("submatrix.prediction.model", "prediction.model", [&] {
      return load_level_model(params_.prediction->model, params_.prediction->suspect, context);
    });
  }
  constexpr double seconds_per_operation = 2e-8;
  check.effort(seconds_per_operation * std::pow(static_cast<double>(functions), 3));
  if (!check.small()) return check.not_looked_at("the density matrix: the matrices are too large for a check");
  if (system.hamiltonian_down)
    spin_density(system, options, params_.magnetisation, context);
  else
    density_per_cell(system, options, context);
}

std::vector<std::string> DensityTask::evaluate(const MatrixSystem& system, Context& context) {
  DensityOptions options = this->options(system);
  if (params_.prediction)
    options.predictor = deck::about_key("submatrix.prediction.model", "prediction.model", [&] {
      return load_level_model(params_.prediction->model, params_.prediction->suspect, context);
    });
  if (system.hamiltonian_down) {
    const SpinDensity spins = spin_density(system, options, params_.magnetisation, context);
    const auto timer = context.timing.scope("output");
    files_ = write_spins(system, options, spins, params_.output, context);
    results_ = results_of(spins);
    return describe_spins(system, options, spins, context);
  }
  const DensityResult result = density_per_cell(system, options, context);
  const auto timer = context.timing.scope("output");
  files_ = write_results(system, options, result, params_.output, context);
  results_ = results_of(system, options, result);
  if (result.purification) return describe_purification(system, options, result, context);
  return describe_result(system, options, result, context);
}

Task::Outcome DensityTask::run(Context& context) {
  std::optional<MatrixSystem> system;
  {
    const auto timer = context.timing.scope("read");
    system = read_matrices(params_.matrices, context);
  }
  const DensityOptions options = this->options(*system);
  for (const auto& line : describe_system(*system, options, context.comm)) context.log.info(line);
  const std::vector<std::string> results = evaluate(*system, context);
  context.log.info("");
  for (const auto& line : results) context.log.info(line);
  work_ = {system->atoms, "atom", 1};
  return Outcome::done;
}

std::vector<Citation> DensityTask::citations() const {
  return params_.method == Method::purification ? purification_citations() : submatrix::citations();
}

}  // namespace cambium::submatrix
