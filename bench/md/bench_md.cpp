#include "bench/md/bench_md.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "bench/md/md_case.hpp"
#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::md {

namespace {

/// Starting energies and pressures must be the same physics; after the timed steps both conserve energy.
std::string compare(const MdTimes& ours, const MdTimes& peer, std::int64_t atoms) {
  const double n = static_cast<double>(atoms);
  const double energy = std::abs(ours.start_energy / peer.start_energy - 1.0);
  const double pressure = std::abs(ours.start_pressure / peer.start_pressure - 1.0);
  const double drift = std::abs((ours.end_energy - ours.start_total) - (peer.end_energy - peer.start_total)) / n;
  const bool good = energy < 1e-8 && pressure < 1e-4 && drift < 1e-4;
  return fmt::format("{}: potential energy differs by {:.1e}, pressure by {:.1e} (relative), drift by {:.1e} eV/atom",
                     good ? "ok" : "WRONG", energy, pressure, drift);
}

/// Checks energy conservation if there is no reference implementation.
std::string conserved(const MdTimes& ours, std::int64_t atoms) {
  const double drift = (ours.end_energy - ours.start_total) / static_cast<double>(atoms);
  return fmt::format("{}: total energy changed by {:.1e} eV/atom", std::abs(drift) < 1e-3 ? "ok" : "WRONG", drift);
}

void keep_faster(MdTimes& best, const MdTimes& turn) {
  if (turn.atom_steps_per_s > best.atom_steps_per_s) best = turn;
}

}  // namespace

static nlohmann::json measure_md(const BenchOptions& options, Context& context) {
  namespace fs = std::filesystem;
  const std::string folder = (fs::temp_directory_path() / fmt::format("cambium-bench-{}", ::getpid())).string();
  if (context.comm.root()) fs::create_directories(folder);
  nlohmann::json out;
  out["ranks"] = context.comm.size();
  out["turns"] = options.integer("turns");
  const bool peer_wanted = options.yes("peer");
  const int edge = options.integer("edge");
  if (edge < 1) throw InputError(fmt::format("edge is {}; give how many times as long as usual, 1 or more", edge));
  const std::int64_t times = std::int64_t{edge} * edge * edge;
  out["edge"] = edge;
  for (auto c : {argon_case(edge), silicon_case(edge)}) {
    c.steps = options.integer("steps");
    const std::string data = (fs::path(folder) / (c.key + ".data")).string();
    MdTimes ours, peer;
    for (int turn = 0; turn < std::max(1, options.integer("turns")); ++turn) {
      keep_faster(ours, run_cambium(c, data, context));
      if (!peer_wanted || !context.comm.root()) continue;
      keep_faster(peer, run_lammps(c, folder, data, context.comm.size()));
    }
    const std::int64_t atoms = times * (c.key == "lj" ? 32000 : 32768);
    out[c.key + "_atom_steps_per_s"] = ours.atom_steps_per_s;
    out["check_" + c.key] = conserved(ours, atoms);
    context.log.info(fmt::format("{}: {:.3f} M atom-steps/s on {} rank(s)", c.key, ours.atom_steps_per_s / 1e6,
                                 context.comm.size()));
    for (const auto& section : context.timing.sections())
      context.log.info(fmt::format("   {:<12}{:8.3f} s", section.name, section.seconds));
    if (!peer.ran) continue;
    out[c.key + "_lammps_atom_steps_per_s"] = peer.atom_steps_per_s;
    out[c.key + "_ratio"] = ours.atom_steps_per_s / peer.atom_steps_per_s;
    out["check_" + c.key] = compare(ours, peer, atoms);
    out[c.key + "_peer"] = fmt::format("{}, lmp {}", peer.version, c.lammps_suffix);
    context.log.info(fmt::format("{}: lmp {} {:.3f} M atom-steps/s, ratio {:.2f}", c.key, c.lammps_suffix,
                                 peer.atom_steps_per_s / 1e6, ours.atom_steps_per_s / peer.atom_steps_per_s));
  }
  std::string check = out["check_lj"].get<std::string>() + "; " + out["check_sw"].get<std::string>();
  out["check"] = check;
  if (context.comm.root()) fs::remove_all(folder);
  return out;
}

Bench bench_md() {
  return {"md",
          "Lennard-Jones melt and Stillinger-Weber silicon, beside LAMMPS where it is installed",
          measure_md,
          {{"steps", "timed steps of each system", 400},
           {"edge", "edges of both systems, in those of 32,000 atoms: 4 fills a card", 1},
           {"turns", "runs of both programs, one after the other, of which the fastest of each counts", 3},
           {"peer", "run LAMMPS where it is installed", true}},
          {"steps=100", "peer=no"}};
}

}  // namespace cambium::md
