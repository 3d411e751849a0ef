#include "plugins/deepmd/label/label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/io/agree.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/deepmd/data/npy_write.hpp"
#include "plugins/deepmd/deep_potential/deep_potential.hpp"

namespace cambium::deepmd {

void Select::describe(deck::Describe<Select>& d) {
  d("low", &Select::low, "a configuration is known when no atom's force deviates more than this").unit("eV/angstrom").non_negative().def(0.05);
  d("high", &Select::high, "a configuration is beyond trust when some atom's force deviates more than this").unit("eV/angstrom").positive().def(0.5);
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
  d("validation", &Params::validation, "share of the configurations that becomes the validation set").range(0.0, 0.9).def(0.1);
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
  context.registry->make<Potential>(params_.potential, context);
  if (params_.explore_with) context.registry->make<Potential>(*params_.explore_with, context);
  std::int64_t frames = 0;
  for (const Item& item : items()) frames += item.frames;
  context.log.info(fmt::format("label: {} configurations, {} perturbed, the rest from {} trajectories", frames, params_.perturbed.frames,
                               items().size() - static_cast<std::size_t>(params_.perturbed.frames)));
}

namespace {

Configuration start_of(const StructureInput& input, Context& alone) {
  const Particles p = build_structure(input, {}, alone);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
  Configuration out;
  out.species = p.species;
  out.box = p.box;
  for (int k = 0; k < 3; ++k) out.box.origin[k] = 0.0;
  for (int i = 0; i < p.nlocal; ++i) {
    out.x.push_back({x(i, 0) - p.box.origin[0], x(i, 1) - p.box.origin[1], x(i, 2) - p.box.origin[2]});
    out.types.push_back(static_cast<int>(x(i, 3)));
  }
  return out;
}

/// A frame as a row of numbers, to travel between ranks: cell, energy, virial, positions, forces, deviation.
std::vector<double> packed(const LabelledFrame& f, double deviation) {
  std::vector<double> out;
  for (const auto& row : f.box->h) out.insert(out.end(), row, row + 3);
  out.push_back(*f.energy);
  out.insert(out.end(), f.virial.begin(), f.virial.end());
  for (const auto& x : f.x) out.insert(out.end(), x.begin(), x.end());
  for (const auto& force : f.force) out.insert(out.end(), force.begin(), force.end());
  out.push_back(deviation);
  return out;
}

LabelledFrame unpacked(const double* row, std::size_t atoms) {
  LabelledFrame f;
  f.box.emplace();
  for (std::size_t k = 0; k < 9; ++k) f.box->h[k / 3][k % 3] = row[k];
  f.energy = row[9];
  f.virial.assign(row + 10, row + 19);
  for (std::size_t i = 0; i < atoms; ++i) {
    f.x.push_back({row[19 + 3 * i], row[20 + 3 * i], row[21 + 3 * i]});
    const double* force = row + 19 + 3 * atoms + 3 * i;
    f.force.push_back({force[0], force[1], force[2]});
  }
  return f;
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

std::vector<LabelledFrame> Label::frames_of(const Item& item, const Configuration& start, Potential& explore, Potential& potential,
                                            Context& alone) const {
  std::vector<Configuration> configurations;
  if (item.perturbed >= 0) configurations.push_back(perturbed(start, params_.perturbed, alone.seed, item.perturbed));
  else configurations = trajectory(start, *item.spec, item.temperature, item.strain, explore, alone.seed, item.number, alone);
  std::vector<LabelledFrame> out;
  for (const Configuration& c : configurations) out.push_back(single_point(potential, c, alone));
  return out;
}

Task::Outcome Label::run(Context& context) {
  const Comm self(MPI_COMM_SELF);
  Log quiet;
  Context alone{const_cast<Comm&>(self), quiet, context.timing, context.registry, context.seed};
  auto potential = context.registry->make<Potential>(params_.potential, alone);
  auto explore = params_.explore_with ? context.registry->make<Potential>(*params_.explore_with, alone) : nullptr;
  const Configuration start = start_of(params_.structure, alone);
  potential->bind(start.species);
  if (explore) explore->bind(start.species);
  auto* committee = dynamic_cast<DeepPotential*>(explore.get());
  if (params_.select && (!committee || !committee->deviation()))
    throw InputError("label: 'select' measures how much the models of a committee deviate; give explore_with.committee");
  context.log.info("label: " + potential->summary());

  const std::vector<Item> list = items();
  const std::size_t atoms = start.x.size(), width = 20 + 6 * atoms;
  std::size_t frames = 0;
  for (const Item& item : list) frames += static_cast<std::size_t>(item.frames);
  std::vector<double> table(frames * width, 0.0);
  io::on_every_rank(context.comm, [&] {
    std::size_t at = 0;
    for (const Item& item : list) {
      if (item.number % context.comm.size() == context.comm.rank())
        for (std::size_t k = 0; const LabelledFrame& f : frames_of(item, start, explore ? *explore : *potential, *potential, alone)) {
          double deviation = 0.0;
          if (params_.select) {
            single_point(*explore, {start.species, start.types, f.x, *f.box}, alone);
            deviation = committee->deviation()->force_max;
          }
          const std::vector<double> row = packed(f, deviation);
          std::copy(row.begin(), row.end(), table.begin() + static_cast<std::ptrdiff_t>((at + k++) * width));
        }
      at += static_cast<std::size_t>(item.frames);
    }
  });
  context.comm.sum(table);
  write(table, frames, start, context);
  return Outcome::done;
}

/// Deals the frames to the two sets and writes them.
void Label::write(const std::vector<double>& table, std::size_t frames, const Configuration& start, Context& context) const {
  const std::size_t atoms = start.x.size(), width = 20 + 6 * atoms;
  std::vector<std::size_t> kept(frames);
  for (std::size_t k = 0; k < frames; ++k) kept[k] = k;
  if (params_.select) {
    std::vector<double> deviation;
    for (std::size_t k = 0; k < frames; ++k) deviation.push_back(table[(k + 1) * width - 1]);
    kept = selected(*params_.select, deviation);
    const auto known = std::count_if(deviation.begin(), deviation.end(), [&](double x) { return x < params_.select->low; });
    const auto beyond = std::count_if(deviation.begin(), deviation.end(), [&](double x) { return !(x <= params_.select->high); });
    context.log.info(fmt::format("label: of {} configurations {} are known, {} beyond trust, {} are kept", frames, known, beyond, kept.size()));
  }
  std::vector<LabelledFrame> training, validation;
  for (const std::size_t k : kept) {
    const bool held_out = Random4(context.seed, Stream::hold_out, k, 0).uniform(0) < params_.validation;
    (held_out ? validation : training).push_back(unpacked(&table[k * width], atoms));
  }
  std::vector<std::string> symbols;
  for (const Species& s : start.species) symbols.push_back(s.symbol);
  io::on_root(context.comm, [&] {
    if (!training.empty()) write_system(context.run_directory + "/train", symbols, start.types, training);
    if (!validation.empty()) write_system(context.run_directory + "/validation", symbols, start.types, validation);
  });
  context.log.info(fmt::format("label: {} atoms; {} frames in {}/train, {} in {}/validation", atoms, training.size(), context.run_directory,
                               validation.size(), context.run_directory));
}

}  // namespace cambium::deepmd
