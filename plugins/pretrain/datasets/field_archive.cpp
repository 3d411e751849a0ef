#include "plugins/pretrain/datasets/field_archive.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/pretrain/archive/run_table.hpp"

namespace cambium::pretrain {

static std::string archive_problem(const FieldArchive::Params& p) {
  if (p.files.empty() == !p.made_up) return "give one of: files, synthetic";
  if (!p.files.empty() && p.fields.empty() && p.array.empty()) return "give one of: fields, array";
  if (p.times && !((*p.times)[1] > (*p.times)[0]))
    return fmt::format("times goes from {:g} to {:g}; give an earlier and a later one", (*p.times)[0], (*p.times)[1]);
  if (!p.runs.empty() && (!p.array.empty() || p.made_up))
    return "runs adds to files of fields; remove 'runs', or take files and fields";
  if (!p.moments.empty() && !p.without_moments.empty()) return "give one of: snapshots, exclude_snapshots";
  for (const auto m : p.moments.empty() ? p.without_moments : p.moments)
    if (m < 0) return fmt::format("snapshots count from 0, but {} is named; give indices of snapshots", m);
  for (std::size_t k = 0; k < p.fields.size(); ++k)
    if (std::find(p.fields.begin(), p.fields.begin() + static_cast<std::ptrdiff_t>(k), p.fields[k]) !=
        p.fields.begin() + static_cast<std::ptrdiff_t>(k))
      return fmt::format("fields names {} twice; name each once", p.fields[k]);
  if (!p.array.empty() || p.made_up) return "";
  for (const auto& [name, values] : p.parameters)
    if (values.size() != p.files.size())
      return fmt::format("parameters.{} has {} values for {} files; give one for each", name, values.size(),
                         p.files.size());
  return "";
}

void FieldArchive::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files, "files of the output fields, one for each run")
      .def({})
      .example("[\"{run}/simulate/fields.h5\"]");
  d("fields", &Params::fields, "names of the quantities, which become channels").def({}).example("[b, u, w]");
  d("array", &Params::array, "array over simulations, snapshots and axes, instead of fields").def("");
  d("periodic", &Params::periodic,
    "periodicity of each axis, 1 or 0; default: as in files of fields, and 0 for an array")
      .def({});
  d("parameters", &Params::parameters,
    "parameters of the simulations, one value for each file (or each simulation of an array)")
      .def({})
      .example("{rayleigh: [1e5, 1e6]}");
  d("runs", &Params::runs,
    "table of further runs with their parameters, written by the stage select_runs; used with files")
      .def("")
      .example("\"{run}/select_runs/made.csv\"");
  d("synthetic", &Params::made_up, "drifting rolls, instead of files").formerly("made_up");
  d("pair_offset", &Params::apart, "offset between the two fields of a positive pair, in snapshots; 0: no pairs")
      .formerly("apart")
      .at_least(0)
      .def(0);
  d("times", &Params::times, "span of times that is taken; all when absent").example("[10, 50]");
  d("snapshots", &Params::moments, "indices of the selected snapshots, from 0 in the span of times; default: all")
      .formerly("moments")
      .def({})
      .example("[4]");
  d("exclude_snapshots", &Params::without_moments, "indices of the excluded snapshots")
      .formerly("without_moments")
      .def({})
      .example("[4]");
  d("anomalies", &Params::anomalies,
    "anomalies: from each field the mean over the runs of this data set at the same snapshot is subtracted")
      .def(false);
  d.check(archive_problem);
}

/// Snapshots in a time range.
static Archive within(Archive archive, double first, double last) {
  const auto numbers = archive.layout.numbers();
  for (auto& simulation : archive.simulations) {
    Simulation kept{simulation.source, {}, simulation.parameters, {}};
    for (std::size_t m = 0; m < simulation.time.size(); ++m) {
      if (simulation.time[m] < first || simulation.time[m] > last) continue;
      kept.time.push_back(simulation.time[m]);
      const auto from = simulation.values.begin() + static_cast<std::ptrdiff_t>(m) * numbers;
      kept.values.insert(kept.values.end(), from, from + numbers);
    }
    if (kept.time.empty())
      throw KeyError("field_archive.times", "times",
                     fmt::format("{} has no snapshot between {:g} and {:g}; change 'times'", kept.source, first, last));
    simulation = std::move(kept);
  }
  return archive;
}

/// Subtracts the mean over simulations from the fields, for each time.
static void subtract_means(Archive& archive) {
  const auto numbers = static_cast<std::size_t>(archive.layout.numbers());
  std::size_t moments = 0;
  for (const auto& s : archive.simulations) moments = std::max(moments, s.time.size());
  for (std::size_t m = 0; m < moments; ++m) {
    std::vector<double> mean(numbers, 0.0);
    std::vector<float*> fields;
    for (auto& s : archive.simulations)
      if (m < s.time.size()) fields.push_back(s.values.data() + m * numbers);
    for (std::size_t k = 0; k < numbers; ++k) {
      for (const auto* field : fields) mean[k] += static_cast<double>(field[k]) / static_cast<double>(fields.size());
      for (auto* field : fields) field[k] = static_cast<float>(static_cast<double>(field[k]) - mean[k]);
    }
  }
}

bool FieldArchive::taken(std::int64_t moment) const {
  const auto named = [moment](const std::vector<std::int64_t>& list) {
    return std::find(list.begin(), list.end(), moment) != list.end();
  };
  return params_.moments.empty() ? !named(params_.without_moments) : named(params_.moments);
}

FieldSource FieldArchive::source() const {
  FieldSource out{params_.files, params_.fields, params_.array, params_.periodic, 0.0, 0.0};
  if (!params_.runs.empty())
    for (const auto& file : read_runs(params_.runs).files) out.files.push_back(file);
  if (params_.times) {
    out.first_time = (*params_.times)[0];
    out.last_time = (*params_.times)[1];
  }
  return out;
}

Archive FieldArchive::archive() const {
  if (params_.made_up && params_.times)
    return within(make_fields(*params_.made_up), (*params_.times)[0], (*params_.times)[1]);
  if (params_.made_up) return make_fields(*params_.made_up);
  Archive out = read_fields(source());
  auto parameters = params_.parameters;
  if (!params_.runs.empty()) {
    const RunTable runs = read_runs(params_.runs);
    for (auto& [name, values] : parameters) {
      const auto found = runs.parameters.find(name);
      if (found == runs.parameters.end())
        throw KeyError("field_archive.parameters.column", "parameters",
                       fmt::format("'{}' has no column '{}'; give 'parameters' those that select_runs chose among",
                                   params_.runs, name));
      values.insert(values.end(), found->second.begin(), found->second.end());
    }
  }
  for (const auto& [name, values] : parameters) {
    if (values.size() != out.simulations.size())
      throw KeyError("field_archive.parameters.count", deck::child_path("parameters", name),
                     fmt::format("parameters.{} has {} values, but '{}' holds {} simulations; give one for each", name,
                                 values.size(), params_.files.front(), out.simulations.size()));
    out.parameters.push_back(name);
    for (std::size_t s = 0; s < values.size(); ++s) out.simulations[s].parameters.push_back(values[s]);
  }
  return out;
}

/// InputError for a named snapshot that no run has.
void FieldArchive::require_named() const {
  std::int64_t most = 0;
  for (const auto& simulation : archive_->simulations) most = std::max<std::int64_t>(most, std::ssize(simulation.time));
  for (const auto* list : {&params_.moments, &params_.without_moments})
    for (const auto m : *list)
      if (m >= most)
        throw KeyError("field_archive.moments", list == &params_.moments ? "snapshots" : "exclude_snapshots",
                       fmt::format("{} names {}, but no run has more than {} snapshots, counted from 0; change it",
                                   list == &params_.moments ? "snapshots" : "exclude_snapshots", m, most));
}

void FieldArchive::open(Context& context) {
  moments_.clear();
  io::on_every_rank(context.comm, [&] {
    Archive all = archive();
    if (params_.anomalies) subtract_means(all);
    archive_ = std::make_shared<const Archive>(std::move(all));
  });
  for (std::size_t s = 0; s < archive_->simulations.size(); ++s) {
    const auto& simulation = archive_->simulations[s];
    std::vector<std::int64_t> moments;
    for (std::int64_t m = 0; m < std::ssize(simulation.time); ++m)
      if (taken(m)) moments.push_back(m);
    const auto count = std::ssize(moments);
    if (count == 0)
      throw KeyError(
          "field_archive.moments.none", params_.moments.empty() ? "exclude_snapshots" : "snapshots",
          fmt::format("'{}' has {} snapshots, none of which is taken; change 'snapshots' or 'exclude_snapshots'",
                      simulation.source, simulation.time.size()));
    if (params_.apart >= count)
      throw KeyError("field_archive.apart", "pair_offset",
                     fmt::format("'{}' has {} snapshots, so that none has a positive {} later; take a smaller "
                                 "'pair_offset', or leave the run out",
                                 simulation.source, count, params_.apart));
    for (std::int64_t m = 0; m + params_.apart < count; ++m) {
      const auto at = static_cast<std::size_t>(m);
      Moment moment{static_cast<std::int64_t>(s), moments[at], {}};
      if (params_.apart > 0) moment.partner = moments[at + static_cast<std::size_t>(params_.apart)];
      moments_.push_back(moment);
    }
  }
  require_named();
  const auto& layout = archive_->layout;
  context.log.info(fmt::format("{} snapshots of {} simulations, {} quantities on {} cells{}", moments_.size(),
                               archive_->simulations.size(), layout.channels.size(), layout.cells(),
                               params_.apart > 0 ? fmt::format(", each with the one {} later", params_.apart) : ""));
}

std::vector<train::SamplePtr> FieldArchive::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(field_sample(id, moments_.at(id), archive_));
  return out;
}

}  // namespace cambium::pretrain
