#include "plugins/deepmd/tasks/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/elements.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/deepmd/tasks/single_point.hpp"
#include "plugins/deepmd/tools/parity.hpp"

namespace cambium::deepmd {

void Compare::Fit::describe(deck::Describe<Fit>& d) {
  d("vary", &Fit::vary, "lowest and highest value of each fitted key of the potential, both above 0")
      .example("{epsilon: [0.1, 1], sigma: [2, 3]}");
  d("systems", &Fit::systems, "labelled frames to whose forces the potential is fitted").example("[label/train]");
  d("frames", &Fit::frames, "maximum number of frames of each system in the fit").at_least(1).def(50);
  d.check([](const Fit& f) -> std::string {
    if (f.vary.empty() || f.systems.empty()) return "a fit needs keys to vary and systems";
    for (const auto& [key, range] : f.vary)
      if (!(range[0] > 0.0) || !(range[1] > range[0]))
        return fmt::format("vary.{}: give [lowest, highest], both above 0", key);
    return "";
  });
}

void Compare::Entry::describe(deck::Describe<Entry>& d) {
  d("potential", &Entry::potential, "potential of any type");
  d("fit", &Entry::fit, "fit of some of its parameters before the comparison; default: none");
}

void Compare::Params::describe(deck::Describe<Params>& d) {
  d("systems", &Params::systems, "systems of DeePMD-kit (folders, FILE.hdf5#/GROUP), extended XYZ files with forces")
      .example("[label/validation]");
  d("potentials", &Params::potentials, "potentials by the name of their row");
  d("labels", &Params::labels, "names and units of the labels in extended XYZ files");
  d.check([](const Params& p) {
    return p.systems.empty() || p.potentials.empty() ? "compare needs systems and potentials" : "";
  });
}

void Compare::examine(Check& check) {
  check.will_write({"compare.csv", {Origin::stage, "compare"}});
  for (const auto& [name, entry] : params_.potentials)
    if (entry.fit) check.will_write({fmt::format("fit_{}.yaml", name), {Origin::stage, "compare"}});
  if (!check.stage().tried) return;
  check.context().log.info(
      fmt::format("compare: {} potential(s) on {} system(s)", params_.potentials.size(), params_.systems.size()));
  for (std::size_t k = 0; k < params_.systems.size(); ++k)
    check.require_written_by(deck::child_path("systems", k), params_.systems[k], {{Origin::stage, "label"}});
  check.reads(check.stage().keys["systems"]);
  for (const auto& [name, entry] : params_.potentials) {
    const auto potential = deck::about_key("", "potentials." + name + ".potential", [&] {
      return check.context().registry->make<Potential>(entry.potential, check.context());
    });
    check.ask(potential.get(), entry.potential.node);
  }
}

double ForceErrors::rmse() const { return std::sqrt(squares / components); }
double ForceErrors::mae() const { return absolute / components; }

namespace {
void refuse_open_frame(const Potential& potential, const LabelledData& data, std::size_t k) {
  const LabelledFrame& frame = data.frame(k);
  const bool open = !frame.box || std::any_of(frame.open.begin(), frame.open.end(), [](bool one) { return one; });
  try {
    refuse_open_boundaries(potential, !open);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}, frame {}: {}", data.path(), k, error.what()));
  }
}
}  // namespace

ForceErrors force_errors(const deck::Choice<Potential>& choice, const LabelledData& data, std::size_t stride,
                         Context& context) {
  const Comm self(MPI_COMM_SELF);
  Log quiet;
  Context alone{const_cast<Comm&>(self), quiet, context.timing, context.registry, context.seed};
  std::vector<double> sums(3, 0.0);
  io::on_every_rank(context.comm, [&] {
    std::unique_ptr<Potential> potential;
    std::vector<std::string> bound;
    const auto ranks = static_cast<std::size_t>(context.comm.size());
    for (std::size_t k = static_cast<std::size_t>(context.comm.rank()) * stride; k < data.frames();
         k += ranks * stride) {
      const LabelledFrame& frame = data.frame(k);
      if (frame.force.empty()) throw InputError(fmt::format("{}, frame {}: a comparison needs forces", data.path(), k));
      Configuration c{{}, data.own_types(k), frame.x, frame.box.value_or(Box{}), frame.axes, frame.box.has_value()};
      for (const auto& symbol : data.species(k)) c.species.push_back({symbol, standard_mass(symbol)});
      if (!potential || bound != data.species(k)) {
        potential = context.registry->make<Potential>(choice, alone);
        potential->bind(c.species);
        bound = data.species(k);
      }
      refuse_open_frame(*potential, data, k);
      const LabelledFrame said = single_point(*potential, c, alone);
      for (std::size_t i = 0; i < frame.force.size(); ++i)
        for (std::size_t q = 0; q < 3; ++q) {
          const double error = said.force[i][q] - frame.force[i][q];
          sums[0] += error * error;
          sums[1] += std::abs(error);
          sums[2] += 1.0;
        }
    }
  });
  context.comm.sum(sums);
  return {sums[0], sums[1], sums[2]};
}

/// Element `k` of the one-dimensional Halton sequence, in [0, 1).
static double halton(int k, int base) {
  double out = 0.0;
  for (double part = 1.0 / base; k > 0; k /= base, part /= base) out += part * (k % base);
  return out;
}

std::vector<double> simplex_minimum(const std::function<double(const std::vector<double>&)>& f, std::size_t dimensions,
                                    int evaluations) {
  using Point = std::vector<double>;
  std::vector<std::pair<double, Point>> simplex;
  const auto valued = [&](Point p) {
    for (double& x : p) x = std::clamp(x, 0.0, 1.0);
    --evaluations;
    return std::pair{f(p), p};
  };
  const auto order = [](const auto& a, const auto& b) { return a.first < b.first; };
  constexpr int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
  auto best = valued(Point(dimensions, 0.5));
  for (int k = 1, most = evaluations / 3; k < most; ++k) {
    Point p;
    for (std::size_t q = 0; q < dimensions; ++q) p.push_back(halton(k, primes[q % std::size(primes)]));
    best = std::min(best, valued(p), order);
  }
  simplex.push_back(best);
  for (std::size_t k = 0; k < dimensions; ++k) {
    Point p = best.second;
    p[k] += p[k] < 0.5 ? 0.05 : -0.05;
    simplex.push_back(valued(p));
  }
  while (std::sort(simplex.begin(), simplex.end(), order), evaluations > 0) {
    Point middle(dimensions, 0.0);
    for (std::size_t k = 0; k < dimensions; ++k)
      for (std::size_t q = 0; q < dimensions; ++q) middle[q] += simplex[k].second[q] / static_cast<double>(dimensions);
    const auto along = [&](double factor) {
      Point p(dimensions);
      for (std::size_t q = 0; q < dimensions; ++q) p[q] = middle[q] + factor * (simplex.back().second[q] - middle[q]);
      return valued(p);
    };
    auto next = along(-1.0);
    if (next.first < simplex.front().first) {
      next = std::min(next, along(-2.0), order);
    } else if (next.first >= simplex[dimensions - 1].first) {
      next = std::min(next, along(0.5), order);
    }
    if (next.first < simplex.back().first) {
      simplex.back() = next;
      continue;
    }
    for (std::size_t k = 1; k <= dimensions; ++k) {
      Point p(dimensions);
      for (std::size_t q = 0; q < dimensions; ++q) p[q] = 0.5 * (simplex[0].second[q] + simplex[k].second[q]);
      simplex[k] = valued(p);
    }
  }
  return simplex.front().second;
}

/// The potential with its fitted parameters, stored as keys of a deck.
deck::Choice<Potential> Compare::fitted(const std::string& name, const Entry& entry, Context& context) {
  if (!entry.fit) return entry.potential;
  std::vector<LabelledData> data;
  for (const std::string& path : entry.fit->systems) data.push_back(load_labelled(path, params_.labels, context.comm));
  const auto with = [&](const std::vector<double>& place) {
    auto out = entry.potential;
    std::size_t k = 0;
    for (const auto& [key, range] : entry.fit->vary)
      out.node = out.node.with(
          key, deck::Node::scalar(fmt::format("{:.10g}", range[0] * std::pow(range[1] / range[0], place[k++]))));
    return out;
  };
  const auto most = static_cast<std::size_t>(entry.fit->frames);
  const auto error = [&](const std::vector<double>& place) {
    ForceErrors sum;
    for (const LabelledData& system : data) {
      const auto e = force_errors(with(place), system, std::max<std::size_t>(1, system.frames() / most), context);
      sum.squares += e.squares;
      sum.components += e.components;
    }
    return sum.rmse();
  };
  const std::size_t keys = entry.fit->vary.size();
  const auto best = with(simplex_minimum(error, keys, 100 * static_cast<int>(keys)));
  const deck::Node whole = best.node.with("type", deck::Node::scalar(best.type));
  const std::string file = fmt::format("fit_{}.yaml", name);
  io::on_root(context.comm,
              [&] { io::write_file_atomically(context.run_directory + "/" + file, deck::to_yaml(whole) + "\n"); });
  files_.push_back(file);
  context.log.info(fmt::format("{}: fitted as {}", name, deck::to_line(whole)));
  return best;
}

Task::Outcome Compare::run(Context& context) {
  std::vector<LabelledData> systems;
  for (std::size_t k = 0; k < params_.systems.size(); ++k)
    systems.push_back(deck::about_key("compare.systems", deck::child_path("systems", k),
                                      [&] { return load_labelled(params_.systems[k], params_.labels, context.comm); }));
  std::string table = "potential,system,frames,force_rmse (eV/angstrom),force_mae (eV/angstrom)\n";
  work_ = {0, "frame"};
  context.log.info(fmt::format("{:>20} {:>8} {:>12} {:>12}  system", "potential", "frames", "force RMSE", "force MAE"));
  context.log.info(fmt::format("{:>20} {:>8} {:>12} {:>12}", "", "", "eV/Å", "eV/Å"));
  for (const auto& [name, entry] : params_.potentials) {
    const auto choice = deck::about_key("", "potentials." + name, [&] { return fitted(name, entry, context); });
    ForceErrors all;
    for (const LabelledData& system : systems) {
      const ForceErrors e = deck::about_key("compare.potential", "potentials." + name + ".potential",
                                            [&] { return force_errors(choice, system, 1, context); });
      context.log.info(
          fmt::format("{:>20} {:>8} {:>12.4g} {:>12.4g}  {}", name, system.frames(), e.rmse(), e.mae(), system.path()));
      table += fmt::format("{},{},{},{:.6g},{:.6g}\n", io::csv_cell(name), io::csv_cell(system.path()), system.frames(),
                           e.rmse(), e.mae());
      all.squares += e.squares;
      all.absolute += e.absolute;
      all.components += e.components;
      work_.items += static_cast<std::int64_t>(system.frames());
    }
    results_.push_back({.key = "force_mae_" + key_of(name),
                        .label = "mean absolute error of force components: " + name,
                        .value = all.mae(),
                        .unit = "eV/Å",
                        .digits = 4});
    results_.push_back({.key = "force_rmse_" + key_of(name),
                        .label = "root mean square error of force components: " + name,
                        .value = all.rmse(),
                        .unit = "eV/Å",
                        .digits = 4});
    const auto cited = context.registry->make<Potential>(choice, context)->citations();
    citations_.insert(citations_.end(), cited.begin(), cited.end());
  }
  io::on_root(context.comm, [&] { io::write_file_atomically(context.run_directory + "/compare.csv", table); });
  files_.push_back("compare.csv");
  return Outcome::done;
}

}  // namespace cambium::deepmd
