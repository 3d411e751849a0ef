#include "my_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/csv.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"

namespace cambium::my_task {

void MyTask::Params::describe(deck::Describe<Params>& d) {
  d("table", &Params::table, "CSV file of an earlier stage").example("\"{run}/simulate/thermo.csv\"");
  d("column", &Params::column, "its column, by name").example("temperature");
  d("blocks", &Params::blocks, "blocks that are taken for independent").at_least(2).def(10);
}

BlockMean block_mean(std::span<const double> values, int blocks) {
  BlockMean out;
  out.length = values.size() / static_cast<std::size_t>(blocks);
  if (out.length == 0)
    throw InputError(
        fmt::format("{} values are too few for {} blocks; give fewer blocks or a longer table", values.size(), blocks));
  const auto used = values.last(out.length * static_cast<std::size_t>(blocks));
  out.mean = std::accumulate(used.begin(), used.end(), 0.0) / static_cast<double>(used.size());
  for (int b = 0; b < blocks; ++b) {
    const auto block = used.subspan(static_cast<std::size_t>(b) * out.length, out.length);
    const double away = std::accumulate(block.begin(), block.end(), 0.0) / static_cast<double>(out.length) - out.mean;
    out.error += away * away;
  }
  out.error = std::sqrt(out.error / (blocks * (blocks - 1.0)));
  return out;
}

namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

struct Column {
  std::string unit;
  std::vector<double> values;
};

/// Reads a column of a table: "step,time [ps],temperature [K]" and rows of values.
Column read_column(const std::string& path, const std::string& name) {
  io::TextLines file(path);
  file.next();
  std::vector<std::string> names, units;
  for (const auto& heading : cells(file.line())) {
    const auto bracket = heading.find(" [");
    names.push_back(heading.substr(0, bracket));
    units.push_back(bracket == std::string::npos ? "" : heading.substr(bracket + 2, heading.size() - bracket - 3));
  }
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) file.fail(fmt::format("there is no column '{}'{}", name, suggestion(name, names)));
  const auto place = static_cast<std::size_t>(found - names.begin());
  Column out{units[place], {}};
  while (file.next()) {
    const auto row = cells(file.line());
    if (row.size() != names.size()) file.fail(fmt::format("expected {} values, found {}", names.size(), row.size()));
    out.values.push_back(file.real(row[place], name));
  }
  return out;
}

}  // namespace

void MyTask::examine(Check& check) {
  check.will_write({"my_task.csv", {Origin::stage, "my_task"}});
  check.context().log.info(
      fmt::format("my_task: mean of '{}' in {}, {} blocks", params_.column, params_.table, params_.blocks));
}

/// Rank 0 reads and writes; an error there is an error on all.
Task::Outcome MyTask::run(Context& context) {
  io::on_root(context.comm, [&] {
    const Column column = read_column(params_.table, params_.column);
    const BlockMean m = block_mean(column.values, params_.blocks);
    io::write_csv(context.run_directory + "/my_task.csv",
                  {{"mean", column.unit, ""}, {"error", column.unit, ""}, {"block_length", "rows", ""}},
                  {{m.mean}, {m.error}, {static_cast<double>(m.length)}});
    results_ = {{key_of(params_.column), "mean of " + params_.column, m.mean, column.unit, m.error,
                 fmt::format("{} blocks of {} rows", params_.blocks, m.length)}};
    work_ = {std::ssize(column.values), "row"};
  });
  return Outcome::done;
}

std::vector<Citation> MyTask::citations() const {
  return {{"FlyvbjergPetersen1989",
           "@article{FlyvbjergPetersen1989,\n  author = {Flyvbjerg, H. and Petersen, H. G.},\n  title = {Error "
           "estimates on "
           "averages of correlated data},\n  journal = {The Journal of Chemical Physics},\n  volume = {91},\n  pages = "
           "{461},\n  year = {1989}\n}\n"}};
}

}  // namespace cambium::my_task
