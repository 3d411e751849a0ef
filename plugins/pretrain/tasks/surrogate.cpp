#include "plugins/pretrain/tasks/surrogate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/features/kernel_fit.hpp"
#include "plugins/pretrain/features/physics.hpp"
#include "plugins/pretrain/features/scaled_parameters.hpp"
#include "plugins/pretrain/features/table.hpp"

namespace cambium::pretrain {

void Surrogate::Params::describe(deck::Describe<Params>& d) {
  d("archive", &Params::archive, "training archive: runs with their parameters");
  d("runs", &Params::runs,
    "tables of further runs (key 'runs' of a field_archive), by names of your own; a fit with each")
      .def({})
      .example("{novelty: \"{run}/select_runs/made.csv\"}");
  d("test", &Params::test, "test archive: other runs");
}

std::vector<std::pair<std::string, deck::Choice<train::Dataset>>> Surrogate::archives() const {
  std::vector<std::pair<std::string, deck::Choice<train::Dataset>>> out{{"before", params_.archive}};
  for (const auto& [name, file] : params_.runs) {
    auto more = params_.archive;
    more.node = more.node.with("runs", deck::Node::scalar(file, true));
    out.emplace_back(name, std::move(more));
  }
  return out;
}

void Surrogate::examine(Check& check) {
  check.will_write({"errors.csv", {Origin::stage, "surrogate"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  for (const auto& [name, archive] : archives()) context.registry->make<train::Dataset>(archive, context);
  context.registry->make<train::Dataset>(params_.test, context);
  context.log.info(
      fmt::format("fits of {} archives, evaluated on runs of {}", params_.runs.size() + 1, params_.test.type));
}

namespace {

/// Runs: parameters, and physical features averaged over snapshots.
struct Runs {
  Matrix parameters, numbers;
};

Runs runs_of(const Table& given, std::span<const double> units, const std::string& name) {
  const Table table = in_units(given, units);
  if (table.parameters.empty() || table.simulation.empty())
    throw KeyError("surrogate.parameters", name,
                   fmt::format("{}: the runs have no parameters; give the data set 'parameters'", name));
  const Matrix all = physics_features(table.field, table.shape);
  std::map<std::int64_t, std::vector<std::int64_t>> rows;
  for (std::size_t k = 0; k < table.simulation.size(); ++k)
    rows[table.simulation[k]].push_back(static_cast<std::int64_t>(k));
  Runs out{Matrix(std::ssize(rows), table.parameters.columns), Matrix(std::ssize(rows), all.columns)};
  std::int64_t run = 0;
  for (const auto& [number, of] : rows) {
    const auto mean = column_means(rows_of(all, of));
    std::copy(mean.begin(), mean.end(), out.numbers.row(run).begin());
    std::ranges::copy(table.parameters.row(of.front()), out.parameters.row(run++).begin());
  }
  return out;
}

bool alike(const Table& a, const Table& b) {
  const bool fields = a.channel_names.size() < 2 || a.channel_names == b.channel_names;  // one may have any name
  return fields && a.parameter_names == b.parameter_names && a.shape.channels == b.shape.channels &&
         a.shape.cells == b.shape.cells && a.shape.periodic == b.shape.periodic;
}

double root_mean_square(const Matrix& a, const Matrix& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.values.size(); ++k) sum += (a.values[k] - b.values[k]) * (a.values[k] - b.values[k]);
  return std::sqrt(sum / static_cast<double>(a.values.size()));
}

Matrix of_nearest(const Matrix& asked, const Matrix& known, const Matrix& numbers) {
  std::vector<std::int64_t> rows;
  for (std::int64_t k = 0; k < asked.rows; ++k) {
    double least = std::numeric_limits<double>::infinity();
    rows.push_back(0);
    for (std::int64_t j = 0; j < known.rows; ++j) {
      double square = 0.0;
      for (std::int64_t c = 0; c < asked.columns; ++c) square += std::pow(asked(k, c) - known(j, c), 2);
      if (square < least) {
        least = square;
        rows.back() = j;
      }
    }
  }
  return rows_of(numbers, rows);
}

}  // namespace

/// Errors are in units of each feature's standard deviation over the runs of the archive and of the test.
Task::Outcome Surrogate::run(Context& context) {
  results_.clear();
  lines_.clear();
  const auto table = [&](const deck::Choice<train::Dataset>& choice) {
    const auto data = context.registry->make<train::Dataset>(choice, context);
    data->open(context);
    return read_table(*data);
  };
  const Table base = table(params_.archive);
  const auto units = channel_deviations(base);
  const Table judged = table(params_.test);
  const Runs test = runs_of(judged, units, "test");
  Matrix all = runs_of(base, units, "archive").numbers;
  if (!alike(base, judged)) throw InputError("archive and test differ in parameters or shape; give both the same");
  all.values.insert(all.values.end(), test.numbers.values.begin(), test.numbers.values.end());
  all.rows += test.numbers.rows;
  const Matrix truth = standardised(test.numbers, all);
  std::string text = "archive,runs,error,error_of_nearest\n";
  lines_.push_back(fmt::format("{:<18}{:>8}{:>12}{:>16}", "RMS error", "runs", "the fit", "nearest run"));
  for (const auto& [name, archive] : archives()) {
    const Runs known = runs_of(table(archive), units, "archive");
    if (known.parameters.columns != test.parameters.columns)
      throw InputError("archive and test differ in parameters or shape; give both the same");
    const auto [asked, there] = comparable(test.parameters, known.parameters);
    const Matrix numbers = standardised(known.numbers, all);
    const double error = root_mean_square(KernelFit(there, numbers)(asked), truth);
    const double nearest = root_mean_square(of_nearest(asked, there, numbers), truth);
    lines_.push_back(fmt::format("{:<18}{:>8}{:>12.4f}{:>16.4f}", name, known.numbers.rows, error, nearest));
    const auto key = key_of("error_" + name);
    results_.push_back({key, key, error});
    text += fmt::format("{},{},{},{}\n", name, known.numbers.rows, number_text(error), number_text(nearest));
  }
  io::on_root(context.comm, [&] {
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "errors.csv").string(), text);
  });
  work_ = {test.numbers.rows, "run"};
  return Outcome::done;
}

}  // namespace cambium::pretrain
