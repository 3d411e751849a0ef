#include "plugins/submatrix/tasks/local_spectra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/base/key_error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/gather.hpp"
#include "core/plugin/check.hpp"

namespace cambium::submatrix {

void LocalSpectra::Set::describe(deck::Describe<Set>& d) {
  d("name", &Set::name, "name of the file of its Hamiltonians: NAME.h5; sets of one name share it").example("train");
  d("matrices", &Set::matrices, "the Hamiltonian, and the overlap");
  d("frames", &Set::frames, "random configurations of matrices.tight_binding").at_least(1).def(1);
  d.check([](const Set& s) -> std::string {
    if (s.name.empty() || s.name.find('/') != std::string::npos)
      return fmt::format("name is '{}'; it is the name of a file without folder", s.name);
    if (s.frames > 1 && !s.matrices.tight_binding) return "matrices of a file are one Hamiltonian; leave 'frames' out";
    return {};
  });
}

void LocalSpectra::Params::describe(deck::Describe<Params>& d) {
  d("sets", &Params::sets, "Hamiltonians, each diagonalised in full (up to 16384 functions)");
  d("krylov_blocks", &Params::krylov_blocks,
    "number of Krylov blocks per block column available to a model: 2 n - 1 spectral moments")
      .range(1, 32)
      .def(4);
  d("window", &Params::window,
    "energy window of the spectral moments' polynomials; default: that of the first Hamiltonian and a quarter of its "
    "width on either side")
      .unit("hartree");
  d.check([](const Params& p) -> std::string {
    if (p.sets.empty()) return "sets is empty; it needs one for training and one to hold out";
    if (p.window && (p.window->size() != 2 || !((*p.window)[0] < (*p.window)[1])))
      return "window needs two energies, the lower one first";
    return {};
  });
}

std::vector<LocalSpectra::Job> LocalSpectra::jobs() const {
  std::vector<Job> out;
  for (std::size_t s = 0; s < params_.sets.size(); ++s)
    for (int f = 0; f < params_.sets[s].frames; ++f) out.push_back({s, std::ssize(out)});
  return out;
}

MatrixSystem LocalSpectra::system(const Job& job, Context& alone) const {
  MatrixInput input = params_.sets[job.set].matrices;
  if (input.tight_binding) {
    input.tight_binding->frame += job.frame;
    input.tight_binding->reach = 0.0;
  }
  MatrixSystem out = read_matrices(input, alone);
  if (out.copies > 1)
    throw InputError("local_spectra is for real matrices of one cell; leave out k_points, or take a supercell");
  return out;
}

void LocalSpectra::examine(Check& check) {
  for (const auto& set : params_.sets) check.will_write({set.name + ".h5", {Origin::stage, "local_spectra"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  Comm self(MPI_COMM_SELF);
  std::int64_t first = 0;
  for (std::size_t s = 0; s < params_.sets.size(); first += params_.sets[s].frames, ++s) {
    Context alone{self, context.log, context.timing};
    alone.seed = context.seed;
    const MatrixSystem one = system({s, first}, alone);
    context.log.info(fmt::format("set {}: {} x {}, {} atoms, {} functions, {} electrons, {} moments of each block",
                                 params_.sets[s].name, params_.sets[s].frames, one.name, one.atoms,
                                 one.layout->dimension(), one.electrons, moments()));
  }
}

Window LocalSpectra::find_window(const Job& first, Context& context) const {
  if (params_.window) return {(*params_.window)[0], (*params_.window)[1]};
  double bounds[2] = {};
  io::on_every_rank(context.comm, [&] {
    if (!context.comm.root()) return;
    Comm self(MPI_COMM_SELF);
    Timing own;
    Context alone{self, context.log, own};
    alone.seed = context.seed;
    const DenseLevels levels(system(first, alone));
    const double width = levels.highest() - levels.lowest();
    bounds[0] = levels.lowest() - 0.25 * width;
    bounds[1] = levels.highest() + 0.25 * width;
  });
  context.comm.broadcast(bounds);
  return {bounds[0], bounds[1]};
}

std::vector<LevelSample> LocalSpectra::compute(const std::vector<Job>& jobs, const Window& window,
                                               Context& context) const {
  // For each of this rank's jobs: columns, functions, levels, moments, band energies, one after the other.
  std::vector<double> mine;
  const auto ranks = static_cast<std::size_t>(context.comm.size()),
             rank = static_cast<std::size_t>(context.comm.rank());
  io::on_every_rank(context.comm, [&] {
    Comm self(MPI_COMM_SELF);
    Timing own;
    Context alone{self, context.log, own};
    alone.seed = context.seed;
    for (std::size_t j = rank; j < jobs.size(); j += ranks) {
      const LevelSample s = DenseLevels(system(jobs[j], alone)).sample(window, moments());
      mine.insert(mine.end(), {static_cast<double>(s.columns), static_cast<double>(s.functions), s.homo, s.lumo});
      mine.insert(mine.end(), s.moments.begin(), s.moments.end());
      mine.insert(mine.end(), s.energy.begin(), s.energy.end());
      context.log.progress(fmt::format("Hamiltonian {} of {}", j + 1, jobs.size()));
    }
  });
  const GatherPlaces places(std::ssize(mine), context.comm);
  const auto all = gather(mine, context.comm);
  std::vector<LevelSample> out;
  if (!context.comm.root()) return out;
  std::vector<const double*> at;
  for (int f : places.first) at.push_back(all.data() + f);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const double*& p = at[j % ranks];
    const auto columns = static_cast<std::ptrdiff_t>(p[0]), k = columns * moments();
    out.push_back({static_cast<int>(columns),
                   static_cast<int>(p[1]),
                   p[2],
                   p[3],
                   {p + 4, p + 4 + k},
                   {p + 4 + k, p + 4 + k + columns}});
    p += 4 + k + columns;
  }
  return out;
}

void LocalSpectra::report(const std::string& name, const std::vector<LevelSample>& samples, Log& log) const {
  double n = 0.0, mean = 0.0, square = 0.0, mu_mean = 0.0, mu_square = 0.0, least_gap = 1e300;
  for (const auto& s : samples) {
    for (double e : s.energy) {
      n += 1.0;
      mean += e;
      square += e * e;
    }
    const double mu = 0.5 * (s.homo + s.lumo);
    mu_mean += mu;
    mu_square += mu * mu;
    least_gap = std::min(least_gap, s.lumo - s.homo);
  }
  const double frames = static_cast<double>(samples.size());
  const auto deviation = [](double sum, double squares, double count) {
    return ev_per_hartree * std::sqrt(std::max(0.0, squares / count - sum * sum / count / count));
  };
  log.info(fmt::format(
      "{:<16} {} Hamiltonians, {:.0f} block columns; band energy of a column {:.4f} +- {:.4f} eV, mu {:.4f} +- {:.4f} "
      "eV, smallest gap {:.3f} eV",
      name, frames, n, ev_per_hartree * mean / n, deviation(mean, square, n), ev_per_hartree * mu_mean / frames,
      deviation(mu_mean, mu_square, frames), ev_per_hartree * least_gap));
  if (least_gap < 0.01)
    log.warn(fmt::format("set {}: the smallest gap is {:.4f} hartree; a mu inside of it can hardly be learned", name,
                         least_gap));
}

Task::Outcome LocalSpectra::run(Context& context) {
  const auto jobs = this->jobs();
  const Window window = find_window(jobs.front(), context);
  const auto samples = compute(jobs, window, context);
  io::on_root(context.comm, [&] {
    std::map<std::string, SpectraFile> files;
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const auto& s = samples[j];
      SpectraFile& file = files[params_.sets[jobs[j].set].name];
      if (!file.samples.empty() && file.functions != s.functions)
        throw KeyError("local_spectra.sets.blocks", "sets",
                       fmt::format("set {} has blocks of {} and of {} functions; one model is for blocks of one size",
                                   params_.sets[jobs[j].set].name, file.functions, s.functions));
      file.window = window;
      file.functions = s.functions;
      file.count = moments();
      file.samples.push_back(s);
    }
    const auto provenance = io::provenance_of(context);
    for (const auto& [name, file] : files) {
      write_spectra((std::filesystem::path(context.run_directory) / (name + ".h5")).string(), file, provenance);
      report(name, file.samples, context.log);
    }
    for (const auto& [name, file] : files) files_.push_back(name + ".h5");
    context.log.info(fmt::format("window of the moments {:.4f} to {:.4f} hartree, {} of each block column", window.low,
                                 window.high, moments()));
  });
  return Outcome::done;
}

}  // namespace cambium::submatrix
