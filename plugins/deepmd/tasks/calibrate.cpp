#include "plugins/deepmd/tasks/calibrate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "plugins/deepmd/model/citations.hpp"

namespace cambium::deepmd {

void Calibrate::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file whose forces are in use, .dp, .yaml or .pb").example("model_1/model.dp");
  d("committee", &Params::committee, "further models of the same species, in the order of the potential's committee")
      .example("[model_2/model.dp, model_3/model.dp]");
  d("systems", &Params::systems,
    "labelled frames that no model was trained on: systems of DeePMD-kit (folders, FILE.hdf5#/GROUP), extended XYZ "
    "files")
      .example("[label/validation]");
  d("test", &Params::test, "further such frames, on which the coverage is reported; default: none").def({});
  d("level", &Params::level, "fraction of force errors that the calibrated bound covers")
      .greater_than(0.0)
      .less_than(1.0)
      .def(0.9);
  d("labels", &Params::labels, "names and units of the labels in extended XYZ files");
  d("precision", &Params::precision, "float64, or mixed: networks in float32")
      .options({{"float64", EnginePrecision::float64}, {"mixed", EnginePrecision::mixed}})
      .def(EnginePrecision::float64);
  d.check([](const Params& p) -> std::string {
    if (p.committee.empty()) return "committee names no model; a deviation takes two models or more";
    return p.systems.empty() ? "systems names no labelled frames to calibrate on" : "";
  });
}

std::vector<std::string> Calibrate::models() const {
  std::vector<std::string> out = {params_.model};
  out.insert(out.end(), params_.committee.begin(), params_.committee.end());
  return out;
}

void Calibrate::examine(Check& check) {
  check.will_write({"calibration.yaml", {Origin::stage, "calibrate"}});
  if (!params_.test.empty()) check.will_write({"coverage.csv", {Origin::stage, "calibrate"}});
  if (!check.stage().tried) return;
  check.context().log.info(fmt::format("calibrate: committee of {} on {} system(s), level {:g}", models().size(),
                                       params_.systems.size(), params_.level));
  check.require_written_by("model", params_.model, {{Origin::model_of, "deep_potential"}});
  for (std::size_t k = 0; k < params_.committee.size(); ++k)
    check.require_written_by(deck::child_path("committee", k), params_.committee[k],
                             {{Origin::model_of, "deep_potential"}});
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {{"systems", &params_.systems},
                                                                           {"test", &params_.test}};
  for (const auto& [key, paths] : lists)
    for (std::size_t k = 0; k < paths->size(); ++k)
      check.require_written_by(deck::child_path(key, k), (*paths)[k], {{Origin::stage, "label"}});
  check.reads(check.stage().keys["systems"]);
  check.reads(check.stage().keys["test"]);
}

std::vector<HeldOutFrame> held_out_frames(std::span<const Parity> of_model) {
  std::vector<HeldOutFrame> out;
  const io::ParityQuantity& first = of_model.front().force;
  const auto models = static_cast<double>(of_model.size());
  std::int64_t frame = -1;
  for (std::size_t row = 0; row < first.rows(); ++row) {
    if (first.place[2 * row] != frame) out.emplace_back();
    frame = first.place[2 * row];
    double error = 0.0, variance = 0.0;
    for (std::size_t q = 3 * row; q < 3 * row + 3; ++q) {
      double mean = 0.0;
      for (const Parity& p : of_model) mean += p.force.predicted[q] / models;
      for (const Parity& p : of_model) variance += std::pow(p.force.predicted[q] - mean, 2) / models;
      error += std::pow(first.predicted[q] - first.reference[q], 2);
    }
    out.back().error.push_back(std::sqrt(error));
    out.back().deviation.push_back(std::sqrt(variance));
  }
  return out;
}

std::vector<HeldOutFrame> Calibrate::held_out(const std::vector<std::string>& systems, const char* key,
                                              Context& context) const {
  std::vector<HeldOutFrame> out;
  for (std::size_t k = 0; k < systems.size(); ++k)
    deck::about_key("calibrate.frames", deck::child_path(key, k), [&] {
      const LabelledData data = load_labelled(systems[k], params_.labels, context.comm);
      for (const auto& remark : data.remarks()) context.log.info(remark);
      std::vector<Parity> of_model;
      for (const std::string& model : models()) {
        ToolOptions options;
        options.model = model;
        options.precision = params_.precision;
        of_model.push_back(parity_of(data, options, 0, context.comm));
      }
      if (of_model.front().force.rows() == 0)
        throw InputError(fmt::format("'{}' has no forces to calibrate on", systems[k]));
      for (HeldOutFrame& frame : held_out_frames(of_model)) out.push_back(std::move(frame));
    });
  return out;
}

Coverage coverage_of(std::span<const HeldOutFrame> frames, const Calibration& calibration) {
  Coverage out;
  const double wide = gaussian_bound(1.0, calibration.level);
  for (const HeldOutFrame& frame : frames) {
    const double share = 1.0 / (static_cast<double>(frames.size()) * static_cast<double>(frame.error.size()));
    for (std::size_t i = 0; i < frame.error.size(); ++i) {
      const double bound = calibration.curve(frame.deviation[i]);
      out.deviation += frame.error[i] <= frame.deviation[i] ? share : 0.0;
      out.gaussian += frame.error[i] <= wide * frame.deviation[i] ? share : 0.0;
      out.calibrated += frame.error[i] <= bound ? share : 0.0;
      out.mean_bound += share * bound;
    }
  }
  return out;
}

/// Reports the coverage of the bound on frames that it was not calibrated on.
void Calibrate::state_coverage(const Calibration& calibration, Context& context) {
  std::vector<HeldOutFrame> all;
  std::string table =
      "system,frames,level,coverage_calibrated,coverage_deviation,coverage_gaussian,mean_bound (eV/angstrom)\n";
  context.log.info(fmt::format("{:>6} {:>10} {:>10} {:>10} {:>12}  system", "frames", "calibrated", "deviation",
                               "gaussian", "mean bound"));
  context.log.info(
      fmt::format("{:>6} {:^32} {:>12}  level {:g}", "", "fraction of errors within", "eV/Å", calibration.level));
  const auto add = [&](const std::string& name, std::span<const HeldOutFrame> frames) {
    const Coverage c = coverage_of(frames, calibration);
    context.log.info(fmt::format("{:>6} {:>10.4f} {:>10.4f} {:>10.4f} {:>12.4g}  {}", frames.size(), c.calibrated,
                                 c.deviation, c.gaussian, c.mean_bound, name));
    table += fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", io::csv_cell(name), frames.size(), calibration.level,
                         c.calibrated, c.deviation, c.gaussian, c.mean_bound);
    return c;
  };
  for (const std::string& path : params_.test) {
    const auto frames = held_out({path}, "test", context);
    add(path, frames);
    all.insert(all.end(), frames.begin(), frames.end());
  }
  const Coverage total = add("all", all);
  results_.push_back({"coverage", "coverage of the force error: calibrated", total.calibrated});
  results_.push_back({"coverage_deviation", "coverage of the force error: deviation", total.deviation});
  results_.push_back({"coverage_gaussian", "coverage of the force error: gaussian", total.gaussian});
  io::on_root(context.comm, [&] { io::write_file_atomically(context.run_directory + "/coverage.csv", table); });
  files_.push_back("coverage.csv");
}

Task::Outcome Calibrate::run(Context& context) {
  const auto frames = held_out(params_.systems, "systems", context);
  Calibration calibration{params_.level, std::ssize(frames), 0, {}, {}};
  for (const HeldOutFrame& frame : frames) calibration.atoms += std::ssize(frame.error);
  calibration.curve = deck::about_key("calibrate.frames.few", "systems",
                                      [&] { return calibrated(frames, params_.level, context.seed); });
  for (const std::string& model : models()) calibration.models.push_back(checksum_of(model));
  io::on_root(context.comm,
              [&] { io::write_file_atomically(context.run_directory + "/calibration.yaml", calibration.to_yaml()); });
  files_ = {"calibration.yaml"};
  work_ = {calibration.frames, "frame"};
  results_.push_back({"calibration_factor", "calibration: bound over deviation, at the largest deviation",
                      calibration.curve.bound.back() / calibration.curve.deviation.back()});
  if (!params_.test.empty()) state_coverage(calibration, context);
  return Outcome::done;
}

std::vector<Citation> Calibrate::citations() const {
  auto out = model_citations();
  out.push_back(
      {"Dunn2023Hierarchical",
       "@article{Dunn2023Hierarchical, author = {Dunn, Robin and Wasserman, Larry and Ramdas, Aaditya}, title "
       "= {Distribution-Free Prediction Sets for Two-Layer Hierarchical Models}, journal = {J. Am. Stat. "
       "Assoc.}, volume = {118}, pages = {2491}, year = {2023}}"});
  return out;
}

}  // namespace cambium::deepmd
