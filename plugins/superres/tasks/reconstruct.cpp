#include "plugins/superres/tasks/reconstruct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/timing.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "plugins/superres/equations/residual.hpp"
#include "plugins/superres/evaluate/decode_windows.hpp"
#include "plugins/superres/evaluate/look_at_fields.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "plugins/superres/samples/trained_flow.hpp"
#include "plugins/superres/samples/write_fields.hpp"

namespace cambium::superres {
namespace {

const std::vector<std::string> names{"p", "b", "u", "w"};
constexpr std::array<int, 3> positions{1, 2, 3};  ///< of b, u, w

const std::string suffix = "_refined";

/// Model of a column NAME_refined; empty for other columns.
std::string unrefined(const std::string& column) {
  return column.ends_with(suffix) ? column.substr(0, column.size() - suffix.size()) : "";
}

int points_of(const std::string& method) { return method == "cubic" ? 4 : 2; }

}  // namespace

void Reconstruct::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data, "HDF5 file of p, b, u, w by (t, x, z)").example("{run}/simulate/fields.h5");
  d("rayleigh", &Params::rayleigh, "Rayleigh number of the data; it determines viscosity and diffusivity").positive();
  d("prandtl", &Params::prandtl, "Prandtl number of the data; default: that of the file, or 1 if it states none")
      .positive();
  d("ratio", &Params::ratio,
    "sampling ratio: grid points of the data per coarse sample along t, x and z; need not be an integer")
      .def({2.0, 4.0, 4.0});
  d("periodic", &Params::periodic,
    "true if x is periodic; default: as in the file or, if it does not state it, detected from the values at both "
    "ends");
  d("methods", &Params::methods,
    "baselines without a model: linear and cubic interpolation; nudged, the solver of rayleigh_benard or cavity, "
    "started from the first coarse frame, with the interpolated misfit of each later one added (the strongest baseline "
    "if the equations are known)")
      .options({"linear", "cubic", "nudged"})
      .def({"linear", "cubic"});
  d("plates", &Params::plates, "methods: nudged: velocity on the plates of the data")
      .options({{"no_slip", Wall::no_slip}, {"free_slip", Wall::free_slip}})
      .def(Wall::no_slip);
  d("models", &Params::models, "trained models that rebuild it: a name for the table, and the model's file").def({});
  d("allow_other_parameters", &Params::allow_other_parameters,
    "true: 'models' may have been trained on flows with another Rayleigh or Prandtl number or other plates; the run "
    "warns of it")
      .def(false);
  d("equations", &Params::equations,
    "equations of the data, whose residuals are reported and which 'refine' minimises, in p, b, u, w, constants and "
    "dt, dx, dz, dxx, dxz, dzz")
      .def({});
  d("constants", &Params::constants, "named constants of the equations").def({});
  d("frames", &Params::frames, "frames to use, from the end").at_least(4).def(200);
  d("refine", &Params::refine, "models whose outputs are also refined, by 'equations' and 'constants' of this stage");
  d("write", &Params::write, "one of the reconstructions as a file");
  d.check([](const Params& p) -> std::string {
    if (p.refine)
      for (const auto& name : p.refine->models)
        if (!p.models.contains(name)) return fmt::format("refine.models '{}' is none of models", name);
    if (p.refine && p.equations.empty())
      return "'refine' descends along the equations of the data, which a model trained on other data need not have: "
             "give 'equations' and their 'constants' in this stage, too";
    if (p.write && p.refine &&
        std::count(p.refine->models.begin(), p.refine->models.end(), unrefined(p.write->method)) > 0)
      return {};
    if (p.write && !p.models.contains(p.write->method) &&
        std::count(p.methods.begin(), p.methods.end(), p.write->method) == 0)
      return fmt::format("write.method '{}' is none of methods and models", p.write->method);
    return {};
  });
  d.check([](const Params& p) {
    for (double r : p.ratio)
      if (!(r >= 1.0)) return "'ratio' must be at least 1 along every axis";
    return "";
  });
}

void Reconstruct::Write::describe(deck::Describe<Write>& d) {
  d("method", &Write::method, "one of 'methods' or a name among 'models'").example("cubic");
  d("file", &Write::file, "name in the folder of the stage").def("reconstruction.h5");
  d("points", &Write::points, "output resolution: number of frames, points along x and along z; any values")
      .example("[41, 512, 128]");
  d("times", &Write::times, "first and last time; those of the data when absent");
  d("heights", &Write::heights,
    "lowest and highest output coordinate along z; default: those of the data. Models with 'plates' predict up to "
    "these");
  d.check([](const Write& w) {
    return *std::min_element(w.points.begin(), w.points.end()) < 1 ? "'points' must be at least 1 along every axis"
                                                                   : "";
  });
  d.check([](const Write& w) { return w.heights && (*w.heights)[0] >= (*w.heights)[1] ? "'heights' must rise" : ""; });
}

Reconstruct::Reconstruct(const Params& params, Context&) : params_(params) {
  for (const auto& text : params_.equations)
    equations_.push_back(parse_equation(text, {names, params_.constants}, static_cast<int>(equations_.size()) + 1));
}

std::vector<std::string> Reconstruct::columns() const {
  auto out = params_.methods;
  for (const auto& [name, file] : params_.models) out.push_back(name);
  if (params_.refine)
    for (const auto& name : params_.refine->models) out.push_back(name + suffix);
  return out;
}

void Reconstruct::examine(Check& check) {
  for (const char* name : {"scores.csv", "frames.h5"}) check.will_write({name, {Origin::stage, "reconstruct"}});
  if (params_.write) check.will_write({params_.write->file, {Origin::fields_of, "reconstruct"}});
  if (!check.stage().tried) return;
  check.context().log.info(fmt::format("reconstruct: 1/{:g} of the frames, 1/{:g} x 1/{:g} of the points, by {}",
                                       params_.ratio[0], params_.ratio[1], params_.ratio[2],
                                       fmt::join(columns(), ", ")));
  for (const auto& [name, file] : params_.models) {
    const std::string key = deck::child_path("models", name);
    check.require_written_by(key, file, {{Origin::network}});
    if (check.waits(file)) continue;
    deck::about_key("superres.reconstruct.model", key, [&] { train::load_artifact(file, check.context()); });
  }
  const auto truth = look_at_fields({params_.data, names, params_.frames, params_.periodic}, check);
  if (!truth) return;
  require_no_mask(*truth);
  flow_of(*truth);
  const auto coarse = coarsened(*truth, params_.ratio);
  if (params_.write) require_writable(coarse);
}

Convected Reconstruct::flow_of(const FieldData& truth) const {
  const auto stated = StatedFlow::of(params_.data);
  stated.require_rayleigh(params_.rayleigh);
  const bool nudges = std::count(params_.methods.begin(), params_.methods.end(), "nudged") > 0;
  if (nudges) stated.require_plane("methods", "leave out 'nudged'");
  if (nudges && truth.period > 0.0) stated.require_plates(name_of(params_.plates));
  return {params_.rayleigh, stated.prandtl_of(params_.prandtl), params_.plates};
}

Reconstruct::Models Reconstruct::loaded(Context& context) const {
  Models out;
  StatedFlow flow = StatedFlow::of(params_.data);
  flow.rayleigh = flow_.rayleigh;
  flow.prandtl = flow_.prandtl;
  for (const auto& [name, file] : params_.models) {
    const auto& model = out.emplace(name, train::load_artifact(file, context)).first->second;
    const auto key = deck::child_path("models", name);
    require_trained_on(model.info, flow, {file, fmt::format("'{}'", params_.data), key, params_.allow_other_parameters},
                       context);
    if (const auto words = train::met_before(model.info, name, params_.data); !words.empty()) context.log.warn(words);
  }
  return out;
}

void Reconstruct::require_no_mask(const FieldData& truth) const {
  if (params_.refine && !truth.hidden.empty())
    throw KeyError(
        "reconstruct.refine.mask", "refine",
        fmt::format("'refine' imposes the equations everywhere in a window, also under the mask of '{}': leave it out",
                    params_.data));
}

FieldData Reconstruct::rebuilt(const std::string& method, const FieldData& coarse, const Places& places, Models& models,
                               Context& context) const {
  if (const auto model = models.find(unrefined(method)); params_.refine && model != models.end())
    return refined(model->first, coarse, places, model->second, context);
  if (const auto model = models.find(method); model != models.end())
    return decoded_in_windows(model->second, params_.models.at(method), coarse, params_.ratio, places);
  if (method == "nudged") return nudged(coarse, places, flow_);
  FieldData out = coarse;
  for (int axis = 0; axis < 3; ++axis) out = resampled(out, axis, places[axis], points_of(method));
  return out;
}

FieldData Reconstruct::refined(const std::string& name, const FieldData& coarse, const Places& places,
                               train::LoadedModel& of, Context& context) const {
  auto* const network = dynamic_cast<Refinable*>(of.network.get());
  if (!network)
    throw KeyError("reconstruct.refine.models", "refine.models",
                   fmt::format("model '{}' is a {}, whose outputs cannot be refined: name a meshfree_flow_net, or "
                               "leave it out of refine.models",
                               name, of.info.type));
  network->refine(&*params_.refine, equations_);
  const double started = wall_seconds();
  const auto tell = [&](std::size_t done, std::size_t all) {
    const double each = (wall_seconds() - started) / static_cast<double>(done);
    context.log.progress(fmt::format("{}{}: window {} of {}, {:.0f} s left", name, suffix, done, all,
                                     each * static_cast<double>(all - done)));
  };
  auto out = decoded_in_windows(of, params_.models.at(name), coarse, params_.ratio, places, tell);
  network->refine(nullptr);
  return out;
}

/// Interpolations are undefined beyond the samples; models check this themselves.
static void require_between(const FieldData& coarse, int axis, const std::array<double, 2>& ends,
                            const std::string& method) {
  const double low = coarse.axis[axis].front(), high = coarse.axis[axis].back(), slack = 1e-9 * (high - low);
  if (ends[0] >= low - slack && ends[1] <= high + slack) return;
  const std::string name = axis == 0 ? "t" : "z";
  throw KeyError("reconstruct.write.outside", "write",
                 fmt::format("'write' requests {0} = {1:g} to {2:g}, the coarse samples of '{3}' span {0} = {4:g} to "
                             "{5:g}, and '{6}' does not extrapolate: choose values within{7}",
                             name, ends[0], ends[1], coarse.file, low, high, method,
                             axis == 2 ? ", or choose a model with 'plates'" : ""));
}

/// Times and heights of the written file.
std::array<std::array<double, 2>, 2> Reconstruct::require_writable(const FieldData& coarse) const {
  const auto& w = *params_.write;
  const auto times = w.times.value_or(std::array{coarse.axis[0].front(), coarse.axis[0].back()});
  const auto heights = w.heights.value_or(std::array{coarse.axis[2].front(), coarse.axis[2].back()});
  if (std::count(params_.methods.begin(), params_.methods.end(), w.method) > 0) {
    require_between(coarse, 0, times, w.method);
    require_between(coarse, 2, heights, w.method);
  }
  return {times, heights};
}

void Reconstruct::write_one(const FieldData& coarse, Models& models, Context& context) const {
  const auto& w = *params_.write;
  const auto [times, heights] = require_writable(coarse);
  const auto places = spanning_places(coarse, w.points, times, heights);
  write_fields((std::filesystem::path(context.run_directory) / w.file).string(),
               rebuilt(w.method, coarse, places, models, context), context);
  context.log.info(
      fmt::format("{}: {} frames of {} x {} points by {}", w.file, w.points[0], w.points[1], w.points[2], w.method));
}

void Reconstruct::print(const std::vector<Scores>& scores, Context& context) const {
  auto& log = context.log;
  auto row = [&](const std::string& name, auto value) {
    std::string line = fmt::format("{:<28}", name);
    for (const auto& s : scores) line += fmt::format("{:>14.5g}", value(s));
    log.info(line);
  };
  std::string head = fmt::format("{:<28}", "");
  for (const auto& method : columns()) head += fmt::format("{:>14}", method);
  log.info(head);
  for (std::size_t f = 0; f < names.size(); ++f)
    row("relative L2 of " + names[f], [&](const Scores& s) { return s.relative_l2[f]; });
  for (std::size_t n = 0; n < 9; ++n)
    row(std::string("NMAE of ") + FlowStatistics::names[n], [&](const Scores& s) { return s.statistics[n].nmae; });
  row("mean R2 of the nine", [](const Scores& s) { return s.mean_r2; });
  const std::string_view way = scores.front().heat.along_x ? "from wall to wall" : "from plate to plate";
  row(fmt::format("Nusselt, {}", way), [](const Scores& s) { return s.nusselt; });
  row("relative divergence", [](const Scores& s) { return s.divergence; });
  row("spectrum, rms of log10", [](const Scores& s) { return s.spectrum; });
  for (std::size_t k = 0; k < equations_.size(); ++k)
    row(fmt::format("residual of equation {}", k + 1), [&](const Scores& s) { return s.residual[k]; });
  row("seconds", [](const Scores& s) { return s.seconds; });
  log.info(fmt::format("the data themselves: Nusselt number {:.5g} ({}), relative divergence {:.3g}",
                       scores.front().true_nusselt, way, scores.front().true_divergence));
}

void Reconstruct::write(const std::vector<Scores>& scores, Context& context) const {
  std::vector<io::Column> columns;
  std::vector<std::vector<double>> table;
  auto column = [&](const std::string& name, const std::string& doc, auto value) {
    columns.push_back({name, "", doc});
    table.emplace_back();
    for (const auto& s : scores) table.back().push_back(value(s));
  };
  for (std::size_t f = 0; f < names.size(); ++f)
    column("rel_l2_" + names[f], "over all points and frames", [&](const Scores& s) { return s.relative_l2[f]; });
  for (std::size_t n = 0; n < 9; ++n) {
    const std::string name = FlowStatistics::names[n];
    column("nmae_" + name, "mean |difference| over mean |truth|",
           [&](const Scores& s) { return s.statistics[n].nmae; });
    column("r2_" + name, "over frames", [&](const Scores& s) { return s.statistics[n].r2; });
  }
  column("mean_r2", "of the nine", [](const Scores& s) { return s.mean_r2; });
  const HeatPath heat = scores.front().heat;
  column("nusselt", fmt::format("1 {} sqrt(Ra Pr) <{} b>", heat.sign < 0.0 ? '-' : '+', heat.along_x ? 'u' : 'w'),
         [](const Scores& s) { return s.nusselt; });
  column("true_nusselt", "of the data", [](const Scores& s) { return s.true_nusselt; });
  column("divergence", "rms of u_x + w_z over rms of all gradients", [](const Scores& s) { return s.divergence; });
  column("true_divergence", "of the data", [](const Scores& s) { return s.true_divergence; });
  column("spectrum", "rms of log10 of the ratio of spectra", [](const Scores& s) { return s.spectrum; });
  for (std::size_t k = 0; k < equations_.size(); ++k)
    column(fmt::format("residual_{}", k + 1), "root mean square, by differences",
           [&](const Scores& s) { return s.residual[k]; });
  column("seconds", "that the reconstruction took", [](const Scores& s) { return s.seconds; });
  io::write_csv((std::filesystem::path(context.run_directory) / "scores.csv").string(), columns, table);
}

/// b at the middle frame, (x, z).
static std::vector<float> middle_frame(const FieldData& data) {
  const auto size = static_cast<std::ptrdiff_t>(data.nx() * data.nz()),
             first = static_cast<std::ptrdiff_t>(data.axis[0].size() / 2) * size;
  return {data.values[1].begin() + first, data.values[1].begin() + first + size};
}

void Reconstruct::write_frames(const FieldData& truth, const std::vector<std::vector<float>>& frames,
                               Context& context) const {
  io::write_h5_atomically((std::filesystem::path(context.run_directory) / "frames.h5").string(), [&](io::File& file) {
    auto methods = columns();
    methods.insert(methods.begin(), "data");
    io::follow_cf(file);
    io::labelled(file.write("method", methods), "", "source of the fields");
    io::labelled(file.write("time", truth.axis[0][truth.axis[0].size() / 2]), "", "time in free-fall times");
    io::labelled(file.write("x", truth.axis[1]), "", "x, in heights of the domain");
    io::labelled(file.write("z", truth.axis[2]), "", "z, upwards, in heights of the domain");
    std::vector<float> all;
    for (const auto& frame : frames) all.insert(all.end(), frame.begin(), frame.end());
    auto b = io::labelled(file.write("b", io::tensor_of(all.data(), {std::ssize(frames), std::ssize(truth.axis[1]),
                                                                     std::ssize(truth.axis[2])})),
                          "", "buoyancy");
    file.attach_scales("b", {"method", "x", "z"});
    io::set_coordinates(b, "time");
    io::write_provenance(file, io::provenance_of(context));
  });
}

Task::Outcome Reconstruct::run(Context& context) {
  io::on_root(context.comm, [&] {
    const auto truth = read_fields(params_.data, names, static_cast<std::size_t>(params_.frames), params_.periodic);
    require_no_mask(truth);
    const auto coarse = coarsened(truth, params_.ratio);
    context.log.info(fmt::format("{}: {} frames of {} x {} points, {}; sampled as {} frames of {} x {}, {}",
                                 params_.data, truth.axis[0].size(), truth.nx(), truth.nz(), ends_of_x(truth),
                                 coarse.axis[0].size(), coarse.nx(), coarse.nz(), spacing_words(truth, coarse)));
    flow_ = flow_of(truth);
    const double viscosity = std::sqrt(flow_.prandtl / flow_.rayleigh),
                 peclet = std::sqrt(flow_.rayleigh * flow_.prandtl);
    std::vector<Scores> scores;
    std::vector<std::vector<float>> frames{middle_frame(truth)};
    Models models = loaded(context);
    for (const auto& method : columns()) {
      const double started = wall_seconds();
      FieldData field = rebuilt(method, coarse, truth.axis, models, context);
      const double seconds = wall_seconds() - started;
      field.hidden = truth.hidden;
      frames.push_back(middle_frame(field));
      scores.push_back(scores_of(truth, field, viscosity, peclet, positions));
      scores.back().seconds = seconds;
      for (const auto& equation : equations_) scores.back().residual.push_back(residual_of(equation, field).rms);
    }
    if (params_.write) write_one(coarse, models, context);
    print(scores, context);
    for (std::size_t k = 0; k < equations_.size(); ++k)
      context.log.info(
          fmt::format("residual of equation {} in the data: {:.3g}", k + 1, residual_of(equations_[k], truth).rms));
    write(scores, context);
    write_frames(truth, frames, context);
    work_ = {std::ssize(truth.axis[0]) * std::ssize(scores), "frame"};
    for (const auto& [name, model] : models)
      for (const auto& citation : model.network->citations()) citations_.push_back(citation);
  });
  return Outcome::done;
}

std::vector<std::string> Reconstruct::files() const {
  std::vector<std::string> out{"scores.csv", "frames.h5"};
  if (params_.write) out.insert(out.begin(), params_.write->file);
  return out;
}

}  // namespace cambium::superres
