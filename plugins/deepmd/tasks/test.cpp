#include "plugins/deepmd/tasks/test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/deepmd/tools/engine_of.hpp"

namespace cambium::deepmd {

void TestStage::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file, .dp or .yaml").example("water.dp");
  d("systems", &Params::systems, "folders of deepmd/npy data").example("[water/data_3]");
  d("precision", &Params::precision, "float64, or mixed: networks in float32")
      .options({{"float64", Precision::float64}, {"mixed", Precision::mixed}})
      .def(Precision::float64);
}

TestStage::TestStage(const Params& params, Context&) : params_(params) {
  if (params.systems.empty()) throw InputError("no system to test the model on; name folders of deepmd/npy data");
}

void TestStage::check(Context& context) {
  context.log.info(fmt::format("test: {} on {} system(s)", params_.model, params_.systems.size()));
}

namespace {

/// Reference and model side by side: energies per atom by frame, force components and virials per atom by frame.
struct Parity {
  std::vector<double> energy, energy_model, force, force_model, virial, virial_model;

  void reserve(const DataSystem& s) {
    const std::size_t n = s.frames(), f = n > 0 ? s.frame(0).force.size() * 3 : 0,
                      v = n > 0 ? s.frame(0).virial.size() : 0;
    energy.assign(n, 0.0), energy_model = energy;
    force.assign(n * f, 0.0), force_model = force;
    virial.assign(n * v, 0.0), virial_model = virial;
  }
  void put(std::size_t k, const LabelledFrame& frame, const Evaluation& e) {
    const auto atoms = static_cast<double>(frame.x.size());
    energy[k] = frame.energy.value_or(0.0) / atoms, energy_model[k] = e.energy / atoms;
    const GivenAxes& axes = frame.axes;  // components in the axes in which the data are given
    const std::size_t f = frame.force.size();
    for (std::size_t i = 0; i < f; ++i) {
      const auto given = axes.vector(frame.force[i].data()), model = axes.vector(e.force[i].data());
      std::copy(given.begin(), given.end(), &force[3 * (k * f + i)]);
      std::copy(model.begin(), model.end(), &force_model[3 * (k * f + i)]);
    }
    if (frame.virial.empty()) return;
    const auto given = axes.tensor(frame.virial.data()), model = axes.tensor(e.virial);
    for (std::size_t q = 0; q < 9; ++q)
      virial[9 * k + q] = given[q] / atoms, virial_model[9 * k + q] = model[q] / atoms;
  }
};

double rms_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return a.empty() ? -1.0 : std::sqrt(sum / static_cast<double>(a.size()));
}

std::string shown(double error) { return error < 0.0 ? "-" : fmt::format("{:.5g}", error); }

/// A table of two columns; of long ones every n-th row, so that a plot stays small.
std::string csv(const std::string& unit, const std::vector<double>& a, const std::vector<double>& b) {
  std::string text = fmt::format("reference ({0}),model ({0})\n", unit);
  const std::size_t stride = std::max<std::size_t>(1, a.size() / 20000);
  for (std::size_t k = 0; k < a.size(); k += stride) text += fmt::format("{:.9g},{:.9g}\n", a[k], b[k]);
  return text;
}

Parity evaluate_system(const DataSystem& system, const std::string& path, Precision precision, const Comm& comm) {
  ToolOptions options;
  options.model = path;
  options.precision = precision;
  auto engine = engine_of(options, system);
  const std::vector<int> types = model_types(system, engine->model().type_map, path);
  Parity parity;
  parity.reserve(system);
  for (std::size_t k = static_cast<std::size_t>(comm.rank()); k < system.frames();
       k += static_cast<std::size_t>(comm.size()))
    parity.put(k, system.frame(k), evaluate_frame(*engine, system.frame(k), types));
  return parity;
}

}  // namespace

Task::Outcome TestStage::run(Context& context) {
  work_ = {0, "frame"};
  std::string errors = "system,frames,energy_rmse (eV/atom),force_rmse (eV/angstrom),virial_rmse (eV/atom)\n";
  context.log.info(fmt::format("{:>6} {:>14} {:>14} {:>14}  system", "frames", "energy", "force", "virial"));
  context.log.info(
      fmt::format("{:>6} {:>14} {:>14} {:>14}  RMSE of {}", "", "eV/atom", "eV/Å", "eV/atom", params_.model));
  for (std::size_t s = 0; s < params_.systems.size(); ++s) {
    Parity p;
    std::size_t frames = 0;
    io::on_every_rank(context.comm, [&] {
      const DataSystem system = DataSystem::load(params_.systems[s]);
      frames = system.frames();
      p = evaluate_system(system, params_.model, params_.precision, context.comm);
    });
    for (auto* values : {&p.energy, &p.energy_model, &p.force, &p.force_model, &p.virial, &p.virial_model})
      context.comm.sum(*values);
    const double e = rms_difference(p.energy, p.energy_model), f = rms_difference(p.force, p.force_model),
                 v = rms_difference(p.virial, p.virial_model);
    context.log.info(
        fmt::format("{:>6} {:>14} {:>14} {:>14}  {}", frames, shown(e), shown(f), shown(v), params_.systems[s]));
    work_.items += static_cast<std::int64_t>(frames);
    errors += fmt::format("{},{},{:.6g},{:.6g},{:.6g}\n", params_.systems[s], frames, e, f, v);
    io::on_root(context.comm, [&] {
      const std::string base = fmt::format("{}/parity_{}", context.run_directory, s);
      io::write_file_atomically(base + "_energy.csv", csv("eV/atom", p.energy, p.energy_model));
      io::write_file_atomically(base + "_force.csv", csv("eV/angstrom", p.force, p.force_model));
      if (!p.virial.empty()) io::write_file_atomically(base + "_virial.csv", csv("eV/atom", p.virial, p.virial_model));
    });
  }
  io::on_root(context.comm, [&] { io::write_file_atomically(context.run_directory + "/errors.csv", errors); });
  return Outcome::done;
}

}  // namespace cambium::deepmd
