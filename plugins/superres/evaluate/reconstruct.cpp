#include "plugins/superres/evaluate/reconstruct.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/agree.hpp"
#include "core/io/csv.hpp"
#include "plugins/superres/evaluate/resampling.hpp"

namespace cambium::superres {
namespace {

const std::vector<std::string> names{"p", "b", "u", "w"};
constexpr std::array<int, 3> positions{1, 2, 3};  ///< of b, u, w

int points_of(const std::string& method) { return method == "cubic" ? 4 : 2; }

}  // namespace

void Reconstruct::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data, "HDF5 file of p, b, u, w by (t, x, z); x periodic").example("{run}/simulate/fields.h5");
  d("rayleigh", &Params::rayleigh, "of the data; gives viscosity and diffusivity").positive();
  d("prandtl", &Params::prandtl, "of the data").positive().def(1.0);
  d("ratio", &Params::ratio, "points of the data per coarse sample along t, x and z; need not be whole").def({2.0, 4.0, 4.0});
  d("methods", &Params::methods, "how it is rebuilt").options({"linear", "cubic"}).def({"linear", "cubic"});
  d("frames", &Params::frames, "frames to use, from the end").at_least(4).def(200);
  d.check([](const Params& p) {
    for (double r : p.ratio)
      if (!(r >= 1.0)) return "'ratio' must be at least 1 along every axis";
    return "";
  });
}

Reconstruct::Reconstruct(const Params& params, Context&) : params_(params) {}

void Reconstruct::check(Context& context) {
  context.log.info(fmt::format("reconstruct: 1/{:g} of the frames, 1/{:g} x 1/{:g} of the points, by {}", params_.ratio[0],
                               params_.ratio[1], params_.ratio[2], fmt::join(params_.methods, ", ")));
}

void Reconstruct::print(const std::vector<Scores>& scores, Context& context) const {
  auto& log = context.log;
  auto row = [&](const std::string& name, auto value) {
    std::string line = fmt::format("{:<28}", name);
    for (const auto& s : scores) line += fmt::format("{:>14.5g}", value(s));
    log.info(line);
  };
  std::string head = fmt::format("{:<28}", "");
  for (const auto& method : params_.methods) head += fmt::format("{:>14}", method);
  log.info(head);
  for (std::size_t f = 0; f < names.size(); ++f) row("relative L2 of " + names[f], [&](const Scores& s) { return s.relative_l2[f]; });
  for (std::size_t n = 0; n < 9; ++n)
    row(std::string("NMAE of ") + FlowStatistics::names[n], [&](const Scores& s) { return s.statistics[n].nmae; });
  row("mean R2 of the nine", [](const Scores& s) { return s.mean_r2; });
  row("Nusselt number", [](const Scores& s) { return s.nusselt; });
  row("relative divergence", [](const Scores& s) { return s.divergence; });
  row("spectrum, rms of log10", [](const Scores& s) { return s.spectrum; });
  log.info(fmt::format("the data themselves: Nusselt number {:.5g}, relative divergence {:.3g}", scores.front().true_nusselt,
                       scores.front().true_divergence));
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
    column("nmae_" + name, "mean |difference| over mean |truth|", [&](const Scores& s) { return s.statistics[n].nmae; });
    column("r2_" + name, "over frames", [&](const Scores& s) { return s.statistics[n].r2; });
  }
  column("mean_r2", "of the nine", [](const Scores& s) { return s.mean_r2; });
  column("nusselt", "1 + sqrt(Ra Pr) <w b>", [](const Scores& s) { return s.nusselt; });
  column("true_nusselt", "of the data", [](const Scores& s) { return s.true_nusselt; });
  column("divergence", "rms of u_x + w_z over rms of all gradients", [](const Scores& s) { return s.divergence; });
  column("true_divergence", "of the data", [](const Scores& s) { return s.true_divergence; });
  column("spectrum", "rms of log10 of the ratio of spectra", [](const Scores& s) { return s.spectrum; });
  io::write_csv((std::filesystem::path(context.run_directory) / "scores.csv").string(), columns, table);
}

Task::Outcome Reconstruct::run(Context& context) {
  io::on_root(context.comm, [&] {
    const auto truth = read_fields(params_.data, names, static_cast<std::size_t>(params_.frames), true);
    const auto coarse = coarsened(truth, params_.ratio);
    context.log.info(fmt::format("{}: {} frames of {} x {} points, seen as {} frames of {} x {}", params_.data, truth.axis[0].size(),
                                 truth.nx(), truth.nz(), coarse.axis[0].size(), coarse.nx(), coarse.nz()));
    const double viscosity = std::sqrt(params_.prandtl / params_.rayleigh), peclet = std::sqrt(params_.rayleigh * params_.prandtl);
    std::vector<Scores> scores;
    for (const auto& method : params_.methods) {
      FieldData rebuilt = coarse;
      for (int axis = 0; axis < 3; ++axis) rebuilt = resampled(rebuilt, axis, truth.axis[axis], points_of(method));
      scores.push_back(scores_of(truth, rebuilt, viscosity, peclet, positions));
    }
    print(scores, context);
    write(scores, context);
  });
  context.log.info(fmt::format("written in {}: scores.csv", context.run_directory));
  return Outcome::done;
}

}  // namespace cambium::superres
