#include "plugins/deepmd/potentials/deep_potential.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/model_seal.hpp"
#include "core/pair/model_species.hpp"
#include "plugins/deepmd/model/citations.hpp"

namespace cambium::deepmd {

DeepPotential::Member DeepPotential::load(const std::string& path, const Context& context) const {
  DeepPotentialModel model = DeepPotentialModel::load(path);
  if (!io::require_sound_model(path)) context.log.info(io::no_checksum_note(path));
  EngineOptions options;
  options.precision = params_.precision;
  options.compress_tolerance = params_.compress.value_or(0.0);
  options.float32_cutoffs = params_.cutoff_precision == Precision::float32;
  options.close_limit = params_.min_distance.value_or(model.min_distance);
  options.fparam = params_.fparam;
  options.aparam = params_.aparam;
  Member member{make_engine(model, options), {}, {}, {}};
  if (!params_.quantize) return member;
  FewBits few = *params_.quantize;
  if (few.calibrate && std::any_of(few.calibrate->systems.begin(), few.calibrate->systems.end(),
                                   [&](const std::string& folder) { return is_still_to_come(folder, context); }))
    few.calibrate.reset();  // a dry run does not need them
  member.few_bits = set_few_bits(*member.engine, few, params_.precision).text;
  return member;
}

/// Key of the k-th model: first the one that gives the forces, then those of the committee.
static std::string key_of(std::size_t k) { return k == 0 ? "model" : deck::child_path("committee", k - 1); }

DeepPotential::DeepPotential(const Params& params, Context& context) : params_(params) {
  std::vector<std::string> paths = {params.model};
  paths.insert(paths.end(), params.committee.begin(), params.committee.end());
  for (const std::string& path : paths)
    if (is_still_to_come(path, context)) return;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    members_.push_back(deck::about_key("deep_potential.model", key_of(k), [&] { return load(paths[k], context); }));
    cutoff_ = std::max(cutoff_, members_.back().engine->model().rcut);
  }
  min_distance_ = params.min_distance.value_or(members_[0].engine->model().min_distance);
  load_calibration(paths, context);
}

/// Does nothing in a dry run in which an earlier stage would write the file.
void DeepPotential::load_calibration(const std::vector<std::string>& models, const Context& context) {
  if (params_.calibration.empty() || is_still_to_come(params_.calibration, context)) return;
  deck::about_key("deep_potential.calibration", "calibration", [&] {
    calibration_ = Calibration::load(params_.calibration);
    calibration_->require_models(models, params_.calibration);
  });
}

void DeepPotential::examine(Check& check) {
  constexpr double seconds_per_atom = 1e-3;
  check.effort(seconds_per_atom);
  check.require_written_by("calibration", params_.calibration, {{Origin::stage, "calibrate"}});
  std::vector<std::string> paths = {params_.model};
  paths.insert(paths.end(), params_.committee.begin(), params_.committee.end());
  for (std::size_t k = 0; k < paths.size(); ++k) {
    const auto& path = paths[k];
    check.require_written_by(key_of(k), path, {{Origin::model_of, "deep_potential"}});
    const auto promise = check.written_before(path);
    if (!promise || promise->holds.empty()) continue;
    for (const auto& symbol : bound_)
      if (std::find(promise->holds.begin(), promise->holds.end(), symbol) == promise->holds.end())
        throw KeyError("deep_potential.species.promised", "",
                       fmt::format("species '{}' will not be known to the model '{}'; its training data have: {}",
                                   symbol, path, fmt::join(promise->holds, ", ")));
  }
}

void DeepPotential::bind(std::span<const Species> species) {
  bound_.clear();
  for (const auto& one : species) bound_.push_back(one.symbol);
  for (Member& member : members_) {
    const DeepPotentialModel& model = member.engine->model();
    member.model_type = View<int*>("deep_potential: model types", species.size());
    auto types = Kokkos::create_mirror_view(member.model_type);
    std::ranges::copy(
        model_species("deep_potential.species.unknown", "model", "the model " + model.source, species, model.type_map),
        types.data());
    Kokkos::deep_copy(member.model_type, types);
  }
}

void DeepPotential::compute_alone(Member& member, const Particles& particles, const NeighborList& list,
                                  const ForceRequest& request, ForceOutput& out, EngineOutput& result) {
  result.f = out.f;
  if (request.per_atom) {
    result.atom_energy = out.atom_energy;
    result.atom_virial = out.atom_virial;
  }
  member.engine->compute({particles, list, member.model_type, request.totals || request.per_atom, {}}, result);
  out.energy += result.energy;
  for (int k = 0; k < 9; ++k) out.virial[k] += result.virial[k];
}

namespace {
void add_rows(int rows, const View<double* [3]>& from, const View<double* [3]>& to) {
  Kokkos::parallel_for(
      "deep_potential: add forces", Range(0, rows), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) to(i, k) += from(i, k);
      });
}
}  // namespace

void DeepPotential::compute_committee(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                                      const ForceRequest& request, ForceOutput& out, Context& context,
                                      EngineOutput& result) {
  std::vector<View<double* [3]>> forces;
  std::vector<std::array<double, 9>> virials;
  for (Member& member : members_) {
    if (member.f.extent(0) < out.f.extent(0)) member.f = View<double* [3]>("deep_potential: member", out.f.extent(0));
    Kokkos::deep_copy(member.f, 0.0);
    EngineOutput own;
    own.f = member.f;
    const bool first = &member == &members_.front();
    if (first && request.per_atom) {
      own.atom_energy = out.atom_energy;
      own.atom_virial = out.atom_virial;
    }
    member.engine->compute({particles, list, member.model_type, true, {}}, own);
    if (first) {
      add_rows(particles.total(), member.f, out.f);
      out.energy += own.energy;
      for (int k = 0; k < 9; ++k) out.virial[k] += own.virial[k];
      result.closest = own.closest;
      result.too_close = own.too_close;
    }
    ghosts.reverse_add(member.f);
    forces.push_back(member.f);
    virials.push_back(axes_.tensor(own.virial));  // the extremes of the components depend on the axes
  }
  deviation_ = model_deviation(forces, std::move(virials), particles.nlocal, particles.nglobal, context.comm);
  largest_deviation_ = std::max(largest_deviation_, deviation_.force_max);
  if (calibration_) deviation_.force_bound = calibration_->curve(deviation_.force_max);
  largest_bound_ = std::max(largest_bound_, deviation_.force_bound);
  deviation_sum_ += deviation_.force_mean;
  ++deviations_;
}

std::vector<Observable> DeepPotential::observables() const {
  std::vector<Observable> out;
  if (params_.committee.empty()) return out;
  for (const DeviationColumn& c : deviation_columns)
    out.push_back({c.name, c.unit, c.doc, std::string_view(c.name) == "max_devi_f"});
  if (!params_.calibration.empty())
    out.push_back({"max_bound_f", "eV/angstrom", "calibrated bound of the force error at max_devi_f", true});
  return out;
}

void DeepPotential::measure(std::span<double> values) const {
  if (params_.committee.empty()) return;
  const auto columns = deviation_.columns();
  std::copy(columns.begin(), columns.end(), values.begin());
  if (calibration_) values[columns.size()] = deviation_.force_bound;
}

std::vector<Result> DeepPotential::results() const {
  if (deviations_ == 0) return {};
  const auto head = fmt::format("committee of {}: ", members_.size());
  std::vector<Result> out;
  if (calibration_)
    out.push_back({.key = "force_bound_max",
                   .label = head + "largest bound of a force error",
                   .value = largest_bound_,
                   .unit = "eV/Å",
                   .remark = fmt::format("calibrated, level {:g}", calibration_->level),
                   .digits = 4});
  append(out, {{.key = "force_deviation_max",
                .label = head + "largest deviation of an atom's force",
                .value = largest_deviation_,
                .unit = "eV/Å",
                .digits = 4},
               {.key = "force_deviation_mean",
                .label = head + "on average",
                .value = deviation_sum_ / static_cast<double>(deviations_),
                .unit = "eV/Å",
                .remark = fmt::format("{} evaluations", deviations_),
                .digits = 4}});
  return out;
}

void DeepPotential::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                            const ForceRequest& request, ForceOutput& out, Context& context) {
  EngineOutput result;
  const bool totals = request.totals || request.per_atom;
  if (members_.size() > 1 && totals)
    compute_committee(particles, list, ghosts, request, out, context, result);
  else
    compute_alone(members_.front(), particles, list, request, out, result);
  // Only on observed steps, because every rank must take part.
  if (totals && min_distance_ > 0.0 && !warned_) warn_if_close(result, context);
}

void DeepPotential::warn_if_close(const EngineOutput& result, const Context& context) {
  const std::int64_t pairs = context.comm.sum(result.too_close) / 2;
  if (pairs == 0) return;
  warned_ = true;
  context.log.warn(
      fmt::format("{} pair(s) of atoms are closer than {:g} Å, the smallest distance that {} was trained on (closest: "
                  "{:.3f} Å): its forces there are an extrapolation",
                  pairs, min_distance_, members_[0].engine->model().source, context.comm.min(result.closest)));
}

namespace {
std::string widths(const Network& net, bool last) {
  std::vector<int> out;
  for (const Layer& layer : net.layers) out.push_back(layer.out);
  if (!last) out.pop_back();
  return fmt::format("{}", fmt::join(out, "-"));
}
}  // namespace

std::string DeepPotential::summary() const {
  if (members_.empty()) return fmt::format("deep_potential: {} (an earlier stage makes it)", params_.model);
  const Engine& engine = *members_[0].engine;
  const DeepPotentialModel& m = engine.model();
  std::vector<std::string> names, embedding;
  for (const DeepPotentialModel& part : m.descriptors()) {
    const auto nets = embeddings_of(part);
    names.push_back(DeepPotentialModel::name_of(part.descriptor));
    embedding.push_back(nets.empty() ? "none" : widths(*nets.front(), true));
  }
  std::string text = fmt::format("deep_potential: {} ({}, {}; cut-off {:g} Å; embedding {}, fitting {}; {})", m.source,
                                 fmt::join(names, " + "), fmt::join(m.type_map, " "), m.rcut,
                                 fmt::join(embedding, " + "), widths(m.fitting.front(), false),
                                 params_.precision == EnginePrecision::mixed ? "mixed precision" : "float64");
  if (engine.table()) text += "; " + engine.table()->summary();
  if (!members_[0].few_bits.empty()) text += "; " + members_[0].few_bits;
  if (members_.size() > 1) text += fmt::format("; committee of {}", members_.size());
  if (calibration_)
    text += fmt::format(", calibrated on {} frames (level {:g})", calibration_->frames, calibration_->level);
  return text;
}

std::vector<Citation> DeepPotential::citations() const {
  std::vector<Citation> out = members_.empty() ? model_citations() : model_citations(members_[0].engine->model());
  if (!members_.empty() && members_[0].engine->table())
    out.push_back({"Lu2022Compress",
                   "@article{Lu2022Compress, author = {Lu, Denghui and others}, title = {{DP Compress}: A Model "
                   "Compression Scheme for Generating Efficient Deep Potential Models}, journal = {J. Chem. Theory "
                   "Comput.}, volume = {18}, pages = {5559}, year = {2022}, doi = {10.1021/acs.jctc.2c00102}}"});
  return out;
}

}  // namespace cambium::deepmd
