#include "plugins/cosmo/tasks/structure_boxes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/check.hpp"
#include "core/run/loop_cadence.hpp"
#include "plugins/cosmo/boxes/latin_hypercube.hpp"
#include "plugins/cosmo/gravity/clouds.hpp"
#include "plugins/cosmo/gravity/particle_mesh.hpp"
#include "plugins/cosmo/gravity/spectrum.hpp"
#include "plugins/cosmo/gravity/theory.hpp"
#include "plugins/cosmo/gravity/time_steps.hpp"

namespace cambium::cosmo {
namespace {

constexpr auto phases_stream = static_cast<Stream>(72);  // this plugin's own

/// Members of a cosmology by their keys.
double* member(Cosmology& c, const std::string& name) {
  const std::map<std::string, double*> all{
      {"omega_m", &c.omega_m}, {"omega_b", &c.omega_b}, {"h", &c.h}, {"n_s", &c.n_s}, {"sigma_8", &c.sigma_8}};
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

/// The name that a file's column has here: Omega_m is omega_m.
std::string lower(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

}  // namespace

void StructureBoxes::Params::describe(deck::Describe<Params>& d) {
  d("boxes", &Params::boxes, "number of boxes").range(1, 1e7).example("2000");
  d("vary", &Params::vary, "intervals of omega_m, omega_b, h, n_s, sigma_8 that a Latin hypercube samples")
      .def({})
      .example("{omega_m: [0.1, 0.5], sigma_8: [0.6, 1.0]}");
  d("cosmologies", &Params::cosmologies,
    "HDF5 file of cosmologies instead: an array 'parameters' (rows, values) whose attribute 'columns' lists the "
    "parameter names; the first rows are used")
      .example("quijote_latin_hypercube.h5");
  d("targets", &Params::targets, "names of the regression targets, in order; default: all parameters that vary")
      .def({});
  d("cosmology", &Params::cosmology, "constant parameters");
  d("box_size", &Params::box, "edge of each periodic cube, Mpc/h").formerly("box").range(0.1, 1e5).example("256");
  d("particles", &Params::particles, "number of particles along an edge, and of mesh cells").range(4, 512).def(32);
  d("initial_scale_factor", &Params::start, "scale factor at the start").formerly("start").range(1e-3, 1.0).def(0.1);
  d("final_scale_factor", &Params::end, "scale factor of the boxes").formerly("end").range(1e-3, 2.0).def(1.0);
  d("num_steps", &Params::time_steps, "steps from start to end, of equal length in the logarithm of the scale factor")
      .formerly("time_steps")
      .at_least(1)
      .def(20);
  d("file", &Params::file, "file name in the folder of the stage").def("boxes.h5");
  d.check([](const Params& p) -> std::string {
    if (p.vary.empty() == !p.cosmologies) return "give exactly one of 'vary' and 'cosmologies'";
    if (p.end <= p.start)
      return fmt::format("final_scale_factor ({}) must be greater than initial_scale_factor ({})", p.end, p.start);
    if (p.particles % 2)
      return fmt::format("particles ({}) must be an even number; take {}", p.particles, p.particles + 1);
    Cosmology c;
    for (const auto& [name, ends] : p.vary) {
      if (!member(c, name))
        return fmt::format("vary: a cosmology has no '{}'; name omega_m, omega_b, h, n_s or sigma_8", name);
      if (!(ends[0] < ends[1]))
        return fmt::format("vary: the interval of {} must begin below its end, but is [{}, {}]", name, ends[0],
                           ends[1]);
    }
    return {};
  });
}

StructureBoxes::StructureBoxes(const Params& params, Context& context) : params_(params), seed_(context.seed) {
  if (params_.cosmologies) {
    io::on_every_rank(context.comm, [&] { read_cosmologies(); });
  } else {
    for (const auto& [name, ends] : params_.vary) varied_.push_back({name, ends[0], ends[1]});
    parameters_ = latin_hypercube(params_.boxes, std::ssize(varied_), seed_);
    for (auto& row : parameters_)
      for (std::size_t k = 0; k < row.size(); ++k)
        row[k] = varied_[k].low + row[k] * (varied_[k].high - varied_[k].low);
  }
  choose_targets();
  for (std::int64_t box = 0; box < params_.boxes; ++box) {  // a deck's own rules hold for each
    const auto c = cosmology_of(box);
    const std::string problem = problem_of(c);
    if (problem.empty()) continue;
    std::vector<std::string> text;
    for (std::size_t k = 0; k < varied_.size(); ++k)
      text.push_back(fmt::format("{} {:.4g}", varied_[k].name, numbers_of(box)[k]));
    throw InputError(fmt::format(
        "box {} would have {}: {}{}", box, fmt::join(text, ", "), problem,
        params_.cosmologies ? fmt::format("; correct '{}'", *params_.cosmologies) : "; take narrower intervals"));
  }
}

void StructureBoxes::read_cosmologies() {
  const auto& path = *params_.cosmologies;
  const auto file = io::File::open(path);
  if (!file.exists("parameters") || !file.dataset("parameters").has_attribute("columns"))
    throw KeyError(
        "structure_boxes.cosmologies.array", "cosmologies",
        fmt::format("'{}' has no array 'parameters' with an attribute 'columns'; give one, or use 'vary'", path));
  const auto set = file.dataset("parameters");
  const auto shape = set.shape();
  std::vector<std::string> names;
  if (set.is_text())
    throw KeyError("structure_boxes.cosmologies.text", "cosmologies",
                   fmt::format("'{}' has text as 'parameters'; give numbers", path));
  for (const auto& text : set.attribute<std::vector<std::string>>("columns"))
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find(' ', at), text.size());
      if (end > at) names.push_back(lower(text.substr(at, end - at)));
      at = end + 1;
    }
  Cosmology c;
  for (const auto& name : names)
    if (!member(c, name))
      throw KeyError(
          "structure_boxes.cosmologies.column", "cosmologies",
          fmt::format("'{}' has a column '{}'; name omega_m, omega_b, h, n_s and sigma_8 in 'columns'", path, name));
  if (shape.size() != 2 || shape[1] != std::ssize(names))
    throw KeyError("structure_boxes.cosmologies.shape", "cosmologies",
                   fmt::format("'{}': 'columns' names {} values of each row, but 'parameters' has the shape ({})", path,
                               names.size(), fmt::join(shape, ", ")));
  if (shape[0] < params_.boxes)
    throw KeyError(
        "structure_boxes.cosmologies.rows", "cosmologies",
        fmt::format("'{}' has fewer than {} rows of {} values; make fewer boxes", path, params_.boxes, names.size()));
  const auto values = set.read<std::vector<double>>();
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      throw KeyError("structure_boxes.cosmologies.finite", "cosmologies",
                     fmt::format("'{}': {} in row {} is not finite; correct it, or leave the row out", path,
                                 names[k % names.size()], k / names.size()));
  parameters_.assign(params_.boxes, {});
  for (std::size_t k = 0; k < names.size(); ++k) {
    Varied v{names[k], values[k], values[k]};
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      const double x = values[static_cast<std::size_t>(row) * names.size() + k];
      v.low = std::min(v.low, x);
      v.high = std::max(v.high, x);
    }
    if (v.low == v.high) {  // nothing to be learnt
      *member(params_.cosmology, v.name) = v.low;
      continue;
    }
    varied_.push_back(v);
    for (std::int64_t row = 0; row < params_.boxes; ++row)
      parameters_[row].push_back(values[static_cast<std::size_t>(row) * names.size() + k]);
  }
  if (varied_.empty())
    throw KeyError("structure_boxes.cosmologies.same", "cosmologies",
                   fmt::format("'{}' has the same cosmology in every row; give rows that differ", path));
}

void StructureBoxes::choose_targets() {
  std::vector<std::string> names;
  for (const auto& v : varied_) names.push_back(v.name);
  for (const auto& name : params_.targets.empty() ? names : params_.targets) {
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (at == names.size())
      throw KeyError("structure_boxes.targets.fixed", "targets",
                     fmt::format("targets: '{}' does not vary; name some of {}", name, fmt::join(names, ", ")));
    if (std::ranges::count(told_, at) > 0)
      throw KeyError("structure_boxes.targets.twice", "targets", fmt::format("targets: '{}' is listed twice", name));
    told_.push_back(at);
  }
}

std::vector<Varied> StructureBoxes::told_numbers() const {
  std::vector<Varied> out;
  for (const auto k : told_) out.push_back(varied_[k]);
  return out;
}

std::vector<double> StructureBoxes::told_of(std::int64_t box) const {
  std::vector<double> out;
  for (const auto k : told_) out.push_back(numbers_of(box)[k]);
  return out;
}

const std::vector<double>& StructureBoxes::numbers_of(std::int64_t box) const { return parameters_[box]; }

Cosmology StructureBoxes::cosmology_of(std::int64_t box) const {
  Cosmology out = params_.cosmology;
  const auto& numbers = numbers_of(box);
  for (std::size_t k = 0; k < varied_.size(); ++k) *member(out, varied_[k].name) = numbers[k];
  return out;
}

/// Phases are a function of the run's seed and the box's number.
StructureBoxes::Made StructureBoxes::make(std::int64_t box) const {
  const auto cosmology = cosmology_of(box);
  const Random4 random(seed_, phases_stream, static_cast<std::uint64_t>(box), 0);
  const auto seed = static_cast<std::uint64_t>(random.bits[0]) << 32 | random.bits[1];
  const Comm alone(MPI_COMM_SELF);
  const std::int64_t all = std::int64_t{params_.particles} * params_.particles * params_.particles;
  ParticleMesh matter(params_.particles, params_.box, all, Expansion(cosmology), Clouds::triangular, alone);
  matter.resize(all);
  Theory(cosmology, {params_.particles, params_.box, matter.origin(), 2}, seed)
      .place(params_.start, 0, matter.position, matter.momentum);
  const TimeSteps times{params_.start, params_.end, params_.time_steps};
  matter.forces();
  for (std::int64_t k = 0; k < times.steps; ++k) {
    matter.kick(times.after(k), times.within(k));
    matter.drift(times.after(k), times.after(k + 1));
    matter.forces();
    matter.kick(times.within(k), times.after(k + 1));
  }
  Made out;
  const auto mass = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matter.mass());
  for (std::size_t i = 0; i < mass.extent(0); ++i)
    out.counts.push_back(static_cast<float>(static_cast<double>(mass(i)) / static_cast<double>(whole_particle)));
  out.power = cross_power(matter.box(), matter.waves(), matter.waves(), matter.clouds());
  return out;
}

void StructureBoxes::report_plan(Context& context) const {
  std::vector<std::string> text;
  for (const auto& v : varied_) text.push_back(fmt::format("{} {:.4g} to {:.4g}", v.name, v.low, v.high));
  context.log.info(fmt::format("structure_boxes: {} boxes of {:g} Mpc/h with {}^3 particles, {}", params_.boxes,
                               params_.box, params_.particles, fmt::join(text, ", ")));
  std::int64_t densest = 0;
  for (std::int64_t box = 1; box < params_.boxes; ++box)
    if (cosmology_of(box).sigma_8 > cosmology_of(densest).sigma_8) densest = box;
  const auto problem = problem_of_start(cosmology_of(densest), params_.start, params_.box / params_.particles);
  if (!problem.empty()) context.log.warn(fmt::format("box {}: {}", densest, problem));
}

void StructureBoxes::examine(Check& check) {
  check.will_write({params_.file, {Origin::stage, "structure_boxes"}});
  if (check.stage().tried) report_plan(check.context());
  const double cells = static_cast<double>(params_.particles) * params_.particles * params_.particles;
  check.memory("a box", 8.0 * 30.0 * cells);
}

Task::Outcome StructureBoxes::run(Context& context) {
  report_plan(context);
  const auto path = (std::filesystem::path(context.run_directory) / params_.file).string();
  const std::int64_t ranks = context.comm.size(), n = params_.particles, cells = n * n * n, bins = n / 2;
  std::optional<BoxFile> file;
  double done = 0.0;
  io::on_root(context.comm, [&] {
    if (context.resume && std::filesystem::exists(path)) {
      file.emplace(BoxFile(path, true));
      done = static_cast<double>(file->done());
      return;
    }
    file.emplace(BoxFile::create(path, {params_.boxes, n, bins}, told_numbers()));
    io::write_provenance(file->file(), io::provenance_of(context));
    const BoxWaves waves(static_cast<int>(n), params_.box);
    file->file().write("k", bins_of(waves).k).set_attribute("units", "h/Mpc");
    file->file().set_attribute("particles", params_.particles);
  });
  context.comm.broadcast(std::span<double>(&done, 1));
  LoopCadence cadence({static_cast<std::int64_t>(done), params_.boxes, 0, "boxes/s", 1.0}, context);
  auto outcome = Outcome::done;
  for (std::int64_t first = static_cast<std::int64_t>(done); first < params_.boxes; first += ranks) {
    const std::int64_t together = std::min(ranks, params_.boxes - first), own = first + context.comm.rank();
    std::vector<double> rows(together * (cells + bins), 0.0);
    if (own < params_.boxes) {
      const auto timer = context.timing.scope("boxes");
      const auto made = make(own);
      auto to = rows.begin() + (own - first) * (cells + bins);
      to = std::copy(made.counts.begin(), made.counts.end(), to);
      std::copy(made.power.begin(), made.power.end(), to);
    }
    const auto timer = context.timing.scope("output");
    context.comm.sum(rows);  // each box is on one rank, so its values are not changed by the sum
    io::on_root(context.comm, [&] {
      for (std::int64_t k = 0; k < together; ++k) {
        const double* row = rows.data() + k * (cells + bins);
        const std::vector<float> counts(row, row + cells);
        file->write(first + k, counts, told_of(first + k), {row + cells, static_cast<std::size_t>(bins)});
      }
      file->set_done(first + together);
    });
    made_ += together;
    cadence.show_progress(first + together);
    if (first + together < params_.boxes && cadence.stops_after(first + together, [] {})) {
      outcome = Outcome::stopped_early;
      break;
    }
  }
  return outcome;
}

std::vector<Citation> StructureBoxes::citations() const {
  auto out = LinearPower(params_.cosmology).citations();
  out.push_back(
      {"crocce2006",
       R"(@article{crocce2006, author={Crocce, M. and Pueblas, S. and Scoccimarro, R.}, title={Transients from initial conditions in cosmological simulations}, journal={MNRAS}, volume={373}, pages={369--381}, year={2006}})"});
  return out;
}

}  // namespace cambium::cosmo
