#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/deepmd/data/system_files.hpp"
#include "plugins/deepmd/tools/parity.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

namespace {

Errors errors_of(const Parity& p) {
  const auto e = io::errors_of(p.energy), f = io::errors_of(p.force), v = io::errors_of(p.virial);
  return {p.frames, e.rmse, e.mae, f.rmse, f.mae, v.rmse, v.mae};
}

std::string number(double value) { return value < 0.0 ? "-" : fmt::format("{:.4e}", value); }

std::string line(const std::string& name, const Errors& e) {
  return fmt::format("{:>6} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  {}\n", e.frames, number(e.energy_rmse),
                     number(e.energy_mae), number(e.force_rmse), number(e.force_mae), number(e.virial_rmse),
                     number(e.virial_mae), name);
}

}  // namespace

TestReport test_model(const TestOptions& options, const Comm& comm) {
  if (options.systems.empty())
    throw InputError("no system to test the model on; name folders of deepmd/npy data or extended XYZ files");
  TestReport report;
  Parity all;
  report.text = fmt::format("{:>6} {:^23} {:^23} {:^23}\n", "", "energy (eV/atom)", "force (eV/Å)", "virial (eV/atom)");
  report.text += fmt::format("{:>6} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  {}\n", "frames", "RMSE", "MAE", "RMSE",
                             "MAE", "RMSE", "MAE", "system");
  std::vector<std::string> systems;
  SeenSystems seen;
  for (const std::string& path : options.systems)
    for (const std::string& one : systems_at(path))
      if (const auto before = seen.before(one))
        report.text += fmt::format("{} is {}, which is named before, and counts once\n", one, *before);
      else
        systems.push_back(one);
  for (const std::string& path : systems) {
    const LabelledData data = load_labelled(path, options.labels, comm, options.lammps);
    for (const auto& remark : data.remarks()) report.text += remark + "\n";
    const Parity one = parity_of(data, options, options.most_frames, comm);
    all.append(one);
    report.systems.push_back(errors_of(one));
    report.text += line(path, report.systems.back());
    if (!one.remark.empty()) report.text += fmt::format("{}: {}\n", path, one.remark);
  }
  report.all = errors_of(all);
  if (systems.size() > 1) report.text += line("all", report.all);
  if (options.parity.empty()) return report;
  io::on_root(comm, [&] {
    std::filesystem::create_directories(options.parity);
    const auto names = all.write(options.parity, "parity");
    report.text += fmt::format("written in {}: {}\n", options.parity, fmt::join(names, ", "));
  });
  return report;
}

}  // namespace cambium::deepmd
