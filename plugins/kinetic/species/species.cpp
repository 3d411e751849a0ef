#include "plugins/kinetic/species/species.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/memory.hpp"
#include "plugins/kinetic/collisions/on_ranks.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/deck/velocity_grid.hpp"
#include "plugins/kinetic/fields/cells_file.hpp"
#include "plugins/kinetic/species/distribution_file.hpp"
#include "plugins/kinetic/species/first_state.hpp"
#include "plugins/kinetic/species/regrid.hpp"

namespace cambium::kinetic {

/// Checks limits before allocation: cells are indexed by 32-bit integers in configuration and in velocity space each;
/// two copies of the distribution function exist from the start.
static void require_room(const PhaseGrid& grid, const Built& built, Precision precision, const std::string& species,
                         const Comm& comm) {
  std::int64_t cells[2] = {1, 1};
  std::vector<int> along;
  for (int d = 0; d < grid.dimensions(); ++d) {
    auto& part = cells[d < grid.cdim ? 0 : 1];
    part = std::min<std::int64_t>(part * grid.axis[d].cells, std::int64_t{1} << 31);
    along.push_back(grid.axis[d].cells);
  }
  if (std::max(cells[0], cells[1]) > std::numeric_limits<int>::max())
    throw KeyError(
        "kinetic.cells.range", "domain.cells",
        fmt::format(
            "species '{}': [{}] cells are more than can be counted; give fewer in configuration or in velocity space",
            species, fmt::join(along, ", ")));
  const double all = static_cast<double>(cells[0]) * static_cast<double>(cells[1]),
               number = precision == Precision::float64 ? 8.0 : 4.0;
  require_memory(2.0 * number * built.info.modes * all / comm.size(),
                 fmt::format("species '{}' on {:.4g} cells of phase space", species, all),
                 "give fewer 'cells', or use more nodes", comm);
}

/// Those of one species, which fit to the other species of the deck.
static std::vector<int> cuts_among(const CommonParams& common, const SpeciesParams& params, int ranks) {
  std::vector<PhaseGrid> grids{make_grid(common, params)};
  for (const auto& s : common.species) grids.push_back(make_grid(common, s));
  return cuts_of(grids, ranks).front();
}

static std::unique_ptr<Solver> solver_of(const CommonParams& common, const SpeciesParams& params, const Comm& comm) {
  PhaseGrid grid = make_grid(common, params);
  const auto& built =
      find_built(grid.cdim, grid.vdim, common.basis.order, common.basis.family == BasisParams::Family::tensor);
  require_room(grid, built, common.precision, params.name, comm);
  decompose(grid, comm, common.ranks.empty() ? cuts_among(common, params, comm.size()) : common.ranks);
  for (int d = 0; d < grid.cdim; ++d)
    if ((grid.axis[d].low_wall == Wall::reflect || grid.axis[d].high_wall == Wall::reflect)) {
      const Axis& v = grid.velocity(d);
      require_symmetric(v, params.name, d, deck::joined_key(key_of(common, params.name), "velocity"));
      if (v.ranks > 1)
        throw KeyError("kinetic.ranks.wall", "ranks",
                       fmt::format("species '{}': velocity dimension {} meets a reflecting wall and cannot be "
                                   "partitioned among ranks; give 'ranks' with 1 there",
                                   params.name, d + 1));
    }
  return make_solver(built, common.precision, grid, comm);
}

static double constant_of(const CommonParams& common, const SpeciesParams& params, const char* key,
                          const std::string& text, const std::map<std::string, double>& values) {
  return deck::about_key("kinetic.formula", deck::joined_key(key_of(common, params.name), key),
                         [&] { return constant(text, values); });
}

Species::Species(const CommonParams& common, const SpeciesParams& params, const Comm& comm)
    : comm_(comm), params_(params), values_(common.values()),
      charge_(constant_of(common, params, "charge", params.charge, values_)),
      mass_(constant_of(common, params, "mass", params.mass, values_)), solver_(solver_of(common, params, comm)),
      conf_(conf_grid(solver_->grid(), solver_->basis().conf_exponents)), ranks_(solver_->grid(), comm) {
  if (!(mass_ > 0.0))
    throw KeyError("kinetic.species.mass", deck::joined_key(key_of(common, params.name), "mass"),
                   fmt::format("species '{}': mass = {:g} must be positive", params.name, mass_));
  if (params.f0.empty() && common.start_from.empty())
    throw KeyError("kinetic.species.f0.missing", key_of(common, params.name),
                   fmt::format("species '{}' needs 'f0', or the stage 'start_from'", params.name));
  if (!params.f0.empty())
    deck::about_key("kinetic.formula", deck::joined_key(key_of(common, params.name), "f0"), [&] {
      Formula(params.f0, phase_variables(solver_->grid().cdim, solver_->grid().vdim), values_);
    });  // read before anything runs
  for (auto& m : moments_) m.assign(conf_.size() * components(), 0.0);
  if (params.collisions)
    deck::about_key("", deck::joined_key(key_of(common, params.name), "collisions"),
                    [&] { make_collisions(*params.collisions); });
  if (params.positivity) positivity_ = std::make_unique<Positivity>(*solver_);
}

std::array<std::vector<double>, 2> Species::density_and_temperature() const {
  const int n = conf_.modes(), vdim = components() - 2;
  const double mean = std::pow(0.5, 0.5 * conf_.dimensions);
  std::array<std::vector<double>, 2> out;
  for (int cell = 0; cell < conf_.count(); ++cell) {
    const double* m = &moments_[0][static_cast<std::size_t>(cell) * components() * n];
    double square = 0.0;
    for (int d = 0; d < vdim; ++d) square += std::pow(m[(1 + d) * n] / m[0], 2);
    out[0].push_back(mean * m[0]);
    out[1].push_back(mass_ * (m[(1 + vdim) * n] / m[0] - square) / vdim);
  }
  return out;
}

Dougherty Species::dougherty_with(std::vector<double> frequency) const {
  for (int d = 0; d < solver_->grid().vdim; ++d)
    if (solver_->grid().velocity(d).ranks > 1)
      throw KeyError("kinetic.ranks.dougherty", "",
                     fmt::format("species '{}': velocity dimension {} cannot be partitioned among ranks with the "
                                 "dougherty operator; give 'ranks' with 1 there",
                                 params_.name, d + 1));
  return Dougherty(*solver_, conf_, std::move(frequency), {params_.name, params_.positivity});
}

void Species::make_collisions(const CollisionParams& params) {
  frequency_ =
      CollisionFrequency(params.frequency, fmt::format("species '{}'", params_.name), conf_, {"n", "T"}, values_);
  auto frequency = frequency_.constant();
  if (params.op == CollisionParams::Operator::bgk)
    bgk_ = std::make_unique<Bgk>(*solver_, conf_, std::move(frequency),
                                 CollidingSpecies{params_.name, params_.positivity});
  else
    dougherty_ = std::make_unique<Dougherty>(dougherty_with(std::move(frequency)));
}

bool Species::limit() {
  if (!positivity_ || comm_.sum(positivity_->act(*solver_)) == 0) return false;
  solver_->changed(0);  // on all ranks: neighbours have seen what was there before
  compute_moments();
  return true;
}

std::string Species::limiter_report() const {
  if (!positivity_) return "";
  return fmt::format("species '{}': the positivity limiter changed {} cells in this run; {} cells had a negative mean",
                     params_.name, comm_.sum(positivity_->changed()), comm_.sum(positivity_->negative()));
}

std::vector<Result> Species::limiter_results() const {
  if (!positivity_) return {};
  const std::string key = "species_" + cambium::key_of(params_.name),
                    head = fmt::format("species '{}': ", params_.name);
  return {{.key = key + "_the_positivity_limiter_changed",
           .label = head + "cells that the positivity limiter changed",
           .value = static_cast<double>(comm_.sum(positivity_->changed())),
           .digits = 0},
          {.key = key + "_cells_had_a_negative_mean",
           .label = head + "cells of a negative mean",
           .value = static_cast<double>(comm_.sum(positivity_->negative())),
           .digits = 0}};
}

std::string Species::limiter_warning() const {
  const std::int64_t cells = positivity_ ? comm_.sum(positivity_->negative()) : 0;
  if (cells == 0) return "";
  return fmt::format(
      "species '{}': {} cells of phase space had a negative mean when the positivity limiter came to them, which it "
      "leaves as they are (a cell counts in every step): f is negative there; compare with a run of more cells along "
      "the velocities, or with a smaller cfl",
      params_.name, cells);
}

bool Species::implicit(double dt) const {
  if (params_.collisions->scheme != CollisionScheme::automatic)
    return params_.collisions->scheme == CollisionScheme::implicit;
  return comm_.max(dougherty_->explicit_steps(moments_[0], dt)) > 1.0;
}

void Species::collide(double dt) {
  if (frequency_.varies())
    on_ranks(comm_, [&] {
      const auto known = density_and_temperature();
      auto frequency = frequency_({known[0], known[1]});
      bgk_ ? bgk_->set_frequency(std::move(frequency)) : dougherty_->set_frequency(std::move(frequency));
    });
  if (bgk_) {
    bgk_->act(*solver_, dt, moments_[0], {comm_, ranks_.column()});
  } else {
    const bool at_once = implicit(dt);
    on_ranks(comm_, [&] { at_once ? dougherty_->act_implicitly(*solver_, dt) : dougherty_->act(*solver_, dt); });
  }
  solver_->changed(0);
}

void Species::initialise(Context& context) {
  const PhaseGrid& grid = solver_->grid();
  const Formula f0(params_.f0, phase_variables(grid.cdim, grid.vdim), values_);
  struct OnThread {
    std::vector<double> variables;
    Survey survey;
  };
  std::vector<OnThread> threads(host_threads());
  const int points = solver_->basis().order + (grid.dimensions() < 4 ? 2 : 1);
  const int parts = project(*solver_, 0, points, [&](int part, std::span<const double> z) {
    OnThread& own = threads[part];
    own.variables.assign(z.begin(), z.end());
    if (grid.vdim == 1) own.variables.push_back(z[grid.cdim]);
    const double value = f0(own.variables);
    own.survey.add(value, z);
    return value;
  });
  Survey& survey = threads.front().survey;
  for (int part = 1; part < parts; ++part) survey.add(threads[part].survey);
  compute_moments();
  require_density(*this);
  require_positive(survey, params_.name, grid, comm_, context.log);
  require_extent(*this, context.log);
}

void Species::start_from(const io::Group& group, Context& context) {
  const double outside = comm_.max(read_regridded(group, params_.name, *solver_, conf_, ranks_.column()));
  if (outside > 1e-10)
    context.log.info(
        fmt::format("species '{}': up to {:.2g} of the density lay outside of the velocities of this deck; what is "
                    "inside was scaled to the density",
                    params_.name, outside));
  compute_moments();
  require_density(*this);
  require_extent(*this, context.log);
}

void Species::compute_moments() {
  std::fill(moments_[0].begin(), moments_[0].end(), 0.0);
  solver_->moments(0, moments_[0]);
  ranks_.column().sum(moments_[0]);
}

std::vector<double> Species::moment(int component, int slot) const {
  const int n = conf_.modes();
  std::vector<double> out(conf_.size());
  for (int cell = 0; cell < conf_.count(); ++cell)
    for (int k = 0; k < n; ++k)
      out[cell * n + k] = moments_[slot][(static_cast<std::size_t>(cell) * components() + component) * n + k];
  return out;
}

void Species::save(io::Group& group) const {
  solver_->to_host_const(0);
  write_distribution(group, params_.name, *solver_, comm_);
  write_cells(group, params_.name + "/moments", ranks_, conf_, moments_[0], components() * conf_.modes());
}

void Species::load(const io::Group& group) {
  read_distribution(group, params_.name, *solver_);
  solver_->to_device(0);
  const std::string name = params_.name + "/moments";
  const std::int64_t found = group.dataset(name).elements(),
                     count = std::int64_t{conf_.whole_count()} * conf_.modes() * components();
  if (found != count)
    throw InputError(fmt::format(
        "'{}': species '{}' has {} moments, expected {}; the file is damaged or was changed, resume from another one",
        group.file(), params_.name, found, count));
  moments_[0] = read_cells(group, name, conf_, components() * conf_.modes());
}

}  // namespace cambium::kinetic
