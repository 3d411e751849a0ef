#include "plugins/deepmd/tasks/label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/random.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/committee.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/deepmd/data/npy_write.hpp"
#include "plugins/deepmd/tasks/rows.hpp"
#include "plugins/deepmd/tasks/sources.hpp"

namespace cambium::deepmd {

void Label::Params::describe(deck::Describe<Params>& d) {
  d("structure", &Params::structure, "initial structure of the sampling");
  d("potential", &Params::potential, "reference potential that computes the labels");
  d("perturbed", &Params::perturbed, "configurations with random cells and displacements").def({});
  d("dynamics", &Params::dynamics, "configurations from short Langevin trajectories").def({});
  d("explore_with", &Params::explore_with, "potential that drives the trajectories; absent: the one that labels");
  d("select", &Params::select,
    "selection of configurations on which the committee of explore_with disagrees (deep_potential with committee)");
  d("validation", &Params::validation, "fraction of the configurations that becomes the validation set")
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

/// Creates a potential, bound to the species if they are known.
std::unique_ptr<Potential> Label::made(const deck::Choice<Potential>& choice,
                                       const std::optional<std::vector<Species>>& species, Context& context) const {
  auto potential = context.registry->make<Potential>(choice, context);
  const char* key = &choice == &params_.potential ? "potential" : "explore_with";
  if (species) deck::about_key("", key, [&] { potential->bind(*species); });
  return potential;
}

void Label::report_plan(Context& context) const {
  std::int64_t frames = 0;
  for (const Item& item : items()) frames += item.frames;
  context.log.info(fmt::format("label: {} configurations, {} perturbed, the rest from {} trajectories", frames,
                               params_.perturbed.frames,
                               items().size() - static_cast<std::size_t>(params_.perturbed.frames)));
}

static void require_committee(Potential& explorer, const Select& select) {
  if (!explorer.committee())
    throw KeyError("label.select.committee", "select",
                   "label: 'select' measures how much the models of a committee deviate; give explore_with.committee");
  if (select.calibrated && !explorer.committee()->calibrated())
    throw KeyError("label.select.calibrated", "select.calibrated",
                   "label: the committee has no calibration; give explore_with.calibration, a file of the stage "
                   "'calibrate'");
}

void Label::examine(Check& check) {
  check.will_write({"train/", {Origin::stage, "label"}});
  if (params_.validation > 0.0) check.will_write({"validation/", {Origin::stage, "label"}});
  if (params_.select) check.will_write({"deviation.csv", {Origin::stage, "label"}});
  if (!check.stage().tried) return;
  report_plan(check.context());
  check.require_written_by("structure.file", params_.structure.file,
                           {{Origin::output, "extxyz"}, {Origin::physics, "md"}});
  Context& context = check.context();
  const auto species = species_of(params_.structure, {}, context);
  for (const auto* choice : {&params_.potential, params_.explore_with ? &*params_.explore_with : nullptr}) {
    if (!choice) continue;
    const auto potential = made(*choice, species, context);
    check.ask(potential.get(), choice->node);
    if (params_.select && choice != &params_.potential) require_committee(*potential, *params_.select);
  }
}

namespace {

Configuration start_of(StructureInput input, Context& alone) {
  Configuration out;
  input.velocities = false;
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

}  // namespace

/// Potentials that sample and label configurations, on this rank only.
struct Label::Potentials {
  explicit Potentials(Context& world)
      : alone{const_cast<Comm&>(self), quiet, world.timing, world.registry, world.seed} {}
  Potential& explorer() { return explore ? *explore : *potential; }
  Comm self{MPI_COMM_SELF};
  Log quiet;
  Context alone;
  std::unique_ptr<Potential> potential, explore;
  Committee* committee = nullptr;  ///< within explore, when configurations are selected
  bool by_bound = false;           ///< select.calibrated
  /// Selection criterion in eV/Å, of the configuration evaluated last.
  double doubt() const {
    if (!committee) return 0.0;
    return by_bound ? committee->deviation().force_bound : committee->deviation().force_max;
  }
  std::vector<Source> sources;  ///< of both, in their current state
  Configuration start;
};

void Label::prepare(Potentials& work, Context& context) const {
  work.potential = context.registry->make<Potential>(params_.potential, work.alone);
  if (params_.explore_with) work.explore = context.registry->make<Potential>(*params_.explore_with, work.alone);
  work.start = start_of(params_.structure, work.alone);
  work.potential->bind(work.start.species);
  if (work.explore) work.explore->bind(work.start.species);
  work.sources = sources_of(params_.potential.node);
  if (params_.explore_with)
    for (auto& source : sources_of(params_.explore_with->node)) work.sources.push_back(std::move(source));
  if (!params_.select) return;
  require_committee(*work.explore, *params_.select);
  work.committee = work.explore->committee();
  work.by_bound = params_.select->calibrated;
}

namespace {

/// Summary of a potential in one line; the text of the deck differs from that of its resolved form.
std::string words_of(const Potential& potential) {
  std::string out = potential.summary();
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

}  // namespace

/// Collective; nullopt when the run was asked to stop. Failures are not retried, because the tasks are deterministic.
std::optional<std::vector<double>> Label::by_need(const tasks::NumberPieces& pieces, const char* what, std::size_t hash,
                                                  Potentials& work, Context& context) const {
  const std::string key =
      fmt::format("{} of the stage label: {} pieces of {:016x}, seed {}, potential {}{}{}", what, pieces.count, hash,
                  context.seed, words_of(*work.potential),
                  work.explore ? ", explored with " + words_of(*work.explore) : "", text_of(work.sources));
  const std::string go_on = "cambium restart " + std::filesystem::path(context.run_directory).parent_path().string();
  const tasks::FarmOptions options{.retries = 0, .ahead = 1, .says_itself = true, .noun = what, .go_on = go_on};
  const tasks::NumberJournal journal{context.run_directory + "/" + what + ".journal", key, context.resume};
  io::on_root(context.comm, [&] {
    std::filesystem::create_directories(context.run_directory);
    if (context.resume) require_unchanged(work.sources, journal.path);
  });
  auto out = tasks::numbers_by_need(pieces, journal, context.comm, context.log, options,
                                    [&] { return context.stop && context.stop->asked(); });
  if (!out)
    context.log.info(fmt::format("label: stop requested; the finished {} are stored. Resume with:\n  {}", what, go_on));
  return out;
}

/// One row per configuration, in the order of items(), so that the samples do not depend on the number of ranks.
std::optional<std::vector<double>> Label::sample(Potentials& work, Context& context) const {
  const std::size_t width = sampled_width(work.start.x.size());
  const std::vector<Item> list = items();
  const auto item = [&](std::int64_t k) -> const Item& { return list[k]; };
  const tasks::NumberPieces pieces{std::ssize(list),
                                   [&](std::int64_t k) { return static_cast<std::size_t>(item(k).frames) * width; },
                                   [&](std::int64_t k) { return evaluations_of(item(k)); },
                                   [&](std::int64_t k, std::span<double> out, const tasks::Breathe& breathe) {
                                     double* row = out.data();
                                     for (const Configuration& c : configurations_of(item(k), work, breathe)) {
                                       if (work.committee) single_point(*work.explore, c, work.alone);
                                       pack(c, work.doubt(), row);
                                       row += width;
                                       breathe();
                                     }
                                   }};
  std::vector<double> fixed = row_of(work.start);
  for (const Item& i : list) {
    for (const double x : {evaluations_of(i), i.temperature, i.strain}) fixed.push_back(x);
    if (i.spec)
      for (const double x : {i.spec->melt_at, i.spec->timestep, i.spec->damping, double(i.spec->every)})
        fixed.push_back(x);
  }
  for (const double x : {params_.perturbed.strain, params_.perturbed.volume, params_.perturbed.displacement})
    fixed.push_back(x);
  if (work.by_bound) fixed.push_back(1.0);
  return by_need(pieces, "samples", hash_of(fixed), work, context);
}

/// Cost of a task: evaluations of a potential.
double Label::evaluations_of(const Item& item) {
  if (!item.spec) return 1.0;
  return 1.0 + item.spec->equilibrate + static_cast<double>(item.frames) * (item.spec->every + 1);
}

std::vector<Configuration> Label::configurations_of(const Item& item, Potentials& work,
                                                    const tasks::Breathe& breathe) const {
  if (item.perturbed >= 0) return {perturbed(work.start, params_.perturbed, work.alone.seed, item.perturbed)};
  return trajectory(work.start, *item.spec, item.temperature, item.strain, work.explorer(), work.alone.seed,
                    item.number, work.alone, breathe);
}

/// Labels only the selected configurations: labels are the expensive part.
std::optional<std::vector<LabelledFrame>> Label::label(const std::vector<Configuration>& chosen, Potentials& work,
                                                       Context& context) const {
  const std::size_t width = label_width(work.start.x.size());
  const tasks::NumberPieces pieces{
      std::ssize(chosen), [&](std::int64_t) { return width; }, [](std::int64_t) { return 1.0; },
      [&](std::int64_t k, std::span<double> out, const tasks::Breathe&) {
        const Configuration& c = chosen[k];
        const LabelledFrame f = single_point(*work.potential, c, work.alone);
        pack(f, work.committee ? force_squares(f, single_point(*work.explore, c, work.alone)) : 0.0, out.data());
      }};
  std::vector<double> fixed;
  for (const Configuration& c : chosen)
    for (const double x : row_of(c)) fixed.push_back(x);
  const auto made = by_need(pieces, "labels", hash_of(fixed), work, context);
  if (!made) return {};
  const std::vector<double>& table = *made;
  std::vector<LabelledFrame> out;
  double error = 0.0;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    out.push_back(labelled(chosen[k], &table[k * width]));
    error += table[(k + 1) * width - 1];
  }
  if (work.committee && !chosen.empty())
    context.log.info(
        fmt::format("label: on the selected ones the forces of the committee's first model are off by {:.3g} eV/Å "
                    "(root mean square)",
                    std::sqrt(error / static_cast<double>(3 * work.start.x.size() * chosen.size()))));
  return out;
}

Task::Outcome Label::run(Context& context) {
  Potentials work(context);
  prepare(work, context);
  context.log.info("label: " + work.potential->summary());
  const std::size_t width = sampled_width(work.start.x.size());
  const auto all = sample(work, context);
  if (!all) return Outcome::stopped_early;
  const std::vector<double>& sampled = *all;
  std::vector<std::size_t> kept(sampled.size() / width);
  std::iota(kept.begin(), kept.end(), 0);
  if (params_.select) {
    std::vector<double> deviation;
    for (const std::size_t k : kept) deviation.push_back(sampled[(k + 1) * width - 1]);
    kept = choose(*params_.select, deviation, context);
  }
  std::vector<Configuration> chosen;
  for (const std::size_t k : kept) chosen.push_back(unpacked(&sampled[k * width], work.start));
  auto frames = label(chosen, work, context);
  if (!frames) return Outcome::stopped_early;
  write(kept, *std::move(frames), work.start, context);
  io::on_root(context.comm, [&] {
    for (const char* journal : {"/samples.journal", "/labels.journal"})
      std::filesystem::remove(context.run_directory + journal);
  });
  work_ = {static_cast<std::int64_t>(sampled.size() / width), "configuration"};
  results_ = {{"sampled", "configurations: sampled", static_cast<double>(sampled.size() / width)},
              {"labelled", "configurations: labelled", static_cast<double>(kept.size())}};
  citations_ = work.potential->citations();
  if (work.explore)
    for (const auto& citation : work.explore->citations()) citations_.push_back(citation);
  return Outcome::done;
}

/// Splits the frames into the two sets and writes them.
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
