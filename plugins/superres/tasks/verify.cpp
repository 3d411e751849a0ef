#include "plugins/superres/tasks/verify.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/csv.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "plugins/superres/equations/residual.hpp"
#include "plugins/superres/evaluate/look_at_fields.hpp"

namespace cambium::superres {

void Verify::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data, "HDF5 file of fields by (t, x, z)").example("{run}/simulate/fields.h5");
  d("fields", &Params::fields, "names of the fields in /tasks").def({"p", "b", "u", "w"});
  d("equations", &Params::equations, "equations in fields, constants and the derivatives dt, dx, dz, dxx, dxz, dzz");
  d("constants", &Params::constants, "named constants of the equations").def({});
  d("tolerance", &Params::tolerance, "largest residual of the data, as a fraction of the largest term")
      .positive()
      .def(0.05);
  d("frames", &Params::frames, "number of frames to evaluate, from the end").at_least(1).def(7);
  d("periodic", &Params::periodic,
    "true if x is periodic; default: as in the file or, if it does not state it, detected from the values at both "
    "ends");
}

Verify::Verify(const Params& params, Context&) : params_(params) {
  const Vocabulary vocabulary{params_.fields, params_.constants};
  int number = 0;
  for (const auto& text : params_.equations) equations_.push_back(parse_equation(text, vocabulary, ++number));
}

void Verify::examine(Check& check) {
  check.will_write({"residuals.csv", {Origin::stage, "verify"}});
  for (const auto& equation : equations_) {
    std::string terms = equation.terms.size() == 1 ? "term" : "terms";
    check.context().log.info(fmt::format("verify: {} ({} {}, {} derivatives)", equation.text, equation.terms.size(),
                                         terms, equation.derivatives().size()));
  }
  look_at_fields({params_.data, params_.fields, params_.frames, params_.periodic}, check);
}

Task::Outcome Verify::run(Context& context) {
  auto& log = context.log;
  std::string refused;
  io::on_root(context.comm, [&] {
    const auto data =
        read_fields(params_.data, params_.fields, static_cast<std::size_t>(params_.frames), params_.periodic);
    log.info(fmt::format("{}: {} frames from t = {:g} to {:g}, {} x {} points; {}", params_.data, data.axis[0].size(),
                         data.axis[0].front(), data.axis[0].back(), data.nx(), data.nz(), ends_of_x(data)));
    work_ = {std::ssize(data.axis[0]), "frame"};
    std::vector<std::vector<double>> table(3);
    log.info(fmt::format("{:>8}{:>14}{:>14}{:>22}", "equation", "rms", "of largest", "with x, z exchanged"));
    for (std::size_t k = 0; k < equations_.size(); ++k) {
      const auto verdict = verify(equations_[k], data);
      double exchanged = verdict.residual.relative();
      for (const auto& e : verdict.exchanges)
        if (e.first == 1) exchanged = e.residual.relative();
      log.info(fmt::format("{:>8}{:>14.3e}{:>14.3e}{:>22.3e}", k + 1, verdict.residual.rms, verdict.residual.relative(),
                           exchanged));
      table[0].push_back(verdict.residual.rms);
      table[1].push_back(verdict.residual.relative());
      table[2].push_back(exchanged);
      const auto reason = refusal(verdict, params_.tolerance, static_cast<int>(k) + 1);
      if (!reason.empty()) refused += (refused.empty() ? "" : "\n") + reason;
    }
    io::write_csv((std::filesystem::path(context.run_directory) / "residuals.csv").string(),
                  {{"rms", "", ""},
                   {"relative", "", "fraction of the largest term"},
                   {"exchanged", "", "with x and z exchanged"}},
                  table);
    if (!refused.empty()) throw InputError(refused);
  });
  log.info("the data obey every equation");
  return Outcome::done;
}

}  // namespace cambium::superres
