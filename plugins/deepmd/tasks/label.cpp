#include "plugins/deepmd/tasks/label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/tables/table_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/committee.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/deepmd/data/npy_write.hpp"

namespace cambium::deepmd {

void Select::describe(deck::Describe<Select>& d) {
  d("low", &Select::low, "a configuration is known when no atom's force deviates more than this")
      .unit("eV/angstrom")
      .non_negative()
      .def(0.05);
  d("high", &Select::high, "a configuration is beyond trust when some atom's force deviates more than this")
      .unit("eV/angstrom")
      .positive()
      .def(0.5);
  d("most", &Select::most, "at most so many are kept, those that deviate most; 0 for all").at_least(0).def(0);
  d.check([](const Select& s) { return s.low < s.high ? "" : "low must be less than high"; });
}

void Label::Params::describe(deck::Describe<Params>& d) {
  d("structure", &Params::structure, "where sampling starts");
  d("potential", &Params::potential, "what the labels come from");
  d("perturbed", &Params::perturbed, "configurations with random cells and displacements").def({});
  d("dynamics", &Params::dynamics, "configurations from short Langevin trajectories").def({});
  d("explore_with", &Params::explore_with, "potential that drives the trajectories; absent: the one that labels");
  d("select", &Params::select, "keep what the committee of explore_with disagrees on (deep_potential with committee)");
  d("validation", &Params::validation, "share of the configurations that becomes the validation set")
      .range(0.0, 0.9)
      .def(0.1);
  d.check([](const Params& p) -> std::string {
    if (p.perturbed.frames == 0 && p.dynamics.empty()) return "nothing is sampled; give 'perturbed' or 'dynamics'";
    if (p.select && !p.explore_with) return "'select' needs 'explore_with', a deep_potential with a committee";
    return "";
  });
}

std::vector<Label::Item> Label::items() const {
  std::vector<Item> out;
  for (int k = 0; k < params_.perturbed.frames; ++k) {
    Item item;
    item.perturbed = k;
    out.push_back(item);
  }
  for (const Trajectories& spec : params_.dynamics)
    for (const double temperature : spec.temperature)
      for (const double strain : spec.strain) out.push_back({-1, &spec, temperature, strain, 0, spec.frames});
  for (std::size_t k = 0; k < out.size(); ++k) out[k].number = static_cast<std::int64_t>(k);
  return out;
}

void Label::check(Context& context) {
  const auto species = species_of(params_.structure, {}, context);
  for (const auto* choice : {&params_.potential, params_.explore_with ? &*params_.explore_with : nullptr})
    if (choice) {
      const auto potential = context.registry->make<Potential>(*choice, context);
      if (species) potential->bind(*species);
    }
  std::int64_t frames = 0;
  for (const Item& item : items()) frames += item.frames;
  context.log.info(fmt::format("label: {} configurations, {} perturbed, the rest from {} trajectories", frames,
                               params_.perturbed.frames,
                               items().size() - static_cast<std::size_t>(params_.perturbed.frames)));
}

static void require_committee(Potential& explorer) {
  if (!explorer.committee())
    throw InputError(
        "label: 'select' measures how much the models of a committee deviate; give explore_with.committee");
}

void Label::examine(Check& check) {
  for (const char* name : {"train/", "validation/"}) check.will_write({name, "stage label"});
  if (params_.select) check.will_write({"deviation.csv", "stage label"});
  if (!check.stage().tried) return;
  check.require_written_by(params_.structure.file, {"output extxyz", "physics md"});
  Context& context = check.context();
  const auto species = species_of(params_.structure, {}, context);
  for (const auto* choice : {&params_.potential, params_.explore_with ? &*params_.explore_with : nullptr}) {
    if (!choice) continue;
    const auto potential = context.registry->make<Potential>(*choice, context);
    if (species) potential->bind(*species);
    check.ask(potential.get(), choice->node);
    if (params_.select && choice != &params_.potential) require_committee(*potential);
  }
}

namespace {

Configuration start_of(const StructureInput& input, Context& alone) {
  Configuration out;
  const Particles p = build_structure(input, {}, alone, &out.axes);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
  out.species = p.species;
  out.box = p.box;
  for (int k = 0; k < 3; ++k) out.box.origin[k] = 0.0;
  for (int i = 0; i < p.nlocal; ++i) {
    out.x.push_back({x(i, 0) - p.box.origin[0], x(i, 1) - p.box.origin[1], x(i, 2) - p.box.origin[2]});
    out.types.push_back(static_cast<int>(x(i, 3)));
  }
  return out;
}

// Rows of numbers travel between ranks: each is filled by one and zero on the others.

/// Cell and its rotation, positions, deviation.
std::size_t sampled_width(std::size_t atoms) { return 19 + 3 * atoms; }

void pack(const Configuration& c, double deviation, double* row) {
  row = std::copy_n(&c.box.h[0][0], 9, row);
  row = std::copy_n(&c.axes.q[0][0], 9, row);
  for (const auto& x : c.x) row = std::copy(x.begin(), x.end(), row);
  *row = deviation;
}

Configuration unpacked(const double* row, const Configuration& start) {
  Configuration c = start;
  std::copy_n(row, 9, &c.box.h[0][0]);
  std::copy_n(row + 9, 9, &c.axes.q[0][0]);
  row += 18;
  for (auto& x : c.x)
    for (double& value : x) value = *row++;
  return c;
}

/// Energy, virial, forces, and the squared error of the forces of what explored.
std::size_t label_width(std::size_t atoms) { return 11 + 3 * atoms; }

void pack(const LabelledFrame& f, double error, double* row) {
  *row++ = *f.energy;
  row = std::copy(f.virial.begin(), f.virial.end(), row);
  for (const auto& force : f.force) row = std::copy(force.begin(), force.end(), row);
  *row = error;
}

LabelledFrame labelled(const Configuration& c, const double* row) {
  LabelledFrame f;
  f.box = c.box;
  f.axes = c.axes;
  f.x = c.x;
  f.energy = *row++;
  f.virial.assign(row, row + 9);
  row += 9;
  for (std::size_t i = 0; i < c.x.size(); ++i, row += 3) f.force.push_back({row[0], row[1], row[2]});
  return f;
}

double force_squares(const LabelledFrame& a, const LabelledFrame& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.force.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) sum += std::pow(a.force[i][k] - b.force[i][k], 2);
  return sum;
}

/// Numbers of the frames that `select` keeps, in rising order.
std::vector<std::size_t> selected(const Select& s, const std::vector<double>& deviation) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < deviation.size(); ++k)
    if (deviation[k] >= s.low && deviation[k] <= s.high) out.push_back(k);
  if (s.most > 0 && out.size() > static_cast<std::size_t>(s.most)) {
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return deviation[a] > deviation[b]; });
    out.resize(static_cast<std::size_t>(s.most));
    std::sort(out.begin(), out.end());
  }
  return out;
}

}  // namespace

/// What samples and what labels, on this rank alone.
struct Label::Potentials {
  explicit Potentials(Context& world)
      : alone{const_cast<Comm&>(self), quiet, world.timing, world.registry, world.seed} {}
  Potential& explorer() { return explore ? *explore : *potential; }
  Comm self{MPI_COMM_SELF};
  Log quiet;
  Context alone;
  std::unique_ptr<Potential> potential, explore;
  Committee* committee = nullptr;  ///< within explore, when configurations are selected
  Configuration start;
};

void Label::prepare(Potentials& work, Context& context) const {
  work.potential = context.registry->make<Potential>(params_.potential, work.alone);
  if (params_.explore_with) work.explore = context.registry->make<Potential>(*params_.explore_with, work.alone);
  work.start = start_of(params_.structure, work.alone);
  work.potential->bind(work.start.species);
  if (work.explore) work.explore->bind(work.start.species);
  if (!params_.select) return;
  require_committee(*work.explore);
  work.committee = work.explore->committee();
}

/// One row a configuration, in the order of items(): what is sampled does not depend on the number of ranks.
std::vector<double> Label::sample(Potentials& work, Context& context) const {
  const std::size_t width = sampled_width(work.start.x.size());
  const std::vector<Item> list = items();
  std::size_t frames = 0;
  for (const Item& item : list) frames += static_cast<std::size_t>(item.frames);
  std::vector<double> table(frames * width, 0.0);
  io::on_every_rank(context.comm, [&] {
    double* row = table.data();
    for (const Item& item : list) {
      double* const next = row + static_cast<std::size_t>(item.frames) * width;
      if (item.number % context.comm.size() == context.comm.rank())
        for (const Configuration& c : configurations_of(item, work)) {
          if (work.committee) single_point(*work.explore, c, work.alone);
          pack(c, work.committee ? work.committee->deviation().force_max : 0.0, row);
          row += width;
        }
      row = next;
    }
  });
  context.comm.sum(table);
  return table;
}

std::vector<Configuration> Label::configurations_of(const Item& item, Potentials& work) const {
  if (item.perturbed >= 0) return {perturbed(work.start, params_.perturbed, work.alone.seed, item.perturbed)};
  return trajectory(work.start, *item.spec, item.temperature, item.strain, work.explorer(), work.alone.seed,
                    item.number, work.alone);
}

/// Numbers of the configurations to label; what was chosen by which deviation is said and stored.
std::vector<std::size_t> Label::choose(const std::vector<double>& sampled, std::size_t width, Context& context) const {
  std::vector<std::size_t> kept(sampled.size() / width);
  std::iota(kept.begin(), kept.end(), 0);
  if (!params_.select) return kept;
  std::vector<double> deviation;
  for (const std::size_t k : kept) deviation.push_back(sampled[(k + 1) * width - 1]);
  kept = selected(*params_.select, deviation);
  const auto known =
      std::count_if(deviation.begin(), deviation.end(), [&](double x) { return x < params_.select->low; });
  const auto beyond =
      std::count_if(deviation.begin(), deviation.end(), [&](double x) { return !(x <= params_.select->high); });
  const auto between = std::ssize(deviation) - known - beyond, left = between - std::ssize(kept);
  std::vector<double> sorted = deviation;
  std::sort(sorted.begin(), sorted.end());
  context.log.info(fmt::format(
      "label: largest deviation of an atom's force: {:.3g} eV/Å at least, {:.3g} in the middle, {:.3g} at most",
      sorted.front(), sorted[sorted.size() / 2], sorted.back()));
  context.log.info(fmt::format("label: of {} configurations {} are known, {} beyond trust, {} are kept{}",
                               deviation.size(), known, beyond, kept.size(),
                               left > 0 ? fmt::format(" ({} more by select.most)", left) : ""));
  io::TableFile table(
      context, "deviation",
      {{"deviation", "eV/angstrom", "largest deviation of an atom's force"}, {"kept", "", "1 where it was labelled"}});
  for (std::size_t k = 0; k < deviation.size(); ++k)
    table.append(static_cast<std::int64_t>(k),
                 std::array{deviation[k], std::binary_search(kept.begin(), kept.end(), k) ? 1.0 : 0.0});
  return kept;
}

/// Labels what was chosen, and nothing else: labels are what costs.
std::vector<LabelledFrame> Label::label(const std::vector<Configuration>& chosen, Potentials& work,
                                        Context& context) const {
  const std::size_t width = label_width(work.start.x.size());
  std::vector<double> table(chosen.size() * width, 0.0);
  io::on_every_rank(context.comm, [&] {
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      if (k % static_cast<std::size_t>(context.comm.size()) != static_cast<std::size_t>(context.comm.rank())) continue;
      const LabelledFrame f = single_point(*work.potential, chosen[k], work.alone);
      pack(f, work.committee ? force_squares(f, single_point(*work.explore, chosen[k], work.alone)) : 0.0,
           &table[k * width]);
    }
  });
  context.comm.sum(table);
  std::vector<LabelledFrame> out;
  double error = 0.0;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    out.push_back(labelled(chosen[k], &table[k * width]));
    error += table[(k + 1) * width - 1];
  }
  if (work.committee && !chosen.empty())
    context.log.info(fmt::format(
        "label: on the kept ones the forces of the committee's first model are off by {:.3g} eV/Å (root mean square)",
        std::sqrt(error / static_cast<double>(3 * work.start.x.size() * chosen.size()))));
  return out;
}

Task::Outcome Label::run(Context& context) {
  Potentials work(context);
  prepare(work, context);
  context.log.info("label: " + work.potential->summary());
  const std::size_t width = sampled_width(work.start.x.size());
  const std::vector<double> sampled = sample(work, context);
  const std::vector<std::size_t> kept = choose(sampled, width, context);
  std::vector<Configuration> chosen;
  for (const std::size_t k : kept) chosen.push_back(unpacked(&sampled[k * width], work.start));
  write(kept, label(chosen, work, context), work.start, context);
  work_ = {static_cast<std::int64_t>(sampled.size() / width), "configuration"};
  citations_ = work.potential->citations();
  if (work.explore)
    for (const auto& citation : work.explore->citations()) citations_.push_back(citation);
  return Outcome::done;
}

/// Deals the frames to the two sets and writes them.
void Label::write(const std::vector<std::size_t>& kept, std::vector<LabelledFrame> frames, const Configuration& start,
                  Context& context) {
  std::vector<LabelledFrame> training, validation;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const bool held_out = Random4(context.seed, Stream::hold_out, kept[k], 0).uniform(0) < params_.validation;
    (held_out ? validation : training).push_back(std::move(frames[k]));
  }
  std::vector<std::string> symbols;
  for (const Species& s : start.species) symbols.push_back(s.symbol);
  io::on_root(context.comm, [&] {
    if (!training.empty()) write_system(context.run_directory + "/train", symbols, start.types, training);
    if (!validation.empty()) write_system(context.run_directory + "/validation", symbols, start.types, validation);
  });
  if (params_.select) files_.push_back("deviation.csv");
  if (!training.empty()) files_.push_back("train/");
  if (!validation.empty()) files_.push_back("validation/");
  context.log.info(fmt::format("label: {} atoms; {} frames in {}/train, {} in {}/validation", start.x.size(),
                               training.size(), context.run_directory, validation.size(), context.run_directory));
}

}  // namespace cambium::deepmd
