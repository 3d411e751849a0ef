#include "plugins/superres/tasks/spin_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"

namespace cambium::superres {

void SpinUp::Steady::describe(deck::Describe<Steady>& d) {
  d("run", &Steady::run, "name among 'runs'").example("cold");
  d("start_time", &Steady::from, "time from which on that run counts as steady").formerly("from").non_negative();
}

void SpinUp::Params::describe(deck::Describe<Params>& d) {
  d("runs", &Params::runs, "simulations to compare: a name for the table, and the folder of the stage")
      .example("{cold: \"{run}/simulate\"}");
  d("steady", &Params::steady, "steady-state criterion, which ends the run");
  d("quantities", &Params::quantities, "columns of the simulations' thermo.csv")
      .def({"kinetic_energy", "nusselt_bottom"});
  d("window", &Params::window, "time over which quantities are averaged, since a steady flow still fluctuates")
      .positive()
      .def(10.0);
  d("within", &Params::within, "largest relative deviation of such an average from the steady mean")
      .positive()
      .def(0.1);
  d.check([](const Params& p) {
    return p.runs.contains(p.steady.run) ? std::string() : fmt::format("steady.run '{}' is none of runs", p.steady.run);
  });
}

double time_mean(const Series& series, double from, double to) {
  const auto& [time, value] = series;
  double sum = 0.0, length = 0.0;
  for (std::size_t k = 0; k + 1 < time.size(); ++k) {
    if (time[k] < from || time[k + 1] > to) continue;
    sum += 0.5 * (value[k] + value[k + 1]) * (time[k + 1] - time[k]);
    length += time[k + 1] - time[k];
  }
  return sum / length;
}

std::optional<double> settled_at(const Series& series, double steady, double window, double share) {
  std::optional<double> out;
  for (std::size_t k = 0; k < series.time.size() && series.time[k] + window <= series.time.back(); ++k) {
    const bool near =
        std::fabs(time_mean(series, series.time[k], series.time[k] + window) - steady) <= share * std::fabs(steady);
    if (!near)
      out.reset();
    else if (!out)
      out = series.time[k];
  }
  return out;
}

Series SpinUp::series_of(const std::string& run, const std::string& quantity) const {
  const std::string path = (std::filesystem::path(params_.runs.at(run)) / "thermo.h5").string();
  const auto file = io::File::open(path);
  const auto columns = file.group("thermo");
  if (!columns.exists(quantity))
    throw KeyError(
        "spin_up.quantities", "quantities",
        fmt::format("'{}' has no column '{}'; name among: {}", path, quantity, fmt::join(columns.list(), ", ")));
  Series out{columns.read<std::vector<double>>("time"), columns.read<std::vector<double>>(quantity)};
  const double wanted = run == params_.steady.run ? std::max(params_.steady.from, params_.window) : params_.window;
  if (out.time.size() < 2 || out.time[out.time.size() - 2] < wanted)
    throw KeyError("spin_up.runs.early", deck::child_path("runs", run),
                   fmt::format("run '{}' ends at t = {:g}, too early for averages from {:g} on; let it run longer, or "
                               "take a smaller 'window'",
                               run, out.time.empty() ? 0.0 : out.time.back(), wanted));
  return out;
}

void SpinUp::examine(Check& check) {
  check.will_write({"spin_up.csv", {Origin::stage, "spin_up"}});
  check.context().log.info(fmt::format("spin_up: averages over {:g} within {:g} % of the end of {}, from t = {:g}",
                                       params_.window, 100.0 * params_.within, params_.steady.run,
                                       params_.steady.from));
  for (const auto& [name, folder] : params_.runs) {
    const std::string table = (std::filesystem::path(folder) / "thermo.h5").string();
    const auto promise = check.written_before(table);
    for (const auto& quantity : params_.quantities)
      if (promise && std::count(promise->holds.begin(), promise->holds.end(), quantity) == 0)
        throw KeyError(
            "spin_up.quantities", "quantities",
            fmt::format("'{}' has no column '{}'; name among: {}", table, quantity, fmt::join(promise->holds, ", ")));
      else if (!check.waits(folder))
        series_of(name, quantity);
  }
}

void SpinUp::judge(Context& context) const {
  auto& log = context.log;
  std::vector<io::Column> columns;
  std::vector<std::vector<double>> table;
  std::string head = fmt::format("{:<24}{:>14}", "settled at t =", "steady mean");
  for (const auto& [name, folder] : params_.runs) head += fmt::format("{:>16}", name);
  log.info(head);
  std::map<std::string, double> last;
  for (const auto& quantity : params_.quantities) {
    const double steady = time_mean(series_of(params_.steady.run, quantity), params_.steady.from,
                                    std::numeric_limits<double>::infinity());
    std::string line = fmt::format("{:<24}{:>14.5g}", quantity, steady);
    columns.push_back({quantity + "_steady", "", "mean of the steady state"});
    table.push_back({steady});
    for (const auto& [name, folder] : params_.runs) {
      const auto at = settled_at(series_of(name, quantity), steady, params_.window, params_.within);
      const double time = at.value_or(std::numeric_limits<double>::infinity());
      line += at ? fmt::format("{:>16.4g}", time) : fmt::format("{:>16}", "not yet");
      last[name] = std::max(last[name], time);
      columns.push_back({quantity + "_" + name, "", "time of settling; inf: not yet"});
      table.push_back({time});
    }
    log.info(line);
  }
  for (const auto& [name, time] : last)
    log.info(std::isfinite(time) ? fmt::format("{}: steady after {:.4g} free-fall times", name, time)
                                 : fmt::format("{}: not steady within its time", name));
  io::write_csv((std::filesystem::path(context.run_directory) / "spin_up.csv").string(), columns, table);
}

Task::Outcome SpinUp::run(Context& context) {
  io::on_root(context.comm, [&] { judge(context); });
  return Outcome::done;
}

}  // namespace cambium::superres
