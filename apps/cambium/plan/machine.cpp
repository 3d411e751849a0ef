#include "apps/cambium/plan/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/io/shipped.hpp"
#include "core/parallel/agree.hpp"

namespace cambium {

void Machine::Level::describe(deck::Describe<Level>& d) {
  d("name", &Level::name, "name of the level, for example node");
  d("size", &Level::size,
    "number of units of the level before it (devices, for the first) that it joins; the last level omits it and takes "
    "all")
      .at_least(1);
  d("bandwidth", &Level::bandwidth, "bandwidth from one unit to the others of its level")
      .unit("B/s")
      .positive()
      .example("25 GB/s");
  d("latency", &Level::latency, "latency of one message").unit("s").non_negative().example("2 us");
}

static std::string machine_problem(const Machine& m) {
  if (m.levels.empty())
    return "levels is empty; name at least one, for example levels: [{name: system, bandwidth: 25 GB/s, latency: 2 "
           "us}]";
  for (std::size_t k = 0; k + 1 < m.levels.size(); ++k)
    if (!m.levels[k].size)
      return fmt::format("levels: '{}' has no size; give how many {} it joins (only the last level takes the rest)",
                         m.levels[k].name, k == 0 ? "devices" : "units of '" + m.levels[k - 1].name + "'");
  for (std::size_t k = 0; k < m.levels.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (m.levels[j].name == m.levels[k].name)
        return fmt::format("levels: the name '{}' is given twice; give each level its own", m.levels[k].name);
  return {};
}

void Machine::describe(deck::Describe<Machine>& d) {
  d("name", &Machine::name, "name of the machine");
  d("source", &Machine::source, "source of the figures").def("");
  d("peak", &Machine::peak, "floating-point operations per second of one device, in the precision of training")
      .unit("1/s")
      .positive()
      .example("191.5e12");
  d("peak_double", &Machine::peak_double,
    "floating-point operations per second of one device in double precision, for simulations; 0: unknown, and "
    "memory_bandwidth alone limits their speed")
      .unit("1/s")
      .non_negative()
      .def(0.0)
      .example("23.9e12");
  d("memory", &Machine::memory, "memory of one device").unit("B").positive().example("64 GB");
  d("memory_bandwidth", &Machine::memory_bandwidth, "memory bandwidth of one device")
      .unit("B/s")
      .positive()
      .example("1600 GB/s");
  d("coding", &Machine::coding,
    "rate at which one device encodes or decodes float32 data for compressed messages; 0: encoding takes no time")
      .unit("B/s")
      .non_negative()
      .def(0.0)
      .example("5 GB/s");
  d("reached_peak", &Machine::reached_peak, "fraction of the peak that training reaches")
      .greater_than(0.0)
      .at_most(1.0)
      .def(0.4);
  d("reached_links", &Machine::reached_links, "fraction of the links' bandwidths that collectives reach")
      .greater_than(0.0)
      .at_most(1.0)
      .def(0.8);
  d("levels", &Machine::levels, "levels of the network between devices, the innermost first");
  d.check(machine_problem);
}

Machine load_machine(const std::string& given, const Comm& comm) {
  const std::string path = shipped_file(given, "machines", comm);
  std::string text;
  io::on_root(comm, [&] {
    std::ifstream in(path);
    if (!in)
      throw InputError(fmt::format(
          "cannot read the machine file '{}'; give the path of one, or the name of one that came with the program "
          "(`cambium list machines` names them)",
          path));
    std::ostringstream all;
    all << in.rdbuf();
    text = all.str();
  });
  comm.broadcast(text);
  return deck::read<Machine>(deck::parse(text, path));
}

int Machine::ranks_per_node() const {
  const auto end = std::find_if(levels.begin(), levels.end(), [](const auto& level) { return level.name == "node"; });
  int ranks = 1;
  for (auto level = levels.begin(); level != levels.end() && level + 1 != levels.end(); ++level) {
    ranks *= level->size.value_or(1);
    if (level == end) break;
  }
  return ranks;
}

std::vector<Machine::Filled> Machine::filled_by(int ranks) const {
  std::vector<Filled> out;
  int left = ranks;
  for (const auto& level : levels) {
    const int size = level.size && &level != &levels.back() ? std::min(*level.size, left) : left;
    if (left % size != 0)
      throw InputError(
          fmt::format("{} ranks do not fill the level '{}' of {}, which joins {}; plan for a multiple of {} ranks",
                      ranks, level.name, name, size, ranks / left * size));
    out.push_back({level.name, size});
    left /= size;
  }
  const auto& last = levels.back();
  if (last.size && out.back().ranks > *last.size)
    throw InputError(
        fmt::format("{} has {} devices, but {} ranks are planned; plan for fewer, or remove the size of '{}'", name,
                    ranks / out.back().ranks * *last.size, ranks, last.name));
  return out;
}

namespace {
/// Time of a collective on the slowest crossed link, and the latency of the outermost level crossed.
struct Crossed {
  double ring = 0.0, tree = 0.0, direct = 0.0;  ///< s on the link, by pattern
  double latency = 0.0;                         ///< s
};

double log2_up(std::int64_t n) { return n > 1 ? std::ceil(std::log2(static_cast<double>(n))) : 0.0; }

Crossed crossed_links(double bytes, std::int64_t ranks, std::int64_t stride, const Machine& machine) {
  Crossed out;
  std::int64_t unit = 1;  // devices of a unit of this level
  for (std::size_t k = 0; k < machine.levels.size(); ++k) {
    const auto& level = machine.levels[k];
    const std::int64_t members = std::clamp<std::int64_t>(unit / stride, 1, ranks);  // of one group, in one unit
    const std::int64_t span = level.size && k + 1 < machine.levels.size() ? unit * *level.size : ranks * stride;
    if (ranks > members && span > stride) {  // else another level joins the members
      const auto groups = static_cast<double>(std::max<std::int64_t>(1, unit / members));  // sharing the unit's link
      const double group_seconds = bytes * groups / (machine.reached_links * level.bandwidth);
      const auto senders = static_cast<double>(members);
      const auto joined = std::max<std::int64_t>(1, std::min(ranks, span / stride) / members);  // units of this level
      out.ring = std::max(out.ring, group_seconds);
      out.tree = std::max(out.tree, group_seconds * senders * log2_up(joined));
      out.direct = std::max(
          out.direct, group_seconds * senders * static_cast<double>(ranks - members) / static_cast<double>(ranks - 1));
      out.latency = level.latency;
    }
    if (span >= ranks * stride) break;
    unit = span;
  }
  return out;
}
}  // namespace

double seconds_of(Pattern pattern, double bytes, std::int64_t calls, std::int64_t ranks, std::int64_t stride,
                  const Machine& machine) {
  if (ranks <= 1) return 0.0;
  const auto crossed = crossed_links(bytes, ranks, stride, machine);
  const double wait = crossed.latency * static_cast<double>(calls);
  if (pattern == Pattern::direct) return crossed.direct + wait;
  return std::min(crossed.ring + wait * static_cast<double>(ranks - 1), crossed.tree + wait * log2_up(ranks));
}

}  // namespace cambium
