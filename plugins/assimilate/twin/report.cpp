#include "plugins/assimilate/twin/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"

namespace cambium::assimilate {
namespace {

struct Averages {
  Average rmse_a, rmse_f, spread_a, spread_f, innovation, innovation_square, inflation;
  Averages(const Series& s, double from)
      : rmse_a(average(s.time, s.rmse_a, from)), rmse_f(average(s.time, s.rmse_f, from)),
        spread_a(average(s.time, s.spread_a, from)), spread_f(average(s.time, s.spread_f, from)),
        innovation(average(s.time, s.innovation, from)), innovation_square(average(s.time, s.innovation_square, from)),
        inflation(average(s.time, s.inflation, from)) {}
};

std::string with_error(const Average& a) {
  return a.error > 0.0 ? fmt::format("{:.4g} ± {:.1g}", a.mean, a.error) : fmt::format("{:.4g}", a.mean);
}

void write_fields(io::File& file, const std::string& group, const StateSpace& space,
                  const std::vector<double>& values) {
  for (std::size_t f = 0; f < space.fields.size(); ++f) {
    const std::string name = group + "/" + space.fields[f].name;
    io::labelled(
        file.write(name, io::tensor_of(values.data() + f * space.places(),
                                       {static_cast<std::int64_t>(space.nx()), static_cast<std::int64_t>(space.nz())})),
        "", space.fields[f].doc);
    file.attach_scales(name, {"/x", "/z"});
  }
}

void write_series(io::File& file, const std::string& group, const Series& s) {
  const std::pair<const char*, const std::vector<double>*> columns[] = {
      {"rmse_f", &s.rmse_f},      {"rmse_a", &s.rmse_a},         {"spread_f", &s.spread_f},
      {"spread_a", &s.spread_a},  {"innovation", &s.innovation}, {"innovation_square", &s.innovation_square},
      {"inflation", &s.inflation}};
  const char* meanings[] = {"root mean square error of the forecast",
                            "root mean square error of the analysis",
                            "spread of the forecast",
                            "spread of the analysis",
                            "mean innovation over observation error",
                            "mean square innovation over its expected variance",
                            "factor of the anomalies"};
  const char** meaning = meanings;
  for (const auto& [name, values] : columns) {
    io::labelled(file.write(group + "/" + name, *values), "", *meaning++);
    file.attach_scales(group + "/" + name, {"/time"});
  }
}

void write_ranks(io::File& file, const std::string& group, const std::vector<std::int64_t>& counts) {
  std::vector<double> rank(counts.size());
  std::iota(rank.begin(), rank.end(), 0.0);
  io::labelled(file.write(group + "/rank", rank), "", "members below an observation");
  io::labelled(file.write(group + "/rank_histogram", counts), "", "observations of this rank");
  file.attach_scales(group + "/rank_histogram", {group + "/rank"});
}

}  // namespace

std::vector<Result> results_of(const FilterRun& filter, const Setting& setting) {
  const Averages a(filter.series(), setting.burn_in);
  const std::string key = key_of(filter.name()) + "_", label = filter.name() + ": ";
  std::vector<Result> out;
  const auto add = [&](const char* what, const char* words, const Average& value) {
    out.push_back(in_table(key + what, label + words, value.mean));
    if (value.error > 0.0) out.back().uncertainty = value.error;
  };
  add("rmse_a", "error of the analysis", a.rmse_a);
  add("rmse_f", "error of the forecast", a.rmse_f);
  if (filter.keys().ensemble()) {
    add("spread_a", "spread of the analysis", a.spread_a);
    add("spread_f", "spread of the forecast", a.spread_f);
    out.push_back(
        in_table(key + "ratio", label + "spread over error of the analysis", a.spread_a.mean / a.rmse_a.mean));
    add("inflation", "inflation", a.inflation);
  }
  add("innovation", "mean innovation over observation error", a.innovation);
  add("innovation_square", "mean square innovation over its expected variance", a.innovation_square);
  const auto& e = filter.errors();
  const auto& fields = setting.centred.fields;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].follows || !(e.truth.size() > f && e.truth[f] > 0.0)) continue;
    const std::string name = key_of(fields[f].name);
    out.push_back(in_table(key + "error_" + name, label + "relative error of the analysis, " + fields[f].name,
                           std::sqrt(e.analysis[f] / e.truth[f])));
    out.push_back(in_table(key + "forecast_error_" + name, label + "relative error of the forecast, " + fields[f].name,
                           std::sqrt(e.forecast[f] / e.truth[f])));
  }
  return out;
}

std::vector<std::string> table_of(const std::vector<std::unique_ptr<FilterRun>>& filters, const Setting& setting,
                                  double climate) {
  const auto& fields = setting.centred.fields;
  std::string head = fmt::format("{:<18}{:>18}{:>10}{:>10}{:>8}{:>12}", "filter", "analysis RMSE", "forecast", "spread",
                                 "ratio", "innovation");
  for (const auto& field : fields)
    if (fields.size() > 1 && !field.follows) head += fmt::format("{:>10}", field.name + " [%]");
  std::vector<std::string> out{head}, lost;
  for (const auto& filter : filters) {
    const Averages a(filter->series(), setting.burn_in);
    std::string line = fmt::format("{:<18}{:>18}{:>10.4g}", filter->name(), with_error(a.rmse_a), a.rmse_f.mean);
    line += filter->keys().ensemble()
                ? fmt::format("{:>10.4g}{:>8.2f}", a.spread_a.mean, a.spread_a.mean / a.rmse_a.mean)
                : fmt::format("{:>10}{:>8}", "", "");
    line += fmt::format("{:>12.3g}", a.innovation_square.mean);
    const auto& e = filter->errors();
    for (std::size_t f = 0; f < fields.size(); ++f)
      if (fields.size() > 1 && !fields[f].follows && e.truth.size() > f)
        line += fmt::format("{:>10.3g}", 100.0 * std::sqrt(e.analysis[f] / e.truth[f]));
    out.push_back(line);
    if (a.rmse_a.mean > climate && filter->keys().type != FilterKeys::Type::free_run)
      lost.push_back(
          fmt::format("{}: lost the truth: its error exceeds the deviation of the climatology, {:.3g}; use "
                      "more members or inflation, or a shorter localisation",
                      filter->name(), climate));
  }
  out.insert(out.end(), lost.begin(), lost.end());
  return out;
}

void write_report(const std::string& path, const Setting& setting, const Instant& last,
                  const std::vector<std::unique_ptr<FilterRun>>& filters, const Context& context) {
  const auto& space = setting.centred;
  io::write_h5_atomically(path, [&](io::File& file) {
    io::write_provenance(file, io::provenance_of(context));
    io::follow_cf(file);
    io::labelled(file.write("/x", space.x), "", "x");
    io::labelled(file.write("/z", space.z), "", "z");
    io::labelled(file.write("/time", filters.front()->series().time), space.time_unit, "time of the analyses");
    write_fields(file, "/truth", space, last.truth);
    for (const auto& filter : filters) {
      const std::string group = "/" + io::plain_name(filter->name());
      write_series(file, group, filter->series());
      write_fields(file, group + "/analysis", space, filter->mean());
      if (!filter->ranks().empty()) write_ranks(file, group, filter->ranks());
    }
    std::vector<double> x, z, deviation;
    std::vector<std::string> names;
    for (const auto& one : setting.network.list) {
      names.push_back(space.fields[one.field].name);
      x.push_back(one.x), z.push_back(one.z), deviation.push_back(one.deviation);
    }
    io::labelled(file.write("/observations/x", x), "", "position of an observation");
    io::labelled(file.write("/observations/z", z), "", "position of an observation");
    io::labelled(file.write("/observations/deviation", deviation), "", "standard deviation of its error");
    file.write("/observations/field", names);
    if (!last.observed.empty()) io::labelled(file.write("/observations/value", last.observed), "", "at the last time");
  });
}

}  // namespace cambium::assimilate
