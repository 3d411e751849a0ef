#include "plugins/kinetic/output/conf_writer.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/agree.hpp"
#include "core/io/atomic_file.hpp"
#include "core/io/provenance.hpp"
#include "plugins/kinetic/physics/distribution_file.hpp"

namespace cambium::kinetic {

static const Vlasov& kinetic_physics(const Physics& physics, const char* writer) {
  const auto* found = dynamic_cast<const Vlasov*>(&physics);
  if (!found) throw InputError(fmt::format("output '{}' belongs to kinetic physics (vlasov_poisson, vlasov_maxwell, boltzmann_bgk)", writer));
  return *found;
}

void ConfWriter::Params::describe(deck::Describe<Params>& d) {
  d("every", &Params::every, "steps between two outputs").at_least(1).def(100);
}

void ConfWriter::attach(const Physics& physics) { physics_ = &kinetic_physics(physics, "moments"); }

std::string ConfWriter::path() const { return (std::filesystem::path(context_.run_directory) / "conf.h5").string(); }

std::vector<ConfWriter::Series> ConfWriter::now() const {
  std::vector<Series> out;
  for (const auto& s : physics_->species()) {
    const int components = s->components();
    for (int c = 0; c < components; ++c) {
      const std::string name = c == 0 ? "density" : c == components - 1 ? "energy" : fmt::format("flux_{}", "xyz"[c - 1]);
      out.push_back({s->name() + "/" + name, s->moment(c)});
    }
  }
  if (physics_->fields())
    for (const auto& field : physics_->fields()->output())
      out.push_back({"field/" + field.name,
                     std::vector<double>(field.values, field.values + physics_->species().front()->conf().size())});
  return out;
}

void ConfWriter::create() {
  file_.emplace(io::File::create(path()));
  io::write_provenance(*file_, io::provenance_of(context_));
  const auto& solver = physics_->species().front()->solver();
  const auto& conf = physics_->species().front()->conf();
  describe_grid(*file_, solver.grid(), solver.basis());
  std::vector<int> exponents;
  for (const auto& e : conf.exponents) exponents.insert(exponents.end(), e.begin(), e.end());
  file_->set_attribute("conf_exponents", io::tensor_of(exponents.data(), {conf.modes(), conf.dimensions}));
  file_->create_series("step", DType::i64, {});
  file_->create_series("time", DType::f64, {});
  const std::int64_t row[] = {conf.count(), conf.modes()};
  for (const auto& series : now()) file_->create_series(series.name, DType::f64, row);
}

void ConfWriter::observe(const State&, std::int64_t step, double time) {
  io::on_root(context_.comm, [&] {
    if (!file_) create();
    const auto& conf = physics_->species().front()->conf();
    file_->dataset("step").append(io::tensor_of(&step, {}));
    file_->dataset("time").append(io::tensor_of(&time, {}));
    for (const auto& series : now()) file_->dataset(series.name).append(io::tensor_of(series.values.data(), {conf.count(), conf.modes()}));
    file_->flush();
  });
}

void ConfWriter::resume(std::int64_t step) {
  io::on_root(context_.comm, [&] {
    if (!std::filesystem::exists(path())) return;
    file_.emplace(io::File::append(path()));
    const auto steps = file_->read<std::vector<std::int64_t>>("step");
    std::int64_t rows = 0;
    while (rows < std::ssize(steps) && steps[rows] <= step) ++rows;
    for (const char* name : {"step", "time"}) file_->dataset(name).resize(rows);
    for (const auto& series : now()) file_->dataset(series.name).resize(rows);
  });
}

void DistributionWriter::Params::describe(deck::Describe<Params>& d) {
  d("every", &Params::every, "steps between two files").at_least(1).def(1000);
}

void DistributionWriter::attach(const Physics& physics) { physics_ = &kinetic_physics(physics, "distribution"); }

void DistributionWriter::observe(const State&, std::int64_t step, double time) {
  const auto path = (std::filesystem::path(context_.run_directory) / fmt::format("distribution.{}.h5", step)).string();
  std::optional<io::AtomicFile> target;
  std::optional<io::File> file;
  io::on_root(context_.comm, [&] {
    target.emplace(path);
    file.emplace(io::File::create(target->part(), path));
    io::write_provenance(*file, io::provenance_of(context_));
    file->set_attribute("step", step);
    file->set_attribute("time", time);
  });
  io::File nowhere = io::File::in_memory(path);
  io::Group& group = file ? static_cast<io::Group&>(*file) : nowhere;
  for (const auto& s : physics_->species()) {
    s->solver().to_host_const(0);
    write_distribution(group, s->name(), s->solver(), context_.comm);
  }
  io::on_root(context_.comm, [&] {
    file->close();
    target->commit();
  });
}

}  // namespace cambium::kinetic
