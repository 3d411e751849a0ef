#include "plugins/kinetic/writers/moments.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/driver/writers/trajectory_writers.hpp"
#include "core/io/hdf5/atomic_file.hpp"
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

void MomentsWriter::Params::describe(deck::Describe<Params>& d) {
  d("every", &Params::every, "steps between two outputs").at_least(1).def(100);
}

void MomentsWriter::attach(const Physics& physics) { physics_ = &kinetic_physics(physics, "moments"); }

std::vector<Expansion> expansions_of(const Vlasov& physics) {
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

std::vector<SeriesFile::Column> MomentsWriter::columns() const {
  const auto& conf = physics_->species().front()->conf();
  std::vector<SeriesFile::Column> out;
  for (const auto& e : expansions_of(*physics_)) out.push_back({e.name, {conf.count(), conf.modes()}});
  return out;
}

void MomentsWriter::create() {
  io::File& file = file_.create(columns());
  const auto& solver = physics_->species().front()->solver();
  const auto& conf = physics_->species().front()->conf();
  describe_grid(file, solver.grid(), solver.basis());
  std::vector<int> exponents;
  for (const auto& e : conf.exponents) exponents.insert(exponents.end(), e.begin(), e.end());
  file.set_attribute("conf_exponents", io::tensor_of(exponents.data(), {conf.modes(), conf.dimensions}));
}

void MomentsWriter::observe(const State&, std::int64_t step, double time) {
  io::on_root(context_.comm, [&] {
    if (!file_.is_open()) create();
    const auto all = expansions_of(*physics_);
    std::vector<const double*> values;
    for (const auto& e : all) values.push_back(e.values.data());
    file_.append(step, time, values);
    file_.flush();
  });
}

void MomentsWriter::resume(std::int64_t step) { file_.resume(step, columns()); }

}  // namespace cambium::kinetic
