#include "plugins/kinetic/writers/moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/run/trajectory_writers.hpp"
#include "plugins/kinetic/fields/cells_file.hpp"
#include "plugins/kinetic/species/distribution_file.hpp"
#include "plugins/kinetic/writers/sampled.hpp"

namespace cambium::kinetic {

const Vlasov& kinetic_physics(const Physics& physics, const char* writer) {
  const auto* found = dynamic_cast<const Vlasov*>(&physics);
  if (!found)
    throw InputError(
        fmt::format("output '{}' belongs to kinetic physics (vlasov_poisson, vlasov_maxwell, boltzmann_bgk)", writer));
  return *found;
}

namespace {

constexpr std::pair<std::string_view, HigherMoment> higher_names[] = {{"pressure", HigherMoment::pressure},
                                                                      {"heat_flux", HigherMoment::heat_flux},
                                                                      {"third_moment", HigherMoment::third_moment}};

/// Null for another word.
const HigherMoment* higher_moment_named(std::string_view name) {
  for (const auto& [word, moment] : higher_names)
    if (word == name) return &moment;
  return nullptr;
}

}  // namespace

std::string MomentsWriter::Params::problem_of(const Params& p) {
  for (const auto& name : p.also) {
    if (!higher_moment_named(name)) return fmt::format("also has '{}'; known: pressure, heat_flux, third_moment", name);
    if (std::count(p.also.begin(), p.also.end(), name) > 1) return fmt::format("also has '{}' twice", name);
  }
  return io::problem_without_first_frame(p.compress);
}

MomentsWriter::MomentsWriter(const Params& params, Context& context)
    : params_(params), context_(context), file_(context, "conf.h5", params.compress) {
  for (const auto& name : params_.also) also_.push_back(*higher_moment_named(name));
}

void MomentsWriter::attach(const Physics& physics) { physics_ = &kinetic_physics(physics, "moments"); }

std::vector<Expansion> own_expansions_of(const Vlasov& physics) {
  std::vector<Expansion> out;
  for (const auto& s : physics.species()) {
    const int components = s->components();
    for (int c = 0; c < components; ++c) {
      const std::string name = c == 0                ? "density"
                               : c == components - 1 ? "energy"
                                                     : fmt::format("flux_{}", "xyz"[c - 1]);
      out.push_back({s->name() + "/" + name, s->moment(c)});
    }
  }
  for (const auto& s : physics.fluids())
    for (auto& [name, values] : s->output()) out.push_back({s->name() + "/" + name, std::move(values)});
  if (physics.fields())
    for (const auto& field : physics.fields()->output())
      out.push_back({"field/" + field.name,
                     std::vector<double>(field.values, field.values + physics.species().front()->conf().size())});
  return out;
}

std::vector<Expansion> higher_expansions_of(const Vlasov& physics, const std::vector<HigherMoment>& moments) {
  std::vector<Expansion> out;
  for (const auto& s : physics.species())
    for (const HigherMoment moment : moments) {
      const auto names = component_names(moment, s->solver().grid().vdim);
      auto values = higher_moments(*s, moment);
      for (std::size_t c = 0; c < names.size(); ++c) out.push_back({s->name() + "/" + names[c], std::move(values[c])});
    }
  return out;
}

std::vector<std::string> MomentsWriter::names() const {
  std::vector<std::string> out;
  for (const auto& e : own_expansions_of(*physics_)) out.push_back(e.name);
  for (const auto& s : physics_->species())
    for (const HigherMoment moment : also_)
      for (const auto& name : component_names(moment, s->solver().grid().vdim)) out.push_back(s->name() + "/" + name);
  return out;
}

std::string meaning_of(const std::string& name) {
  const auto slash = name.find('/');
  const std::string owner = name.substr(0, slash), what = name.substr(slash + 1);
  if (owner == "field")
    return what.size() == 2 ? std::string(what[0] == 'B' ? "magnetic" : "electric") + " field along " + what[1] : what;
  if (what == "density") return "density of " + owner;
  if (what == "pressure") return "pressure of " + owner;
  if (what == "energy") return "integral of v^2 f of " + owner;
  const std::string axes = what.substr(what.rfind('_') + 1);
  if (what.starts_with("pressure_")) return "pressure tensor of " + owner + ", component " + axes;
  if (what.starts_with("heat_flux_")) return "heat flux of " + owner + " along " + axes;
  if (what.starts_with("third_moment_"))
    return "third moment about the mean velocity of " + owner + ", component " + axes;
  return "flux of " + owner + " along " + what.back();
}

std::vector<SeriesFile::Column> MomentsWriter::columns() const {
  const auto& conf = physics_->species().front()->conf();
  std::vector<SeriesFile::Column> out;
  for (const auto& name : names())
    out.push_back(
        {name, {conf.whole_count(), conf.modes()}, {"cell", "mode"}, meaning_of(name) + ", coefficients of its modes"});
  const std::int64_t parts = conf.highest() + 1;
  for (const auto& name : names()) {
    SeriesFile::Column column{shown_name(name), {}, {}, meaning_of(name)};
    for (int d = conf.dimensions; d-- > 0;) {
      column.shape.push_back(conf.cells[d] * parts);
      column.along.emplace_back(1, "xyz"[d]);
    }
    out.push_back(std::move(column));
  }
  return out;
}

void write_axis(io::File& file, const GridFields::Axis& axis) {
  std::vector<double> centres;
  for (std::int64_t k = 0; k < axis.cells(); ++k) centres.push_back(0.5 * (axis.faces[k] + axis.faces[k + 1]));
  io::labelled(file.write(axis.name, centres), "", axis.name);
}

void MomentsWriter::create() {
  const auto& solver = physics_->species().front()->solver();
  const auto& conf = physics_->species().front()->conf();
  file_.create(columns(), physics_->time_unit(), [&](io::File& file) {
    for (const auto& axis : sampled_axes(conf)) write_axis(file, axis);
    io::write_dimension(file, "cell", conf.whole_count());
    io::write_dimension(file, "mode", conf.modes());
    describe_grid(file, solver.grid(), solver.basis());
    std::vector<int> exponents;
    for (const auto& e : conf.exponents) exponents.insert(exponents.end(), e.begin(), e.end());
    file.set_attribute("conf_exponents", exponents);
  });
}

namespace {

/// Part of a row of the file on a rank: empty if another rank with the same cells writes it.
struct OwnBlocks {
  std::vector<Expansion> own = {};
  SampledBrick brick = {};
  std::vector<CellRun> runs = {};
  int modes = 0;
  std::size_t at = 0;  ///< blocks that next() has given

  bool next(io::Block& block);
};

/// Coefficients by runs of cells, then the sampled fields, a brick at a time.
bool OwnBlocks::next(io::Block& block) {
  const std::size_t coefficients = own.size() * runs.size();
  if (at == coefficients + brick.fields.size()) return false;
  if (at < coefficients) {
    const std::size_t column = at / runs.size();
    const CellRun& run = runs[at % runs.size()];
    block = {static_cast<int>(column),
             {run.whole, 0},
             io::tensor_of(own[column].values.data() + std::ptrdiff_t{run.own} * modes, {run.count, modes})};
  } else {
    const std::size_t field = at - coefficients;
    block = {static_cast<int>(own.size() + field), brick.start, brick.tensor(field)};
  }
  ++at;
  return true;
}

}  // namespace

void MomentsWriter::observe(const State&, std::int64_t step, double time) {
  if (!clock_.due(time)) return;
  const Species& first = *physics_->species().front();
  io::on_root(context_.comm, [&] {
    if (!file_.is_open()) create();
    file_.begin_row(step, time);
  });
  auto higher = higher_expansions_of(*physics_, also_);
  OwnBlocks parts;
  if (first.ranks().column().root()) {  // others have the same cells
    parts.own = own_expansions_of(*physics_);
    std::move(higher.begin(), higher.end(), std::back_inserter(parts.own));
    parts.brick = sampled_brick(first.conf(), parts.own);
    parts.runs = runs_of(first.conf());
    parts.modes = first.conf().modes();
  }
  io::gather_blocks(
      first.ranks().all(), [&](io::Block& block) { return parts.next(block); },
      [&](const io::Block& block) { file_.write(block.array, block.start, block.values); });
  io::on_root(context_.comm, [&] { file_.flush(); });
}

void MomentsWriter::resume(std::int64_t step) { file_.resume(step, columns()); }

}  // namespace cambium::kinetic
