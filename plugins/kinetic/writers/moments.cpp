#include "plugins/kinetic/writers/moments.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/driver/writers/trajectory_writers.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/run/provenance.hpp"
#include "core/parallel/agree.hpp"
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
  if (physics.fields())
    for (const auto& field : physics.fields()->output())
      out.push_back({"field/" + field.name,
                     std::vector<double>(field.values, field.values + physics.species().front()->conf().size())});
  return out;
}

std::vector<Expansion> expansions_of(const Vlasov& physics) {
  const Species& first = *physics.species().front();
  auto out = own_expansions_of(physics);
  for (auto& e : out) e.values = first.ranks().gathered(e.values, first.conf().modes());
  return out;
}

std::string meaning_of(const std::string& name) {
  const auto slash = name.find('/');
  const std::string owner = name.substr(0, slash), what = name.substr(slash + 1);
  if (owner == "field")
    return what.size() == 2 ? std::string(what[0] == 'B' ? "magnetic" : "electric") + " field along " + what[1] : what;
  if (what == "density") return "density of " + owner;
  if (what == "energy") return "integral of v^2 f of " + owner;
  return "flux of " + owner + " along " + what.back();
}

std::vector<SeriesFile::Column> MomentsWriter::columns() const {
  const auto& conf = physics_->species().front()->conf();
  std::vector<SeriesFile::Column> out;
  for (const auto& e : own_expansions_of(*physics_))
    out.push_back({e.name,
                   {conf.whole_count(), conf.modes()},
                   {"cell", "mode"},
                   meaning_of(e.name) + ", coefficients of its modes"});
  const std::int64_t parts = conf.highest() + 1;
  for (const auto& e : own_expansions_of(*physics_)) {
    SeriesFile::Column column{shown_name(e.name), {}, {}, meaning_of(e.name)};
    for (int d = conf.dimensions; d-- > 0;)
      column.shape.push_back(conf.cells[d] * parts), column.along.emplace_back(1, "xyz"[d]);
    out.push_back(std::move(column));
  }
  return out;
}

void write_axis(io::File& file, const GridFields::Axis& axis) {
  std::vector<double> centres;
  for (std::int64_t k = 0; k < axis.cells(); ++k) centres.push_back(0.5 * (axis.faces[k] + axis.faces[k + 1]));
  io::labelled(file.write(axis.name, centres), "", axis.name);
}

void MomentsWriter::create(const std::vector<GridFields::Axis>& axes) {
  const auto& solver = physics_->species().front()->solver();
  const auto& conf = physics_->species().front()->conf();
  file_.create(columns(), physics_->time_unit(), [&](io::File& file) {
    for (const auto& axis : axes) write_axis(file, axis);
    io::write_dimension(file, "cell", conf.whole_count());
    io::write_dimension(file, "mode", conf.modes());
    describe_grid(file, solver.grid(), solver.basis());
    std::vector<int> exponents;
    for (const auto& e : conf.exponents) exponents.insert(exponents.end(), e.begin(), e.end());
    file.set_attribute("conf_exponents", io::tensor_of(exponents.data(), {conf.modes(), conf.dimensions}));
  });
}

void MomentsWriter::observe(const State&, std::int64_t step, double time) {
  const auto sampled = sampled_components(*physics_);
  const auto all = expansions_of(*physics_);
  io::on_root(context_.comm, [&] {
    if (!file_.is_open()) create(sampled.axes);
    std::vector<const double*> values;
    for (const auto* set : {&all, &sampled.fields})
      for (const auto& e : *set) values.push_back(e.values.data());
    file_.append(step, time, values);
    file_.flush();
  });
}

void MomentsWriter::resume(std::int64_t step) { file_.resume(step, columns()); }

}  // namespace cambium::kinetic
